"""Softmax over rows of a matrix, to which every input is reshaped."""

import torch


def softmax(input, dim, dtype=None):
    """Softmax along `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    rank = max(input.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(f"dim={dim} is out of range")
    rows = input.reshape(1) if not input.dim() else input
    dim %= rank
    if not input.numel():
        return torch.exp(rows).reshape(input.shape)
    last = rows if (dim == 0 and rank > 2) else rows.transpose(dim, -1)
    powers = torch.exp(last - last.detach().amax(-1, keepdim=True))
    out = powers / powers.sum(-1, keepdim=True)
    return (out if (dim == 0 and rank > 2) else out.transpose(dim, -1)).reshape(input.shape)
