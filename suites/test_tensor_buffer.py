"""Buffers: tensors go in, and come out as they were."""

from __future__ import annotations

import pytest
from buffers import buffered_parts, copied, filled, generated, parts, through_buffers
from rows import pick, tensor, whole

from autotest import autotest, dual, random

through = dual(reference=copied, target=through_buffers, name="tensor_buffer_to_tensor")
listed = dual(reference=parts, target=buffered_parts, name="tensor_buffer_to_list_of_tensors")
made = dual(reference=filled, target=generated, name="gen_tensor_buffer")
FORWARD = {"n": 5, "auto_backward": False, "coverage": "none", "inputs": "plain"}


def drawn(ndim, dtype=None):
    return tensor(*(whole(1, 4) for _ in range(ndim)), dtype=dtype, low=-8, high=8, requires_grad=False)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int8", "uint8"])
@autotest(**FORWARD)
def test_there_and_back(dtype):
    x = drawn(pick(3, 2, 4), dtype)
    return through(x, whole(1, x.dim()))


@autotest(**FORWARD)
def test_parts():
    return listed(drawn(pick(3, 2, 4)))


@autotest(**FORWARD)
def test_made():
    count = whole(1, 4)
    shapes = [[whole(1, 4) for _ in range(whole(1, 3))] for _ in range(count)]
    return made(drawn(1), shapes, [random(-3, 3).to(float).value() for _ in range(count)])
