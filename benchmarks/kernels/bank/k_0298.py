"""Softmax over one dimension, numerically safe, for float32 and float64."""

import torch


def softmax(input, dim, dtype=None):
    """exp(x) / sum(exp(x)), shifted by the maximum."""
    rows = input if dtype is None else input.to(dtype)
    shifted = rows.softmax(dim)
    return shifted
