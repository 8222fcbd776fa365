"""Reverses dimensions by indexing."""

import torch


def flip(input, dims):
    """`input` with its elements in reverse order along `dims`; every dtype."""
    dims = [dims] if isinstance(dims, int) else list(dims)
    rank = input.dim()
    for dim in dims:
        if not -max(rank, 1) <= dim < max(rank, 1):
            raise IndexError(f"dim={dim} is out of range")
    if len({dim % max(rank, 1) for dim in dims}) != len(dims):
        raise RuntimeError("a dimension appears twice")
    out = input.clone()
    for dim in dims:
        if rank:
            axis = dim if dim >= 0 else rank - 1
            out = out.index_select(axis, torch.arange(out.size(axis) - 1, -1, -1))
    return out
