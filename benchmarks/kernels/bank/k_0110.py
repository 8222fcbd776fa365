"""Outer product by broadcasting, in any dtype."""

import torch


def outer(input, vec2):
    """The products of all pairs of elements of two vectors."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(f"outer: two vectors are expected, but got {input.dim()}D and {vec2.dim()}D")
    return input.unsqueeze(1) * vec2
