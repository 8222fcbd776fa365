"""Neutral names of dtypes, and how NumPy stores their values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from generators.errors import DtypeError

Category = Literal["bool", "integer", "floating", "complex"]


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype by its neutral name; `storage` is the NumPy dtype that holds its values exactly."""

    name: str
    category: Category
    storage: np.dtype[Any]


def _table(*rows: tuple[str, Category, type]) -> Mapping[str, Dtype]:
    return MappingProxyType({name: Dtype(name, category, np.dtype(storage)) for name, category, storage in rows})


DTYPES: Final = _table(
    ("float16", "floating", np.float16),
    # NumPy has no bfloat16: its values are float32 already rounded to 8 significant bits.
    ("bfloat16", "floating", np.float32),
    ("float32", "floating", np.float32),
    ("float64", "floating", np.float64),
    ("int8", "integer", np.int8),
    ("uint8", "integer", np.uint8),
    ("int16", "integer", np.int16),
    ("int32", "integer", np.int32),
    ("int64", "integer", np.int64),
    ("bool", "bool", np.bool_),
    ("complex64", "complex", np.complex64),
    ("complex128", "complex", np.complex128),
)

# What torch makes of them: its default dtypes.
PYTHON_TYPES: Final[Mapping[object, str]] = MappingProxyType(
    {float: "float32", int: "int64", bool: "bool", complex: "complex64"}
)

_PREFIXED: Final = re.compile(r"[A-Za-z_]\w*\.(\w+)")


def dtype_name(x: object) -> str:
    """The neutral name of a dtype; DtypeError if it has none.

    Takes a neutral name, a Python number type, a NumPy dtype or scalar type, and every object whose text is
    like `torch.float32`.
    """
    if isinstance(x, str):
        name = x
    elif isinstance(x, type):
        # Only a NumPy type names its dtype; np.dtype would turn any other class into "object".
        name = PYTHON_TYPES.get(x) or (np.dtype(x).name if issubclass(x, np.generic) else "")
    elif isinstance(x, np.dtype):
        name = x.name
    else:
        name = str(x)
    if name in DTYPES:
        return name
    prefixed = _PREFIXED.fullmatch(name)
    if prefixed and prefixed[1] in DTYPES:
        return prefixed[1]
    raise DtypeError(
        f"dtype={x!r}, but should be one of {', '.join(DTYPES)}, or Python's float, int, bool or complex, a NumPy "
        "dtype or an object that prints like torch.float32"
    )


def round_to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """`values` rounded to the nearest bfloat16, ties to even, still stored as float32."""
    bits = np.asarray(values, order="C").view(np.uint32)
    # Half of the last kept bit, less one when that bit is even, carries exactly the values that round up.
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) & np.uint32(0xFFFF0000)
    # The carry would turn some NaNs into infinities; those keep their upper half, with the quiet bit set.
    quiet = (bits & np.uint32(0xFFFF0000)) | np.uint32(0x00400000)
    kept: NDArray[np.uint32] = np.where(np.isnan(values), quiet, rounded)
    return kept.view(np.float32)
