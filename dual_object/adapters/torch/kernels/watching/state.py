"""The state of a process, as far as a function may not leave it behind otherwise."""

from __future__ import annotations

import builtins
import gc
import operator
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

_SUBNORMAL = torch.tensor(1e-40)
_PROC = os.path.isdir("/proc/self/fd")


def _written() -> int:
    """How many bytes the process has written so far, wherever to."""
    with open("/proc/self/io", encoding="ascii") as counts:
        return next(int(line.split()[1]) for line in counts if line.startswith("wchar"))


def _of_cuda() -> tuple[int, int] | None:
    """Which are current; None where nobody has begun with CUDA."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # PyTorch's has no annotations
        return None
    return torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream


def _random_of_cuda() -> bytes | None:
    """Where the numbers of the current device stand; None where nobody has begun with CUDA."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # PyTorch's has no annotations
        return None
    return torch.cuda.get_rng_state().numpy().tobytes()


def _of_numpy(state: Any) -> tuple[bytes, int]:
    return state["state"]["key"].tobytes(), state["state"]["pos"]


#: Modules add to them when they are imported, as `sympy` does, which `torch.broadcast_shapes` imports.
_FILTERS = "the filters of warnings"
#: No op writes so many bytes in a call.
_FLOOD = 1 << 20
#: What is looked at one by one, by what it is called: how it is read, and how it is put back, where it can be.
_LOOKS: Mapping[str, tuple[Callable[[], Any], Callable[[Any], Any] | None]] = {
    "the grad mode": (torch.is_grad_enabled, torch.set_grad_enabled),
    "the inference mode": (torch.is_inference_mode_enabled, None),
    "the default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "the default device": (lambda: str(torch.get_default_device()), None),
    "the number of PyTorch's threads": (torch.get_num_threads, torch.set_num_threads),
    "the deterministic algorithms": (
        torch.are_deterministic_algorithms_enabled,
        torch.use_deterministic_algorithms,
    ),
    "the precision of float32 products": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "autocast": (lambda: torch.is_autocast_enabled("cpu"), lambda on: torch.set_autocast_enabled("cpu", on)),
    "how subnormal numbers are kept": (lambda: _SUBNORMAL.mul(1.0).item() == 0, torch.set_flush_denormal),
    "PyTorch's random numbers": (
        lambda: torch.default_generator.get_state().numpy().tobytes(),
        lambda state: torch.default_generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8)),
    ),
    "CUDA's random numbers": (_random_of_cuda, None),
    "NumPy's random numbers": (lambda: _of_numpy(np.random.get_state(legacy=False)), None),
    "Python's random numbers": (random.getstate, random.setstate),
    "NumPy's handling of errors": (np.geterr, lambda kept: np.seterr(**kept)),
    _FILTERS: (lambda: [*warnings.filters], None),
    "the environment variables": (os.environ._data.copy, None),  # type: ignore[attr-defined]  # bytes: a hundred times faster
    "the current folder": (os.getcwd, os.chdir),
    "the recursion limit": (sys.getrecursionlimit, sys.setrecursionlimit),
    "the garbage collector": (gc.isenabled, None),
    "the tracing of Python": (lambda: (sys.gettrace(), sys.getprofile()), None),
    "the threads of the process": (threading.active_count, None),
    "the current CUDA device and stream": (_of_cuda, None),
    "what is written": (lambda: _written() if _PROC else 0, None),
    "the open descriptors": (lambda: sorted(os.listdir("/proc/self/fd"))[:-1] if _PROC else [], None),
}
#: Of these, what takes long to look at.
_SLOW = frozenset({"NumPy's random numbers", "the environment variables", "Python's random numbers"})
#: Where functions may be replaced.
_SPACES: Mapping[str, Any] = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.Tensor": torch.Tensor,
    "torch.linalg": torch.linalg,
    "torch.autograd": torch.autograd,
    "numpy": np,
    "builtins": builtins,
    "math": sys.modules.get("math"),
}
#: What Python itself sets there.
_MOVING = frozenset({"_", "__warningregistry__"})


class State:
    """What the process's state was: as it is when this is made, and when `look` is called again.

    What takes long to look at and only kernels change, such as the environment, is looked at once; in a process in
    which others change it, too, the `whole` is looked at again.
    """

    def __init__(self) -> None:
        self._looks = {name: look() for name, (look, _) in _LOOKS.items()}
        self._members = {name: dict(vars(space)) for name, space in _SPACES.items() if space is not None}
        self._modules = len(sys.modules)

    def look(self, *, whole: bool = False) -> None:
        """Note what the state is now."""
        for name, (look, _) in _LOOKS.items():
            if whole or name not in _SLOW:
                self._looks[name] = look()
        imported, self._modules = len(sys.modules) != self._modules, len(sys.modules)
        for name, members in self._members.items():
            space = vars(_SPACES[name])
            # PyTorch replaces its own where it is imported further.
            if len(space) != len(members) or (imported and not _alike(space, members)):
                self._members[name] = dict(space)

    def changes(self, *, random_allowed: bool, floods_allowed: bool) -> Iterator[tuple[str, str]]:
        """What is otherwise now, as a category and in words; it is put back where that is possible.

        Floods are allowed to whom PyTorch's compiler of C++ has worked: it writes megabytes of source.
        """
        for name, (look, put_back) in _LOOKS.items():
            before, now = self._looks[name], look()
            if name == "what is written":
                if now - before > _FLOOD and not floods_allowed:
                    yield "flood", f"it writes {(now - before) / 1e6:.1f} MB in one call"
                continue
            if before == now or (random_allowed and "random" in name):
                continue
            if name == _FILTERS and len(sys.modules) > self._modules:
                self._looks[name] = now
                continue
            if put_back is not None:
                put_back(before)
            else:
                self._looks[name] = now
            if name == "the open descriptors":
                gone, come = sorted({*before} - {*now}), sorted({*now} - {*before})
                words = f"closes {', '.join(gone)}" if gone else f"leaves {', '.join(come)} open"
                yield "descriptors", f"it {words} of the open descriptors"
            elif name == "the threads of the process":
                yield "state", f"it leaves {now - before} threads behind"
            else:
                yield "state", f"it leaves {name} changed{_told(before, now)}"
        for name, members in self._members.items():
            space = _SPACES[name]
            if _alike(vars(space), members):
                continue
            for member, before in members.items():
                now = vars(space).get(member)
                if now is not before and member not in _MOVING:
                    setattr(space, member, before)
                    yield "state", f"it replaces {name}.{member}"
            self._members[name] = dict(vars(space))


def _alike(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether two namespaces hold the same objects under the same names, which nearly every look finds at once."""
    return len(now) == len(before) and all(map(operator.is_, now.values(), before.values()))


def _told(before: Any, now: Any) -> str:
    plain = (bool, int, str, torch.dtype)
    return f" from {before} to {now}" if isinstance(before, plain) and isinstance(now, plain) else ""


__all__ = ["State"]
