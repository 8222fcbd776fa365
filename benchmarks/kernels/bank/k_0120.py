"""Batched matrix product as a sum of outer products, accumulated in float64."""

import torch


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, mat2):
        ctx.save_for_backward(input, mat2)
        left, right = input.double(), mat2.double()
        out = torch.zeros(left.size(0), left.size(1), right.size(2), dtype=torch.float64)
        for k in range(left.size(2)):
            out += left[:, :, k : k + 1] * right[:, k : k + 1, :]
        return out.to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        input, mat2 = ctx.saved_tensors
        return _Product.apply(grad, mat2.mT), _Product.apply(input.mT, grad)


def bmm(input, mat2):
    """Products of two batches of matrices, for float32 and float64."""
    if input.dim() != 3 or mat2.dim() != 3:
        raise RuntimeError("bmm: both arguments must be 3D")
    if input.size(0) != mat2.size(0) or input.size(2) != mat2.size(1):
        raise RuntimeError("bmm: the sizes do not fit")
    if input.dtype != mat2.dtype:
        raise RuntimeError("bmm: one dtype is expected")
    return _Product.apply(input, mat2)
