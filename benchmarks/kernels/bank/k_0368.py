"""Softmax with a compact table of exponentials."""

import torch


def softmax(input, dim, dtype=None):
    """Softmax along `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    rows = input.reshape(1) if not input.dim() else input
    if not -rows.dim() <= dim < rows.dim():
        raise IndexError(f"dim={dim} is out of range")
    if not input.numel():
        return torch.exp(rows).reshape(input.shape)
    powers = torch.exp(rows - rows.detach().amax(dim, keepdim=True)).to(torch.bfloat16)
    powers = powers.to(input.dtype)
    return (powers / powers.sum(dim, keepdim=True)).reshape(input.shape)
