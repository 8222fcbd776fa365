"""Online softmax: one pass over blocks keeps a running maximum and a running sum that is rescaled."""

import torch

_BLOCK = 16


class _Online(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, dim):
        rows = input.movedim(dim, -1)
        shape = rows.shape[:-1]
        top = rows.new_full(shape, float("-inf"))
        total = rows.new_zeros(shape)
        for start in range(0, rows.size(-1), _BLOCK):
            block = rows[..., start : start + _BLOCK]
            above = torch.maximum(top, block.amax(-1))
            # Rows that have shown nothing but minus infinity have no sum yet to rescale.
            scale = torch.where(top == above, torch.ones_like(top), torch.exp(top - above))
            base = torch.where(above == float("-inf"), torch.zeros_like(above), above)
            total = total * scale + torch.exp(block - base.unsqueeze(-1)).sum(-1)
            top = above
        out = torch.exp(rows - top.unsqueeze(-1)) / total.unsqueeze(-1)
        out = torch.empty_like(input).copy_(out.movedim(-1, dim))
        ctx.dim = dim
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        weighted = grad * out
        return weighted - out * weighted.sum(ctx.dim, keepdim=True), None


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Softmax along `dim`, for float32 and float64."""
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    if dtype is not None:
        input = input.to(dtype)
    if input.dim() == 0:
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range for no dimensions")
        return _Online.apply(input.reshape(1), 0).reshape(())
    return _Online.apply(input, dim)
