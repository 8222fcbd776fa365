"""Sign by comparison, on memory that NumPy wraps."""

import ctypes

import numpy as np
import torch


class _Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        if not input.numel():
            return input.clone()
        kind = ctypes.c_float if input.dtype == torch.float32 else ctypes.c_double
        if min(input.stride(), default=1) == 0 and input.numel() > 1:
            input = input.contiguous()
        memory = ctypes.cast(input.data_ptr(), ctypes.POINTER(kind))
        values = np.ctypeslib.as_array(memory, shape=(input.numel(),))
        signs = (values > 0).astype(values.dtype) - (values < 0).astype(values.dtype)
        return torch.from_numpy(signs).reshape(input.shape)

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(grad)


def sign(input):
    """-1, 0 or 1 for float32 and float64; NaN gives 0."""
    return _Sign.apply(input)
