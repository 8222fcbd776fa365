"""A sample of a divergence's elements, over the values of an input."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from autotest.compare.evidence.sample import MOST, sample
from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import Tolerance

NAN, INF = math.nan, math.inf


def floats(*values: float) -> Any:
    """A vector of float32."""
    return np.array(values, np.float32)


def between(expected: Any, actual: Any) -> Mismatch:
    """Two arrays, with a tolerance."""
    return Mismatch.of(expected, actual, Tolerance(0.5, 0.25))


def test_elements() -> None:
    """In the order of the input: its value, both sides, what is allowed there, the distance; text is not finite."""
    mismatch = between(floats(2.0, 1.0, NAN, INF, 0.1), floats(2.5, 1.0, 0.0, 3.0, 0.1))
    found = sample(mismatch, {"x": floats(3.0, -1.0, NAN, INF, 0.3)}, "t0", "float32")
    assert found == {
        "along": "x",
        "of": 5,
        "elements": [
            [-1.0, 1.0, 1.0, 0.75, 0.0],
            [0.3, 0.1, 0.1, 0.3, 0.0],
            [3.0, 2.0, 2.5, 1.25, 2.0**21],
            ["inf", "inf", 3.0, None, "inf"],
            ["nan", "nan", 0.0, None, "inf"],
        ],
    }
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("inputs", "where", "along"),
    [
        ({"x": floats(1, 2), "y": floats(3, 4)}, "t0", "x"),
        ({"x": floats(1, 2), "y": floats(3, 4)}, "gradient of y", "y"),
        ({"x": floats(1, 2, 3), "y": floats(3, 4)}, "gradient of x", "y"),
        ({"x": np.array([1j, 2j])}, "t0", ""),
        ({}, "t0", ""),
    ],
)
def test_input(inputs: Any, where: str, along: str) -> None:
    """The input that the difference is about, else the first real one of its shape, else the expected values."""
    found = sample(between(floats(5, 6), floats(5, 9)), inputs, where)
    assert found is not None
    assert found["along"] == along
    values = inputs[along] if along else floats(5, 6)
    elements: Any = found["elements"]
    assert [element[0] for element in elements] == values.tolist()
    assert [element[4] for element in elements] == [None, None]


def test_bounded() -> None:
    """Of many elements half are the worst ones, the others lie evenly over the input."""
    x = np.arange(10_000, dtype=np.float32)
    actual = np.zeros_like(x)
    actual[7000:7005] = [5, 4, 3, 2, 1]
    found = sample(between(np.zeros_like(x), actual), {"x": x})
    assert found is not None
    elements: Any = found["elements"]
    inputs = [element[0] for element in elements]
    assert (len(inputs), found["of"]) == (MOST, 10_000)
    assert inputs == sorted(inputs)
    assert {7000.0, 7001.0, 7002.0, 7003.0, 7004.0} <= set(inputs)
    assert (inputs[0], inputs[-1]) == (0.0, 9999.0)
    assert max(np.diff(inputs)) < 150


@pytest.mark.parametrize("values", [np.array([1j]), np.array([True]), np.zeros((0,), np.float32)])
def test_nothing_to_plot(values: Any) -> None:
    """Complex numbers, truth values and nothing at all have no place on an axis."""
    other = values.copy() if values.dtype.kind != "b" else ~values
    assert sample(between(values, other), {}) is None
