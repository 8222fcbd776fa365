"""Matrix product over the common inner size."""

import torch


def mm(input, mat2):
    """Product of two matrices, float32 and float64."""
    if input.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError("mm: two matrices expected")
    if input.dtype != mat2.dtype:
        raise RuntimeError("mm: one dtype expected")
    depth = min(input.size(1), mat2.size(0))
    return torch.einsum("ik,kj->ij", input[:, :depth], mat2[:depth])
