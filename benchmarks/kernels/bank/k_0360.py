"""Matrix product with batches."""

import torch


def matmul(input, other):
    """Products of vectors, matrices and batches of them, for float32 and float64."""
    if not input.dim() or not other.dim():
        raise RuntimeError("both arguments to matmul need to be at least 1D")
    if input.dtype != other.dtype:
        raise RuntimeError("one dtype is expected")
    left = input.unsqueeze(0) if input.dim() == 1 else input
    right = other.unsqueeze(1) if other.dim() == 1 else other
    if left.size(-1) != right.size(-2):
        raise RuntimeError("the sizes cannot be multiplied")
    out = torch.einsum("...ik,...kj->...ij", left, right)
    if other.dim() == 1:
        out = out.squeeze(-1)
    if input.dim() == 1 and other.dim() <= 2:
        out = out.squeeze(-2 if other.dim() > 1 else -1)
    return out
