"""Largest elements of windows."""

import torch


def _one(value):
    return value if isinstance(value, int) else value[0]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Maxima over windows of float32 and float64 signals."""
    if input.dim() not in (2, 3) or not input.size(-2):
        raise RuntimeError("2D or 3D input with channels is expected")
    width, edge, gap = _one(kernel_size), _one(padding), _one(dilation)
    step = width if stride is None or stride == () else _one(stride)
    if width <= 0 or step <= 0 or gap <= 0 or edge < 0 or edge > (gap * (width - 1) + 1) // 2:
        raise RuntimeError("max_pool1d: the arguments do not fit")
    span = input.size(-1) + 2 * edge - gap * (width - 1) - 1
    if span < 0:
        raise RuntimeError("output size is too small")
    padded = torch.nn.functional.pad(input, (edge, edge), value=float("-inf"))
    places = torch.arange(span // step + 1).unsqueeze(1) * step + torch.arange(width) * gap
    out, chosen = padded[..., places].max(-1)
    if not return_indices:
        return out
    starts = places[:, 0] - edge
    return out, starts + chosen * gap
