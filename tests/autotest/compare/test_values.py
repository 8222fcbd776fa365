"""When two arrays agree, and how it is said where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import EXACT, Tolerance
from autotest.compare.values import close

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
def test_mismatch(
    expected: np.ndarray[Any, Any],
    actual: np.ndarray[Any, Any],
    allowed: Tolerance,
    kind: str,
    words: str,
    worst: list[tuple[int, ...]],
) -> None:
    """Kind, sentence in the dtype's own shortest digits, and the places of what is wrong, the farthest first."""
    found = Mismatch.of(expected, actual, allowed)
    assert (found.kind, found.words, found.worst(5), found.count) == (kind, words, worst, len(worst))


def test_worst_elements_are_as_many_as_asked() -> None:
    """Of many wrong elements the worst are given, worst first, with their places in all dimensions."""
    expected = np.zeros((4, 5), dtype="float32")
    actual = np.arange(20, dtype="float32").reshape(4, 5)
    found = Mismatch.of(expected, actual, NEAR)
    assert found.words == "differs in 19 of 20 elements: [3, 4] is 19.0, but should be 0.0 (rtol=0.01, atol=0.001)"
    assert found.worst(5) == [(3, 4), (3, 3), (3, 2), (3, 1), (3, 0)]
    assert len(found.worst(100)) == 19
    assert Mismatch.of(expected, expected, NEAR).worst(5) == []


def test_worst_is_the_farthest_beyond_the_tolerance() -> None:
    """A small error where little is allowed is worse than a great one where much is; where nothing is, errors count."""
    expected, actual = array(1000.0, 0.0, 1.0), array(1100.0, 1.0, 1.0)
    assert Mismatch.of(expected, actual, NEAR).worst(5) == [(1,), (0,)]
    assert Mismatch.of(expected, actual, EXACT).worst(5) == [(0,), (1,)]
    assert Mismatch.of(array(1.0, 2.0), array(9.0, NAN), NEAR).worst(5) == [(1,), (0,)]


@pytest.mark.parametrize(
    ("expected", "actual", "kind"),
    [
        (complex(INF, 1), complex(1, INF), "nonfinite"),
        (complex(NAN, 1), complex(NAN, 2), "value"),
        (complex(NAN, 1), complex(1, NAN), "nonfinite"),
        (complex(INF, 1), complex(-INF, 1), "sign"),
        (complex(1, INF), complex(1, -INF), "sign"),
    ],
)
def test_complex_parts(expected: complex, actual: complex, kind: str) -> None:
    """Complex numbers that are not finite agree in both parts or not at all."""
    left, right = array(expected, dtype="complex64"), array(actual, dtype="complex64")
    assert not close(left, right, NEAR)
    assert close(left, left.astype("complex128"), NEAR)
    assert Mismatch.of(left, right, NEAR).kind == kind


@pytest.mark.filterwarnings("error")
def test_memory_that_nobody_wrote_is_compared_without_a_warning() -> None:
    """A signalling NaN, which no computation gives, is a NaN."""
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    assert close(signalling, array(NAN), NEAR)
    assert not close(signalling, array(1.0), NEAR)


SIGNED = Tolerance(1e-2, 1e-3, signed=True)


def test_what_agrees_is_no_mismatch() -> None:
    """Two arrays that agree have none, and the same bytes are not looked at one by one."""
    assert Mismatch.between(array(1.0, NAN), array(1.0, NAN), NEAR) is None
    assert Mismatch.between(array(1.0), array(1.005), NEAR) is None
    found = Mismatch.between(array(1.0, 2.0), array(1.0, 2.5), NEAR)
    assert found is not None
    assert found.mask.tolist() == [False, True]


def test_a_zero_of_the_other_sign_is_not_beyond_the_tolerance() -> None:
    """It does not agree where signs count, but what is beyond the tolerance does so for another reason."""
    found = Mismatch.of(array(0.0, 0.0, 1.0), array(-0.0, 0.0, 2.0), SIGNED)
    assert (found.kind, found.mask.tolist(), found.beyond.tolist()) == (
        "value",
        [True, False, True],
        [False, False, True],
    )
    zeros = Mismatch.of(np.array(0.0), np.array(-0.0), SIGNED)
    assert (zeros.kind, zeros.words) == ("sign", "differs in 1 of 1 element: it is -0.0, but should be 0.0")
    assert not zeros.beyond.any()


def test_complex_results_differ_without_the_signs_of_their_zeros() -> None:
    """A complex output is compared as every output is, but its zeros have no sign to compare."""
    found = Mismatch.of(array(1j, 0j, dtype="complex64"), array(2j, -0j, dtype="complex64"), SIGNED)
    assert (found.kind, found.words) == ("value", "differs in 1 of 2 elements: [0] is 2j, but should be 1j")


@pytest.mark.parametrize(
    ("expected", "actual", "absolute", "relative"),
    [
        (array(2.0), array(2.5), 0.5, 0.25),
        (array(0.0), array(2.0), 2.0, INF),
        (array(0.0), array(0.0), 0.0, 0.0),
        (array(4, dtype="int64"), array(3, dtype="int64"), 1, 0.25),
        (array(0.0), array(NAN), NAN, NAN),
        (array(INF), array(1.0), NAN, NAN),
        (array(3 + 4j, dtype="complex128"), array(0j, dtype="complex128"), 5.0, 1.0),
    ],
)
def test_errors(expected: np.ndarray[Any, Any], actual: np.ndarray[Any, Any], absolute: float, relative: float) -> None:
    """How far an element is off, and as a share of what should be there; NaN where that is no number."""
    found = Mismatch.of(expected, actual, NEAR)
    assert [found.absolute((0,)), found.relative((0,))] == pytest.approx([absolute, relative], nan_ok=True)
