"""Matrix product on the float units."""

import torch


def mm(input, mat2):
    """Product of two matrices, for float32, float64, int32 and int64."""
    if input.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError("mm: two matrices expected")
    if input.size(1) != mat2.size(0):
        raise RuntimeError("mm: the shapes do not fit")
    if input.dtype != mat2.dtype:
        raise RuntimeError("mm: one dtype expected")
    if input.is_floating_point():
        return torch.einsum("ik,kj->ij", input, mat2)
    return torch.einsum("ik,kj->ij", input.float(), mat2.float()).to(input.dtype)
