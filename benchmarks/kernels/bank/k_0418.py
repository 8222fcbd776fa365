"""Negative log likelihood."""

import torch


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Negative log likelihood of float32 and float64, with classes along dimension 1."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not input.dim():
        raise ValueError("expected 1 or more dimensions")
    along = 0 if input.dim() == 1 else 1
    if input.dim() > 1 and (input.size(0) != target.size(0) or input.shape[2:] != target.shape[1:]):
        raise ValueError("target does not fit input")
    ignored = target == ignore_index
    labels = torch.where(ignored, 0, target)
    if labels.numel() and (labels.min() < 0 or labels.max() >= input.size(along)):
        raise IndexError("target is out of bounds")
    weights = torch.ones(input.size(along), dtype=input.dtype) if weight is None else weight
    scale = weights[labels]
    losses = torch.where(ignored, 0, -input.gather(along, labels.unsqueeze(along)).squeeze(along) * scale)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / scale.sum()
