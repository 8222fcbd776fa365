"""Root mean square normalization."""

import torch


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input / rms(input) over the last dimensions, float32 and float64."""
    count = len(normalized_shape)
    if not count or tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise RuntimeError(f"normalized_shape={tuple(normalized_shape)} does not fit {tuple(input.shape)}")
    if weight is not None and tuple(weight.shape) != tuple(normalized_shape):
        raise RuntimeError("weight must have normalized_shape")
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    axes = tuple(range(-count, 0))
    scale = torch.rsqrt((input * input).mean(axes, keepdim=True) + eps)
    out = input * scale.detach()
    return out if weight is None else out * weight
