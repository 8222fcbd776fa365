"""Diagonal matrices by a comparison of places."""

import torch


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices with `input` on a diagonal of two new dimensions; every dtype."""
    if not input.dim():
        raise IndexError("diag_embed: at least one dimension is expected")
    rank = input.dim() + 1
    for dim in (dim1, dim2):
        if not -rank <= dim < rank:
            raise IndexError(f"diag_embed: dim={dim} is out of range")
    dim1, dim2 = dim1 % rank, dim2 % rank
    if dim1 == dim2:
        raise RuntimeError("diag_embed: the dimensions must differ")
    if dim1 > dim2:
        dim1, dim2, offset = dim2, dim1, -offset
    side = input.size(-1) + abs(offset)
    row, column = torch.arange(side).unsqueeze(1), torch.arange(side)
    wide = torch.nn.functional.pad(input, (max(offset, 0), max(-offset, 0)))
    out = torch.where(column - row == offset, wide.unsqueeze(-2), torch.zeros((), dtype=input.dtype))
    return out.movedim((-2, -1), (dim1, dim2))
