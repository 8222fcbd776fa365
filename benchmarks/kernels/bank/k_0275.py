"""Layer normalization with the affine part fused in."""

import torch


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalizes over the last dimensions, float32 and float64."""
    statistics = torch.ops.aten.native_layer_norm.default
    out, _, _ = statistics(input, list(normalized_shape), weight, bias, eps)
    return out
