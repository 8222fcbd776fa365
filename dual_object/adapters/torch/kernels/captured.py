"""Samples of operators that no public function is: what PyTorch's own samples of ops call them with."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from dual_object.adapters.torch.dispatching import DispatchMode
from dual_object.adapters.torch.kernels.given import sample_inputs
from dual_object.adapters.torch.kernels.naming import OPERATORS
from dual_object.errors import TargetError

#: Of one op so many samples are run.
MOST_RUNS = 60
#: The operators of gradients are reached by a backward alone.
_BACKWARD = "backward"


class _Given(NamedTuple):
    """The arguments of a call, as a sample of PyTorch has them."""

    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class _Capture(DispatchMode):
    def __init__(self, operator: Any) -> None:
        super().__init__()
        self._operator = operator
        self.seen: list[_Given] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is self._operator and args:
            first, *others = (_copied(arg) for arg in args)
            self.seen.append(_Given(first, tuple(others), {key: _copied(arg) for key, arg in (kwargs or {}).items()}))
        return func(*args, **(kwargs or {}))


def _copied(tree: Any) -> Any:
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(_copied, tree))
    # As it lies: an operator is called with what others have laid out.
    return tree.detach().clone(memory_format=torch.preserve_format) if isinstance(tree, torch.Tensor) else tree


class Captured:
    """The samples of an operator, in the shape of an entry of PyTorch's table: what the samples of `info` call it
    with.
    """

    supports_autograd = False
    error_inputs_func = None
    variant_test_name = ""
    aliases: tuple[Any, ...] = ()

    def __init__(self, name: str, operator: Any, info: Any) -> None:
        self.name = name
        self.op = operator
        self._info = info

    def supported_dtypes(self, device: str) -> Any:
        """Those of the op."""
        return self._info.supported_dtypes(device)

    def supported_backward_dtypes(self, device: str) -> Any:
        """None: gradients are made above operators."""
        return frozenset()

    def sample_inputs_func(
        self, info: object, device: str, dtype: torch.dtype, requires_grad: bool = False
    ) -> Iterator[_Given]:
        """What each sample of the op calls the operator with; `info` is this itself, as of any entry."""
        backward = _BACKWARD in str(self.op)
        wanted = backward and self._info.supports_autograd and dtype in self._info.supported_backward_dtypes(device)
        samples = sample_inputs(self._info, dtype, differentiable=wanted)
        for number, sample in enumerate(samples):
            if number == MOST_RUNS:
                return
            # What the op itself refuses is no sample of an operator below it.
            with contextlib.suppress(Exception), _Capture(self.op) as capture:
                result = self._info.op(sample.input, *sample.args, **sample.kwargs)
                if wanted:
                    _differentiate(result)
            yield from capture.seen


def _differentiate(result: Any) -> None:
    given = result if isinstance(result, (tuple, list)) else [result]
    leaves = [tensor for tensor in given if isinstance(tensor, torch.Tensor) and tensor.requires_grad]
    if leaves:
        torch.autograd.backward(leaves, [torch.rand_like(leaf) for leaf in leaves])


def captured(path: str, table: Iterable[Any]) -> Captured:
    """Samples of the operator at a path such as `ops.aten._softmax.default`. Raises TargetError where no op of the
    table that is named alike reaches it.
    """
    base, _, overload = path.removeprefix(OPERATORS).partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload)
    for info in _alike(base, [*table]):
        found = Captured(path, operator, info)
        dtypes = info.supported_dtypes("cpu")
        main = next((dtype for dtype in (torch.float32, torch.int64, torch.bool) if dtype in dtypes), None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if main is not None and next(sample_inputs(found, main, differentiable=False), None) is not None:
                return found
    raise TargetError(
        f"PyTorch has no samples that reach {path.removeprefix('ops.')}, but a kernel can be judged for any operator "
        "that an op of its table op_db of a like name calls [--like]"
    )


def _alike(base: str, table: Sequence[Any]) -> list[Any]:
    """Ops that are named as an operator is, the likest first: `softmax` for `_softmax_backward_data`."""
    stem = base.strip("_").removeprefix("native_").partition("_backward")[0]

    def last(info: Any) -> str:
        return str(info.name.rpartition(".")[2])

    same = [info for info in table if stem in (last(info), info.aten_name)]
    begun = [
        info for info in table if info not in same and (last(info).startswith(stem) or stem.startswith(last(info)))
    ]
    return [*same, *sorted(begun, key=lambda info: -len(last(info)))]


__all__ = ["Captured", "captured"]
