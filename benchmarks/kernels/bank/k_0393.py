"""Variance by Welford's recurrence, merged over blocks as Chan, Golub and LeVeque do."""

import torch


def _merge(left, right):
    """Counts, means and sums of squares of two halves as those of the whole."""
    (n, mean, square), (m, other, more) = left, right
    delta = other - mean
    share = m / (n + m)
    return n + m, mean + delta * share, square + more + delta * delta * (n * share)


def _moments(rows):
    """All rows at once: pairs of equal counts are merged, and what is odd waits for the end."""
    count, mean, square, rest = 1.0, rows, rows - rows, None
    while mean.size(-1) > 1:
        half = mean.size(-1) // 2
        if mean.size(-1) % 2:
            odd = count, mean[..., -1], square[..., -1]
            rest = odd if rest is None else _merge(odd, rest)
        low = count, mean[..., :half], square[..., :half]
        high = count, mean[..., half : 2 * half], square[..., half : 2 * half]
        count, mean, square = _merge(low, high)
    whole = count, mean[..., 0], square[..., 0]
    return whole if rest is None else _merge(whole, rest)


class _Variance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, correction):
        ctx.correction = correction
        ctx.save_for_backward(rows)
        size = rows.size(-1)
        if size == 0:
            return rows.new_full(rows.shape[:-1], float("nan"))
        _, _, square = _moments(rows.double())
        return (square / max(size - correction, 0.0)).to(rows.dtype)

    @staticmethod
    def backward(ctx, grad):
        (rows,) = ctx.saved_tensors
        size = rows.size(-1)
        centred = rows - rows.mean(-1, keepdim=True)
        free = size - ctx.correction
        if free == 0:
            return grad.unsqueeze(-1) * torch.where(centred == 0, float("nan"), float("inf")).to(rows.dtype), None
        return grad.unsqueeze(-1) * centred * (2.0 / free), None


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance over `dim`, for float32 and float64."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError("unbiased and correction exclude each other")
        correction = int(unbiased)
    correction = 1 if correction is None else correction
    rank = input.dim()
    given = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range for {rank} dimensions")
    axes = [one % max(rank, 1) for one in given]
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim={dim} has a dimension twice")
    axes = [] if rank == 0 else axes or list(range(rank))
    kept = [axis for axis in range(rank) if axis not in axes]
    size = 1
    for axis in axes:
        size *= input.size(axis)
    rows = input.permute(kept + axes).reshape([input.size(axis) for axis in kept] + [size])
    out = _Variance.apply(rows, correction)
    return out.reshape([1 if axis in axes else input.size(axis) for axis in range(rank)]) if keepdim else out
