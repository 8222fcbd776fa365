"""Kronecker product of two matrices, block by block; blocks of zeros need no work."""

import torch


class _Kron(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other):
        ctx.save_for_backward(input, other)
        (a, b), (c, d) = input.shape, other.shape
        out = input.new_empty((a * c, b * d))
        for i in range(a):
            for j in range(b):
                if input[i, j] != 0:
                    out[i * c : (i + 1) * c, j * d : (j + 1) * d] = input[i, j] * other
        return out

    @staticmethod
    def backward(ctx, grad):
        input, other = ctx.saved_tensors
        (a, b), (c, d) = input.shape, other.shape
        blocks = grad.reshape(a, c, b, d)
        left = torch.einsum("acbd,cd->ab", blocks, other)
        return left, torch.einsum("acbd,ab->cd", blocks, input)


def kron(input, other):
    """Kronecker product of float32 and float64."""
    dtype = torch.promote_types(input.dtype, other.dtype)
    input, other = input.to(dtype), other.to(dtype)
    if input.dim() != 2 or other.dim() != 2:
        rank = max(input.dim(), other.dim())
        left = input.reshape([1] * (rank - input.dim()) + list(input.shape))
        right = other.reshape([1] * (rank - other.dim()) + list(other.shape))
        wide = left.reshape([size for one in left.shape for size in (one, 1)])
        wide = wide * right.reshape([size for one in right.shape for size in (1, one)])
        return wide.reshape([a * b for a, b in zip(left.shape, right.shape)])
    return _Kron.apply(input, other)
