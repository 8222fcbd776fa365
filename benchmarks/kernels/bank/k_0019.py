"""Mean by compensated summation: what each addition loses is added to the next one."""

import torch

_LANES = 64


def _add(total, lost, term):
    """One step of Kahan's summation; infinities have nothing to compensate."""
    raised = term - lost
    fresh = total + raised
    lost = (fresh - total) - raised
    return fresh, torch.where(torch.isfinite(lost), lost, torch.zeros_like(lost))


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        size = rows.size(-1)
        ctx.size = size
        total = rows.new_zeros([*rows.shape[:-1], _LANES])
        lost = torch.zeros_like(total)
        for start in range(0, size - size % _LANES, _LANES):
            total, lost = _add(total, lost, rows[..., start : start + _LANES])
        rest = torch.nn.functional.pad(rows[..., size - size % _LANES :], (0, _LANES - size % _LANES))
        total, lost = _add(total, lost, rest)
        out, carry = total[..., 0], lost[..., 0]
        for lane in range(1, _LANES):
            out, carry = _add(out, carry, total[..., lane])
            out, carry = _add(out, carry, -lost[..., lane])
        return out / size if size else out / 0.0

    @staticmethod
    def backward(ctx, grad):
        return (grad.unsqueeze(-1) / max(ctx.size, 1)).expand([*grad.shape, ctx.size])


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Mean over `dim`, for float32 and float64."""
    if dtype is not None:
        if not dtype.is_floating_point and not dtype.is_complex:
            raise RuntimeError("mean: a floating dtype is expected")
        input = input.to(dtype)
    rank = input.dim()
    given = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range for {rank} dimensions")
    axes = [one % max(rank, 1) for one in given]
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim={dim} has a dimension twice")
    axes = (sorted(axes) or list(range(rank))) if rank else []
    kept = [axis for axis in range(rank) if axis not in axes]
    size = 1
    for axis in axes:
        size *= input.size(axis)
    rows = input.permute(kept + axes).reshape([*(input.size(axis) for axis in kept), size])
    out = _Mean.apply(rows)
    return out.reshape([1 if axis in axes else input.size(axis) for axis in range(rank)]) if keepdim else out
