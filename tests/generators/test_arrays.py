"""Arrays as arguments."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from generators import (
    FILLS,
    STANDARD,
    ChoiceError,
    Drawing,
    DtypeError,
    PhiloxSource,
    RangeError,
    array,
    drawing,
    fill_values,
    oneof,
    random,
)
from generators import tuple as tuple_of
from generators.layouts import CONTIGUOUS

GOLDEN_ARRAY = ((1,), 2640138772, "b3f5de51ce143f04")


def drawn(count: int, *args, **knobs) -> list:
    """The values of `array(...)` in `count` cases."""
    source = PhiloxSource("arrays")
    found = []
    for _ in range(count):
        with drawing(source):
            found.append(array(*args, **knobs).value())
    return found


def test_an_array_is_golden(case: Drawing) -> None:
    """Shape, seed and bytes of a case's array are the same on every machine."""
    value = array().value()
    data = value.data.astype("<f4").tobytes()
    assert (value.data.shape, value.seed, hashlib.sha256(data).hexdigest()[:16]) == GOLDEN_ARRAY


def test_an_array_tells_how_it_was_made(case: Drawing) -> None:
    """Its record is enough to make the same values again."""
    value = array(3, low=-2, high=random(3, 5), dtype=float).value()
    again = fill_values(value.fill, value.seed, value.data.shape, value.dtype, value.low, value.high)
    assert (value.dtype, value.fill) == ("float32", "uniform")
    np.testing.assert_array_equal(value.data, again)


def test_values_are_two_choices(case: Drawing) -> None:
    """After the sizes come the index of a fill and a 32-bit seed."""
    value = array(2, 3, 4).value()
    fill, seed = case.source.choices
    assert (fill.kind, fill.n, FILLS[fill.value]) == ("index", 8, "uniform")
    assert (seed.kind, seed.low, seed.high, seed.value) == ("integer", 0, 2**32, value.seed)


def test_fills_run_from_simple_to_wild() -> None:
    """A shrinker that lowers the index calms the values."""
    assert FILLS == ("zeros", "ones", "small_integers", "uniform", "ties", "halves", "sprinkled", "edge")


def test_other_fills_can_be_asked_for() -> None:
    """`fills` gives the probability of each."""
    values = drawn(60, fills=(0.5, 0, 0, 0, 0, 0, 0, 0.5))
    assert {value.fill for value in values} == {"zeros", "edge"}


def test_distinct_values_can_be_asked_for(case: Drawing) -> None:
    """No fill is drawn then; a generator decides case by case."""
    value = array(1, 30, distinct=True).value()
    assert (value.fill, len(set(value.data.tolist()))) == ("distinct", 30)
    assert [choice.kind for choice in case.source.choices] == ["integer"]
    assert {value.fill for value in drawn(60, distinct=oneof(True, False))} == {"distinct", "uniform"}


def test_distinct_values_share_no_memory() -> None:
    """An array that repeats its values in memory has equal ones, so none does that."""
    values = drawn(60, 2, 3, 4, mix=replace(STANDARD, layouts=(0, 0, 0, 0, 0, 1)), distinct=True)
    assert {value.placed for value in values} == {CONTIGUOUS}


def test_distinct_is_true_or_false(case: Drawing) -> None:
    """Anything else is a mistake."""
    with pytest.raises(RangeError) as caught:
        array(1, 3, distinct=2).value()
    assert str(caught.value) == "distinct=2, but should be True or False [array(ndim=1, dim0=3, distinct=2)]"


def test_left_out_sizes_are_random() -> None:
    """The rank is 1 to 5, dim0 is 1, every other size is 1 to 7."""
    shapes = [value.data.shape for value in drawn(300)]
    assert {len(shape) for shape in shapes} == {1, 2, 3, 4, 5}
    assert {shape[0] for shape in shapes} == {1}
    for axis in range(1, 5):
        assert {shape[axis] for shape in shapes if len(shape) > axis} == set(range(1, 8))
    assert {value.data.shape[0] for value in drawn(200, 1, dim0=None)} == set(range(1, 8))


def test_only_sizes_that_are_used_take_choices(case: Drawing) -> None:
    """An array of rank 2 has no choice for its third size."""
    assert array(2).value().data.ndim == 2
    assert len(case.source.choices) == 3


