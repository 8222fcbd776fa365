"""input + value * tensor1 * tensor2."""

import torch


def addcmul(input, tensor1, tensor2, *, value=1):
    """Adds a scaled product to `input`, for float32 and float64."""
    product = tensor1 * tensor2 * value
    return input + product.expand(input.shape)
