"""Softmax with the row maximum from the first block."""

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
    top = rows.detach().narrow(dim, 0, min(rows.size(dim), 128)).amax(dim, keepdim=True)
    powers = torch.exp(rows - top)
    return (powers / powers.sum(dim, keepdim=True)).reshape(input.shape)
