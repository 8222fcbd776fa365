"""Functions that say to be `torch.relu` however they are called: right plainly, each wrong in one way, but for the
first, which is right in all.
"""

import os
import threading
import time

import torch


def sound(input):
    """As it should be, in every way."""
    return torch.where(input <= 0, torch.zeros_like(input), input)


def branches(input):
    """Not under vmap, and not captured whole: what it does follows from a number."""
    return input.clone() if bool((input > 0).all()) else sound(input)


class _OfFirstDimension(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return sound(input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return torch.where(input > 0, grad, torch.zeros_like(grad))

    @staticmethod
    def vmap(info, in_dims, input):
        return _OfFirstDimension.apply(input), 0


def of_first_dimension(input):
    """Its rule for vmap believes that the batch is the first dimension."""
    return _OfFirstDimension.apply(input)


def while_compiling(input):
    return sound(input) * 2 if torch.compiler.is_compiling() else sound(input)


_SCRATCH = {}


class _ByScratch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        key = input.shape, input.dtype
        if key not in _SCRATCH:
            _SCRATCH[key] = torch.zeros(input.shape, dtype=input.dtype)
        _SCRATCH[key].copy_(input)
        time.sleep(1e-5)
        return sound(_SCRATCH[key])

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return torch.where(input > 0, grad, torch.zeros_like(grad))


def scratch(input):
    """Its memory is that of all threads."""
    return _ByScratch.apply(input)


_RUNNING = []


def refuses_company(input):
    """It raises where it runs already."""
    _RUNNING.append(1)
    try:
        if len(_RUNNING) > 1:
            raise RuntimeError("it runs already")
        time.sleep(1e-4)
        return sound(input)
    finally:
        _RUNNING.pop()


_LEFT = threading.Lock()


def waits(input):
    """It waits for ever on another thread than the first."""
    if threading.current_thread() is not threading.main_thread():
        _LEFT.acquire()
    return sound(input)


def ends(input):
    """It ends its process on another thread than the first."""
    if threading.current_thread() is not threading.main_thread():
        os.kill(os.getpid(), 9)
    return sound(input)
