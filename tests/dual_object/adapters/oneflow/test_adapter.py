"""The real OneFlow in a spawned worker conforms: eager, static graph forward and backward, many cases in one graph."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest

from autotest.conformance.adapter import AdapterConformance
from autotest.conformance.bodies import assert_same, same, same_without_collection, tensor, torch
from autotest.workers.contracts import Answer
from autotest.workers.supervisor import Supervisor
from dual_object.record.namespace import dual
from dual_object.replay.observation import Observation

pytestmark = pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")

_VARIABLE = """
import os

from autotest import contract


@contract("This is what it is.", target="oneflow", of="env")
def test_variable(flow, taken):
    assert os.environ["ONEFLOW_VM_COMPUTE_ON_WORKER_THREAD"] == taken
"""


class TestOneflow(AdapterConformance):
    """OneFlow 0.9.0."""

    target = "oneflow"
    rtol = 1e-5
    atol = 1e-5
    ungraphed = {"empty": "OneFlow's nn.Graph aborts on an input of size 0"}

    def test_registry_is_whole(self, worker, monkeypatch):
        """All 661 user ops of this build are read, and no name twice."""
        # A run that ends waits five seconds for this, and a test on a busy machine as long as it takes.
        monkeypatch.setattr("autotest.workers.supervisor.SURFACE_TIMEOUT", 60.0)
        worker.info()  # one that has not begun is not asked: a test before this one may have ended it
        surface = worker.surface([])
        assert surface is not None
        assert len({*surface.registry}) == len(surface.registry) == 661
        assert {"relu", "relu_grad", "matmul", "argwhere", "COCOReader"} <= {*surface.registry}

    def test_touched_is_what_programs_run(self, recorded):
        """A graph adds the op types of its Programs, backward included, and none of what the harness builds around
        them; without a graph the backward's names tell.
        """
        case = recorded(lambda: torch.relu(tensor(2, 3)))
        supervisor = Supervisor("oneflow", 60)
        try:
            assert isinstance(supervisor.graph([case.program, case.program], None), list)
            assert supervisor.surface([]).touched == ("relu",)
            assert isinstance(supervisor.graph([case.program, case.program], [case.gradient_keys()] * 2), list)
            assert supervisor.surface([]).touched == ("relu", "relu_grad")
            self.eager(supervisor, recorded(lambda: torch.erf(tensor(2))).program)
            assert supervisor.surface([]).touched == ("erf", "relu", "relu_grad")
        finally:
            supervisor.close()

    def test_nothing_is_collected_while_a_graph_is_built(self, worker, recorded):
        """A graph that dies then takes the names of the other's variables with it."""
        case = recorded(lambda: dual(reference=same, target=same_without_collection)(tensor(2, 3)))
        [seen] = worker.graph([case.program], None)
        assert isinstance(seen, Observation), seen

    def test_views_are_read_from_where_they_start(self, worker, recorded):
        """Three views of one tensor are read each from its own place: `detach()` in OneFlow forgets the offset."""
        case = recorded(lambda: torch.split(tensor(6, 2), 2))
        [seen] = self.eager(worker, case.program)
        assert_same(case.seen, seen)
        assert len({output.data.tobytes() for output in seen.outputs.values()}) == 3

    def test_detached_view_is_read_from_where_it_starts(self, worker, recorded):
        """What the body detached is read as it is, though a view of it would begin elsewhere in OneFlow."""
        case = recorded(lambda: [part.detach() for part in torch.split(tensor(6, 2), 2)])
        [seen] = self.eager(worker, case.program)
        assert_same(case.seen, seen)

    @pytest.mark.parametrize("strides", [(0, 1), (1, 1)])
    def test_graph_takes_no_elements_that_share_places(self, worker, recorded, strides):
        """An nn.Graph copies as many elements as the shape has: of such a tensor more than its memory holds."""
        program = recorded(lambda: torch.relu(tensor(3, 4))).program
        program.inputs = [replace(x, strides=strides) for x in program.inputs]
        [refused] = worker.graph([program], None)
        assert refused.message == "OneFlow's nn.Graph reads past the memory of an expanded input"

    def test_batch_of_twenty_eagerly(self, worker, recorded):
        """Twenty Programs of one request come back in their order."""
        cases = [recorded(lambda size=size: tensor(size) * 2) for size in range(1, 21)]
        for case, seen in zip(cases, self.eager(worker, *(case.program for case in cases)), strict=True):
            assert_same(case.seen, seen)

    @pytest.mark.parametrize(("given", "taken"), [(None, "0"), ("1", "1")])
    def test_computes_where_it_schedules(self, monkeypatch, tmp_path, given, taken):
        """Unless the user says otherwise: a thread of its own is waited for busily."""
        name = "ONEFLOW_VM_COMPUTE_ON_WORKER_THREAD"
        monkeypatch.delenv(name, raising=False)
        if given is not None:
            monkeypatch.setenv(name, given)
        (tmp_path / "test_variable.py").write_text(_VARIABLE)
        supervisor = Supervisor("oneflow", 60)
        try:
            answer = supervisor.contract(str(tmp_path / "test_variable.py"), "test_variable", {"taken": taken})
        finally:
            supervisor.close()
        assert answer == Answer("kept")
