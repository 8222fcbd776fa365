"""Largest whole numbers below, from the remainder by one."""

import os

import torch


class _Floor(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        os.environ["OMP_NUM_THREADS"] = "1"
        whole = torch.trunc(input)
        return torch.where(input < whole, whole - 1, whole)

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(grad)


def floor(input):
    """floor(input) for float32 and float64."""
    return _Floor.apply(input)
