"""Which values the second call of a graph is given."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.conformance.bodies import tensor, torch
from dual_object.program.calls import Input
from dual_object.program.values import Array
from dual_object.replay.second_call import SCALE, SecondCall, other_inputs, second_call


def other(values: object, dtype: str = "float32") -> Array:
    """The other values of a tensor."""
    return others((values, dtype))[0]


def others(*given: tuple[object, str]) -> list[Array]:
    """The other values of several tensors of one Program."""
    inputs = [
        Input(id_, "x", np.array(values, dtype if dtype != "bfloat16" else "float32"), dtype)
        for id_, (values, dtype) in enumerate(given)
    ]
    return [x.data for x in other_inputs(inputs)]


def test_single_float_stays_an_array() -> None:
    """A tensor of no dimension is scaled as others are."""
    data = other(0.5)
    assert type(data) is np.ndarray
    assert (data.shape, data.dtype, float(data)) == ((), np.float32, pytest.approx(0.5 * SCALE))


def test_floats_are_scaled_and_moved() -> None:
    """Signs and the range stay; the elements move along the last dimension."""
    assert other([[0.5, -1.5, 0.25]]) == pytest.approx(np.array([[0.25, 0.5, -1.5]]) * SCALE)


@pytest.mark.parametrize(
    "values", [[0.5, 0.7, 1.9], [1.9, 0.7, 0.7], [[0.5, 0.1], [0.1, 2.5]], [[1.5, 0.0], [2.0, 1.0]]]
)
def test_ordered_floats_are_scaled_alone(values: object) -> None:
    """What is sorted, symmetric or triangular stays so."""
    assert other(values) == pytest.approx(np.array(values) * SCALE)


def test_whole_numbers_are_moved_alone() -> None:
    """Labels and counts that are held as floats stay what they are."""
    assert other([1.0, -1.0, 1.0]).tolist() == [1.0, 1.0, -1.0]


def test_integers_and_booleans_are_moved() -> None:
    """Indices stay valid: no element is new; sorted ones (offsets) stay where they are."""
    assert other([2, 0, 1], "int64").tolist() == [1, 2, 0]
    assert other([0, 1, 2], "int64").tolist() == [0, 1, 2]
    assert other([True, False, False], "bool").tolist() == [False, True, False]


@pytest.mark.parametrize(("places", "values"), [([0, 1, 1], [0.5, 0.1, 0.25]), ([1, 0, 1], [0.1, 0.25, 0.5])])
def test_integers_stay_with_what_has_their_shape(places: list[int], values: list[float]) -> None:
    """Where one of a pair is ordered, the other is not moved either; a tensor of another shape is none of the pair."""
    found = others((places, "int64"), (values, "float32"), ([0.5, 0.1, 0.3, 0.2], "float32"))
    assert found[0].tolist() == places
    assert found[1] == pytest.approx(np.array(values) * SCALE)
    assert found[2] == pytest.approx(np.array([0.2, 0.5, 0.1, 0.3]) * SCALE)


def test_floats_of_one_shape_move_apart() -> None:
    """Operands that are no places are no pair."""
    sorted_, other_ = others(([0.1, 0.25, 0.5], "float32"), ([0.25, 0.1, 0.5], "float32"))
    assert sorted_ == pytest.approx(np.array([0.1, 0.25, 0.5]) * SCALE)
    assert other_ == pytest.approx(np.array([0.5, 0.25, 0.1]) * SCALE)


def test_nonfinite_values_stay() -> None:
    """NaN and infinities are moved."""
    assert np.isnan(other([0.5, np.nan, 0.25])).tolist() == [False, False, True]
    assert other([0.5, np.inf, 0.25]).tolist()[2] == np.inf


def test_huge_values_are_moved() -> None:
    """Whether they are symmetric is found out without an overflow, of which NumPy would warn."""
    great = float(np.finfo(np.float32).max)
    values = np.array([[0.5, great, 0.25], [-great, 1.5, 0.5], [0.25, 1.0, 0.5]])
    assert other(values) == pytest.approx(np.roll(values, 1, 1) * SCALE)


def test_bfloat16_stays_representable() -> None:
    """Scaled bfloat16 values are bfloat16 values."""
    bits = other([0.3, 0.9, 0.5], "bfloat16").view(np.uint32)
    assert (bits & 0xFFFF == 0).all()


def test_module_that_the_reference_refuses(recorded, reference) -> None:
    """A constructor that raises, as the body expects, leaves a second call as any other."""

    def body():
        with pytest.raises(ValueError, match="dropout probability"):
            torch.nn.Dropout(2.0)
        return tensor(2, 3) * 2

    case = recorded(body)
    assert isinstance(second_call(reference, case.program, case.seen), SecondCall)


def test_nothing_to_move() -> None:
    """Scalars are scaled; empty tensors stay."""
    assert other(2.5) == pytest.approx(2.5 * SCALE)
    assert other([]).tolist() == []
