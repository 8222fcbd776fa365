"""Product as a tree of pairs, whose gradient autograd makes right also where factors are zero."""

import torch


def _tree(rows):
    while rows.size(-1) > 1:
        half = rows.size(-1) // 2
        paired = rows[..., :half] * rows[..., half : 2 * half]
        rows = torch.cat([paired, rows[..., 2 * half :]], -1) if rows.size(-1) % 2 else paired
    return rows[..., 0]


def prod(input, dim=None, keepdim=False, *, dtype=None):
    """Product over `dim`; whole numbers are multiplied in int64."""
    if dtype is None and not input.is_floating_point():
        dtype = torch.int64
    if dtype is not None:
        input = input.to(dtype)
    rank = input.dim()
    if dim is None:
        flat = input.reshape(-1)
        return _tree(torch.cat([flat, torch.ones(1, dtype=input.dtype)]))
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"dim={dim} is out of range for {rank} dimensions")
    if not rank:
        return input * 1
    rows = input.movedim(dim, -1)
    out = _tree(
        torch.cat([rows, torch.ones_like(rows[..., :1]) if rows.size(-1) else rows.new_ones([*rows.shape[:-1], 1])], -1)
    )
    return out.unsqueeze(dim) if keepdim else out
