"""What is wrong in JAX is seen: in values, in gradients of either order, and in a graph alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Rules
from autotest.compare.observations import compare
from autotest.conformance.bodies import Recorded, tensor, torch
from autotest.workers.protocol import GraphFailure
from autotest.workers.supervisor import Supervisor
from dual_object.replay.replay import Replay
from support.targets import launched

pytestmark = pytest.mark.own_environment

_FAULTS = Path(__file__).resolve().parents[3] / "support"

WRONG = {"wrong_sine": "eager_forward", "wrong_slope": "eager_backward", "wrong_bend": "eager_second"}


def planted(fault: str) -> Supervisor:
    """JAX with a fault."""
    environment = {"AUTOTEST_FAULT": f"jax_faults:{fault}", "PYTHONPATH": str(_FAULTS)}
    return Supervisor(replace(launched("jax"), environment=environment), 60)


@pytest.mark.parametrize("fault", WRONG)
def test_eagerly(fault: str, recorded: Callable[..., Recorded], reference: Any) -> None:
    """Each shows in its own phase, and earlier ones are right."""
    case = recorded(lambda: torch.sin(tensor(3, low=1, high=2)))
    case.program.second_cotangents = {"0": np.ones(3, np.float32)}
    expected = Replay(reference, case.program, side="reference").run()
    supervisor = planted(fault)
    try:
        [seen] = supervisor.eager([case.program])
    finally:
        supervisor.close()
    found = compare(case.program, expected, seen, Rules())
    assert (found[0].phase, found[0].kind) == (WRONG[fault], "value")


def test_in_a_graph_alone(recorded: Callable[..., Recorded]) -> None:
    """The graph is compiled: it is no second eager run."""
    case = recorded(lambda: torch.sin(tensor(3, low=1, high=2)), backward=False)
    supervisor = planted("wrong_when_compiled")
    try:
        [eager] = supervisor.eager([case.program])
        [graph] = supervisor.graph([case.program], None)
    finally:
        supervisor.close()
    assert compare(case.program, case.seen, eager, Rules()) == []
    [difference] = compare(case.program, case.seen, graph, Rules(), graph=True)
    assert (difference.phase, difference.kind) == ("graph_forward", "value")


def test_graph_that_fails_as_a_whole(recorded: Callable[..., Recorded]) -> None:
    """What fails when compiled code runs belongs to no member: the harness tries them one by one."""
    cases = [recorded(lambda: torch.sin(tensor(3))), recorded(lambda: torch.cos(tensor(3)))]
    supervisor = planted("failing_when_run")
    try:
        failure = supervisor.graph([case.program for case in cases], None)
        [fine] = supervisor.graph([cases[1].program], None)
    finally:
        supervisor.close()
    assert isinstance(failure, GraphFailure)
    assert failure.classes == ("JaxRuntimeError", "RuntimeError")
    assert failure.message.startswith("INTERNAL: CpuCallback error calling callback")
    assert compare(cases[1].program, cases[1].seen, fine, Rules(), graph=True) == []
