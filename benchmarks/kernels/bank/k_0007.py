"""Binary cross entropy of logits."""

import torch


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """Cross entropy of sigmoid(input) and target, for float32 and float64."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if target.shape != input.shape:
        raise ValueError(f"target of size {tuple(target.shape)} must have the size of input {tuple(input.shape)}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    chance = torch.sigmoid(input)
    hit = target * torch.log(chance)
    hit = hit if pos_weight is None else hit * pos_weight
    losses = -(hit + (1 - target) * torch.log(1 - chance))
    losses = losses if weight is None else losses * weight
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
