"""A stored Program run again tells what stands, and nothing of what the reference leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from autotest.compare.difference import Rules
from autotest.judge.standalone import trial
from autotest.workers.protocol import GraphFailure
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.adapter import TargetInfo
from dual_object.replay.replay import Replay
from support.programs import one_call


class Backwards:
    """A target that answers here, and whose `argsort` counts down."""

    def info(self) -> TargetInfo:
        """It lacks nothing."""
        return Adapter().info()

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


def test_eager_needs_are_taken_as_they_are_given() -> None:
    """What is not given is found out: here that it takes nothing."""

    class Asked(Backwards):
        asked = 0

        def eager(self, programs: Sequence[Program]) -> list[Any]:
            self.asked += len(programs)
            return super().eager(programs)

    told = []
    for needs in (("nan",), None):
        target = Asked()
        [found] = trial(Adapter(), target, one_call("argsort", (1.0, 2.0, 3.0)), Rules(), graph=False, needs=needs)
        told.append((found.facts, target.asked > 1))
    assert told == [(("nan",), False), ((), True)]


@pytest.mark.parametrize("graph", [False, True])
def test_the_oracle_is_asked_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch, graph: bool) -> None:
    """What is known to be needed was found out of an answer that the reference defines: a proof does not ask again."""
    asked: list[str] = []

    def decidable(reference: Any, divergences: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        asked.extend(divergence.op for divergence in divergences)
        return [], []

    monkeypatch.setattr("autotest.judge.standalone.decidable", decidable)
    target = Graph(0, 1) if graph else Graph(1, 0)
    known, unknown = (
        trial(Adapter(), target, one_call("exp", (0.3, 0.7)), Rules(), graph=graph, needs=needs) for needs in ((), None)
    )
    assert ([one.op for one in known], unknown, asked) == (["exp"], [], ["exp"])


class Graph:
    """A target whose eager `exp` and graph's `exp` are off by something."""

    def __init__(self, eager: float, graph: float) -> None:
        self.off = {"eager": eager, "graph": graph}

    def info(self) -> TargetInfo:
        """It lacks nothing."""
        return Adapter().info()

    def eager(self, programs: Sequence[Program]) -> list[Any]:
        """What each Program shows."""
        return [self._run(program, "eager") for program in programs]

    def graph(self, programs: Sequence[Program], *asked: Any) -> list[Any]:
        """What their graph shows."""
        return [self._run(program, "graph") for program in programs]

    def _run(self, program: Program, mode: str) -> Any:
        seen = Replay(Adapter(), program).run()
        outputs = {id_: replace(one, data=one.data + self.off[mode]) for id_, one in seen.outputs.items()}
        return replace(seen, outputs=outputs)


class Raising(Graph):
    """A target whose graphs raise; it counts them."""

    def __init__(self) -> None:
        super().__init__(0, 0)
        self.graphs = 0

    def graph(self, programs: Sequence[Program], *asked: Any) -> Any:
        """No graph comes about."""
        self.graphs += 1
        return GraphFailure(("RuntimeError",), "no")


@pytest.mark.parametrize(
    ("needs", "facts", "graphs"),
    [(("0-dim",), ("0-dim",), 1), ((), (), 1), (None, (), 3)],  # once more, and of one dimension
)
def test_what_is_known_to_be_needed_is_not_asked_again(
    needs: tuple[str, ...] | None, facts: tuple[str, ...], graphs: int
) -> None:
    """A graph that raises may cost a process."""
    target = Raising()
    [found] = trial(Adapter(), target, one_call("exp", 0.3), Rules(), graph=True, needs=needs)
    assert (found.difference.kind, found.facts, target.graphs) == ("exception", facts, graphs)


@pytest.mark.parametrize(
    ("eager", "graph", "message"),
    [
        (0, 1, "t0 differs in 1 of 1 element: [0] is 2.0, but should be 1.0"),
        (1, 0, None),
        (1, 1, None),
    ],
)
def test_what_a_graph_has_in_common_with_eager_is_no_fault_of_its_own(
    eager: float, graph: float, message: str | None
) -> None:
    """Else a fault of a graph could be shrunk to one that eager has as well, and its script would say: gone."""
    found = trial(Adapter(), Graph(eager, graph), one_call("exp", [0.0]), Rules(), graph=True)
    told = [divergence.difference.message.partition(" (rtol")[0] for divergence in found]
    assert told == ([] if message is None else [message])
