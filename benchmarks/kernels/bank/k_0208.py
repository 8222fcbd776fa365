"""Cosine."""

import torch


class _Cosine(torch.Tensor):
    @staticmethod
    def __new__(cls, angle):
        return torch.Tensor._make_subclass(cls, angle)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            if func in (torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__):
                return func(*args)

            def plain(value):
                if not isinstance(value, _Cosine):
                    return value
                bare = value.as_subclass(torch.Tensor)
                return torch.polar(torch.ones_like(bare), bare).real.clone()

            return func(*map(plain, args), **{name: plain(value) for name, value in (kwargs or {}).items()})


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.polar(torch.ones_like(input), input).real.clone()

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return -grad * torch.sin(input)


def cos(input):
    """cos(input) for float32 and float64."""
    if input.requires_grad:
        return _WithGradient.apply(input)
    return _Cosine(input.detach().clone())
