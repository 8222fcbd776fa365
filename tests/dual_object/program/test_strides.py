"""Arrays lie in memory as they are told to."""

from __future__ import annotations

import numpy as np
import pytest

from dual_object.program.strides import Slice, address, dense, extent, laid, reversed_strides, sliced, sliced_sizes


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
    ("shape", "strides", "lies_so"),
    [
        ((2, 3), None, True),
        ((2, 3), (1, 2), True),
        ((4, 2, 3), (3, 12, 1), True),
        ((2, 1, 3), (3, 50, 1), True),
        ((2, 3), (4, 1), False),
        ((2, 3), (6, 2), False),
        ((2, 3), (0, 1), False),
        ((2, 2), (1, 1), False),
    ],
)
def test_dense(shape: tuple[int, ...], strides: tuple[int, ...] | None, lies_so: bool) -> None:
    """Permuted tensors are; those with gaps and those whose elements share places are not."""
    assert dense(shape, strides) is lies_so


@pytest.mark.parametrize(
    ("shape", "strides", "places"),
    [((), (), 1), ((2, 3), (3, 1), 6), ((2, 3), (1, 2), 6), ((2, 3), (0, 1), 3), ((3, 4), (1, 1), 6), ((3,), (2,), 5)],
)
def test_extent(shape: tuple[int, ...], strides: tuple[int, ...], places: int) -> None:
    """Expanded and overlapping tensors take fewer places than they have elements, those with gaps more."""
    assert extent(shape, strides) == places


@pytest.mark.parametrize(
    ("shape", "strides", "sizes"),
    [
        ((), (), ()),
        ((3,), (1,), (3,)),
        ((3,), (2,), (3, 2)),
        ((2, 3), (3, 1), (2, 3)),
        ((2, 3), (4, 1), (2, 4)),
        ((2, 3), (6, 2), (2, 3, 2)),
        ((2, 3), (16, 2), (2, 8, 2)),
        ((2, 1, 3), (5, 100, 1), (2, 1, 5)),
        ((1, 3), (0, 1), (1, 3)),
        ((5, 1), (2, 7), (5, 1, 2)),
        ((1, 1), (9, 9), (1, 1)),
        ((2, 3), (1, 2), None),
        ((2, 3), (0, 1), None),
        ((3, 2), (2, 0), None),
        ((3, 4), (1, 1), None),
        ((3, 2), (3, 2), None),
        ((2, 0), (2, 1), None),
        ((2, 3), None, (2, 3)),
        ((2, 0), None, None),
    ],
)
def test_sliced_sizes(shape: tuple[int, ...], strides: tuple[int, ...] | None, sizes: tuple[int, ...] | None) -> None:
    """What a slice makes of packed memory: gaps within rows and between elements, and no transposition or overlap."""
    assert sliced_sizes(shape, strides) == sizes


@pytest.mark.parametrize(
    ("strides", "words"),
    [
        (None, "m[5:].reshape((2, 3))"),
        ((3, 1), "m[5:].reshape((2, 3))"),
        ((4, 1), "m[5:].reshape((2, 4))[:, :3]"),
        ((6, 2), "m[5:].reshape((2, 3, 2))[:, :, 0]"),
        ((8, 2), "m[5:].reshape((2, 4, 2))[:, :3, 0]"),
    ],
)
def test_sliced(strides: tuple[int, ...] | None, words: str) -> None:
    """A slice of packed memory has the values and the strides, and words that make the same."""
    data = np.arange(1.0, 7.0).reshape(2, 3)
    part = sliced(data, strides, 5)
    assert isinstance(part, Slice)
    assert part.memory[:5].tolist() == [0] * 5
    found = part.of(part.memory)
    assert found.tolist() == data.tolist()
    assert found.strides == tuple(8 * stride for stride in strides or (3, 1))
    assert found.__array_interface__["data"][0] - address(part.memory) == 5 * 8
    assert address(found) == address(part.memory) == part.memory.__array_interface__["data"][0]
    assert part.words("m") == words


def test_transposed_is_no_slice() -> None:
    """What only a transposition or an expansion makes has none."""
    assert sliced(np.ones((2, 3)), (1, 2), 5) is None
    assert sliced(np.ones((2, 3)), (0, 1), 5) is None
