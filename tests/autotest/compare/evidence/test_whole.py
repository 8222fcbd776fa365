"""Small tensors of a divergence are kept whole."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.compare.evidence.whole import MOST, whole
from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import Tolerance
from dual_object.replay.observation import Seen


def seen(data):
    """A tensor as a side shows it."""
    return Seen(str(data.dtype), data.shape, "cpu", False, data)


def kept(expected, actual, graph=None):
    """What is kept of two tensors, and of a third in a graph."""
    mismatch = Mismatch.of(expected, actual, Tolerance(1e-4, 1e-5))
    return whole(mismatch, (seen(expected), seen(actual), graph))


def test_each_side():
    """By rows of the last dimension; what has another shape is not there."""
    expected = np.arange(4, dtype=np.float32).reshape(2, 1, 2) / 10
    actual = expected.copy()
    actual[1, 0, 0] = np.nan
    assert kept(expected, actual, seen(np.zeros(3))) == {
        "shape": [2, 1, 2],
        "reference": [["0.0", "0.1"], ["0.2", "0.3"]],
        "eager": [["0.0", "0.1"], ["nan", "0.3"]],
        "graph": None,
        "wrong": [[0, 0], [1, 0]],
    }
    assert kept(expected, actual, seen(expected * 0))["graph"] == [["0.0", "0.0"]] * 2


def test_a_number_and_complex_ones():
    """A tensor without dimensions is one row of one."""
    assert kept(np.array(True), np.array(False))["eager"] == [["False"]]
    assert kept(np.array([1 + 2j], np.complex64), np.array([1j], np.complex64))["reference"] == [["(1+2j)"]]


@pytest.mark.parametrize("size", [0, MOST + 1])
def test_great_ones_are_not_kept(size):
    """Nor those of nothing."""
    assert kept(np.zeros(size), np.ones(size)) is None
    assert kept(np.zeros(MOST), np.ones(MOST)) is not None
