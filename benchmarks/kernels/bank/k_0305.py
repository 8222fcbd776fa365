"""Depth to space as one strided copy."""

import torch


def pixel_shuffle(input, upscale_factor):
    """Rearranges channels of float32 and float64 into a finer grid."""
    if input.dim() < 3:
        raise RuntimeError("pixel_shuffle expects at least 3 dimensions")
    if upscale_factor <= 0:
        raise RuntimeError("pixel_shuffle expects a positive factor")
    r = upscale_factor
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError("pixel_shuffle expects channels that r * r divides")
    out = channels // (r * r)
    dense = input if input.dim() == 4 and input.is_contiguous(memory_format=torch.channels_last) else input.contiguous()
    shape = [*batch, out, r, r, height, width]
    steps, step = [], 1
    for size in reversed(shape):
        steps.insert(0, step)
        step *= size
    blocks = torch.as_strided(dense, shape, steps)
    lead = list(range(len(batch)))
    n = len(batch)
    out = blocks.permute([*lead, n, n + 3, n + 1, n + 4, n + 2]).reshape([*batch, out, height * r, width * r])
    return out.clone() if r == 1 else out
