"""What PyTorch's own table of ops gives: as `OpInfo.sample_inputs` and `OpInfo.error_inputs`, which look through the
whole call stack for a test of PyTorch's, and the source of each frame, for every single input.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

#: PyTorch's tests start their random numbers anew from it before each input.
_SEED = 1234


@contextlib.contextmanager
def seeded(seed: int = 0) -> Iterator[None]:
    """All sources of randomness that samples are drawn from, started anew; afterwards they go on as before."""
    states = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])


def sample_inputs(info: Any, dtype: torch.dtype, *, differentiable: bool) -> Iterator[Any]:
    """The samples of an entry on the CPU, drawn from the random numbers as they stand."""
    yield from info.sample_inputs_func(info, "cpu", dtype, differentiable)


def error_inputs(info: Any) -> Iterator[Any]:
    """What PyTorch refuses of an entry on the CPU, the same each time; nothing where its tests have no such inputs."""
    if info.error_inputs_func is None:
        return
    with seeded():  # it may draw all of them at once
        given = iter(info.error_inputs_func(info, "cpu"))
    while True:
        with seeded(_SEED):
            error = next(given, None)
        if error is None:
            return
        yield error


__all__ = ["error_inputs", "sample_inputs", "seeded"]
