"""How many numbers of a dtype lie between two values."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from autotest.compare.ulp import ulps
from generators import round_to_bfloat16

NAN, INF = math.nan, math.inf
FLOATS = ("float16", "float32", "float64")


def apart(expected: Any, actual: Any, dtype: str = "float32") -> float:
    """The distance of two numbers."""
    held = {"bfloat16": "float32"}.get(dtype, dtype)
    return float(ulps(np.array(expected, held), np.array(actual, held), dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_neighbours(dtype: str) -> None:
    """Equal numbers are 0 apart, neighbours 1, at every size and on both sides of zero."""
    info = np.finfo(dtype)
    for value in (1.0, -1.0, 0.1, 1024.0, -0.3, float(info.tiny), -float(info.tiny), float(info.smallest_subnormal)):
        x = np.array(value, dtype)
        above = np.nextafter(x, np.array(INF, dtype))
        assert apart(x, x, dtype) == 0.0
        assert apart(x, above, dtype) == apart(above, x, dtype) == 1.0


@pytest.mark.parametrize("dtype", FLOATS)
def test_steps_of_nextafter(dtype: str) -> None:
    """From a random number, n steps of nextafter are n numbers away."""
    source = np.random.default_rng(0)
    for steps in (2, 7, 40):
        for start in source.normal(size=20) * 10.0 ** source.integers(-4, 4, size=20):
            x = y = np.array(start, dtype)
            for _ in range(steps):
                y = np.nextafter(y, np.array(INF, dtype))
            assert x > 0 or y < 0, "a walk across zero would be one step longer: nextafter knows one zero"
            assert apart(x, y, dtype) == steps


@pytest.mark.parametrize(
    ("dtype", "one"), [("float16", 0x3C00), ("bfloat16", 0x3F80), ("float32", 0x3F800000), ("float64", 0x3FF << 52)]
)
def test_distance_from_zero(dtype: str, one: int) -> None:
    """From 0.0 to 1.0 there are as many numbers as the bits of 1.0 say; -1.0 is as many and one zero more away."""
    assert apart(0.0, 1.0, dtype) == one
    # Beyond 2**53 a float64 holds the nearest that it has.
    assert apart(0.0, -1.0, dtype) == apart(-1.0, 0.0, dtype) == float(one + 1)
    assert apart(-1.0, 1.0, dtype) == float(2 * one + 1)


@pytest.mark.parametrize("dtype", [*FLOATS, "bfloat16"])
def test_zeros(dtype: str) -> None:
    """0.0 and -0.0 are neighbours."""
    assert apart(0.0, -0.0, dtype) == apart(-0.0, 0.0, dtype) == 1.0
    assert apart(-0.0, -0.0, dtype) == apart(0.0, 0.0, dtype) == 0.0


@pytest.mark.parametrize("dtype", FLOATS)
def test_across_zero_by_subnormals(dtype: str) -> None:
    """The smallest numbers on both sides of zero have two zeros between them."""
    small = np.finfo(dtype).smallest_subnormal
    assert apart(small, 0.0, dtype) == 1.0
    assert apart(small, -small, dtype) == 3.0
    tiny = np.finfo(dtype).tiny
    assert apart(tiny, 0.0, dtype) == float(tiny) / float(small)


@pytest.mark.parametrize("dtype", [*FLOATS, "bfloat16"])
@pytest.mark.parametrize(
    ("expected", "actual", "distance"),
    [
        (INF, INF, 0.0),
        (-INF, -INF, 0.0),
        (INF, -INF, INF),
        (INF, 1.0, INF),
        (1.0, -INF, INF),
        (NAN, 1.0, INF),
        (1.0, NAN, INF),
        (NAN, INF, INF),
        (NAN, NAN, NAN),
        (-NAN, NAN, NAN),
    ],
)
def test_what_is_not_finite(dtype: str, expected: float, actual: float, distance: float) -> None:
    """Equal infinities are 0 apart; anything else beside an infinity or NaN is infinitely far; two NaNs are neither."""
    assert repr(apart(expected, actual, dtype)) == repr(distance)


def test_greatest_number_and_infinity() -> None:
    """Though infinity's bits follow those of the greatest number, it is no neighbour."""
    assert apart(np.finfo("float32").max, INF) == INF


def test_bfloat16() -> None:
    """bfloat16 values, held as float32, are counted in steps of bfloat16."""
    step = 2.0**-7
    assert [apart(1.0, 1.0 + n * step, "bfloat16") for n in range(4)] == [0.0, 1.0, 2.0, 3.0]
    assert apart(-1.0, -1.0 - step, "bfloat16") == 1.0
    assert apart(1.0, 1.0 + step, "float32") == 2.0**16


def test_random_bfloat16() -> None:
    """The distance of two bfloat16 numbers is their distance in float32 over 2**16, where both have one sign."""
    source = np.random.default_rng(1)
    left, right = (round_to_bfloat16(source.lognormal(sigma=4, size=500).astype("float32")) for _ in range(2))
    for sign in (np.float32(1), np.float32(-1)):
        assert np.array_equal(ulps(sign * left, sign * right, "bfloat16"), ulps(left, right, "float32") / 2**16)


@pytest.mark.parametrize(("dtype", "part"), [("complex64", "float32"), ("complex128", "float64")])
def test_complex(dtype: str, part: str) -> None:
    """Of two complex numbers the farther part counts."""
    step = float(np.finfo(part).eps)
    assert apart(1 + 1j, 1 + 1j, dtype) == 0.0
    assert apart(1 + 1j, complex(1 + step, 1 + 3 * step), dtype) == 3.0
    assert apart(1 + 1j, complex(1 + 2 * step, 1 + step), dtype) == 2.0
    assert apart(1 + 1j, complex(INF, 1), dtype) == INF
    assert apart(complex(1, 0.0), complex(1, -0.0), dtype) == 1.0


def test_arrays_of_any_layout() -> None:
    """The distances have the shape of the arrays, whatever their strides and number of dimensions."""
    left = np.arange(12, dtype="float32").reshape(3, 4).T
    right = np.nextafter(left, np.float32(INF))
    assert not left.flags["C_CONTIGUOUS"]
    found = ulps(left, right, "float32")
    assert (found.shape, found.dtype, set(found.flat)) == ((4, 3), np.dtype("float64"), {1.0})
    assert ulps(np.ones((2, 0), "float32"), np.ones((2, 0), "float32"), "float32").shape == (2, 0)
    assert ulps(np.float32(1), np.float32(1), "float32").shape == ()


def test_distances_are_symmetric_and_add_up() -> None:
    """Between sorted numbers, distances add up, and none depends on the order of the two."""
    values = sorted(map(float, np.random.default_rng(2).normal(size=30).astype("float32")))
    steps = [apart(left, right) for left, right in itertools.pairwise(values)]
    assert sum(steps) == apart(values[0], values[-1]) == apart(values[-1], values[0])


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_dtype_without_units(dtype: str) -> None:
    """Integers have no units in the last place."""
    with pytest.raises(ValueError, match=f"^dtype='{dtype}', but should be a floating point dtype \\[ulps\\]$"):
        ulps(np.ones(1, dtype), np.ones(1, dtype), dtype)


def test_greatest_distance() -> None:
    """The two ends of float64 are nearly 2**64 apart, which nothing overflows."""
    most = np.finfo("float64").max
    bits = int(np.array(most).view(np.int64))
    assert apart(-most, most, "float64") == float(2 * bits + 1)
