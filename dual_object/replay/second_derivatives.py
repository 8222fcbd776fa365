"""Second derivatives: the first gradients differentiated again, each from a cotangent of its own.

Both backwards accumulate into the leaves, for OneFlow 0.9.0's `autograd.grad` has no `allow_unused` and refuses a
leaf that plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter
from dual_object.replay.gradients import Tape
from dual_object.replay.observation import Seen

#: Gives the cotangent of a leaf's first gradient, by the leaf's dtype and shape.
SecondDraw = Callable[[str, "tuple[int, ...]"], Array]


def draw_second(adapter: Adapter, leaves: Mapping[str, Any], draw: SecondDraw) -> dict[str, Array]:
    """A cotangent for whatever first gradient the leaves may get, by leaf key."""
    cotangents: dict[str, Array] = {}
    for key, leaf in leaves.items():
        dtype, shape, _, requires_grad = adapter.describe(leaf)
        if requires_grad and adapter.place(leaf)[2]:
            cotangents[key] = draw(dtype, shape)
    return cotangents


def differentiable_again(cotangents: Mapping[str, Array], gradients: Mapping[str, Seen | None]) -> dict[str, Array]:
    """The cotangents of those first gradients that are there and require a gradient themselves."""
    differentiable: dict[str, Array] = {}
    for key, cotangent in cotangents.items():
        gradient = gradients.get(key)
        if gradient is not None and gradient.requires_grad:
            differentiable[key] = cotangent
    return differentiable


def differentiate(
    adapter: Adapter,
    tape: Tape,
    leaves: Mapping[str, Any],
    gradients: Mapping[str, Any],
    cotangents: Mapping[str, Array],
) -> dict[str, Any]:
    """The second derivatives of the leaves that have a gradient, None where one has no second.

    `gradients` are those of a backward that made a graph; the leaves hold the second derivatives afterwards. Raises
    whatever the framework raises.
    """
    held = {key: leaf for key, leaf in leaves.items() if gradients.get(key) is not None}
    starts = {key: array for key, array in cotangents.items() if key in held and adapter.describe(gradients[key])[3]}
    for leaf in held.values():
        tape.forget_gradient(leaf)
    if starts:
        tape.backward([gradients[key] for key in starts], list(starts.values()))
    return {key: tape.gradient(leaf) for key, leaf in held.items() if adapter.place(leaf)[2]}
