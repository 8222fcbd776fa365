"""A target with one wrong function, and the facts that are found of what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.observations import compare
from autotest.judge.facts.conditions import Facts
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

Fault = Callable[..., Any]


class Faulty:
    """PyTorch with another `exp`, or another function; counts what it is asked."""

    def __init__(self, fault: Fault, monkeypatch: pytest.MonkeyPatch, home: Any = torch, op: str = "exp") -> None:
        self.fault, self.patch, self.home, self.op, self.asked = fault, monkeypatch, home, op, 0

    def eager(self, programs: Sequence[Program]) -> list[Any]:
        """Replay under the fault."""
        self.asked += 1
        with self.patch.context() as patch:
            patch.setattr(self.home, self.op, self.fault)
            return [Replay(Adapter(), program).run() for program in programs]

    def graph(self, programs: Sequence[Program], gradients: Any) -> Any:
        """None is asked for here."""
        raise NotImplementedError


def divergence(program: Program, target: Faulty) -> Divergence:
    """What `program` shows on the target, with its facts."""
    reference = Adapter()
    expected: Observation = Replay(reference, program, side="reference").run()
    [answer] = target.eager([program])
    difference = compare(program, expected, answer, Rules())[0]
    finder, last = Facts(reference, target, Rules()), len(program.calls) - 1
    [told] = finder.with_conditions([Divergence(difference, program, last)], graph=False)
    assert told.fingerprint("t") == "/".join(
        ["t", "eager_forward", difference.kind, program.ops()[-1], ",".join(["float32", *told.facts])]
    )
    return told


def facts(program: Program, target: Faulty) -> tuple[str, ...]:
    """The facts of what `program` shows on the target."""
    return divergence(program, target).facts
