"""A stored Program run again tells what stands, and nothing of what the reference leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from autotest.compare.difference import Rules
from autotest.judge.standalone import trial
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.replay import Replay
from support.programs import one_call


class Backwards:
    """A target that answers here, and whose `argsort` counts down."""

    def eager(self, programs: Sequence[Program]) -> list[Any]:
        """What each Program shows."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch, "argsort", lambda x: torch.arange(x.numel()).flip(0))
            return [Replay(Adapter(), program).run() for program in programs]

    def graph(self, *asked: Any) -> Any:
        """No graph is asked for."""
        raise AssertionError


def shown(*values: float) -> list[str]:
    """The messages of `torch.argsort` of these values."""
    found = trial(Adapter(), Backwards(), one_call("argsort", values), Rules(), graph=False)
    return [divergence.difference.message for divergence in found]


def test_tie_is_no_divergence() -> None:
    """One order of equal elements is as good as another, so that no wrong answer is shrunk to a lawful one."""
    assert shown(1.0, 2.0) == ["t0 differs in 2 of 2 elements: [0] is 1, but should be 0"]
    assert shown(0.0, 0.0) == []
