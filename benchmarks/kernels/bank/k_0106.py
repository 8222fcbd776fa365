"""Gaussian error linear unit."""

import math

import torch


def gelu(input, *, approximate="none"):
    """input * Phi(input), for float32 and float64."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)
    return 0.5 * input * (1 + torch.tanh(inner))
