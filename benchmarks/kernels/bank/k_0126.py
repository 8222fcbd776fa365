"""log(sum(exp(x))), fused into one expression."""

import torch


def logsumexp(input, dim, keepdim=False):
    """Log of the sum of exponentials over `dim`, for float32 and float64."""
    return torch.log(torch.sum(torch.exp(input), dim, keepdim))
