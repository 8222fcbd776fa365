"""Lower triangle, copied row by row."""

import torch


class _Tril(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, diagonal):
        ctx.diagonal = diagonal
        rows, columns = input.shape[-2:]
        out = torch.empty_like(input)
        for row in range(rows):
            width = min(columns, row + diagonal + 1)
            if width <= 0:
                continue
            out[..., row, :width] = input[..., row, :width]
            out[..., row, width:] = 0
        return out

    @staticmethod
    def backward(ctx, grad):
        rows, columns = grad.shape[-2:]
        below = torch.arange(columns) <= torch.arange(rows).unsqueeze(-1) + ctx.diagonal
        return torch.where(below, grad, torch.zeros_like(grad)), None


def tril(input, diagonal=0):
    """Elements on and below a diagonal of the last two dimensions, zero elsewhere. float32 and float64."""
    if input.dim() < 2:
        raise RuntimeError("tril: input tensor must have at least 2 dimensions")
    return _Tril.apply(input, diagonal)
