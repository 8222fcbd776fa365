"""One sample: the arguments of a call, and what it is tried for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Sample:
    """The arguments of one call.

    Attributes:
        role: what it is tried for: `plain`, `edges`, `magnitude`, `dtype`, `layout`, `size`, `shape`, `arguments` or
            `errors`.
        detail: and what of that, such as `NaN`, `float16` or `transposed`.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    role: str = "plain"
    detail: str = ""

    def tensors(self) -> list[torch.Tensor]:
        """Every tensor that is given."""
        return [leaf for leaf in leaves((self.args, self.kwargs)) if isinstance(leaf, torch.Tensor)]

    def places(self) -> list[tuple[int | str, Any]]:
        """Every argument, by its position or name."""
        return [*enumerate(self.args), *self.kwargs.items()]

    def changed(self, leaf: Callable[[Any], Any], role: str, detail: str) -> Sample:
        """With another role, and `leaf` applied to whatever is no tuple, list or dict. A row of numbers that goes up
        still does: ops that search in one say nothing of any other.
        """

        def kept(item: Any) -> Any:
            new = leaf(item)
            if not (goes_up(item) and isinstance(new, torch.Tensor) and new.dim() == 1):
                return new
            return item if new.isnan().any() else _sorted(new)

        return Sample(mapped(self.args, kept), mapped(self.kwargs, kept), role, detail)


def goes_up(item: Any) -> bool:
    """Whether something is a row of at least three numbers, none of which is less than the one before."""
    if not isinstance(item, torch.Tensor) or item.dim() != 1 or item.numel() < 3 or item.is_complex():
        return False
    return bool((item[1:] >= item[:-1]).all())


def _sorted(row: torch.Tensor) -> torch.Tensor:
    return row.detach().sort().values.requires_grad_(row.requires_grad)


def mapped(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """`tree` with `leaf` applied to whatever is no tuple, list or dict."""
    if isinstance(tree, dict):
        return {key: mapped(item, leaf) for key, item in tree.items()}
    if type(tree) in (tuple, list):
        return type(tree)(mapped(item, leaf) for item in tree)
    return leaf(tree)


def leaves(tree: Any) -> list[Any]:
    """Whatever of a tree is no tuple, of whatever type, list or dict, in its order."""
    found: list[Any] = []

    def look(leaf: Any) -> None:
        if isinstance(leaf, tuple):  # of a type of its own
            mapped([*leaf], look)
        else:
            found.append(leaf)

    mapped(tree, look)
    return found


def detached(leaf: Any) -> Any:
    """A tensor that needs no gradient; whatever else as it is."""
    return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf


def without_gradient(sample: Sample) -> Iterator[Sample]:
    """The same where nothing needs a gradient, for which many kernels have a faster way; nothing, where it is so."""
    if any(x.requires_grad for x in sample.tensors()):
        apart = {id(x): x.detach() for x in sample.tensors()}  # a tensor that is given twice stays one
        yield sample.changed(lambda leaf: apart.get(id(leaf), leaf), sample.role, f"{sample.detail}, without gradient")


def has_floats(sample: Sample) -> bool:
    """Whether a tensor of several floating numbers is given."""
    return any(x.is_floating_point() and x.numel() > 1 for x in sample.tensors())


def floats(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any], Any]:
    """Changes floating tensors; what needs a gradient still does."""

    def leaf(item: Any) -> Any:
        if not isinstance(item, torch.Tensor) or not item.is_floating_point():
            return item
        return change(item.detach()).requires_grad_(item.requires_grad)

    return leaf


def on_one(sample: Sample, turn: int, change: Callable[[torch.Tensor], torch.Tensor], role: str, detail: str) -> Sample:
    """One floating tensor of a sample changed, the one at `turn`."""
    seen = -1

    def leaf(item: Any) -> Any:
        nonlocal seen
        if not isinstance(item, torch.Tensor):
            return item
        seen += 1
        if seen != turn or not item.is_floating_point() or not item.numel():
            return item
        return change(item.detach()).requires_grad_(item.requires_grad)

    return sample.changed(leaf, role, detail)


def near_one(x: torch.Tensor) -> torch.Tensor:
    """The same, so near to one that products of many neither overflow nor vanish."""
    return 1 + x / 64


def every_tensor(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any], Any]:
    """Changes tensors that have elements; what needs a gradient still does."""

    def leaf(item: Any) -> Any:
        if not isinstance(item, torch.Tensor) or not item.numel():
            return item
        changed = change(item.detach())
        return changed.requires_grad_(item.requires_grad)

    return leaf


def with_argument(sample: Sample, place: int | str, value: Any, detail: str, role: str = "arguments") -> Sample:
    """A sample with another argument at a position, or by a name."""
    if isinstance(place, str):
        return Sample(sample.args, {**sample.kwargs, place: value}, role, detail)
    return Sample((*sample.args[:place], value, *sample.args[place + 1 :]), sample.kwargs, role, detail)


def spread_over(plain: Sequence[Sample], count: int, fits: Callable[[Sample], bool]) -> list[Sample]:
    """Samples that fit, spread over all of them."""
    return spread([sample for sample in plain if fits(sample)], count)


def spread(samples: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many, from the first to the last."""
    if len(samples) <= most:
        return [*samples]
    return [samples[round(i * (len(samples) - 1) / max(most - 1, 1))] for i in range(most)]
