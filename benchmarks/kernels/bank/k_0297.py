"""Repetition by a list of places."""

import torch


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each element of any dtype as often as `repeats` says along `dim`."""
    if dim is None:
        input, dim = input.reshape(-1), 0
    if not input.dim():
        input = input.reshape(1)
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"repeat_interleave: dim={dim} is out of range")
    size = input.size(dim)
    if not isinstance(repeats, torch.Tensor):
        repeats = torch.tensor([repeats])
    if repeats.dim() > 1 or repeats.is_floating_point() or repeats.dtype == torch.bool:
        raise RuntimeError("repeat_interleave: repeats must be whole numbers in at most one dimension")
    if repeats.numel() not in (1, size):
        raise RuntimeError("repeat_interleave: repeats must have the size of dim")
    counts = repeats.reshape(-1).long().expand(size)
    if size and int(counts.min()) < 0:
        raise RuntimeError("repeat_interleave: repeats can not be negative")
    ends = torch.cumsum(counts, 0)
    total = int(ends[-1]) if size else 0
    if output_size is not None and output_size != total:
        raise RuntimeError(f"repeat_interleave: output_size={output_size}, but should be {total}")
    return input.index_select(dim, torch.searchsorted(ends, torch.arange(total), right=True))
