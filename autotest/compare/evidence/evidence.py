"""Evidence: what shows a divergence to people, as plain data for the records and the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autotest.compare.difference import Difference, Part
from autotest.compare.evidence.sample import sample
from autotest.compare.evidence.whole import whole
from autotest.compare.kinds import in_graph
from autotest.compare.mismatch import Mismatch
from autotest.compare.ulp import ulps
from autotest.compare.values import GREATEST, in_digits, short
from dual_object.program.values import Array
from dual_object.replay.observation import Observation, Seen

#: So many of the worst elements are kept, ...
WORST = 10
#: ... and the map of errors has at most so many rows and columns; a greater tensor is shown in blocks.
MAP_ROWS = 24
MAP_COLUMNS = 48
#: Bins of the histogram: 0, 1, 2-3, 4-7 ... ULP; the last one takes what is farther than a quarter of all float32
#: numbers.
LAST_BIN = 31


@dataclass(slots=True)
class Sides:
    """What the reference, the eager target and the target's graph showed of one Program, as far as they have run."""

    reference: Observation | None = None
    eager: Observation | None = None
    graph: Observation | None = None


def part_of(observation: Observation | None, part: Part, key: str) -> Seen | None:
    """The tensor of an observation that a difference is about, None where it has none."""
    if observation is None:
        return None
    if part == "output":
        return observation.outputs.get(int(key)) if key else None
    if part == "gradient":
        return observation.gradients.get(key)
    if part == "second":
        return observation.second.get(key)
    if part == "buffer":
        return observation.buffers.get(key)
    return None


def evidence(difference: Difference, sides: Sides, inputs: Mapping[str, Array] | None = None) -> dict[str, object]:
    """The facts of all sides, the difference in words, its worst elements, small tensors whole, map and histogram of
    errors, and a sample of elements over the values of one of the `inputs`, which have names.

    All are empty or None where the difference is not one of tensors. Values are those of the side that diverges: the
    graph's in a graph phase, else eager's.
    """
    tensors = _three(difference, sides)
    record: dict[str, object] = {"facts": _facts(tensors), "words": [], "worst": []}
    record |= dict.fromkeys(("heat", "histogram", "sample", "whole"))
    expected, actual = difference.expected, difference.actual
    if expected is None or actual is None:
        return record
    mismatch = difference.mismatch
    if mismatch is None:
        record["words"] = _broadcast_words(expected, actual)
        return record
    record["words"] = _words(mismatch)
    if mismatch.mask.any():
        countable = expected.dtype == actual.dtype and expected.data.dtype.kind in "fc"
        record["worst"] = _worst(mismatch, tensors, expected.dtype if countable else None)
        record["whole"] = whole(mismatch, tensors)
        record["heat"] = heat(expected.data, actual.data)
        record["sample"] = sample(mismatch, inputs or {}, difference.where, expected.dtype if countable else None)
        if countable:
            record["histogram"] = histogram(ulps(expected.data, actual.data, expected.dtype))
    return record


def _three(difference: Difference, sides: Sides) -> tuple[Seen | None, Seen | None, Seen | None]:
    """The compared tensor on the reference, on the eager target and in its graph."""
    tensors = [part_of(side, difference.part, difference.key) for side in (sides.reference, sides.eager, sides.graph)]
    reference, eager, graph = tensors
    if in_graph(difference.phase):
        # The expected side of a graph is eager where that is sound: only what nobody else knows is taken from there.
        return reference, eager, graph or difference.actual
    return reference or difference.expected, eager or difference.actual, graph


def _facts(tensors: Sequence[Seen | None]) -> list[list[str | None]]:
    """Rows of a name and what each side has: dtype and shape, and what else differs or is out of the ordinary."""
    if all(tensor is None for tensor in tensors):
        return []
    rows: list[list[str | None]] = []
    for name, text_of, always in (
        ("dtype", lambda tensor: tensor.dtype, True),
        ("shape", lambda tensor: str(tuple(tensor.shape)), True),
        ("device", lambda tensor: tensor.device, False),
        ("requires_grad", lambda tensor: str(tensor.requires_grad), False),
        ("strides", lambda tensor: "" if tensor.strides is None else str(tensor.strides), False),
        ("NaN", lambda tensor: _count(np.isnan, tensor.data), False),
        ("infinite", lambda tensor: _count(np.isinf, tensor.data), False),
        ("least", lambda tensor: _extreme(np.min, tensor.data), True),
        ("greatest", lambda tensor: _extreme(np.max, tensor.data), True),
    ):
        texts = [None if tensor is None else text_of(tensor) for tensor in tensors]
        distinct = {text for text in texts if text is not None}
        ordinary = {"cpu", "0", ""}
        if (always and distinct - {""}) or len(distinct) > 1 or (name != "requires_grad" and distinct - ordinary):
            rows.append([name, *(text or None for text in texts)])
    return rows


def _count(test: Any, data: Array) -> str:
    return str(int(test(data).sum())) if data.dtype.kind in "fc" else "0"


def _extreme(choose: Any, data: Array) -> str:
    """The least or greatest finite element, of real tensors that have one."""
    if data.dtype.kind not in "iuf":
        return ""
    finite = data[np.isfinite(data)]
    return f"{short(choose(finite))}" if finite.size else ""


def _broadcast_words(expected: Seen, actual: Seen) -> list[str]:
    try:
        np.broadcast_shapes(expected.shape, actual.shape)
    except ValueError:
        return [f"shapes {tuple(actual.shape)} and {tuple(expected.shape)} do not broadcast"]
    return [f"shape {tuple(actual.shape)} broadcasts with {tuple(expected.shape)}, but is another shape"]


