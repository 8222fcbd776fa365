"""When two arrays agree, and how it is said where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autotest.compare.tolerance import EXACT, Tolerance
from autotest.compare.values import close, value_difference, worst_first

NAN, INF = float("nan"), float("inf")
NEAR = Tolerance(1e-2, 1e-3)


def array(*values: Any, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """A vector."""
    return np.array(values, dtype=dtype)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (array(1.0, NAN), array(1.0, NAN)),
        (array(INF, -INF), array(INF, -INF)),
        (array(0.0), array(-0.0)),
        (array(1.0), array(1.005)),
        (array(0.0), array(0.0009)),
        (array(1 + 1j, dtype="complex64"), array(1.001 + 1j, dtype="complex64")),
        (array(1.0), array(1.005, dtype="float64")),
        (array(), array()),
        (np.float32(2.0).reshape(()), np.float32(2.001).reshape(())),
        (array(2**53 + 1, dtype="int64"), array(2**53 + 1, dtype="int64")),
        (array(True, False, dtype="bool"), array(True, False, dtype="bool")),
    ],
)
def test_close(expected: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> None:
    """Within tolerance, NaN where NaN, the same infinity where infinite: that agrees."""
    assert close(expected, actual, NEAR)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (array(1.0), array(1.02)),
        (array(1.0), array(NAN)),
        (array(NAN), array(1.0)),
        (array(INF), array(-INF)),
        (array(INF), array(3e38)),
        (array(3e38), array(INF)),
        (array(INF), array(NAN)),
        (array(1 + 1j, dtype="complex64"), array(1 - 1j, dtype="complex64")),
        (array(2**53 + 1, dtype="int64"), array(2**53, dtype="int64")),
        (array(200, dtype="uint8"), array(-56, dtype="int8")),
        (array(True, dtype="bool"), array(False, dtype="bool")),
    ],
)
def test_not_close(expected: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> None:
    """One digit too far, another infinity, NaN on one side, integers one apart beyond 2**53: that differs."""
    assert not close(expected, actual, NEAR)


@pytest.mark.parametrize(
    ("expected", "actual", "allowed", "kind", "words", "worst"),
    [
        (
            array(1.0, 2.0, 3.0),
            array(1.0, 2.5, 4.0),
            NEAR,
            "value",
            "differs in 2 of 3 elements: [2] is 4.0, but should be 3.0 (rtol=0.01, atol=0.001)",
            [(2,), (1,)],
        ),
        (
            array(0.1),
            array(0.3),
            NEAR,
            "value",
            "differs in 1 of 1 element: [0] is 0.3, but should be 0.1 (rtol=0.01, atol=0.001)",
            [(0,)],
        ),
        (
            np.array(2.0),
            np.array(3.0),
            NEAR,
            "value",
            "differs in 1 of 1 element: it is 3.0, but should be 2.0 (rtol=0.01, atol=0.001)",
            [()],
        ),
        (
            array(1.0, 2.0),
            array(NAN, 2.0),
            NEAR,
            "nonfinite",
            "differs in 1 of 2 elements: [0] is nan, but should be 1.0",
            [(0,)],
        ),
        (
            array(INF, 2.0),
            array(-INF, 9.0),
            NEAR,
            "sign",
            "differs in 2 of 2 elements: [0] is -inf, but should be inf",
            [(0,), (1,)],
        ),
        (
            array(3, 4, dtype="int64"),
            array(3, 5, dtype="int64"),
            EXACT,
            "value",
            "differs in 1 of 2 elements: [1] is 5, but should be 4",
            [(1,)],
        ),
        (
            array(True, dtype="bool"),
            array(False, dtype="bool"),
            EXACT,
            "value",
            "differs in 1 of 1 element: [0] is False, but should be True",
            [(0,)],
        ),
        (
            array(1 + 2j, dtype="complex128"),
            array(1 - 2j, dtype="complex128"),
            NEAR,
            "value",
            "differs in 1 of 1 element: [0] is (1-2j), but should be (1+2j)",
            [(0,)],
        ),
    ],
)
def test_value_difference(
    expected: np.ndarray[Any, Any],
    actual: np.ndarray[Any, Any],
    allowed: Tolerance,
    kind: str,
    words: str,
    worst: list[tuple[int, ...]],
) -> None:
    """Kind, sentence in the dtype's own shortest digits, and the places of what is wrong, the farthest first."""
    assert value_difference(expected, actual, allowed) == (kind, words)
    assert worst_first(expected, actual, allowed, 5) == worst


def test_worst_elements_are_as_many_as_asked() -> None:
    """Of many wrong elements the worst are given, worst first, with their places in all dimensions."""
    expected = np.zeros((4, 5), dtype="float32")
    actual = np.arange(20, dtype="float32").reshape(4, 5)
    _, words = value_difference(expected, actual, NEAR)
    assert words == "differs in 19 of 20 elements: [3, 4] is 19.0, but should be 0.0 (rtol=0.01, atol=0.001)"
    assert worst_first(expected, actual, NEAR, 5) == [(3, 4), (3, 3), (3, 2), (3, 1), (3, 0)]
    assert len(worst_first(expected, actual, NEAR, 100)) == 19
    assert worst_first(expected, expected, NEAR, 5) == []


def test_worst_is_the_farthest_beyond_the_tolerance() -> None:
    """A small error where little is allowed is worse than a great one where much is; where nothing is, errors count."""
    expected, actual = array(1000.0, 0.0, 1.0), array(1100.0, 1.0, 1.0)
    assert worst_first(expected, actual, NEAR, 5) == [(1,), (0,)]
    assert worst_first(expected, actual, EXACT, 5) == [(0,), (1,)]
    assert worst_first(array(1.0, 2.0), array(9.0, NAN), NEAR, 5) == [(1,), (0,)]


@pytest.mark.parametrize(
    ("expected", "actual", "kind"),
    [
        (complex(INF, 1), complex(1, INF), "nonfinite"),
        (complex(NAN, 1), complex(NAN, 2), "value"),
        (complex(NAN, 1), complex(1, NAN), "nonfinite"),
        (complex(INF, 1), complex(-INF, 1), "sign"),
    ],
)
def test_complex_parts(expected: complex, actual: complex, kind: str) -> None:
    """Complex numbers that are not finite agree in both parts or not at all."""
    left, right = array(expected, dtype="complex64"), array(actual, dtype="complex64")
    assert not close(left, right, NEAR)
    assert close(left, left.astype("complex128"), NEAR)
    assert value_difference(left, right, NEAR)[0] == kind


@pytest.mark.filterwarnings("error")
def test_memory_that_nobody_wrote_is_compared_without_a_warning() -> None:
    """A signalling NaN, which no computation gives, is a NaN."""
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    assert close(signalling, array(NAN), NEAR)
    assert not close(signalling, array(1.0), NEAR)
