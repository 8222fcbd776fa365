"""Twenty faults planted in Paddle: what an op shows with one differs from PyTorch, and without one does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import support
from autotest.compare.difference import Rules
from autotest.compare.observations import compare
from autotest.conformance.bodies import tensor, torch
from autotest.workers.supervisor import Supervisor
from dual_object import Observation
from support.targets import launched

pytestmark = pytest.mark.own_environment

#: By the op with the fault: a call that it spoils.
BODIES: dict[str, Callable[[], Any]] = {
    "addmm": lambda: torch.addmm(tensor(2, 2), tensor(2, 3), tensor(3, 2), beta=0.5),
    "argmin": lambda: tensor(3, 4).argmin(dim=1),
    "conv1d": lambda: torch.nn.functional.conv1d(tensor(1, 2, 8), tensor(3, 2, 2), dilation=2),
    "conv_transpose2d": lambda: torch.nn.functional.conv_transpose2d(
        tensor(1, 2, 3, 3), tensor(2, 3, 2, 2), stride=2, output_padding=1
    ),
    "exp": lambda: torch.exp(tensor(3)),
    "floor": lambda: tensor(3, low=-3, high=-1).floor(),
    "gelu": lambda: torch.nn.functional.gelu(tensor(5, low=-3, high=3), approximate="tanh"),
    "leaky_relu": lambda: torch.nn.functional.leaky_relu(tensor(5), 0.0),
    "log1p": lambda: torch.log1p(tensor(3, low=1e-9, high=1e-6)),
    "logaddexp": lambda: torch.logaddexp(tensor(3), tensor(3)),
    "maximum": lambda: torch.maximum(tensor(9), tensor(9)),
    "mean": lambda: torch.mean(tensor(2, 3), dim=1),
    "pow": lambda: tensor(3, low=1, high=2).pow(-2),
    "prod": lambda: torch.prod(tensor(2, 3), dim=1),
    "softmax": lambda: torch.softmax(tensor(2, 3), 0),
    "sqrt": lambda: torch.sqrt(tensor(low=1, high=2)),
    "sub_": lambda: (tensor(3) * 2).sub_(tensor(3)),
    "sum": lambda: torch.sum(tensor(2, 3), dim=-1, keepdim=True),
    "tanh": lambda: torch.tanh(tensor(3)),
    "var": lambda: torch.var(tensor(2, 5), dim=1, unbiased=False),
}


@pytest.fixture(scope="module")
def sound() -> Iterator[Supervisor]:
    """Paddle as it is."""
    supervisor = Supervisor(launched("paddle"), 60)
    supervisor.start()
    yield supervisor
    supervisor.close()


@pytest.fixture(scope="module")
def faulty() -> Iterator[Supervisor]:
    """Paddle with all faults."""
    folder = str(Path(support.__path__[0]))
    environment = {"AUTOTEST_FAULT": "paddle_faults:plant", "PYTHONPATH": folder}
    supervisor = Supervisor(replace(launched("paddle"), environment=environment), 60)
    supervisor.start()
    yield supervisor
    supervisor.close()


@pytest.mark.parametrize("op", BODIES)
def test_seen(op: str, sound: Supervisor, faulty: Supervisor, recorded: Any) -> None:
    """Eagerly, or in the graph, which one of them spoils alone."""
    case = recorded(BODIES[op])
    rules = Rules(rtol=1e-4, atol=0.0)

    def differs(worker: Supervisor) -> bool:
        [eager] = worker.eager([case.program])
        assert isinstance(eager, Observation), eager
        graph = worker.graph([case.program], [case.gradient_keys()])
        assert isinstance(graph, list), graph
        found = [*compare(case.program, case.seen, eager, rules)]
        if isinstance(graph[0], Observation):
            found += compare(case.program, case.seen, graph[0], rules, graph=True)
        return bool(found)

    assert (differs(sound), differs(faulty)) == (False, True)
