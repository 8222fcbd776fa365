"""Logarithm of one plus x."""

import torch


def log1p(input):
    """log(1 + input) for float32 and float64."""
    return torch.log(1 + input)
