"""Mean absolute error."""

import warnings

import torch


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|, reduced; float32 and float64."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if input.shape != target.shape:
        warnings.warn(f"target of size {tuple(target.shape)} is broadcast to {tuple(input.shape)}", stacklevel=2)
    losses = (input - target).abs()
    if weight is not None:
        if weight.shape != input.shape:
            raise ValueError("weight must have the shape of the input")
        losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if weight is not None:
        return losses.sum() / weight.sum()
    return losses.mean()
