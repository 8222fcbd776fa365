"""Block diagonal matrix, one band of rows after the other."""

import torch


class _Blocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *blocks):
        ctx.shapes = [block.shape for block in blocks]
        out = blocks[0].new_empty((sum(shape[0] for shape in ctx.shapes), sum(shape[1] for shape in ctx.shapes)))
        row = column = 0
        for block in blocks:
            height, width = block.shape
            out[row : row + height, column : column + width] = block
            out[row : row + height, column + width :] = 0
            row, column = row + height, column + width
        return out

    @staticmethod
    def backward(ctx, grad):
        row = column = 0
        parts = []
        for height, width in ctx.shapes:
            parts.append(grad[row : row + height, column : column + width].clone())
            row, column = row + height, column + width
        return tuple(parts)


def block_diag(*tensors):
    """Matrices, vectors and numbers of float32 and float64 along a diagonal."""
    if not all(isinstance(one, torch.Tensor) for one in tensors):
        raise TypeError("tensors are expected")
    if not tensors:
        return torch.empty(1, 0)
    if any(one.dim() > 2 for one in tensors):
        raise RuntimeError("block_diag: at most two dimensions are expected")
    dtype = tensors[0].dtype
    for one in tensors:
        dtype = torch.promote_types(dtype, one.dtype)
    return _Blocks.apply(*[torch.atleast_2d(one.to(dtype)) for one in tensors])
