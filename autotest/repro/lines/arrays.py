"""The arrays of a repro: spelled as Python, or beside it in `inputs.safetensors` where they are too long to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from dual_object.program.values import Array

FILE_NAME = "inputs.safetensors"
#: More elements than so, all arrays of a repro taken together, stand in the file.
MOST_INLINE = 64


def literal(array: Array) -> str:
    """The values as nested lists: the shortest digits that still mean the same number."""
    if array.dtype.kind in "fc":
        return _nested([_digits(value) for value in array.reshape(-1)], array.shape)
    return repr(array.tolist())


def _nested(flat: Sequence[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return flat[0]
    step = len(flat) // shape[0]
    parts = (_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))
    return f"[{', '.join(parts)}]"


def _digits(value: Any) -> str:
    """One NumPy scalar; an infinity or NaN is named as `math` does."""
    if value.dtype.kind == "c":
        return f"complex({_digits(value.real)}, {_digits(value.imag)})"
    if not np.isfinite(value):
        return str(float(value))
    short = float(str(value))
    # The short digits mean the number in its own dtype; read as float64 and rounded, they must as well.
    return repr(short) if np.array(short).astype(value.dtype) == value else repr(float(value))


def shapeless(array: Array) -> bool:
    """Whether nested lists would lose the shape."""
    return array.size == 0


def write(folder: Path, arrays: Mapping[str, Array]) -> None:
    """Write `inputs.safetensors` into `folder`. Raises ValueError for a dtype that the format lacks."""
    try:
        save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, folder / FILE_NAME)
    except SafetensorError as error:
        raise ValueError(f"{FILE_NAME} cannot hold these arrays: {error}") from error
