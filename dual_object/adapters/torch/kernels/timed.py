"""How long a kernel takes beside PyTorch's own op, and that compiled: in the process that runs the kernel.

The kernel is called as it is, with nobody beside it. What it gave in the timed calls is handed back, to be checked
elsewhere. The inputs of each round are those of a Program rolled one further along their first dimension, so that no
call is the one before it again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import leaves, mapped
from dual_object.adapters.torch.kernels.samples.table import silent
from dual_object.program.program import Program
from dual_object.replay.replay import QuietReplay

#: Bytes that are written before a call with a cold cache: more than the caches of most processors hold.
FLUSHED = 64 << 20


@dataclass(frozen=True, slots=True)
class Timed:
    """What was measured.

    Attributes:
        seconds: by who was called (`kernel`, `op`, `compiled`) and what the cache was (`cold`, `warm`), of each round.
        outputs: of each timed call of the kernel, the round and the tensors that it gave.
        uncompiled: why the op was not compiled; empty where it was.
    """

    seconds: Mapping[str, Mapping[str, list[float]]]
    outputs: list[tuple[int, list[torch.Tensor]]]
    uncompiled: str


def timed(adapter: Any, kernel: Callable[..., Any], own: Callable[..., Any], program: Program, rounds: int) -> Timed:
    """Call the kernel, the op and the compiled op in turn, in another order each round, with the same inputs."""
    replay = QuietReplay(adapter, program)
    for x in program.inputs:
        replay.place(x)
    [call] = program.calls
    args, kwargs = tuple(map(replay.value, call.args)), {key: replay.value(arg) for key, arg in call.kwargs.items()}
    called: dict[str, Callable[..., Any]] = {"kernel": kernel, "op": own}
    compiled, uncompiled = _compiled(own, args, kwargs)
    if compiled is not None:
        called["compiled"] = compiled
    for function in called.values():  # nobody's first call counts
        function(*args, **kwargs)
    memory = torch.empty(FLUSHED, dtype=torch.uint8)
    seconds: dict[str, dict[str, list[float]]] = {who: {"cold": [], "warm": []} for who in called}
    outputs: list[tuple[int, list[torch.Tensor]]] = []
    names = [*called]
    for turn in range(rounds):
        given = mapped((args, kwargs), partial(_rolled, turn=turn))
        for who in names[turn % len(names) :] + names[: turn % len(names)]:
            memory.fill_(turn)
            for cache in ("cold", "warm"):
                started = time.perf_counter()
                result = called[who](*given[0], **given[1])
                seconds[who][cache].append(time.perf_counter() - started)
                if who == "kernel":
                    outputs.append((turn, _tensors(result)))
                del result
    return Timed(seconds, outputs, uncompiled)


def _compiled(own: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Callable[..., Any] | None, str]:
    """The op compiled, once it has been called; or None, and why."""
    compiled = torch.compile(lambda *args, **kwargs: own(*args, **kwargs), dynamic=False)
    try:
        with warnings.catch_warnings(), silent():
            warnings.simplefilter("ignore")
            compiled(*args, **kwargs)
    except Exception as error:  # a compiler may fail in any way: the others are timed without it
        return None, f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
    return compiled, ""


def _rolled(leaf: Any, turn: int) -> Any:
    return leaf.roll(turn, 0) if isinstance(leaf, torch.Tensor) and leaf.dim() else leaf


def _tensors(result: Any) -> list[torch.Tensor]:
    """Copies of the tensors of a result: what is given later must not change them."""
    given = [leaf for leaf in leaves(result) if type(leaf) is torch.Tensor]
    return [tensor.detach().clone(memory_format=torch.contiguous_format) for tensor in given]


__all__ = ["FLUSHED", "Timed", "timed"]
