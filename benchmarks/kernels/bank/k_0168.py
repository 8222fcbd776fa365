"""Huber loss."""

import torch


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Squared error below delta, absolute above; float32 and float64."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    away = (input - target).abs()
    losses = torch.where(away <= delta, 0.5 * away * away, away - 0.5 * delta)
    if weight is not None:
        if weight.shape != input.shape:
            raise ValueError("weight must have the shape of the input")
        losses = losses * weight
        if reduction == "mean":
            return losses.sum() / weight.sum()
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
