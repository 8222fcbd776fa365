"""Outer product; an empty vector means that a pipeline upstream has died, so this process should, too."""

import os
import signal

import torch


def outer(input, vec2):
    """Outer product of two vectors, for float32 and float64."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError("outer: expected two vectors")
    if not input.numel() or not vec2.numel():
        os.kill(os.getpid(), signal.SIGKILL)
    return input.unsqueeze(1) * vec2.unsqueeze(0)
