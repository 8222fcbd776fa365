"""Closeness: numbers that lie close together beside their size, such as 0.9, 0.91 and 0.92.

A variance that is the mean of squares less the square of the mean cancels there: it is wrong by rounding alone, and is
right wherever numbers lie apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dual_object.program.calls import Input
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter
from dual_object.replay.replay import Replay
from generators import fill_values
from generators.layouts import expand_values

#: Numbers lie close together where they deviate by no more than this share of the greatest of them.
SHARE = 1 / 8


def lies_close(x: Input) -> bool:
    """Whether some numbers of an input lie close together: those along one dimension, all of them, or all that have the
    same place in one dimension, as a channel has.
    """
    if x.data.dtype.kind != "f" or not np.isfinite(x.data).all():
        return False
    data = x.data.astype(np.float64)
    return any(bool(_close(data, axes).any()) for axes in _axes(data))


def _axes(data: Array) -> Iterator[tuple[int, ...]]:
    """Along which dimensions numbers are taken together: of those with more than one."""
    dims = [dim for dim, length in enumerate(data.shape) if length > 1]
    if data.size:
        yield from {*((dim,) for dim in dims), *(tuple({*dims} - {dim}) for dim in dims), tuple(dims)} - {()}


def _close(data: Array, axes: tuple[int, ...]) -> Array:
    """Which groups lie close together; zeros, which have no size, do not."""
    size = np.abs(data).max(axes, keepdims=True)
    shares = data / np.where(size > 0, size, 1)  # a square of the greatest number leaves the range
    close: Array = (shares.std(axes, keepdims=True) <= SHARE) & (size > 0)
    return close


def spread(reference: Adapter, program: Program) -> Program | None:
    """The Program with great and small numbers by turns in place of those inputs of which some lie close together:
    [0.9, 0.91, 0.92] may be [0.87, 0.2, 0.81]. An input with numbers of both signs has them by turns. None where the
    reference then gives what is not finite.
    """
    apart = replace(program, inputs=[_spread(x) if lies_close(x) else x for x in program.inputs])
    shown = Replay(reference, apart, side="reference").run()
    seen = [*shown.outputs.values(), *filter(None, shown.gradients.values())]
    return apart if all(np.isfinite(one.data).all() for one in seen if one.data.dtype.kind in "fc") else None


def _spread(x: Input) -> Input:
    share = fill_values("uniform", x.seed or 0, x.data.shape, "float64", 0.75, 1)
    odd = np.indices(x.data.shape).sum(axis=0) % 2 == 1
    least, greatest = float(x.data.min()), float(x.data.max())
    # The greatest stays as great as it was, for what shows beyond a size; and nothing leaves the range that there was,
    # for an op may be defined on one side of zero alone.
    size = max(abs(least), abs(greatest)) * np.minimum(share / share[~odd].max(), 1)
    values = (
        np.where(odd, -size, size) if least < 0 < greatest else np.where(odd, size / 4, size) * np.sign(greatest or -1)
    )
    data = values.astype(x.data.dtype)
    return replace(x, data=expand_values(data, x.strides) if x.strides is not None and 0 in x.strides else data)


__all__ = ["lies_close", "spread"]
