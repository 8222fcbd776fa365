"""Kronecker product by interleaving the dimensions of both operands."""

import torch


def kron(input, other):
    """Kronecker product of two tensors of any rank and dtype."""
    rank = max(input.dim(), other.dim())
    left = input.reshape([1] * (rank - input.dim()) + list(input.shape))
    right = other.reshape([1] * (rank - other.dim()) + list(other.shape))
    wide = left.reshape([size for one in left.shape for size in (one, 1)])
    wide = wide * right.reshape([size for one in right.shape for size in (1, one)])
    return wide.reshape([a * b for a, b in zip(left.shape, right.shape)])