def _words(mismatch: Mismatch) -> list[str]:
    """How many elements differ, then what a number alone does not say, such as `1 of 4 elements is NaN where the
    expected value is a number`.
    """
    # A zero of the other sign is not beyond the tolerance: it has words of its own.
    expected, actual, wrong = mismatch.expected, mismatch.actual, mismatch.beyond
    words = [f"{_of(wrong)} differ beyond the tolerance"] if wrong.any() else []
    if not (expected.dtype.kind in "fc" and actual.dtype.kind in "fc"):
        return words
    for count, what in (
        (np.isnan(actual) & ~np.isnan(expected), "NaN where the expected value is a number"),
        (~np.isnan(actual) & np.isnan(expected), "a number where the expected value is NaN"),
        (np.isinf(actual) & np.isfinite(expected), "infinite where the expected value is finite"),
        (np.isfinite(actual) & np.isinf(expected), "finite where the expected value is infinite"),
    ):
        if count.any():
            words.append(f"{_of(count)} {'is' if count.sum() == 1 else 'are'} {what}")
    if expected.dtype.kind == actual.dtype.kind == "f":
        signs = np.signbit(expected) != np.signbit(actual)
        for count, what in (
            (signs & np.isinf(expected) & np.isinf(actual), "infinite with the other sign"),
            (signs & (expected == 0) & (actual == 0), "zero with the other sign"),
            (signs & wrong & np.isfinite(expected) & np.isfinite(actual) & (actual != 0), "of the other sign"),
        ):
            if count.any():
                words.append(f"{_of(count)} {'is' if count.sum() == 1 else 'are'} {what}")
    if wrong.any() and not np.any(actual) and np.any(expected):
        words.append("every element is zero")
    return words


def _of(chosen: Array) -> str:
    return f"{int(chosen.sum()):,} of {chosen.size:,} {'element' if chosen.size == 1 else 'elements'}"


def _worst(mismatch: Mismatch, tensors: Sequence[Seen | None], dtype: str | None) -> list[Mapping[str, object]]:
    """The worst elements as plain numbers; NaN and infinities as text, for JSON has none. `dtype`: None where there are
    no units in the last place.
    """
    rows: list[Mapping[str, object]] = []
    expected, actual = mismatch.expected, mismatch.actual
    for index in mismatch.worst(WORST):
        sides = [
            tensor.data[index] if tensor is not None and tensor.shape == expected.shape else None for tensor in tensors
        ]
        apart = None if dtype is None else float(ulps(expected[index], actual[index], dtype))
        rows.append(
            {
                "index": list(index),
                **{
                    side: None if value is None else _plain(short(value))
                    for side, value in zip(("reference", "eager", "graph"), sides, strict=True)
                },
                "absolute": _plain(mismatch.absolute(index)),
                "relative": _plain(mismatch.relative(index)),
                "ulp": _plain(apart),
            }
        )
    return rows


def heat(expected: Array, actual: Array) -> dict[str, object] | None:
    """|actual - expected| as a map of at most 24 x 48 plain numbers; None for a tensor without dimensions or elements.

    The last dimension runs along the columns, all others together along the rows: shape (2, 3, 5) gives 6 rows and 5
    columns. A greater tensor is cut into blocks, each shown by its greatest error. The text `not finite` stands where
    only one side is finite, or both are infinities of opposite signs.
    """
    if expected.ndim == 0 or expected.size == 0:
        return None
    left, right = (np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in (expected, actual))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(right - left)
    error[(left == right) | (np.isnan(left) & np.isnan(right))] = 0.0
    apart = np.isfinite(left) & np.isfinite(right)
    error[~np.isfinite(error)] = np.inf
    error[apart] = np.minimum(error[apart], GREATEST)  # farther apart than any number is great
    grid = error.reshape(-1, expected.shape[-1])
    high, wide = (-(-size // most) for size, most in zip(grid.shape, (MAP_ROWS, MAP_COLUMNS), strict=True))
    blocks = np.maximum.reduceat(
        np.maximum.reduceat(grid, range(0, grid.shape[0], high), 0), range(0, grid.shape[1], wide), 1
    )
    note = "" if high == wide == 1 else f"each cell is the greatest error of a {high} x {wide} block"
    return {
        "shape": list(expected.shape),
        "rows": blocks.shape[0],
        "columns": blocks.shape[1],
        "cells": [["not finite" if math.isinf(x) else in_digits(x) for x in row] for row in blocks.tolist()],
        "note": note,
    }


def histogram(distances: Array) -> list[list[object]]:
    """How many elements are how many units in the last place (ULP) apart, in bins that double in width, up to the last
    one that holds any: distances of 0, 1, 3 and 3 give `[["0", 1], ["1", 1], ["2-3", 2]]`.
    """
    flat = distances.reshape(-1)
    flat = np.where(np.isnan(flat), 0.0, flat)  # NaN where NaN is due
    finite = flat[np.isfinite(flat)]
    bins = np.where(finite < 1, 0, np.floor(np.log2(np.maximum(finite, 1))) + 1).astype(np.int64)
    counts = np.bincount(np.minimum(bins, LAST_BIN), minlength=1).tolist()
    rows: list[list[object]] = [[_bin(number), count] for number, count in enumerate(counts)]
    beyond = flat.size - finite.size
    return [*rows, ["not finite", beyond]] if beyond else rows


def _bin(number: int) -> str:
    if number < 2:
        return str(number)
    low = 2 ** (number - 1)
    return f"{low:,} or more" if number == LAST_BIN else f"{low:,}-{2 * low - 1:,}"


def _plain(value: Any) -> Any:
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
