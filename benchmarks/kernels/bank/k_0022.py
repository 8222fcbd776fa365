"""Layer normalization in two passes."""

import torch


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Zero mean and unit variance over the last dimensions, for float32 and float64."""
    count = len(normalized_shape)
    if not count or tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise RuntimeError(f"normalized_shape={tuple(normalized_shape)} does not fit {tuple(input.shape)}")
    for one in (weight, bias):
        if one is not None and tuple(one.shape) != tuple(normalized_shape):
            raise RuntimeError("weight and bias must have normalized_shape")
    axes = tuple(range(-count, 0))
    wide = input.double()
    centred = wide - wide.mean(axes, keepdim=True)
    out = centred / torch.sqrt((centred * centred).mean(axes, keepdim=True) + eps)
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias).to(input.dtype)
