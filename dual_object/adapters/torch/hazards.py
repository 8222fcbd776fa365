"""A function handed to an executor as it is, not as a recorded Program: what becomes of a branch, a loop, a NumPy call.

An executor captures what one call did. The second call comes with other tensors, for which the function does something
else: the executor has to notice, or it computes what the function would not.
"""

from __future__ import annotations

import copy
import inspect
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from dual_object.adapters.torch.executors.body import module_of
from dual_object.adapters.torch.executors.executor import Executor, NotCaptured
from dual_object.replay.observation import GraphPart, class_names, first_words

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What an executor comes to.
#:
#: - `right`: in one graph.
#: - `recompiled`: in another graph for the other tensors.
#: - `broken`: right, but in part run by Python.
#: - `refused`, `guarded`: it says itself that it cannot, at first or when the other tensors come.
#: - `error`: it fails otherwise.
#: - `wrong`: it computes something else, and says nothing.
#: - `crash`, `timeout`, `out_of_memory`: it ends its process, or has to be ended with it.
Outcome = Literal[
    "right", "recompiled", "broken", "refused", "guarded", "error", "wrong", "crash", "timeout", "out_of_memory"
]
#: The exceptions by which an executor says, of tensors that it gets, that they are none that it has captured for.
GUARDS = ("AssertionError", "ConstraintViolationError")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one executor makes of one hazard; `detail` says why, or what differs."""

    outcome: Outcome
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}: {self.detail}" if self.detail else self.outcome


@dataclass(frozen=True, slots=True)
class Hazard:
    """A function of tensors, and the tensors of two calls, made anew each time.

    Attributes:
        state: what the function reads or writes besides its tensors. Each call begins with what it holds now, the
            second one with `changed` in it.
    """

    body: Callable[..., Any]
    first: Callable[[], Sequence[torch.Tensor]]
    other: Callable[[], Sequence[torch.Tensor]]
    state: dict[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict)


def judge(hazard: Hazard, executor: Executor) -> Verdict:
    """Compile the body for its first tensors, call that with them, and then with the others."""
    runs = _Runs(hazard, executor.shows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracers warn of what they cannot see, and of their own internals
        first, other = runs.plainly(second=False), runs.plainly(second=True)
        try:
            with runs.begun(second=False):
                compiled = executor.compile(_module(hazard.body), hazard.first())
            seen = runs.seen(compiled, second=False)
        except NotCaptured as refused:
            return Verdict("refused", first_words(refused))
        except Exception as error:
            return Verdict("error", _words(error))
        difference = _difference(seen, first)
        if difference is not None:
            return Verdict("wrong", f"at the first call {difference}")
        try:
            seen = runs.seen(compiled, second=True)
        except NotCaptured as refused:
            return Verdict("guarded", first_words(refused))
        except Exception as error:
            return Verdict("guarded" if class_names(error)[0] in GUARDS else "error", _words(error))
        difference = _difference(seen, other)
        if difference is not None:
            return Verdict("wrong", difference)
        capture = compiled.capture()
        outcome: Outcome = "right" if capture.outcome == "captured" else capture.outcome
        return Verdict(outcome, "; ".join(capture.reasons))


class _Runs:
    """Calls of a hazard's function, or of what was made of it: each begins alike, whichever were before. Of what they
    show the parts in `shows` are looked at.
    """

    def __init__(self, hazard: Hazard, shows: frozenset[GraphPart]) -> None:
        self._hazard = hazard
        self._shows = shows
        self._before = copy.deepcopy(hazard.state)

    def plainly(self, *, second: bool) -> Mapping[str, Any]:
        """What the function itself shows."""
        return self.seen(self._hazard.body, second=second)

    def seen(self, function: Callable[..., Any], *, second: bool) -> Mapping[str, Any]:
        """Call it and say what there was to see, each by the words that name it."""
        tensors = [*(self._hazard.other() if second else self._hazard.first())]
        with self.begun(second=second), torch.set_grad_enabled("gradients" in self._shows):
            results = [*_flat(function(*tensors))]
            seen: dict[str, Any] = {}
            for number, result in enumerate(results):
                seen.update(self._parts(result, f"result {number}", tensors))
            if "inputs" in self._shows:
                for number, tensor in enumerate(tensors):
                    seen[f"argument {number} afterwards"] = tensor.detach().clone()
            starts = [result for result in results if isinstance(result, torch.Tensor) and result.requires_grad]
            if starts:
                torch.autograd.backward(starts, [torch.ones_like(result) for result in starts])
            for number, tensor in enumerate(tensors):
                seen[f"the gradient of argument {number}"] = tensor.grad if tensor.is_leaf else None
            seen["the state"] = copy.deepcopy(self._hazard.state)
        return seen

    def _parts(self, result: Any, name: str, tensors: Sequence[torch.Tensor]) -> Iterator[tuple[str, Any]]:
        """What there is to see of one result, under its name."""
        if not isinstance(result, torch.Tensor):
            yield name, result
            return
        yield f"the dtype of {name}", str(result.dtype).removeprefix("torch.")
        yield f"the shape of {name}", tuple(result.shape)
        if "layout" in self._shows:
            yield f"the strides of {name}", result.stride()
        if "values" in self._shows:
            yield name, result.detach().clone()
        if "sharing" in self._shows:
            shared = [number for number, tensor in enumerate(tensors) if _memory(tensor) == _memory(result)]
            yield f"the arguments whose memory {name} has", shared
        if "standing" in self._shows:
            yield f"whether {name} requires a gradient", result.requires_grad

    @contextmanager
    def begun(self, *, second: bool) -> Iterator[None]:
        """While it lasts there are the state and the random numbers of the first or the second call."""
        state = self._hazard.state
        kept = random.getstate(), np.random.get_state(), torch.random.get_rng_state()
        state.update(copy.deepcopy(self._before))
        state.update(self._hazard.changed if second else {})
        seed = 2 if second else 1
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        try:
            yield
        finally:
            state.clear()
            state.update(copy.deepcopy(self._before))
            random.setstate(kept[0])
            np.random.set_state(kept[1])
            torch.random.set_rng_state(kept[2])


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _flat(results: Any) -> Iterator[Any]:
    """Everything that a function has returned, tuples and lists taken apart."""
    if isinstance(results, (tuple, list)):
        for result in results:
            yield from _flat(result)
    else:
        yield results


def _difference(seen: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first thing that is not as it should be, in words; None where all is."""
    for name, value in wanted.items():
        own = seen.get(name)
        if not _equal(own, value):
            return f"{name} is {_told(own)}, but should be {_told(value)}"
    return None


def _equal(own: Any, wanted: Any) -> bool:
    if isinstance(own, torch.Tensor) and isinstance(wanted, torch.Tensor):
        return own.shape == wanted.shape and torch.allclose(own, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
    return type(own) is type(wanted) and bool(own == wanted)


def _told(value: Any) -> str:
    return str(value.tolist()) if isinstance(value, torch.Tensor) else str(value)


def _words(error: Exception) -> str:
    return f"{class_names(error)[0]}: {first_words(error)}"


def _module(body: Callable[..., Any]) -> torch.nn.Module:
    """A module that calls `body`, with a source of its own: a tracer calls it, and a compiler reads it."""
    names = ", ".join(inspect.signature(body).parameters)
    text = f"def forward(self, {names}):\n    return body({names})\n"
    return module_of(text, {"body": body}, "hazard")[0]


__all__ = ["Hazard", "Outcome", "Verdict", "judge"]
