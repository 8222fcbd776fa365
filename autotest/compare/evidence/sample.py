"""A sample of a divergence's elements: what each side has at the value of an input, for a plot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.compare.mismatch import Mismatch
from autotest.compare.ulp import ulps
from autotest.compare.values import in_digits, short
from dual_object.program.values import Array

#: So many elements at most: half of them the worst, the others spread evenly over the values of the input.
MOST = 80


def sample(
    mismatch: Mismatch, inputs: Mapping[str, Array], where: str = "", dtype: str | None = None
) -> dict[str, object] | None:
    """Some elements in the order of the input's values, each with what is allowed there; None where none are real.

    `along` names the input: that which `where` speaks of, such as `gradient of x`, else the first real one of the
    compared shape; it is empty where there is none, and the expected value stands in its place. An element is
    `[input, expected, actual, allowed, ulp]`: allowed is the absolute error within the tolerance, ulp is None without a
    `dtype` that has units in the last place. Text stands for numbers that are not finite, as JSON has none.
    """
    expected, actual = mismatch.expected, mismatch.actual
    if expected.dtype.kind not in "iuf" or actual.dtype.kind not in "iuf" or not expected.size:
        return None
    along, values = _along(inputs, expected, where)
    flat = _places(mismatch, values)
    apart = None if dtype is None else ulps(expected, actual, dtype)
    rows = [
        [
            _plain(short(values.flat[place])),
            _plain(short(expected.flat[place])),
            _plain(short(actual.flat[place])),
            _allowed(mismatch, float(expected.flat[place])),
            None if apart is None else _plain(float(apart.flat[place])),
        ]
        for place in flat
    ]
    return {"along": along, "of": int(expected.size), "elements": rows}


def _along(inputs: Mapping[str, Array], expected: Array, where: str) -> tuple[str, Array]:
    """The input over whose values the elements are looked at, and its name."""
    fitting = {name: x for name, x in inputs.items() if x.shape == expected.shape and x.dtype.kind in "iuf"}
    named = {name: x for name, x in fitting.items() if where.endswith(f" {name}")}
    return next(iter([*named.items(), *fitting.items()]), ("", expected))


def _places(mismatch: Mismatch, values: Array) -> list[int]:
    """The flat indices of the sampled elements, by their value, NaN last."""
    order = np.argsort(np.asarray(values, np.float64), axis=None, kind="stable")
    if order.size <= MOST:
        return [int(place) for place in order]
    shape = mismatch.mask.shape
    worst = {int(np.ravel_multi_index(index, shape)) for index in mismatch.worst(MOST // 2)}
    others = [int(place) for place in order if int(place) not in worst]
    spread = {others[number] for number in np.linspace(0, len(others) - 1, MOST - len(worst)).astype(int).tolist()}
    return [int(place) for place in order if int(place) in worst or int(place) in spread]


def _allowed(mismatch: Mismatch, expected: float) -> float | None:
    """How far the other side may be off; None where the expected value is not finite."""
    allowed = mismatch.allowed.atol + mismatch.allowed.rtol * abs(expected)
    return in_digits(allowed) if math.isfinite(allowed) else None


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
