"""The configurations of OneFlow's graph: each is told to `self.config` as its code says, and computes the same."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autotest import torch
from autotest.errors import HarnessFault
from autotest.workers.supervisor import Supervisor
from dual_object.adapters.oneflow.configurations import NAMES, code, computes_in, configure, offered
from dual_object.adapters.oneflow.spread import Staged
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Observation
from support.programs import one_call
from support.trainings import batch, recorded

GRAPH_MODULE = "GraphModule"
FLOW = SimpleNamespace(
    float16="float16",
    bfloat16="bfloat16",
    nn=SimpleNamespace(graph=SimpleNamespace(GraphModule=GRAPH_MODULE)),
)


class Config:
    """A `self.config` that keeps what it is told, as code."""

    def __init__(self, told: list[str]) -> None:
        self.told = told

    def __getattr__(self, name: str) -> Any:
        """Any method."""

        def method(*args: Any, **named: Any) -> None:
            numbers = [f"{key}={value}" for key, value in named.items() if type(value) is int]
            dtypes = [f"{key}=flow.{value}" for key, value in named.items() if type(value) is str]
            given = [*map(repr, args), *numbers, *dtypes]
            self.told.append(f"self.config.{name}({', '.join(given)})")

        return method


class Settings:
    """The settings of a module, which keep what is set, as code."""

    def __init__(self, told: list[str], module: str) -> None:
        self.__dict__.update(told=told, module=module)

    def __setattr__(self, name: str, value: Any) -> None:
        """Any setting."""
        self.told.append(f"self.{self.module}.to(flow.nn.graph.GraphModule).{name} = {value!r}")


def told_by(name: str) -> list[str]:
    """What a graph with two modules is told."""
    told: list[str] = []
    modules = [SimpleNamespace(to={GRAPH_MODULE: Settings(told, module)}.__getitem__) for module in ("m0", "m1")]
    configure(FLOW, SimpleNamespace(config=Config(told)), modules, name)
    return told


@pytest.mark.parametrize("name", sorted(NAMES))
def test_config_is_told_what_the_code_says(name: str) -> None:
    """A graph here and one in a script are configured alike."""
    assert told_by(name) == code(name, "flow", ["m0", "m1"]) != []


def test_code() -> None:
    """What a graph is told, it is told once; a setting of modules, each of them."""
    assert code("enable_amp.float16", "torch", ["m0"]) == ["self.config.enable_amp(True, dtype=torch.float16)"]
    assert code("activation_checkpointing", "torch", ["m0", "m1"]) == [
        "self.m0.to(torch.nn.graph.GraphModule).activation_checkpointing = True",
        "self.m1.to(torch.nn.graph.GraphModule).activation_checkpointing = True",
    ]


def test_without_a_name_nothing_is_told() -> None:
    """The plain graph has no configuration, and computes every value in its own dtype."""
    assert (told_by(""), code("", "flow", ["m0"]), computes_in("")) == ([], [], "")


def test_names() -> None:
    """Names can stand in a fingerprint and on a command line, and those of one method tell the argument."""
    assert all(set(name).isdisjoint(",/=*[ ") for name in NAMES)
    amp = [(row.name, row.dtype) for row in offered(1) if row.dtype]
    assert amp == [("enable_amp.float16", "float16"), ("enable_amp.bfloat16", "bfloat16")]


def test_some_need_several_ranks() -> None:
    """What shards an optimizer's states over ranks, or modules, is offered where there are several."""
    more = [row.name for row in offered(2) if row not in offered(1)]
    assert more == ["enable_zero.1", "enable_zero.2", "enable_zero.3", "enable_zero.2.1", "set_stage"]
    assert code("enable_zero.2.1", "flow") == ["self.config.enable_zero(True, stage=2, shard_min_size=1)"]


@pytest.fixture(scope="module")
def worker() -> Iterator[Supervisor]:
    """A worker with the real OneFlow."""
    if importlib.util.find_spec("oneflow") is None:
        pytest.skip("oneflow is not installed")
    supervisor = Supervisor("oneflow", 60)
    yield supervisor
    supervisor.close()


@pytest.mark.slow
def test_oneflow_has_each_configuration(worker: Supervisor) -> None:
    """A graph is built under each that this version lists, and gives the same."""
    programs = [one_call("exp", backward=True), one_call("relu", backward=True)]
    assert [row.name for row in worker.info().configurations] == [row.name for row in offered(1)]
    for name in NAMES:
        answer = worker.graph(programs, [["0"], ["0"]], configuration=name)
        assert isinstance(answer, list), (name, answer)
        for seen, expected in zip(answer, (np.exp([-1.5, 0.1, 2.0]), [0.0, 0.1, 2.0]), strict=True):
            assert isinstance(seen, Observation), (name, seen)
            np.testing.assert_allclose(seen.outputs[1].data, expected, rtol=1e-2)


def linear(recording: Any) -> Any:
    """A step of a Linear."""
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return layer(batch(recording)).sum()


def test_stages_are_of_trainings_that_ranks_share(worker: Supervisor) -> None:
    """Any other Program has no graph in stages, and says why."""
    for program in (one_call("exp"), recorded(linear)):
        assert worker.graph([program], None, configuration="set_stage") == [
            GraphRefusal(True, None, (), "stages are set where ranks share a training")
        ]


def test_stages_of_modules() -> None:
    """Modules lie in their order on the ranks, and those that another one holds lie with it."""

    def body(recording: Any) -> Any:
        first, relu, last = torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)
        whole = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 1), relu))
        torch.optim.SGD(whole.parameters(), lr=0.1)
        return whole(last(first(batch(recording)))).mean()

    def placement(kind: str, ranks: list[int]) -> Any:
        return SimpleNamespace(kind=kind, ranks=np.array(ranks))

    sbp = SimpleNamespace(broadcast="B", split=lambda axis: f"S{axis}")
    program = recorded(body)
    staged = Staged(SimpleNamespace(placement=placement, sbp=sbp), program, 2)
    lain: dict[int, list[int]] = {}
    for call in program.modules():
        [number] = call.results()

        def to_global(placement: Any, sbp: Any, number: int = number) -> None:
            lain[number] = placement.ranks.tolist()

        if call.state:
            staged.module(number, SimpleNamespace(to_global=to_global))
    first, last, *held, inner, outer = lain.values()
    assert (first, last) == ([0], [0])
    assert [*held, inner, outer] == [[1]] * (len(held) + 2)


def test_name_comes_to_the_graph(worker: Supervisor) -> None:
    """One that there is not is an error, of a training too."""
    [refused] = worker.graph([recorded(linear)], None, configuration="no_such")  # type: ignore[misc]
    assert isinstance(refused, GraphRefusal)
    assert (refused.classes[0], refused.message) == ("KeyError", "'no_such'")
    with pytest.raises(HarnessFault, match="KeyError: 'no_such'"):
        worker.graph([one_call("exp")], None, configuration="no_such")
