"""Mean squared error from the difference of the operands times itself."""

import warnings

import torch


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target) ** 2, reduced; float32 and float64."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if target.shape != input.shape:
        warnings.warn(f"target of size {tuple(target.shape)} is broadcast to {tuple(input.shape)}", stacklevel=2)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    away = input - target
    losses = away * away
    if weight is not None:
        if weight.shape != input.shape:
            raise ValueError("weight must have the shape of the input")
        losses = losses * weight
        if reduction == "mean":
            return losses.sum() / weight.sum()
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
