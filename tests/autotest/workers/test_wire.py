"""Frames carry JSON and arrays through a pipe, and garbage is refused."""

from __future__ import annotations

import io
import json
import struct

import numpy as np
import pytest

from autotest.workers.wire import WireError, pack, read

DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)


def receiver(frame):
    """Give a function which hands out the bytes of a frame."""
    stream = io.BytesIO(frame)

    def receive(count):
        found = stream.read(count)
        if len(found) < count:
            raise EOFError
        return found

    return receive


def sent(message, arrays):
    """Return what arrives of a frame."""
    return read(receiver(pack(message, arrays)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (2, 3)], ids=str)
def test_arrays_arrive(dtype, shape):
    """Arrays of all dtypes and shapes arrive as they were, an empty and a 0-dimensional one included."""
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    message, [found] = sent({"do": "x"}, [array])
    assert message == {"do": "x"}
    assert found.dtype == array.dtype
    assert found.shape == shape
    assert found.tobytes() == array.tobytes()


def test_many_arrays_keep_their_order():
    """Arrays of any size before it do not move an array."""
    arrays = [np.full(size, size, np.uint8) for size in (1, 0, 63, 64, 65, 3)]
    _, found = sent({}, arrays)
    assert [array.tolist() for array in found] == [array.tolist() for array in arrays]


def test_arrays_are_aligned_and_writable():
    """Arrays start at multiples of 64 bytes from the first, and may be written in place."""
    _, found = sent({}, [np.zeros(3, np.int8), np.zeros(2)])
    assert (found[1].ctypes.data - found[0].ctypes.data) % 64 == 0
    found[1][0] = 7
    assert found[1].tolist() == [7, 0]


def test_strided_array_arrives_contiguous():
    """A transposed array arrives with its values in their places."""
    array = np.arange(6).reshape(2, 3).T
    _, [found] = sent({}, [array])
    assert found.tolist() == array.tolist()
    assert found.flags.c_contiguous


def test_non_finite_values_arrive_bit_for_bit():
    """NaN with a payload, -0 and inf keep their bits."""
    array = np.array([0x7FC12345, 0x80000000, 0xFF800000], np.uint32).view(np.float32)
    _, [found] = sent({}, [array])
    assert found.tobytes() == array.tobytes()


def test_frames_follow_each_other():
    """Two frames in one stream are read one after the other; after them the stream ends."""
    receive = receiver(pack({"a": 1}, [np.ones(2)]) + pack({"b": 2}, []))
    assert read(receive)[0] == {"a": 1}
    assert read(receive) == ({"b": 2}, [])
    with pytest.raises(EOFError):
        read(receive)


@pytest.mark.parametrize("cut", [4, 16, 20, -1])
def test_cut_frame(cut):
    """A frame which ends early is the end of the stream, wherever it was cut."""
    with pytest.raises(EOFError):
        read(receiver(pack({"a": 1}, [np.ones(2)])[:cut]))


@pytest.mark.parametrize(("header", "payload"), [((1 << 32) + 1, 0), (1, (1 << 38) + 1)])
def test_sizes_of_no_frame(header, payload):
    """Sizes that no frame has are refused before anything is reserved for them."""
    with pytest.raises(WireError) as caught:
        read(receiver(struct.pack("<QQ", header, payload)))
    assert str(caught.value) == f"a frame of {header} + {payload} bytes is no frame"


def test_header_that_is_no_json():
    """A header of anything but JSON is refused with the parser's words."""
    with pytest.raises(WireError) as caught:
        read(receiver(struct.pack("<QQ", 3, 0) + b"abc"))
    assert str(caught.value) == "a frame's header is no JSON: Expecting value: line 1 column 1 (char 0)"


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (7, "header=7"),
        ([1, 2, 3], "header=[1, 2, 3]"),
        ([{}, [["<f4"]]], "header=[{}, [['<f4']]]"),
        ([{}, [["nonsense", [1]]]], "header=[{}, [['nonsense', [1]]]]"),
        ([{}, [["<f4", [1]]]], "header=[{}, [['<f4', [1]]]]"),
        ([[], []], "header=[[], []]"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_header_of_another_shape(header, reason):
    """JSON that describes no message and arrays, or more than the payload holds, is refused and shown."""
    raw = json.dumps(header).encode()
    with pytest.raises(WireError) as caught:
        read(receiver(struct.pack("<QQ", len(raw), 0) + raw))
    assert str(caught.value) == f"a frame's {reason}, but should be a message and the dtypes and shapes of its arrays"
