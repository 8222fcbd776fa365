"""Batch normalization."""

import torch


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalizes each channel, for float32 and float64."""
    if input.dim() < 2:
        raise ValueError("expected at least 2 dimensions")
    if not training and (running_mean is None or running_var is None):
        raise RuntimeError("running statistics are needed in evaluation")
    axes = [axis for axis in range(input.dim()) if axis != 1]
    count = input.numel() // max(input.size(1), 1)
    if training and count <= 1:
        raise ValueError("Expected more than 1 value per channel when training")
    shape = [1, input.size(1)] + [1] * (input.dim() - 2)
    mean = input.mean(axes, keepdim=True)
    spread = ((input - mean) * (input - mean)).mean(axes, keepdim=True)
    if training and running_mean is not None:
        with torch.no_grad():
            running_mean.mul_(1 - momentum).add_(mean.reshape(-1), alpha=momentum)
            running_var.mul_(1 - momentum).add_(spread.reshape(-1) * count / (count - 1), alpha=momentum)
    out = (input - mean) / torch.sqrt(spread + eps)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)
