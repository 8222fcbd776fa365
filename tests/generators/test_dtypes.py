"""Neutral dtype names and bfloat16's rounding."""

import numpy as np
import pytest

from generators import DTYPES, DtypeError, dtype_name, round_to_bfloat16


class Foreign:
    """A framework's dtype: it only prints its name."""

    def __init__(self, text: str) -> None:
        """Takes what to print."""
        self.text = text

    def __repr__(self) -> str:
        """The text."""
        return self.text


def bfloat16(*values: float) -> list[float]:
    """The values rounded to bfloat16."""
    return round_to_bfloat16(np.array(values, np.float32)).tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_a_neutral_name_names_itself(name: str) -> None:
    """The name alone, with a framework's prefix, and as an object that prints like it, are the same dtype."""
    assert dtype_name(name) == name
    assert dtype_name(f"torch.{name}") == name
    assert dtype_name(Foreign(f"oneflow.{name}")) == name
    assert DTYPES[name].name == name


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (float, "float32"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex64"),
        (np.float64, "float64"),
        (np.bool_, "bool"),
        (np.dtype("uint8"), "uint8"),
        (np.dtype(">i2"), "int16"),
        (np.dtype(np.complex128), "complex128"),
    ],
)
def test_python_and_numpy_types_have_neutral_names(dtype: object, name: str) -> None:
    """Python's types mean torch's default dtypes, NumPy's mean themselves."""
    assert dtype_name(dtype) == name


@pytest.mark.parametrize(
    "dtype",
    [
        "float",
        "float32 ",
        "torch.float32.x",
        "",
        None,
        3,
        str,
        np.uint32,
        np.dtype("U3"),
        Foreign("torch.qint8"),
    ],
)
def test_an_unknown_dtype_is_refused(dtype: object) -> None:
    """The error shows the value and all that is known."""
    with pytest.raises(DtypeError) as caught:
        dtype_name(dtype)
    assert str(caught.value) == (
        f"dtype={dtype!r}, but should be one of float16, bfloat16, float32, float64, int8, uint8, int16, "
        "int32, int64, bool, complex64, complex128, or Python's float, int, bool or complex, a NumPy dtype or an "
        "object that prints like torch.float32"
    )


def test_the_table_cannot_be_changed() -> None:
    """Dtypes are constants."""
    with pytest.raises(TypeError):
        DTYPES["float32"] = DTYPES["float64"]


def test_bfloat16_keeps_the_shape() -> None:
    """One number without dimensions stays one."""
    assert round_to_bfloat16(np.array(1.0, np.float32)).shape == ()


def test_bfloat16_rounds_to_nearest_ties_to_even() -> None:
    """Eight significant bits remain; a tie goes to the even neighbour."""
    step = 2.0**-7
    assert bfloat16(1, 1 + step / 4, 1 + step / 2, 1 + step * 0.75) == [1, 1, 1, 1 + step]
    assert bfloat16(1 + 1.5 * step, -(1 + 1.5 * step)) == [1 + 2 * step, -(1 + 2 * step)]
    assert bfloat16(3.4e38, 2.0**-133, 2.0**-135) == [float("inf"), 2.0**-133, 0]


def test_bfloat16_keeps_what_is_not_a_number() -> None:
    """Infinities and NaN of every payload stay what they are."""
    payloads = np.array([0x7FFFFFFF, 0x7F800001, 0xFFFFFFFF, 0x7FC00000], np.uint32).view(np.float32)
    assert np.isnan(round_to_bfloat16(payloads)).all()
    assert bfloat16(float("inf"), float("-inf")) == [float("inf"), float("-inf")]


def test_bfloat16_leaves_its_argument_alone() -> None:
    """Rounding makes a new array, from a strided one too."""
    values = np.array([1.001, 2.001, 3.001], np.float32)
    rounded = round_to_bfloat16(values[::2])
    assert rounded.tolist() == [1.0, 3.0]
    assert values[0] != 1.0
