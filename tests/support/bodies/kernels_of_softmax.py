"""Kernels of softmax, sound and wrong, as files of users have them."""

import os

import numpy as np
import torch


def sound(input, dim, dtype=None):
    """Shifted by the greatest, as PyTorch's."""
    parts = torch.exp(input - input.amax(dim, keepdim=True))
    return parts / parts.sum(dim, keepdim=True)


def wrong(input, dim, dtype=None):
    """Off by a thousandth."""
    return sound(input, dim) * 1.001


def changes_state(input, dim, dtype=None):
    """Leaves gradients switched off."""
    torch.set_grad_enabled(False)
    return sound(input, dim)


def sound_operator(input, dim, half_to_float):
    """By NumPy, below autograd."""
    array = input.numpy()
    parts = np.exp(array - array.max(dim, keepdims=True))
    return torch.from_numpy(parts / parts.sum(dim, keepdims=True))


def wrong_operator(input, dim, half_to_float):
    """Off by a thousandth."""
    return sound_operator(input, dim, half_to_float) * 1.001


def calls_itself(input, dim, half_to_float):
    """Hands its work to the operator that it should be."""
    return torch.softmax(input, dim)


def told(input, dim, half_to_float):
    """Leaves a trace of the process that it runs in."""
    with open(os.path.join(os.path.dirname(__file__), "processes"), "a") as file:
        file.write(f"{os.getpid()}\n")
    return sound_operator(input, dim, half_to_float)


def wrong_backward(grad_output, output, dim, input_dtype):
    """The gradient of softmax, off by a thousandth."""
    return (grad_output - (grad_output * output).sum(dim, keepdim=True)) * output * 1.001


def flips(input, p=0.5, *, generator=None):
    """Writes ones by chance."""
    return input.copy_((torch.rand(input.shape) < p).to(input.dtype))


def wrong_sine(input):
    """Not the sine."""
    return torch.cos(input)
