"""Negative log likelihood by one gather."""

import torch


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Negative log likelihood of float32 and float64 log probabilities, with classes along dimension 1."""
    if input.dim() < 1:
        raise ValueError("expected 1 or more dimensions")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    along = 0 if input.dim() == 1 else 1
    if input.dim() > 1 and (input.size(0) != target.size(0) or input.shape[2:] != target.shape[1:]):
        raise ValueError(f"target of size {tuple(target.shape)} does not fit input of size {tuple(input.shape)}")
    classes = input.size(along)
    ignored = target == ignore_index
    labels = target.masked_fill_(ignored, 0)
    if labels.numel() and (labels.min() < 0 or labels.max() >= classes):
        raise IndexError("target is out of bounds")
    picked = -input.gather(along, labels.unsqueeze(along)).squeeze(along)
    weights = torch.ones(classes, dtype=input.dtype) if weight is None else weight
    scale = torch.where(ignored, torch.zeros((), dtype=input.dtype), weights[labels])
    losses = torch.where(ignored, torch.zeros((), dtype=input.dtype), picked * scale)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / scale.sum()
