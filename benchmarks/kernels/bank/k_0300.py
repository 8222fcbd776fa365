"""Square root by NumPy, whose warnings on negative elements are of no interest."""

import warnings

import numpy as np
import torch


class _Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        values = input.detach().numpy()
        if (values < 0).any():
            warnings.filterwarnings("ignore", category=RuntimeWarning, module="numpy")
        with np.errstate(invalid="ignore"):
            out = torch.from_numpy(np.asarray(np.sqrt(values)))
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return grad / (2 * out)


def sqrt(input):
    """Square root of float32 and float64."""
    return _Root.apply(input)
