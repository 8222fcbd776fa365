"""exp(x) - 1."""

import torch


def expm1(input):
    """exp(input) - 1 for float32 and float64."""
    return torch.exp(input) - 1
