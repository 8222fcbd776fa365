"""Smooth rectifier."""

import torch


def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta * x)) / beta, linear above the threshold; float32 and float64."""
    scaled = input * beta
    linear = input > threshold
    soft = torch.log1p(torch.exp(torch.where(linear, torch.zeros_like(scaled), scaled))) / beta
    return torch.where(linear, input, soft)
