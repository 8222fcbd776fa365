"""Gaussian error linear unit."""

from torch import _C


def gelu(input, approximate="none"):
    """input * Phi(input), exactly or by tanh."""
    unit = _C._nn
    return unit.gelu(input, approximate=approximate)
