"""Cross entropy of logits with classes, or chances, as target."""

import torch


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """Cross entropy for float32 and float64."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError("label_smoothing must be between 0 and 1")
    along = 0 if input.dim() == 1 else 1
    classes = input.size(along)
    logs = torch.log_softmax(input, along)
    shape = [1] * input.dim()
    shape[along] = classes
    scale = torch.ones(shape, dtype=input.dtype) if weight is None else weight.reshape(shape)
    if target.is_floating_point():
        if target.shape != input.shape:
            raise RuntimeError("chances must have the shape of the input")
        chances = target * (1 - label_smoothing) + label_smoothing / classes
        losses = -(chances * logs * scale).sum(along)
        if reduction == "mean":
            return losses.sum() / (input.numel() // classes if classes else 1)
        return losses if reduction == "none" else losses.sum()
    if input.dim() > 1 and (input.size(0) != target.size(0) or input.shape[2:] != target.shape[1:]):
        raise ValueError("target does not fit input")
    ignored = target == ignore_index
    labels = torch.where(ignored, 0, target)
    if labels.numel() and (labels.min() < 0 or labels.max() >= classes):
        raise IndexError("target is out of bounds")
    hit = logs.gather(along, labels.unsqueeze(along)).squeeze(along)
    weights = torch.where(ignored, 0, scale.reshape(-1)[labels]).to(input.dtype)
    losses = -hit * weights * (1 - label_smoothing)
    if label_smoothing and classes > 1:
        spread = -(logs * scale).sum(along) + hit * scale.reshape(-1)[labels]
        losses = losses + torch.where(ignored, 0, spread) * (label_smoothing / (classes - 1))
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / weights.sum()
