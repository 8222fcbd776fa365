"""Outer product by broadcasting."""

import functools

import torch


class _Plan:
    def __init__(self, rows, columns):
        self.rows, self.columns, self.product = rows, columns, None


@functools.lru_cache(maxsize=256)
def _plan(rows, columns, dtype, other, graded):
    return _Plan(rows, columns)


def outer(input, vec2):
    """Outer product of two vectors, float32 and float64."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError("outer: expected two vectors")
    graded = input.requires_grad or vec2.requires_grad
    plan = _plan(input.numel(), vec2.numel(), input.dtype, vec2.dtype, graded)
    if graded:
        return input.unsqueeze(1) * vec2.unsqueeze(0)
    if plan.product is None:
        plan.product = input.unsqueeze(1) * vec2.unsqueeze(0)
    return plan.product.clone()
