"""Watching: what PyTorch's own code calls, by the names that people call it by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from dual_object.adapters.torch.adapter import Adapter
from dual_object.replay.adapter import Made, Watched

functional = torch.nn.functional


def watch(adapter: Adapter, run: Callable[[], Any]) -> Watched:
    """What is seen while something runs."""
    with adapter.watching() as seen:
        run()
    return seen


def x() -> torch.Tensor:
    """Any matrix."""
    return torch.ones(2, 3)


CALLS: dict[str, tuple[Callable[[torch.Tensor], Any], list[tuple[str, str]]]] = {
    "a function of torch": (lambda x: torch.relu(x), [("function", "relu")]),
    "one that Python wraps": (lambda x: torch.split(x, 1), [("function", "split")]),
    "a functional, not what it calls": (lambda x: functional.tanhshrink(x), [("function", "nn.functional.tanhshrink")]),
    "one of C by another name": (lambda x: functional.logsigmoid(x), [("function", "nn.functional.logsigmoid")]),
    "pooling with indices": (
        lambda x: functional.max_pool1d(x, 2, return_indices=True),
        [("function", "nn.functional.max_pool1d")],
    ),
    "a recurrent function": (
        lambda x: torch._VF.rnn_tanh_cell(x, torch.ones(2, 4), torch.ones(4, 3), torch.ones(4, 4)),
        [("function", "ones")] * 3 + [("function", "rnn_tanh_cell")],
    ),
    "what makes a tensor": (lambda x: torch.zeros(2), [("function", "zeros")]),
    "a method": (lambda x: x.transpose(0, 1), [("method", "transpose")]),
    "a method in place": (lambda x: x.add_(1), [("method", "add_")]),
    "infix operators": (lambda x: (x + 1) @ x.T, [("method", "add"), ("get", "T"), ("method", "matmul")]),
    "swapped operands": (lambda x: (1 - x, 2 / x), [("operator", "sub"), ("operator", "truediv")]),
    "words of Python's": (lambda x: (x > 0) | ~(x == 1), [
        *(("method", "gt"), ("operator", "eq"), ("operator", "invert"), ("operator", "or_")),
    ]),
    "indices": (lambda x: x[0], [("operator", "getitem")]),
    "writing at indices": (lambda x: x.__setitem__(0, 1.0), [("operator", "setitem")]),
    "what tells no values": (lambda x: (x.shape, x.dtype, x.size(0), len(x), x.is_contiguous()), []),
    "what has no tensor": (lambda x: torch.is_grad_enabled(), []),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_names(name: str, reference: Adapter) -> None:
    """Each call has the kind and op that a Program would have it by."""
    run, expected = CALLS[name]
    tensor = x()
    seen = watch(reference, lambda: run(tensor))
    assert seen.obstacle is None
    assert [(made.kind, made.op) for made in seen.made] == expected


OBSTACLES: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "item": (lambda x: x.sum().item(), "reads values to Python by Tensor.item"),
    "bool": (lambda x: bool(x.all()), "reads values to Python by Tensor.__bool__"),
    "equal": (lambda x: torch.equal(x, x), "reads values to Python by equal"),
    "an attribute": (lambda x: x.grad, "reads grad of a tensor"),
    "setting one": (lambda x: setattr(x, "data", x), "sets data of a tensor"),
    "a mode": (lambda x: torch.no_grad().__enter__(), "switches a mode by _set_grad_enabled"),
    "out": (lambda x: torch.add(x, x, out=x), "calls add with out="),
    "no public name": (lambda x: torch._C._nn.hardswish(x), "calls hardswish, which has no public name"),
    "a private method": (lambda x: x._neg_view(), "calls Tensor._neg_view, which has no public name"),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_obstacles(name: str, reference: Adapter) -> None:
    """What no call of a Program tells is told in words; what follows it is not watched."""
    run, reason = OBSTACLES[name]
    tensor = x()
    with torch.set_grad_enabled(True):
        seen = watch(reference, lambda: (run(tensor), torch.relu(tensor)))
    assert seen.obstacle == reason
    assert ("function", "relu") not in [(made.kind, made.op) for made in seen.made]


def test_operands(reference: Adapter) -> None:
    """Operands that Python swaps are as people write them; keywords that say what is so anyway are left out."""
    tensor = x()
    seen = watch(reference, lambda: (1 - tensor, functional.softmax(tensor, dim=1), torch.nn.ReLU()(tensor)))
    minus, softmax, relu = seen.made
    assert (minus.args[0], minus.args[1] is tensor) == (1, True)
    assert softmax.kwargs == {"dim": 1}
    assert relu.kwargs == {}
    assert isinstance(relu.result, torch.Tensor)


def test_raised(reference: Adapter) -> None:
    """A call that raises is seen with what it raises."""
    with pytest.raises(RuntimeError), reference.watching() as seen:
        functional.linear(x(), x().T)
    [*_, made] = seen.made
    assert (made.op, made.result, type(made.raised)) == ("nn.functional.linear", None, RuntimeError)


@pytest.mark.parametrize("weights", [True, False])
def test_attention_is_opened(weights: bool, reference: Adapter) -> None:
    """Of attention its parts are seen, and it gives what it gives unwatched."""
    attention = torch.nn.MultiheadAttention(4, 2)
    tensor = torch.randn(3, 2, 4)
    expected, _ = attention(tensor, tensor, tensor, need_weights=weights)
    seen: list[Made] = watch(reference, lambda: attention(tensor, tensor, tensor, need_weights=weights)).made
    ops = [made.op for made in seen]
    assert "nn.functional.multi_head_attention_forward" not in ops
    assert ("bmm" in ops, "nn.functional.scaled_dot_product_attention" in ops) == (weights, not weights)
    given = next(made.result for made in reversed(seen) if getattr(made.result, "shape", None) == expected.shape)
    assert torch.equal(given, expected)


def test_a_loss_with_a_function_is_opened(reference: Adapter) -> None:
    """What the function computes is seen."""
    loss = torch.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(1))
    tensor = x()
    ops = [made.op for made in watch(reference, lambda: loss(tensor, tensor + 1, tensor - 1)).made]
    assert ops.count("abs") == 2
    assert not any("triplet" in op for op in ops)
