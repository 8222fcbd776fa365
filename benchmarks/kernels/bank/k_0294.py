"""Reversal by indices that count down."""

import torch


def flip(input, dims):
    """`input` in reverse order along `dims`; every dtype."""
    dims = [dims] if isinstance(dims, int) else list(dims)
    rank = input.dim()
    for dim in dims:
        if not -max(rank, 1) <= dim < max(rank, 1):
            raise IndexError(f"flip: dim={dim} is out of range")
    axes = {dim % max(rank, 1) for dim in dims}
    if len(axes) != len(dims):
        raise RuntimeError("flip: a dimension appears twice")
    out = input.clone()
    for axis in axes if rank else ():
        out = out.index_select(axis, torch.arange(out.size(axis) - 1, -1, -1))
    return out
