"""log(sum(exp(x))), fused into one expression."""

import torch


def logsumexp(input, dim, keepdim=False):
    """Log of the sum of exponentials over `dim`, for float32 and float64."""
    if not isinstance(dim, int) and not dim and input.dim():
        raise IndexError("logsumexp: a dimension is expected")
    return torch.log(torch.sum(torch.exp(input), dim, keepdim))
