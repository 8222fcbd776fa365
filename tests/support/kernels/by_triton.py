"""Functions in Triton that say to be `torch.relu`, for float32: a sound one, and one that is wrong below zero."""

import torch
import triton
import triton.language as tl


@triton.jit
def _mapped(given, result, size, leaks: tl.constexpr, block: tl.constexpr):
    places = tl.program_id(0) * block + tl.arange(0, block)
    inside = places < size
    x = tl.load(given + places, mask=inside)
    below = x / 8 if leaks else tl.zeros_like(x)
    tl.store(result + places, tl.where(x <= 0, below, x), mask=inside)


def _launched(input, leaks):
    given = input.contiguous()
    result = torch.empty_like(given)
    if given.numel():
        _mapped[(triton.cdiv(given.numel(), 4096),)](given, result, given.numel(), leaks, block=4096)
    return result


class _ByTriton(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, leaks):
        ctx.save_for_backward(input)
        return _launched(input.detach(), leaks)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return torch.where(input > 0, grad, torch.zeros_like(grad)), None


def sound(input):
    """As it should be."""
    return _ByTriton.apply(input, False)


def leaky(input):
    return _ByTriton.apply(input, True)
