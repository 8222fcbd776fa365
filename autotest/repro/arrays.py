"""The arrays of a repro: spelled as Python, or beside it in `inputs.safetensors` where they are too long to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dual_object.values import Array

FILE_NAME = "inputs.safetensors"
#: More elements than so, all arrays of a repro taken together, stand in the file.
MOST_INLINE = 64
#: What the format calls NumPy's dtypes.
_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
}


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


def safetensors(arrays: dict[str, Array]) -> bytes:
    """The arrays in the safetensors format: the length of a JSON header, the header, the raw values.

    Raises ValueError for a dtype that the format lacks.
    """
    header: dict[str, object] = {}
    chunks: list[bytes] = []
    offset = 0
    # The longest items first keep every array aligned to its own item size, as readers like it.
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        kind = _NAMES.get(array.dtype.name)
        if kind is None:
            raise ValueError(f"dtype={array.dtype.name!r}, but should be one of {', '.join(_NAMES)} [safetensors]")
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + len(raw)]}
        chunks.append(raw)
        offset += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *chunks])


def write(folder: Path, arrays: dict[str, Array]) -> None:
    """Write `inputs.safetensors` into `folder`."""
    (folder / FILE_NAME).write_bytes(safetensors(arrays))
