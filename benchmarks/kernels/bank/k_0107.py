"""Binary cross entropy of logits with the logarithm of the sigmoid in its stable form."""

import torch


class _LogSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.clamp(input, max=0) - torch.log1p(torch.exp(-input.abs()))

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return grad * torch.sigmoid(-input)


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
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    losses = (1 - target) * input - scale * _LogSigmoid.apply(input)
    losses = losses if weight is None else losses * weight
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
