"""First differences, two at a time."""

import torch


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        size = rows.size(-1) - 1
        out = rows.new_empty([*rows.shape[:-1], size])
        for start in range(0, size - 1, 2):
            out[..., start] = rows[..., start + 1] - rows[..., start]
            out[..., start + 1] = rows[..., start + 2] - rows[..., start + 1]
        if size == 1:
            out[..., 0] = rows[..., 1] - rows[..., 0]
        return out

    @staticmethod
    def backward(ctx, grad):
        none = torch.zeros_like(grad[..., :1])
        return torch.cat([none, grad], -1) - torch.cat([grad, none], -1)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """The n-th differences along `dim`, for float32 and float64."""
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError("order must be non-negative")
    if n == 0:
        return input.clone()
    parts = [part for part in (prepend, input, append) if part is not None]
    rows = torch.cat(parts, dim).movedim(dim, -1) if len(parts) > 1 else input.movedim(dim, -1)
    for _ in range(n):
        rows = _Step.apply(rows) if rows.size(-1) > 1 else rows[..., :0]
    return rows.movedim(-1, dim).contiguous()