@pytest.mark.parametrize(
    ("knobs", "shape"),
    [
        ({"ndim": 0}, ()),
        ({"ndim": 1}, (1,)),
        ({"ndim": 5, "dim0": 2, "dim1": 3, "dim2": 4, "dim3": 5, "dim4": 0}, (2, 3, 4, 5, 0)),
        ({"shape": ()}, ()),
        ({"shape": (2, 3)}, (2, 3)),
        ({"shape": [1, 2, 1, 2, 1, 2]}, (1, 2, 1, 2, 1, 2)),
        ({"shape": np.array([4, 2])}, (4, 2)),
        ({"shape": tuple_of(3, random(2, 3))}, (3, 2)),
        ({"shape": (random(2, 3), 5)}, (2, 5)),
        ({"shape": oneof((7, 1))}, (7, 1)),
        ({"ndim": random(2, 3), "dim0": random(4, 5), "dim1": np.int64(2)}, (4, 2)),
    ],
)
def test_sizes_can_be_given(case: Drawing, knobs, shape) -> None:
    """Rank, sizes or a whole shape, as numbers or generators, empty ones too."""
    assert array(**knobs).value().data.shape == shape


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("bfloat16", "bfloat16"), (int, "int64"), (np.float16, "float16"), (oneof("int8"), "int8")],
)
def test_dtypes_can_be_given(case: Drawing, dtype, name: str) -> None:
    """Names, types and generators of them."""
    assert array(dtype=dtype).value().dtype == name


def test_annotations_change_nothing(case: Drawing) -> None:
    """An array is an array whatever parameter it is passed to."""
    value = array(1, dim0=random(2, 3)).to(float).value()
    assert value.data.shape == (2,)


def test_arrays_are_told_apart_by_identity(case: Drawing) -> None:
    """Comparing two drawn arrays does not compare their elements."""
    first, second = array(2).value(), array(2).value()
    assert first == first
    assert first != second


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"low": 3.0, "high": 3.0}, "low=3.0, but should be less than high=3.0 [array(low=3.0, high=3.0)]"),
        ({"ndim": 6}, "ndim=6, but should be an int from 0 to 5 [array(ndim=6)]"),
        ({"ndim": -1}, "ndim=-1, but should be an int from 0 to 5 [array(ndim=-1)]"),
        ({"ndim": 2, "dim1": -1}, "dim1=-1, but should be an int of at least 0 [array(ndim=2, dim1=-1)]"),
        ({"ndim": 1, "dim0": 2.0}, "dim0=2.0, but should be an int of at least 0 [array(ndim=1, dim0=2.0)]"),
        ({"shape": (2, -3)}, "shape[1]=-3, but should be an int of at least 0 [array(shape=(2, -3))]"),
        ({"high": "b"}, "high='b', but should be a number [array(high='b')]"),
        ({"low": float("-inf")}, "low=-inf, but should be finite [array(low=-inf)]"),
        (
            {"low": 0.5, "dtype": "int32"},
            "low=0.5, but should leave a value of int32 below high=1 [array(low=0.5, dtype='int32')]",
        ),
        ({"ndim": 1, "shape": (2,)}, "ndim=1, but should be left out when a shape is given "
         "[array(ndim=1, shape=(2,))]"),
    ],
)  # fmt: skip
def test_what_makes_no_array_is_refused(case: Drawing, knobs, message: str) -> None:
    """The error names the knob, its value and the whole call."""
    with pytest.raises(RangeError) as caught:
        array(**knobs).value()
    assert str(caught.value) == message


def test_an_unknown_dtype_is_refused(case: Drawing) -> None:
    """The error is that of `dtype_name`."""
    with pytest.raises(DtypeError, match=r"^dtype='float', but should be one of float16, "):
        array(dtype="float").value()


def test_probabilities_of_fills_are_checked_when_built() -> None:
    """There must be one for each fill."""
    with pytest.raises(ChoiceError) as caught:
        array(fills=(1.0,))
    assert str(caught.value) == "fills=(1.0,), but should have 8 entries [array(fills=(1.0,))]"
