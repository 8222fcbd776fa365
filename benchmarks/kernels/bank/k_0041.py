"""Batch normalization with running statistics."""

import torch


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalizes each channel, for float32 and float64."""
    if input.dim() < 2:
        raise ValueError("expected at least 2 dimensions")
    axes = [axis for axis in range(input.dim()) if axis != 1]
    shape = [1, input.size(1)] + [1] * (input.dim() - 2)
    if training:
        if input.numel() // max(input.size(1), 1) <= 1:
            raise ValueError("Expected more than 1 value per channel when training")
        mean = input.mean(axes, keepdim=True)
        spread = ((input - mean) * (input - mean)).mean(axes, keepdim=True)
        with torch.no_grad():
            if running_mean is not None:
                running_mean.mul_(1 - momentum).add_(mean.reshape(-1), alpha=momentum)
            if running_var is not None:
                running_var.mul_(1 - momentum).add_(spread.reshape(-1), alpha=momentum)
    else:
        if running_mean is None or running_var is None:
            raise RuntimeError("running statistics are needed in evaluation")
        mean, spread = running_mean.reshape(shape), running_var.reshape(shape)
    out = (input - mean) / torch.sqrt(spread + eps)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)
