"""How drawn arrays lie in memory."""

import numpy as np
import pytest

from generators import LAYOUTS, ChoiceError, Placed
from generators.layouts import expand_values, place_layout


@pytest.mark.parametrize(
    ("layout", "shape", "strides", "before"),
    [
        ("contiguous", (2, 3), None, 0),
        ("offset", (2, 3), None, 3),
        ("offset", (), None, 3),
        ("transposed", (2, 3), (1, 2), 0),
        ("transposed", (4, 2, 3), (6, 1, 2), 0),
        ("transposed", (5,), None, 0),
        ("transposed", (1, 5), None, 0),
        ("channels_last", (2, 3, 4, 5), (60, 1, 15, 3), 0),
        ("channels_last", (2, 3, 2, 4, 5), (120, 1, 60, 15, 3), 0),
        ("channels_last", (2, 3), (1, 2), 0),
        ("strided", (5,), (2,), 3),
        ("strided", (2, 3), (6, 2), 3),
        ("strided", (), None, 0),
        ("expanded", (3, 2), (0, 1), 0),
        ("expanded", (1, 3, 2), (2, 0, 1), 0),
        ("expanded", (1, 1), None, 0),
        ("strided", (2, 0), None, 0),
        ("offset", (0,), None, 0),
    ],
)
def test_layouts(layout, shape, strides, before) -> None:
    """Strides are told where they say something, and a tensor without elements lies nowhere."""
    assert place_layout(layout, shape) == Placed(strides, before)


def test_channels_last_is_numpys_own() -> None:
    """The strides are those of an array made with the channels last."""
    made = np.zeros((2, 4, 5, 3), np.int8).transpose(0, 3, 1, 2)
    assert place_layout("channels_last", made.shape).strides == made.strides


def test_expanded_values_repeat() -> None:
    """What shares memory has one value."""
    assert expand_values(np.arange(6).reshape(3, 2), (0, 1)).tolist() == [[0, 1]] * 3


def test_layouts_run_from_simple_to_wild() -> None:
    """A shrinker that lowers the index straightens the tensor."""
    assert LAYOUTS == ("contiguous", "offset", "transposed", "channels_last", "strided", "expanded")


def test_a_layout_has_to_be_known() -> None:
    """The error names those that are."""
    with pytest.raises(ChoiceError) as caught:
        place_layout("sparse", (1,))
    assert str(caught.value) == (
        "layout='sparse', but should be one of contiguous, offset, transposed, channels_last, strided, expanded "
        "[place_layout(...)]"
    )
