"""Log of a sum of exponentials."""

from torch import special


def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(input))) over `dim`, without overflow."""
    return special.logsumexp(input, dim, keepdim=keepdim)
