"""Softmax that is safe with masks."""

import torch


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Softmax along `dim`, for float32 and float64."""
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    if dtype is not None:
        input = input.to(dtype)
    rows = input.reshape(1) if not input.dim() else input
    if not -rows.dim() <= dim < rows.dim():
        raise IndexError(f"dim={dim} is out of range")
    if not input.numel():
        return torch.exp(rows).reshape(input.shape)
    top = rows.detach().amax(dim, keepdim=True)
    empty = top == float("-inf")
    powers = torch.exp(rows - torch.where(empty, torch.zeros_like(top), top))
    total = powers.sum(dim, keepdim=True)
    return (powers / torch.where(empty, torch.ones_like(total), total)).reshape(input.shape)
