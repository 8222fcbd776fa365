"""The other ways to call an entry's op: as a method, in place, under another name, with nothing but what it needs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch as pytorch
from entries import SWAPPED, Entry, as_inputs, copied, leaves, public, replaced
from rows import Args
from signatures import least

from autotest import torch


@dataclass(frozen=True)
class Way:
    """A call of a sample's op: `spelled` as users type it, with all arguments or only those that it needs."""

    spelled: str
    index: int
    drawn: Args

    def call(self, root: Any, change: Callable[[Any], Any]) -> Any:
        """Call it below `root`, its tensors as `change` has replaced them."""
        args, kwargs = change(self.drawn.args), change(self.drawn.kwargs)
        home, _, name = self.spelled.partition(".")
        if home == "torch":
            return functools.reduce(getattr, name.split("."), root)(*args, **kwargs)
        # PyTorch refuses to write to a leaf that needs a gradient.
        first = args[0].clone() if name.endswith("_") else args[0]
        return getattr(first, name)(*args[1:], **kwargs)

    def run(self) -> Any:
        """Make the call through the dual root."""
        return self.call(torch, as_inputs())


@functools.lru_cache(maxsize=1)  # the cases of one test follow each other
def ways(entry: Entry) -> tuple[Way, ...]:
    """All other ways to call an entry that PyTorch takes: with its first sample, and the one of the most arguments."""
    usable = sorted((*entry.plan.eager, *entry.plan.in_graph))
    found: dict[tuple[Any, ...], Way] = {}
    for index in dict.fromkeys([*usable[:1], *sorted(usable, key=lambda index: -_given(entry, index))[:1]]):
        for way in _ways(entry, index):
            seen = way.spelled, len(way.drawn.args), tuple(way.drawn.kwargs), index
            if seen not in found and _taken(way):
                found[seen] = way
    return tuple(found.values())


def spellings(entry: Entry) -> Iterator[str]:
    """The function and its aliases, the methods, the methods that write in place."""
    for info in (entry.info, *entry.info.aliases):
        name = info.name.removeprefix("torch.")
        if entry.name not in SWAPPED and public(pytorch, name) is not None:
            yield f"torch.{name}"
        for method in (info.method_variant, info.inplace_variant):
            name = getattr(method, "__name__", "")
            if name and hasattr(pytorch.Tensor, name) and not name.startswith("__"):
                yield f"Tensor.{name}"


def _given(entry: Entry, index: int) -> int:
    sample = entry.sample(index)
    return len(sample.args) + len(sample.kwargs)


def _ways(entry: Entry, index: int) -> Iterator[Way]:
    sample = entry.sample(index)
    drawn = Args((sample.input, *sample.args), dict(sample.kwargs))
    for spelled in dict.fromkeys(spellings(entry)):
        if spelled != f"torch.{entry.name}":  # that is how the samples are called anyway
            yield Way(spelled, index, drawn)
        fewest = least(spelled, drawn)
        if fewest is not None:
            yield Way(spelled, index, fewest)


def _taken(way: Way) -> bool:
    """Whether PyTorch takes the call; what is random, or refused, is none to compare."""
    before = pytorch.random.get_rng_state()
    try:
        results = leaves(way.call(pytorch, functools.partial(replaced, copied)))
        starts = [item for item in results if isinstance(item, pytorch.Tensor) and item.requires_grad]
        if starts:
            pytorch.autograd.backward(starts, [pytorch.ones_like(start) for start in starts])
    except Exception:  # whatever it says: another sample may do
        return False
    return pytorch.equal(before, pytorch.random.get_rng_state())
