"""How close is close enough: the table by dtype, and a test's own pair before it."""

from __future__ import annotations

from typing import Any

import pytest

from autotest.compare.tolerance import EXACT, Tolerance, check_pair, tolerance
from autotest.errors import UsageError


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "bool"])
def test_integers_are_exact(dtype: str) -> None:
    """Integers and booleans agree exactly, whatever the test's own pair."""
    assert tolerance(dtype, "cpu", 0.5, 0.5) is EXACT


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("bfloat16", "float16"), ("float16", "float32"), ("float32", "float64"), ("complex64", "complex128")],
)
def test_wider_dtypes_are_closer(narrow: str, wide: str) -> None:
    """The more digits a dtype has, the closer its values must be, on both devices."""
    for device in ("cpu", "cuda"):
        loose, close = tolerance(narrow, device, None, None), tolerance(wide, device, None, None)
        assert loose.rtol > close.rtol > 0
        assert loose.atol > close.atol > 0


def test_device_index_does_not_matter() -> None:
    """`cuda:1` has the tolerance of `cuda`."""
    assert tolerance("float32", "cuda:1", None, None) == tolerance("float32", "cuda", None, None)
    assert tolerance("float32", "cuda:1", None, None) != tolerance("float32", "cpu", None, None)


def test_own_pair_goes_before_the_table() -> None:
    """A test's rtol and atol replace the table's, zeros included."""
    assert tolerance("float32", "cpu", 0.0, 0.25) == Tolerance(0.0, 0.25)


@pytest.mark.parametrize(
    ("rtol", "atol", "message"),
    [
        (
            1e-3,
            None,
            "rtol=0.001 is given alone, but should come with atol: pass both, or neither for the dtype's own [here]",
        ),
        (
            None,
            1e-3,
            "atol=0.001 is given alone, but should come with rtol: pass both, or neither for the dtype's own [here]",
        ),
        (-1.0, 0.0, "rtol=-1.0, but should be a number of at least 0 [here]"),
        (0.0, float("nan"), "atol=nan, but should be a number of at least 0 [here]"),
        (float("inf"), 0.0, "rtol=inf, but should be a number of at least 0 [here]"),
        (True, 0.0, "rtol=True, but should be a number of at least 0 [here]"),
        (0.0, "1e-3", "atol='1e-3', but should be a number of at least 0 [here]"),
    ],
)
def test_bad_pairs_are_refused(rtol: Any, atol: Any, message: str) -> None:
    """Half a pair, a negative, infinite or non-numeric one is refused by name."""
    with pytest.raises(UsageError) as caught:
        check_pair(rtol, atol, "here")
    assert str(caught.value) == message


@pytest.mark.parametrize(("rtol", "atol"), [(None, None), (0, 0), (1e-3, 1e-5)])
def test_whole_pairs_pass(rtol: float | None, atol: float | None) -> None:
    """A whole pair, or none, is accepted."""
    check_pair(rtol, atol, "here")
