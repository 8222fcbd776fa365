"""Depth to space by indices into the channels."""

import torch


def pixel_shuffle(input, upscale_factor):
    """Rearranges channels into a grid that is finer by `upscale_factor`; every dtype."""
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError("pixel_shuffle: at least 3 dimensions are expected")
    if r <= 0:
        raise RuntimeError("pixel_shuffle: a positive factor is expected")
    channels, height, width = input.shape[-3:]
    if channels % (r * r):
        raise RuntimeError(f"pixel_shuffle: {channels} channels are no multiple of {r * r}")
    y = torch.arange(height * r).reshape(1, -1, 1)
    x = torch.arange(width * r).reshape(1, 1, -1)
    plane = torch.arange(channels // (r * r)).reshape(-1, 1, 1) * (r * r) + (y % r) * r + x % r
    return input[..., plane, torch.div(y, r, rounding_mode="floor"), torch.div(x, r, rounding_mode="floor")]
