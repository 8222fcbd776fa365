"""Problems: files with a module `Model`, what it is made of (`get_init_inputs`) and called with (`get_inputs`).

The functions here that make modules are what Programs of a problem call: the reference's makes `Model`, the target's
the module that says to be it, from a file that the target's process alone reads.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from dual_object.adapters.torch.adapter import Adapter as Torch
from dual_object.adapters.torch.kernels.given import seeded
from dual_object.adapters.torch.kernels.loading import load_file
from dual_object.adapters.torch.kernels.samples.sample import Sample
from dual_object.adapters.torch.kernels.watching.auditing import Auditor
from dual_object.adapters.torch.kernels.watching.guard import Guard
from dual_object.errors import TargetError
from dual_object.replay.asked.kernels import MODULE

#: What a problem has.
_PARTS = ("Model", "get_inputs", "get_init_inputs")
#: Elements of all inputs that a problem is asked with; where its own are more, its constants are made less.
MOST_ELEMENTS = 1 << 18
#: What a constant of a problem is made at the least, and so many times at most.
_LEAST, _TURNS = 4, 200


def load_problem(file: str) -> ModuleType:
    """The problem in a file. Raises TargetError, in one sentence, for a file that is none."""
    module = load_file(file, "a problem")
    for name in _PARTS:
        if not callable(getattr(module, name, None)):
            raise TargetError(
                f"{file} has no {name}, but a problem should have {', '.join(_PARTS[:-1])} and {_PARTS[-1]}"
            )
    return module


def plain_sample(problem: ModuleType) -> tuple[Sample, Mapping[str, tuple[int, int]]]:
    """What a problem's module is made of, as the first argument, and called with, as the others; and the constants that
    have been made less for it, with what they were and are.
    """
    own = {name: value for name, value in vars(problem).items() if type(value) is int and value > _LEAST}
    less = dict(own)
    for _ in range(_TURNS):
        if _elements(problem, less) <= MOST_ELEMENTS:
            break
        name = max(less, key=lambda one: less[one], default=None)
        if name is None or less[name] <= _LEAST:
            break
        less[name] = max(_LEAST, less[name] // 2)
    with seeded(), _constants(problem, less):
        sample = Sample((list(problem.get_init_inputs()), *problem.get_inputs()))
    return sample, {name: (own[name], less[name]) for name in own if own[name] != less[name]}


def _elements(problem: ModuleType, constants: Mapping[str, int]) -> int:
    """Elements of all inputs, without memory for them."""
    with _constants(problem, constants), torch.device("meta"):
        return sum(x.numel() for x in problem.get_inputs() if isinstance(x, torch.Tensor))


@contextlib.contextmanager
def _constants(problem: ModuleType, values: Mapping[str, int]) -> Iterator[None]:
    before = {name: getattr(problem, name) for name in values}
    vars(problem).update(values)
    try:
        yield
    finally:
        vars(problem).update(before)


def draws_numbers(file: str, sample: Sample) -> bool:
    """Whether a problem's module draws random numbers when it is called."""
    made = copied(file, *sample.args[0])
    with seeded(), torch.no_grad():
        before = torch.default_generator.get_state()
        made(*sample.args[1:])
        return not torch.equal(before, torch.default_generator.get_state())


class Seeded:
    """A module as a function: its parameters are those that it draws itself, from the same seed on both sides."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module

    def __call__(self, *args: Any) -> Any:
        """What the module gives."""
        return self._module(*args)


def copied(file: str, *init: Any) -> torch.nn.Module:
    """`Model`, whose parameters the target's gets."""
    module: torch.nn.Module = load_problem(file).Model(*init)
    return module


def copied_new(file: str, *init: Any) -> torch.nn.Module:
    """The target's module, watched."""
    module: torch.nn.Module = _class()(*init)
    # An attribute of the object, so that hooks and `__call__` are the module's own.
    module.forward = functools.partial(_guard(), module.forward)
    return module


def seeded_alike(file: str, *init: Any) -> Seeded:
    """`Model`, with parameters of its own."""
    with seeded():
        return Seeded(copied(file, *init))


def seeded_alike_new(file: str, *init: Any) -> Seeded:
    """The target's module, with parameters of its own."""
    with seeded():
        return Seeded(copied_new(file, *init))


def state_of(file: str, *init: Any) -> list[str]:
    """What parameters and buffers of `Model` are called, with their shapes."""
    return _told(copied(file, *init))


def state_of_new(file: str, *init: Any) -> list[str]:
    """What those of the target's module are called."""
    return _told(copied_new(file, *init))


def _told(module: torch.nn.Module) -> list[str]:
    return sorted(f"{name} {tuple(x.shape)}" for name, x in module.state_dict().items())


@functools.cache
def _class() -> Any:
    file, name, _ = json.loads(os.environ[MODULE])
    found = getattr(load_file(file, f"the module {name}"), name, None)
    if not isinstance(found, type) or not issubclass(found, torch.nn.Module):
        raise TargetError(f"{file} has no module {name}, but should")
    return found


@functools.cache
def _guard() -> Guard:
    file, name, random = json.loads(os.environ[MODULE])
    auditor = Auditor(str(Path(file).resolve().parent))
    return Guard(name, _called, _called, auditor, delegates=True, random=random)


def _called(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return forward(*args, **kwargs)


class Adapter(Torch):
    """PyTorch, in the process that runs the module."""

    name = "kernel"

    def __init__(self) -> None:
        super().__init__()
        self.use_one_thread()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of a user's file are the user's
            _class()


__all__ = [
    "MOST_ELEMENTS",
    "Adapter",
    "copied",
    "copied_new",
    "draws_numbers",
    "load_problem",
    "plain_sample",
    "seeded_alike",
    "seeded_alike_new",
    "state_of",
    "state_of_new",
]
