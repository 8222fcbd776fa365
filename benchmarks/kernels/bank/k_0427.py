"""Dropout that scales what it keeps."""

import torch


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with chance `p` in training, for float32 and float64."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input if inplace or not training else input * 1
    kept = torch.rand(input.shape) >= p
    out = input * kept / torch.tensor(1 - p, dtype=input.dtype)
    return input.copy_(out) if inplace else out
