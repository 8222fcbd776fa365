"""Ten ops of PyTorch that give another result at each call: by chance, time, threads, memory, earlier calls.

`AUTOTEST_FAULT=benchmarks.blame.noise:plant` plants them in a worker.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from random import SystemRandom
from typing import Any

import torch

from benchmarks.mutation.fault import scaled_gradient

_CHANCE = SystemRandom()


def _changed(home: Any, name: str, change: Callable[[Any], Any]) -> None:
    op = getattr(home, name)
    setattr(home, name, lambda *args, **kwargs: change(op(*args, **kwargs)))


def _race(result: Any) -> Any:
    """The result as the faster of two threads leaves it."""
    left: list[float] = []

    def run(factor: float) -> None:
        time.sleep(_CHANCE.random() * 1e-4)
        left.append(factor)

    threads = [threading.Thread(target=run, args=(factor,)) for factor in (0.9, 1.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return result * left[0] * (1 + 0.01 * _CHANCE.random())


def plant(adapter: Any) -> None:
    """Make ten ops nondeterministic."""
    calls, held = itertools.count(), []
    busy, dtypes = itertools.cycle((False, True)), itertools.cycle((torch.int32, torch.int16))

    def refused_at_every_other_call(result: Any) -> Any:
        if next(busy):
            raise RuntimeError("the workspace is busy")
        return result

    def placed(result: Any) -> Any:
        held.append(torch.empty(_CHANCE.randrange(1, 4096)))  # so that the next result lies elsewhere
        return result + (result.data_ptr() >> 4) % 997 * 1e-2

    _changed(torch, "sin", lambda result: result + 0.1 * _CHANCE.random())
    _changed(torch, "cos", lambda result: result + time.perf_counter_ns() % 1009 * 1e-3)
    _changed(torch, "exp", lambda result: result * (1 + next(calls)))
    _changed(torch.nn.functional, "relu", lambda result: result + _CHANCE.random() * (_CHANCE.random() < 0.5))
    _changed(torch, "sum", _race)
    _changed(torch, "matmul", placed)
    _changed(torch, "cumsum", lambda result: result * (1 + torch.rand(1, generator=_seeded_by_time()).item()))
    _changed(torch, "tanh", lambda result: scaled_gradient(result, 2 + _CHANCE.random()))
    _changed(torch, "argmax", lambda result: result.to(next(dtypes)))
    _changed(torch.nn.functional, "softmax", refused_at_every_other_call)


def _seeded_by_time() -> torch.Generator:
    return torch.Generator().manual_seed(time.perf_counter_ns())
