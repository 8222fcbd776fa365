"""2D convolution with padding made explicit first."""

import torch


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value) * (2 // len(value))


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of a batch of float32 or float64 images."""
    if isinstance(padding, str):
        if padding not in ("valid", "same"):
            raise ValueError("padding is 'valid' or 'same'")
        if padding == "same" and max(_pair(stride)) > 1:
            raise RuntimeError("'same' needs a stride of 1")
        down, across = (d * (k - 1) if padding == "same" else 0 for d, k in zip(_pair(dilation), weight.shape[2:]))
        input = torch.nn.functional.pad(input, (across // 2, across - across // 2, down // 2, down - down // 2))
        padding = 0
    batched = input if input.dim() == 4 else input.unsqueeze(0)
    out = torch.convolution(
        batched, weight, bias, _pair(stride), _pair(padding), _pair(dilation), False, (0, 0), groups
    )
    return out if input.dim() == 4 else out.squeeze(0)
