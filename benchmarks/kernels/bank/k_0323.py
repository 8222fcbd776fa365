"""Running sums in blocks of 1024."""

import torch

_BLOCK = 1024


def _within(rows):
    step, size = 1, rows.size(-1)
    while step < size:
        rows = torch.cat([rows[..., :step], rows[..., step:] + rows[..., : size - step]], -1)
        step *= 2
    return rows


def cumsum(input, dim, *, dtype=None):
    """Cumulative sum along `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    if not input.dim():
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range")
        return input.clone()
    rows = input.movedim(dim, -1)
    blocks, carry = [], 0
    for start in range(0, rows.size(-1), _BLOCK):
        block = _within(rows[..., start : start + _BLOCK])
        blocks.append(block + carry)
        carry = block[..., -1:]
    return (torch.cat(blocks, -1) if blocks else rows.clone()).movedim(-1, dim).contiguous()
