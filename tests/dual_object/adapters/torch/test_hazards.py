"""Verdicts on functions that are handed to an executor as they are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from dual_object.adapters.torch.executors.executor import NotCaptured
from dual_object.adapters.torch.hazards import Hazard, judge
from dual_object.replay.observation import Capture
from support.executors import Plain, refusing

STATE = {"calls": 0}


def one() -> tuple[torch.Tensor]:
    """The tensor of the first call."""
    return (torch.tensor([1.0, 2.0], requires_grad=True),)


def three() -> tuple[torch.Tensor]:
    """That of the second one."""
    return (torch.tensor([3.0, 4.0], requires_grad=True),)


def body(x: torch.Tensor) -> torch.Tensor:
    """Reads and writes a state, draws a number, and looks at values."""
    STATE["calls"] += 1
    return x * (2 if x[0] < 2 else 3) + random.random() * 0


def verdict(change: Callable[[Any], Any] = lambda module: module, function: Any = body, **named: Any) -> str:
    """What a planted executor comes to."""
    return str(judge(Hazard(function, one, three, STATE), Plain(change, **named)))


def at(value: float, planted: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change that calls `planted` with the results where the tensor begins with `value`, else leaves them alone."""

    def change(module: Any) -> Any:
        return lambda x: planted(module(x)) if x[0] == value else module(x)

    return change


def raising(error: Exception) -> Callable[[Any], Any]:
    """Raises it."""

    def planted(result: Any) -> Any:
        raise error

    return planted


def doubled(result: torch.Tensor) -> torch.Tensor:
    """Another value."""
    return result * 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda module: module, "right"),
        (refusing, "refused: planted: no such thing in a graph"),
        (at(1, raising(RuntimeError("no kernel"))), "error: RuntimeError: no kernel"),
        (at(3, raising(RuntimeError("no kernel"))), "error: RuntimeError: no kernel"),
        (at(3, raising(AssertionError("Guard failed: x[0] < 2"))), "guarded: AssertionError: Guard failed: x[0] < 2"),
        (at(3, raising(NotCaptured(ValueError("not that")))), "guarded: not that"),
        (at(1, doubled), "wrong: at the first call result 0 is [4.0, 8.0], but should be [2.0, 4.0]"),
        (at(3, doubled), "wrong: result 0 is [18.0, 24.0], but should be [9.0, 12.0]"),
        (at(3, lambda y: y[:1]), "wrong: the shape of result 0 is (1,), but should be (2,)"),
        (at(3, lambda y: y.double()), "wrong: the dtype of result 0 is float64, but should be float32"),
        (
            at(3, lambda y: torch.stack([y, y], 1)[:, 0]),
            "wrong: the strides of result 0 is (2,), but should be (1,)",
        ),
        (at(3, lambda y: y.detach()), "wrong: whether result 0 requires a gradient is False, but should be True"),
        (
            at(3, lambda y: y + (y - y.detach())),
            "wrong: the gradient of argument 0 is [6.0, 6.0], but should be [3.0, 3.0]",
        ),
        (
            lambda module: lambda x: x + (module(x) - x).detach() if x[0] == 3 else module(x),
            "wrong: the gradient of argument 0 is [1.0, 1.0], but should be [3.0, 3.0]",
        ),
    ],
)
def test_verdicts(change: Callable[[Any], Any], told: str) -> None:
    """Each fault is seen, at the call where it is, and told with what should be there."""
    assert verdict(change) == told
    assert STATE == {"calls": 0}


def test_captures() -> None:
    """What is right is told apart by how it came into a graph."""
    assert verdict(outcome=Capture("broken", ("item",))) == "broken: item"
    assert verdict(outcome=Capture("recompiled", ("guards",))) == "recompiled: guards"


def test_memory_and_writes() -> None:
    """A result in an argument's memory, and a write that is left out, are seen."""

    def writes(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            x.mul_(2)
        return x.detach() + 1

    assert verdict(function=writes) == "right"
    wrong = verdict(lambda module: lambda x: x.detach() * 2 + 1, writes)
    assert wrong == "wrong: at the first call argument 0 afterwards is [1.0, 2.0], but should be [2.0, 4.0]"

    def view(x: torch.Tensor) -> torch.Tensor:
        return x[1:]

    wrong = verdict(lambda module: lambda x: x[1:].clone(), view)
    assert wrong == ("wrong: at the first call the arguments whose memory result 0 has is [], but should be [0]")


def test_state_and_random_numbers() -> None:
    """A function that is not run again leaves the state behind, and has drawn its number for good."""

    def once(module: Any) -> Any:
        kept = {}

        def run(x: torch.Tensor) -> Any:
            if not kept:
                kept["y"] = module(x)
            return x * 2 if x[0] < 2 else x * 3

        return run

    assert verdict(once) == "wrong: the state is {'calls': 0}, but should be {'calls': 1}"

    def draws(x: torch.Tensor) -> torch.Tensor:
        return x * random.random()

    baked = verdict(lambda module: (lambda number: lambda x: x * number)(random.Random(1).random()), draws)
    assert baked == (
        "wrong: result 0 is [0.40309274196624756, 0.5374569892883301], but should be [2.868102788925171, "
        "3.824136972427368]"
    )
    changed = Hazard(lambda x: x + STATE["calls"], one, one, STATE, {"calls": 7})
    assert str(judge(changed, Plain(lambda module: lambda x: x + 0))) == (
        "wrong: result 0 is [1.0, 2.0], but should be [8.0, 9.0]"
    )
    assert STATE == {"calls": 0}


def test_only_what_it_shows() -> None:
    """What an executor says that it does not show is not held against it."""
    forward = Plain(lambda module: lambda x: module(x).detach())
    forward.shows = forward.shows - {"gradients", "standing"}
    assert str(judge(Hazard(body, one, three, STATE), forward)) == "right"


def test_what_the_function_raises_is_its_own() -> None:
    """A function that does not run by itself is no hazard."""

    def wrong(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(7)

    with pytest.raises(RuntimeError, match=r"shape '\[7\]' is invalid for input of size 2"):
        verdict(function=wrong)
