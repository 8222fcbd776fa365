"""Samples whose tensors look otherwise: special values among theirs, of another dtype, lying otherwise in memory.

PyTorch's own samples are of one dtype, nearly all contiguous, and of values that no kernel treats apart.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch as pytorch
from entries import Entry, leaves, obstacle, replaced
from looks import lying, with_corners

#: Values of the first tensor of a sample.
FIRST = ("nan", "infinite", "nothing", "great", "ties")
#: Values of its last one, where that is another.
LAST = ("nan", "infinite", "zeros")
#: Dtypes of all of them.
DTYPES = ("float16", "bfloat16", "complex64", "int64", "uint8")
#: Dtypes of the last one alone.
BESIDE = ("float64", "int64")
#: How all of them lie, and of which dtype floats are where they do.
LYING = {"transposed": "float64", "strided": "float32"}
#: What ends PyTorch's own process.
ENDING = {
    "lcm": "PyTorch ends its process on the least integer",
    "linalg.eigvals": "PyTorch ends its process on a matrix that has a NaN",
}


@dataclass(frozen=True)
class Variant:
    """A look: its id, and what becomes of a tensor by whether it is the first and the last of a sample."""

    id: str
    change: Callable[[pytorch.Tensor, bool, bool], pytorch.Tensor]

    def of(self, tree: Any, dtype: pytorch.dtype) -> Any:
        """The tree with its tensors of a dtype as they look here; None where they look so already. One that is there
        twice stays one.
        """
        own = [leaf for leaf in leaves(tree) if isinstance(leaf, pytorch.Tensor) and leaf.dtype == dtype]
        tensors = {id(leaf): leaf for leaf in own}
        changed = {
            number: _like(tensor, self.change(tensor.detach(), not place, place == len(tensors) - 1))
            for place, (number, tensor) in enumerate(tensors.items())
        }
        if all(_same(tensors[number], tensor) for number, tensor in changed.items()):
            return None
        return replaced(lambda leaf: changed.get(id(leaf), leaf), tree)


@dataclass(frozen=True)
class Sample:
    """A sample of an op as OpInfo has them."""

    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def variants() -> Iterator[Variant]:
    """Every look, each of a single thing."""
    for values in FIRST:
        yield Variant(f"first-{values}", functools.partial(_valued, values, last=False))
    for values in LAST:
        yield Variant(f"last-{values}", functools.partial(_valued, values, last=True))
    yield Variant("first-ends-float64", _with_ends)
    for name in DTYPES:
        yield Variant(name, functools.partial(_of_dtype, name))
    for name in BESIDE:
        yield Variant(f"last-{name}", functools.partial(_beside, name))
    for layout, name in LYING.items():
        yield Variant(layout, functools.partial(_lying, layout, name))


@functools.lru_cache(maxsize=1)  # the cases of one test follow each other
def looks(entry: Entry) -> tuple[Sample, ...]:
    """The sample of an entry that has the most arguments, of these the greatest, in every look in which PyTorch takes
    it and gives the same twice.
    """
    usable = sorted((*entry.plan.eager, *entry.plan.in_graph))
    if not usable:
        return ()
    assert entry.plan.dtype is not None
    sample = max(map(entry.sample, usable), key=lambda sample: weight((sample.input, sample.args, sample.kwargs)))
    made = (
        variant.of((sample.input, tuple(sample.args), dict(sample.kwargs)), entry.plan.dtype) for variant in variants()
    )
    looking = (Sample(*tree) for tree in made if tree is not None)
    return tuple(look for look in looking if not obstacle(entry, look))


def weight(tree: Any) -> tuple[int, int]:
    """How many arguments a call has, and how many elements its tensors."""
    given = leaves(tree)
    return len(given), sum(leaf.numel() for leaf in given if isinstance(leaf, pytorch.Tensor))


def _valued(values: str, tensor: pytorch.Tensor, first: bool, is_last: bool, *, last: bool) -> pytorch.Tensor:
    if (first if last else not first) or (last and not is_last):
        return tensor
    flat = with_corners(tensor.flatten().tolist(), tensor.dtype, values)
    return pytorch.tensor(flat, dtype=tensor.dtype).reshape(tensor.shape)


def _with_ends(tensor: pytorch.Tensor, first: bool, last: bool) -> pytorch.Tensor:
    """In float64, infinities and the greatest numbers among the first ones: those of float32 are neither."""
    wide = tensor.double() if tensor.is_floating_point() else tensor
    if not (first and wide.is_floating_point()):
        return wide
    ends = pytorch.finfo(pytorch.float64)
    flat = [math.inf, ends.max, -math.inf, ends.min][: wide.numel()] + wide.flatten().tolist()[4:]
    return pytorch.tensor(flat, dtype=pytorch.float64).reshape(wide.shape)


def _of_dtype(name: str, tensor: pytorch.Tensor, first: bool, last: bool) -> pytorch.Tensor:
    dtype = getattr(pytorch, name)
    if dtype.is_complex and not tensor.is_complex():
        # No two parts alike, and a zero.
        whole = pytorch.complex(tensor.float(), -tensor.float().flatten().roll(1).reshape(tensor.shape))
        return pytorch.where(pytorch.arange(whole.numel()).reshape(whole.shape) == 0, 0, whole)
    return (tensor if dtype.is_signed else tensor.abs()).to(dtype)


def _beside(name: str, tensor: pytorch.Tensor, first: bool, last: bool) -> pytorch.Tensor:
    return tensor.to(getattr(pytorch, name)) if last and not first else tensor


def _lying(layout: str, name: str, tensor: pytorch.Tensor, first: bool, last: bool) -> pytorch.Tensor:
    return lying(tensor.to(getattr(pytorch, name)) if tensor.is_floating_point() else tensor, layout)


def _like(tensor: pytorch.Tensor, changed: pytorch.Tensor) -> pytorch.Tensor:
    """What was made of a tensor, wanting a gradient where that does and this can."""
    able = changed.is_floating_point() or changed.is_complex()
    return changed.requires_grad_(True) if tensor.requires_grad and able else changed


def _same(left: pytorch.Tensor, right: pytorch.Tensor) -> bool:
    return left.dtype == right.dtype and left.stride() == right.stride() and left.equal(right)
