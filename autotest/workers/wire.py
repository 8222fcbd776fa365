"""Messages between the pytest process and a target worker: a JSON header, then raw array bytes.

A frame is two little-endian 64-bit lengths (header, payload), the header and the payload. Arrays start at multiples of
64 bytes and are read in place, so each message owns one buffer that its arrays share. Never pickle: the peer may be
broken.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from dual_object.program.values import Array

_LENGTHS = struct.Struct("<QQ")
_ALIGNMENT = 64


class WireError(ValueError):
    """The peer sent something that is no frame."""


def pack(message: dict[str, Any], arrays: list[Array]) -> bytes:
    """One frame holding `message` (JSON data) and `arrays`."""
    table = []
    chunks: list[bytes] = []
    offset = 0
    for array in arrays:
        raw = array.tobytes()
        table.append([array.dtype.str, array.shape])
        padding = -len(raw) % _ALIGNMENT
        chunks.append(raw)
        if padding:
            chunks.append(bytes(padding))
        offset += len(raw) + padding
    header = json.dumps([message, table], separators=(",", ":")).encode()
    return b"".join([_LENGTHS.pack(len(header), offset), header, *chunks])


def read(receive: Callable[[int], memoryview | bytes | bytearray]) -> tuple[dict[str, Any], list[Array]]:
    """The next frame. `receive(n)` gives exactly n bytes or raises EOFError; raises WireError for what is no frame."""
    header_size, payload_size = _LENGTHS.unpack(receive(_LENGTHS.size))
    if header_size > 1 << 32 or payload_size > 1 << 38:
        raise WireError(f"a frame of {header_size} + {payload_size} bytes is no frame")
    try:
        header = json.loads(bytes(receive(header_size)))
    except ValueError as error:
        raise WireError(f"a frame's header is no JSON: {error}") from error
    payload = np.frombuffer(bytearray(receive(payload_size)), dtype=np.uint8) if payload_size else np.empty(0, np.uint8)
    try:
        message, table = header
        if not isinstance(message, dict):
            raise TypeError
        return message, _arrays(table, payload)
    except (TypeError, ValueError) as error:
        raise WireError(
            f"a frame's header={header!r}, but should be a message and the dtypes and shapes of its arrays"
        ) from error


def _arrays(table: list[tuple[str, list[int]]], payload: Array) -> list[Array]:
    """The arrays in `payload`, in place."""
    arrays: list[Array] = []
    offset = 0
    for dtype, shape in table:
        kind = np.dtype(dtype)
        count = 1
        for size in shape:
            count *= size
        nbytes = count * kind.itemsize
        arrays.append(payload[offset : offset + nbytes].view(kind).reshape(shape))
        offset += nbytes + -nbytes % _ALIGNMENT
    return arrays
