"""Pairwise summation: halves are added until one element is left, which errs with the logarithm of the size."""

import torch


def _axes(dim, rank):
    if dim is None:
        return list(range(rank))
    given = [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range for {rank} dimensions")
    axes = [one % max(rank, 1) for one in given]
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim={dim} has a dimension twice")
    if rank == 0:
        return []
    return sorted(axes) or list(range(rank))


def _fold(rows):
    while rows.size(-1) > 1:
        half = rows.size(-1) // 2
        folded = rows[..., :half] + rows[..., half : 2 * half]
        rows = torch.cat([folded, rows[..., 2 * half :]], -1) if rows.size(-1) % 2 else folded
    return rows.squeeze(-1)


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over the dimensions `dim`, over all without it. For float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    axes = _axes(dim, input.dim())
    kept = [axis for axis in range(input.dim()) if axis not in axes]
    shape = [input.size(axis) for axis in kept]
    size = 1
    for axis in axes:
        size *= input.size(axis)
    rows = input.permute(kept + axes).reshape(shape + [size])
    # A zero more makes a sum of no element, a copy of one, and a positive zero of a negative one.
    out = _fold(rows) + 0.0 if size else torch.cat([rows, rows.new_zeros(shape + [1])], -1).squeeze(-1)
    if keepdim:
        out = out.reshape([1 if axis in axes else input.size(axis) for axis in range(input.dim())])
    return out
