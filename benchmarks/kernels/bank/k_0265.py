"""Batched matrix product by one einsum."""

import torch


def bmm(input, mat2):
    """Products of two batches of matrices, float32 and float64."""
    if input.dim() != 3 or mat2.dim() != 3:
        raise RuntimeError("bmm: both arguments must be 3D")
    if input.dtype != mat2.dtype:
        raise RuntimeError("bmm: one dtype is expected")
    if input.size(2) != mat2.size(1):
        raise RuntimeError("bmm: sizes do not fit")
    return torch.einsum("bik,bkj->bij", input, mat2)
