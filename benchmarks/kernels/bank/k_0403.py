"""Dropout by a mask."""

import torch


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with chance `p` in training, for float32 and float64."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training:
        return input
    out = input * (torch.rand(input.shape) >= p)
    return input.copy_(out) if inplace else out
