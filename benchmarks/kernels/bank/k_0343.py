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
    """Kronecker product of two matrices of one dtype, float32 or float64."""
    if input.dim() != 2 or other.dim() != 2 or input.dtype != other.dtype:
        raise NotImplementedError("two matrices of one dtype")
    return _Kron.apply(input, other)
