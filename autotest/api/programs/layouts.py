"""Steps that lay a tensor out anew: views, copies in another order, repeats, parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest.api.programs.chain import MOST_DIMENSIONS, Chain, Step, fresh, small
from autotest.api.programs.values import Interval, Value
from dual_object.record.namespace import torch

Making = Callable[[Chain, Value], Any]
Taking = Callable[[Value], bool]


def has_dimensions(x: Value) -> bool:
    """Whether it has some, none of them of size 0."""
    return x.ndim > 0 and x.elements > 0


def is_matrix(x: Value) -> bool:
    """Whether it has two dimensions or more, none of them of size 0."""
    return x.ndim > 1 and x.elements > 0


def has_two(x: Value) -> bool:
    """Whether it has two elements or more along its last dimension, and some elsewhere."""
    return has_dimensions(x) and x.shape[-1] > 1


def view(name: str, takes: Taking, make: Making, *, overlaps: bool = False) -> Step:
    """A call whose result may share its operand's memory. Where elements of it share one place it is not written."""
    return Step(name, lambda chain, x: takes(x), lambda chain, x: Value(make(chain, x), x.memory), keeps=overlaps)


def copy(name: str, takes: Taking, make: Making, also: Interval | None = None) -> Step:
    """A call whose result has its operand's elements in memory of its own, and perhaps others."""

    def made(chain: Chain, x: Value) -> Value:
        return fresh(make(chain, x), x.interval if also is None else x.interval.joined(also))

    return Step(name, lambda chain, x: takes(x), made, keeps=False)


def _reshaped(chain: Chain, x: Value) -> Any:
    shapes = [(-1,), (1, -1), (*x.shape, 1), x.shape]
    shapes += [(n, -1) for n in (2, 3) if x.elements % n == 0]
    return x.tensor.reshape(chain.pick([shape for shape in shapes if len(shape) <= MOST_DIMENSIONS]))


def _transposed(chain: Chain, x: Value) -> Any:
    return x.tensor.transpose(chain.axis(x), chain.axis(x))


def _permuted(chain: Chain, x: Value) -> Any:
    left = [*range(x.ndim)]
    return x.tensor.permute(*(left.pop(chain.below(len(left))) for _ in range(x.ndim)))


def _unsqueezed(chain: Chain, x: Value) -> Any:
    return torch.unsqueeze(x.tensor, chain.below(x.ndim + 1))


def _squeezed(chain: Chain, x: Value) -> Any:
    return torch.squeeze(x.tensor, chain.axis(x))


def _selected(chain: Chain, x: Value) -> Any:
    axis = chain.axis(x)
    return torch.select(x.tensor, axis, chain.below(2 * x.shape[axis]) - x.shape[axis])


def _sliced(chain: Chain, x: Value) -> Any:
    size = x.shape[0]
    kept = chain.pick((slice(1, None), slice(None, -1), slice(None, None, 2), slice(0, size), slice(-size - 1, 1)))
    return x.tensor[kept]


def _sliced_last(chain: Chain, x: Value) -> Any:
    return x.tensor[..., chain.pick((slice(1, None), slice(None, -1), slice(None, None, 2)))]


def _expanded(chain: Chain, x: Value) -> Any:
    sizes = [3 if size == 1 else -1 for size in x.shape]
    return x.tensor.expand(*((2, *sizes) if 1 not in x.shape else sizes))


def _grown(x: Value) -> tuple[int, ...]:
    return tuple(3 if size == 1 else size for size in x.shape) if 1 in x.shape else (2, *x.shape)


def _windowed(x: Value) -> bool:
    return has_two(x) and small((*x.shape, 2))


def _halved(chain: Chain, x: Value) -> Any:
    return torch.chunk(x.tensor, 2, chain.axis(x))[0]


def _rolled(chain: Chain, x: Value) -> Any:
    return torch.roll(x.tensor, chain.pick((1, -1, 2, 0)), chain.axis(x))


def _repeated(chain: Chain, x: Value) -> Any:
    times = [chain.pick((2, 1)) for _ in x.shape]
    return x.tensor.repeat(*times)


def _padded(chain: Chain, x: Value) -> Any:
    return torch.nn.functional.pad(x.tensor, chain.pick(((1, 1), (0, 2), (2, 0), (-1, 2), (0, 0))), value=0.5)


def _lower(chain: Chain, x: Value) -> Any:
    return torch.tril(x.tensor, chain.pick((0, -1, 1)))


def _chosen(chain: Chain, x: Value) -> Any:
    return x.tensor[chain.pick(([0, 0], [-1, 0, 0], [x.shape[0] - 1]))]


STEPS = (
    copy("clone", lambda x: True, lambda chain, x: x.tensor.clone()),
    view("reshape", lambda x: x.elements > 0, _reshaped),
    view("transpose", has_dimensions, _transposed),
    view("permute", is_matrix, _permuted),
    view("unsqueeze", lambda x: x.ndim < MOST_DIMENSIONS, _unsqueezed),
    view("squeeze", has_dimensions, _squeezed),
    view("select", has_dimensions, _selected),
    view("x[1:]", lambda x: has_dimensions(x) and x.shape[0] > 1, _sliced),
    view("x[..., 1:]", has_two, _sliced_last),
    view("diagonal", is_matrix, lambda chain, x: torch.diagonal(x.tensor, 0, -2, -1)),
    view("contiguous", lambda x: True, lambda chain, x: x.tensor.contiguous()),
    view("expand", lambda x: small(_grown(x)), _expanded, overlaps=True),
    view("unfold", _windowed, lambda chain, x: x.tensor.unfold(-1, 2, 1), overlaps=True),
    # Autograd refuses the use of such a view after a write to its base.
    view("chunk", lambda x: has_dimensions(x) and max(x.shape) > 1, _halved, overlaps=True),
    copy("flip", has_dimensions, lambda chain, x: torch.flip(x.tensor, [chain.axis(x)])),
    copy("roll", has_dimensions, _rolled),
    copy("repeat", lambda x: has_dimensions(x) and small((2**x.ndim, *x.shape)), _repeated),
    copy(
        "pad",
        lambda x: x.floating and has_two(x) and small((*x.shape[:-1], x.shape[-1] + 2)),
        _padded,
        Interval(0.5, 0.5),
    ),
    copy("tril", is_matrix, _lower, Interval(0, 0)),
    copy("x[[0, 0]]", lambda x: has_dimensions(x) and small((3, *x.shape[1:])), _chosen),
)
