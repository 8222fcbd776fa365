"""Whether a single call of a Program is refused in a graph of its own, as OneFlow's harness would have it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from autotest.dropin.alone import refused_alone
from autotest.workers.alone import GraphResult
from autotest.workers.protocol import Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Observation
from support.fake_target import FakeTarget

X = np.array([0.3, -1.7], np.float32)
SELECTED = Program(
    [Input(0, "x", X, "float32", False)], [Call("function", "select", (Ref(0), 0, 1), {}, out=Ref(1))], Ref(1)
)
ENDED = Death("crash", "killed by SIGABRT", 0, 0, "Check failed: 'blob_desc' Must be non NULL")
REFUSED = GraphRefusal(False, 0, ("RuntimeError",), "no")
SKIPPED = GraphRefusal(True, 0, (), "no op of that name")


@dataclass
class Graphs(FakeTarget):
    """A target with these results of its graphs, in their order."""

    results: list[GraphResult] = field(default_factory=list)

    def graph(self, programs: Sequence[Program], gradients: object, again: object = None) -> GraphResult:  # type: ignore[override]
        """The next one."""
        return self.results.pop(0)


@pytest.mark.parametrize(
    ("results", "refused"),
    [
        ([Observation()], False),
        ([SKIPPED], False),
        ([REFUSED], True),
        ([ENDED, Observation()], False),
        ([ENDED, REFUSED], True),
        ([ENDED, ENDED], True),
    ],
    ids=["runs", "skipped", "refused", "ended once", "ended, then refused", "ends"],
)
def test_the_end_of_a_graph_is_looked_at_twice(
    monkeypatch: pytest.MonkeyPatch, results: list[GraphResult], refused: bool
) -> None:
    """A worker that has refused graphs before may end of one that is right: a new worker tells."""
    monkeypatch.setitem(sys.modules, "oneflow", SimpleNamespace(select=lambda x, dim, index: x))
    target = Graphs(Adapter(), results=results)
    assert refused_alone(Adapter(), target, SELECTED) is refused
    assert not target.results
