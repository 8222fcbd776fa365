"""Sum over dimensions by one einsum or a chain of additions."""

import torch


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over `dim`, for every dtype."""
    if dtype is not None:
        input = input.to(dtype)
    elif input.dtype == torch.bool:
        input = input.long()
    rank = input.dim()
    given = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim) or list(range(rank))
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
    axes = {one % max(rank, 1) for one in given}
    if len(axes) != len(given):
        raise RuntimeError("a dimension appears twice")
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    out = (
        wide.movedim(list(axes), list(range(len(axes)))).flatten(0, len(axes) - 1)
        if axes and rank
        else wide.unsqueeze(0)
    )
    total = torch.zeros(out.shape[1:], dtype=wide.dtype) + (
        out[:0].reshape(-1)[:0].new_zeros(()) if not out.numel() else 0
    )
    for part in out.unbind(0):
        total = total + part
    total = total.to(input.dtype)
    return total.reshape([1 if axis in axes else size for axis, size in enumerate(input.shape)]) if keepdim else total
