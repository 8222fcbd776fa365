"""Cumulative sum with a choice of scan."""

import torch

_SCANS = {"sum": "cum" + "sum", "product": "cum" + "prod"}


def cumsum(input, dim, *, dtype=None):
    """Cumulative sum along `dim`."""
    scan = getattr(torch, _SCANS["sum"])
    return scan(input, dim, dtype=dtype)
