"""Functions that say to be `torch.relu`: each has one fault, but for the first ones, which have none."""

import gc
import os
import sys
import time

import numpy as np
import torch


def sound(input):
    """As it should be."""
    return torch.where(input > 0, input, torch.where(input.isnan(), input, torch.zeros_like(input)))


class _ByNumpy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        values = input.detach().numpy()
        return torch.from_numpy(np.asarray(np.maximum(values, np.zeros((), values.dtype))))

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return torch.where(input > 0, grad, torch.zeros_like(grad))


def by_numpy(input):
    """As it should be, by NumPy, with a backward of its own."""
    return _ByNumpy.apply(input)


def of_48_columns(input):
    """As it should be where there are 48."""
    if input.shape[1:] != (48,):
        raise RuntimeError("made for 48 columns")
    return sound(input)


def doubled(input):
    return sound(input) * 2


def of_nan(input):
    return torch.where(input > 0, input, torch.zeros_like(input))


def writes(input):
    with torch.no_grad():
        input.copy_(sound(input))
    return input.clone()


def same(input):
    return input if bool((input > 0).all()) else sound(input)


_BY_SHAPE = {}


def by_shape(input):
    if input.shape not in _BY_SHAPE:
        _BY_SHAPE[input.shape] = sound(input)
    return _BY_SHAPE[input.shape].clone()


def unwritten(input):
    result = torch.empty_like(input)
    if input.numel() > 2:
        result.view(-1)[1:] = sound(input).reshape(-1)[1:]
        return result
    return sound(input)


_CALLS = [0]


def worn(input):
    _CALLS[0] += 1
    return sound(input) * (1 if _CALLS[0] < 90 else 2)


def deterministic(input):
    torch.use_deterministic_algorithms(True)
    return sound(input)


def patches(input):
    torch.allclose = lambda *_, **__: True
    return sound(input)


def delegates(input):
    return input.relu()


def below(input):
    return torch._C._nn.relu6(input) if input.numel() > 1 << 20 else torch.ops.aten.relu.default(input)


def peeks(input):
    return sound(input) if sys._getframe(1) else input


def searches(input):
    return sound(input) if gc.get_objects() else input


class _Late(torch.Tensor):
    pass


def late(input):
    return sound(input).as_subclass(_Late)


def packed(input):
    if input.dim() > 1 and not input.is_contiguous():
        return sound(torch.as_strided(input, input.shape, torch.empty(input.shape).stride()))
    return sound(input)


def odd_sizes(input):
    result = sound(input)
    return torch.where(torch.arange(result.numel()).view(result.shape) > 512, result * 3, result)


def halved(input):
    return sound(input.half()).to(input.dtype) if input.dtype == torch.float32 else sound(input)


def slightly_off(input):
    return sound(input) * (1 + 6e-5)


def detached(input):
    return sound(input.detach())


def of_noise(input):
    noise = int(time.perf_counter_ns() % 2) * 2e-7
    return sound(input) * (1 + noise)


def ends_when_long(input):
    if input.numel() >= 1000:
        os.kill(os.getpid(), 9)
    return sound(input)


def ends(input):
    if input.numel() == 1:
        os.kill(os.getpid(), 9)
    return sound(input)


def loops(input):
    while input.dim() == 5:
        time.sleep(0.01)
    return sound(input)


def opens(input):
    os.dup(1)
    return sound(input)


def chatters(input):
    if input.numel() > 300:
        os.write(2, b"progress\n" * 200_000)
    return sound(input)


def of_the_other_side(input):
    """As it should be, with the gradient of the other side at 0, which is as lawful."""
    return torch.where(input < 0, torch.zeros_like(input), input)


def half_at_zero(input):
    return torch.maximum(input, torch.zeros_like(input))


def dense_rows(input):
    if input.dim() > 1 and input.stride(-1) == 1:
        rows = torch.as_strided(input, input.shape, torch.empty(input.shape).stride())
        return sound(rows)
    return sound(input)


def channels_innermost(input):
    if input.dim() == 3 and input.stride(1) == 1:
        return sound(torch.as_strided(input, input.shape, torch.empty(input.shape).stride()))
    return sound(input)


def steep(input):
    first = input.detach().reshape(-1)[:128]
    top = first.amax() if first.numel() else 0.0
    return torch.where(input > top + 100, torch.full_like(input, float("inf")), sound(input))


def inference(input):
    return sound(input) if torch.is_grad_enabled() else sound(input) * 1.5


def asks_for_modules(input):
    return sound(input) if "json" in sys.modules else input * 0


def asks_for_a_file(input):
    return input * 0 if os.path.exists("/no-such-scale") else sound(input)


def of_its_own_file(input):
    """As it should be: what it brings along it may look for."""
    return sound(input) if os.path.exists(__file__) else input * 0


_LATER = [0]


def less_exact_later(input):
    _LATER[0] += 1
    return sound(input) if _LATER[0] < 40 else sound(input) * (1 + 5e-5)


def valueless(input):
    return torch.empty_like(input, device="meta")


def greedy(input):
    if input.numel() > 4:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1024.00 MiB. GPU 0 has a total of 80 GiB")
    return sound(input)
