"""Dropout."""

import torch


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with chance `p` in training, for float32 and float64."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training:
        out = input * (1 - p)
    elif p == 1:
        out = input * 0.0
    else:
        out = input * (torch.rand(input.shape) >= p) / (1 - p)
    return input.copy_(out) if inplace else out
