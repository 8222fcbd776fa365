"""Arrays lie in memory as they are told to."""

from __future__ import annotations

import numpy as np
import pytest

from dual_object.program.strides import extent, laid, reversed_strides


@pytest.mark.parametrize(("shape", "strides"), [((), ()), ((3,), (1,)), ((2, 3), (1, 2)), ((2, 0, 4), (1, 2, 2))])
def test_reversed_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """The first dimension is the closest in memory, as after a transposition of all dimensions."""
    assert reversed_strides(shape) == strides


@pytest.mark.parametrize("strides", [None, (3, 1), (1, 2), (6, 2), (0, 1)])
def test_laid(strides: tuple[int, ...] | None) -> None:
    """Values are the same whatever the strides; the buffer is a fresh one."""
    data = np.array([[1.0, 2.0, 3.0]] * 2)
    found = laid(data, strides)
    np.testing.assert_array_equal(found, data)
    assert not np.shares_memory(found, data)
    assert found.strides == tuple(8 * stride for stride in strides or (3, 1))


@pytest.mark.parametrize(
    ("shape", "strides", "places"),
    [((), (), 1), ((2, 3), (3, 1), 6), ((2, 3), (1, 2), 6), ((2, 3), (0, 1), 3), ((3, 4), (1, 1), 6), ((3,), (2,), 5)],
)
def test_extent(shape: tuple[int, ...], strides: tuple[int, ...], places: int) -> None:
    """Expanded and overlapping tensors take fewer places than they have elements, those with gaps more."""
    assert extent(shape, strides) == places
