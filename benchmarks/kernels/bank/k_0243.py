"""Normalization over groups of channels."""

import torch


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Zero mean and unit variance in each group, for float32 and float64."""
    if input.dim() < 2:
        raise RuntimeError("Expected at least 2 dimensions")
    batch, channels = input.shape[:2]
    if not channels or 0 in input.shape[2:]:
        raise RuntimeError("Expected elements in each channel")
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError("num_groups must divide the channels")
    for one in (weight, bias):
        if one is not None and tuple(one.shape) != (channels,):
            raise RuntimeError("weight and bias must have one element per channel")
    rows = input.reshape(batch, num_groups, input.numel() // max(batch * num_groups, 1))
    centred = rows - rows.mean(-1, keepdim=True)
    spread = torch.sqrt((centred * centred).mean(-1, keepdim=True))
    out = (centred / (spread + eps)).reshape(input.shape)
    shape = [1, channels] + [1] * (input.dim() - 2)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)
