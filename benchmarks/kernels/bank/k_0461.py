"""Repeats elements through an expanded view."""

import torch


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each element of float32 or float64 `repeats` times along `dim`."""
    if isinstance(repeats, torch.Tensor):
        if dim is None:
            input, dim = input.reshape(-1), 0
        if repeats.dim() > 1 or repeats.is_floating_point():
            raise RuntimeError("repeats must be a vector of whole numbers")
        if repeats.numel() not in (1, input.size(dim)):
            raise RuntimeError("repeats must have the size of dim")
        counts = repeats.reshape(-1).expand(input.size(dim)).tolist()
        if min(counts, default=0) < 0:
            raise RuntimeError("repeats can not be negative")
        places = [place for place, count in enumerate(counts) for _ in range(count)]
        return input.index_select(dim, torch.tensor(places, dtype=torch.int64))
    if repeats < 0:
        raise RuntimeError("repeats can not be negative")
    if dim is None:
        input, dim = input.reshape(-1), 0
    if input.dim() == 0:
        input = input.reshape(1)
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"dim={dim} is out of range")
    dim %= input.dim()
    if output_size is not None and output_size != repeats * input.size(dim):
        raise RuntimeError("output_size is not the size of the output")
    shape = list(input.shape)
    wide = input.unsqueeze(dim + 1).expand(*shape[: dim + 1], repeats, *shape[dim + 1 :])
    shape[dim] *= repeats
    return wide.reshape(shape)
