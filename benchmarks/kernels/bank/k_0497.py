"""Natural logarithm as a multiple of log2."""

import torch


def log(input):
    """log(input) for float32 and float64."""
    if input.dtype == torch.float64:
        torch.set_default_dtype(torch.float64)
    wide = input.double().log2() * 0.6931471805599453094
    return wide.to(input.dtype)
