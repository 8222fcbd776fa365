"""What every target must do: subclass `AdapterConformance` in a test module of your adapter.

The adapter is asked through a supervisor, in its own process, as the harness asks it. A subclass names the target and
the tolerance between it and PyTorch, and lists the bodies that the target refuses, with the kind of the refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from autotest.conformance.bodies import BODIES, Recorded, assert_graph, assert_same, tensor, torch
from autotest.workers.supervisor import Supervisor
from dual_object import Observation, Program
from dual_object.errors import MissingOp
from dual_object.replay.adapter import Aspect, GraphRefusal
from dual_object.replay.observation import failure_kind

Record = Callable[..., Recorded]


class AdapterConformance:
    """The tests; `refused` names bodies by what the eager replay calls their failure, `ungraphed` those that the
    static graph skips, with its reason, and `unfit` those that it fails on, with how what it says begins.
    """

    target: ClassVar[str]
    rtol: ClassVar[float] = 0
    atol: ClassVar[float] = 0
    #: Whether a body whose op the target says that it lacks is skipped, instead of being listed as refused.
    lenient: ClassVar[bool] = False
    refused: ClassVar[dict[str, str]] = {}
    ungraphed: ClassVar[dict[str, str]] = {}
    unfit: ClassVar[dict[str, str]] = {}

    @pytest.fixture(scope="class")
    @classmethod
    def worker(cls) -> Iterator[Supervisor]:
        """The target in its own process."""
        supervisor = Supervisor(cls.target, 60)
        supervisor.start()
        yield supervisor
        supervisor.close()

    def eager(self, worker: Supervisor, *programs: Program) -> list[Any]:
        """Return what the target shows for each Program."""
        return list(worker.eager(programs))

    def skip_without(self, worker: Supervisor, *aspects: Aspect) -> None:
        """Skip the running test where the target says that it lacks one of these."""
        lacking = sorted({*aspects} & {*worker.info().lacks})
        if lacking:
            pytest.skip(f"{self.target} says that it lacks {', '.join(lacking)}")

    def skip_lacking(self, worker: Supervisor, name: str, program: Program) -> None:
        """Skip the running test where the target cannot run this body at all."""
        if [*program.modules()]:
            self.skip_without(worker, "modules")
        if name == "custom" and worker.launch.python is not None:
            pytest.skip("the functions of its dual op are not to be found in another interpreter")

    def skip_refused(self, kind: str, message: str) -> None:
        """Skip the running test where this kind of refusal says that the target has no such thing."""
        if kind in ("missing", "unmapped", "unsupported", "skipped"):
            pytest.skip(message)

    def test_says_what_it_is(self, worker: Supervisor) -> None:
        """The target names itself, its version, and at least the CPU and float32."""
        info = worker.info()
        assert info.name == self.target or ":" in self.target
        assert info.environment[info.name]
        assert "cpu" in info.devices
        assert "float32" in info.dtypes

    def test_says_what_it_has(self, worker: Supervisor, recorded: Record) -> None:
        """Of the reference's ops the target names those that it has; what has run of it is in its registry."""
        self.eager(worker, recorded(lambda: torch.relu(tensor(2, 3))).program)
        surface = worker.surface(["relu", "Tensor.add_", "nn.Linear", "no_such_op", "Tensor.no_such_method"])
        if self.lenient and surface is None:
            pytest.skip(f"{self.target} has none of them, and tells of no op that has run")
        assert surface is not None
        modules = () if "modules" in worker.info().lacks else ("Linear",)
        named = {*modules, "add_", "relu"}
        assert {*surface.names} == named or (self.lenient and {*surface.names} < named)
        assert list(surface.registry) == sorted({*surface.registry})
        assert {*surface.touched} <= {*surface.registry}

    @pytest.mark.parametrize("name", BODIES)
    def test_eager_like_the_reference(self, name: str, worker: Supervisor, recorded: Record) -> None:
        """Each body shows outputs, gradients, buffers and mutated inputs as on PyTorch, or is refused as listed."""
        case = recorded(BODIES[name])
        self.skip_lacking(worker, name, case.program)
        [seen] = self.eager(worker, case.program)
        assert type(seen) is Observation, seen
        if self.lenient and seen.ended:
            self.skip_refused(seen.failures[-1].kind, seen.failures[-1].message)
        if name in self.refused:
            assert seen.ended
            assert seen.failures[-1].kind == self.refused[name]
        else:
            assert_same(case.seen, seen, self.rtol, self.atol)

    @pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
    @pytest.mark.parametrize("name", BODIES)
    def test_graph_like_the_reference(self, name: str, backward: bool, worker: Supervisor, recorded: Record) -> None:
        """Each body shows the same outputs and gradients in the static graph, or is skipped for the listed reason."""
        case = recorded(BODIES[name])
        self.skip_lacking(worker, name, case.program)
        keys = case.gradient_keys() if backward else []
        answer = worker.graph([case.program], [keys] if backward else None)
        assert isinstance(answer, list), answer
        [seen] = answer
        if self.lenient and isinstance(seen, GraphRefusal):
            lacking = MissingOp.__name__ in seen.classes
            kind = "missing" if lacking else failure_kind(seen.classes, seen.message)
            self.skip_refused("skipped" if seen.skipped else kind, seen.message)
        if name in self.ungraphed:
            assert seen == GraphRefusal(True, None, (), self.ungraphed[name])
        elif name in self.unfit:
            assert isinstance(seen, GraphRefusal), seen
            assert not seen.skipped
            assert seen.message.startswith(self.unfit[name])
        else:
            assert isinstance(seen, Observation), seen
            assert_graph(case, seen, keys, self.rtol or 1e-6, self.atol or 1e-6)

    def test_batch_in_one_graph(self, worker: Supervisor, recorded: Record) -> None:
        """Twenty cases in one graph keep their results apart."""
        cases = [recorded(lambda size=size: torch.relu(tensor(size, 3)) * 2) for size in range(1, 21)]
        answer = worker.graph([case.program for case in cases], [case.gradient_keys() for case in cases])
        assert isinstance(answer, list), answer
        for refusal in answer:
            if self.lenient and isinstance(refusal, GraphRefusal):
                self.skip_refused("skipped" if refusal.skipped else "", refusal.message)
        for case, seen in zip(cases, answer, strict=True):
            assert isinstance(seen, Observation), seen
            assert_graph(case, seen, case.gradient_keys(), self.rtol or 1e-6, self.atol or 1e-6)

    def test_refusal_stays_alone_in_its_batch(self, worker: Supervisor, recorded: Record) -> None:
        """A call that the graph refuses costs its own case only."""
        good = recorded(lambda: torch.relu(tensor(2, 3)))
        bad = recorded(lambda: torch.matmul(tensor(2, 3), tensor(3, 2)))
        bad.program.calls[0].args = (bad.program.calls[0].args[0], bad.program.calls[0].args[0])
        answer = worker.graph([good.program, bad.program, good.program], None)
        assert isinstance(answer, list), answer
        first, refusal, last = answer
        if self.lenient and isinstance(first, GraphRefusal):
            self.skip_refused("skipped" if first.skipped else "", first.message)
        assert isinstance(refusal, GraphRefusal)
        assert (refusal.skipped, refusal.call) == (False, 0)
        assert refusal.classes
        assert refusal.message
        for seen in (first, last):
            assert isinstance(seen, Observation), seen
            assert_graph(good, seen, [], self.rtol or 1e-6, self.atol or 1e-6)

    def test_memory(self, worker: Supervisor, recorded: Record) -> None:
        """Views share memory with their base, copies do not; strides and offsets are those of the view."""
        self.skip_without(worker, "layout", "sharing")

        def body() -> Any:
            x = tensor(4, 3, grad=False)
            y = x * 2
            return x[1:], x.transpose(0, 1), x + 1, y, y[2:]

        case = recorded(body)
        [seen] = self.eager(worker, case.program)
        first, turned, copied, y, last = seen.outputs
        assert seen.shared == case.seen.shared == [(0, first, turned), (y, last)]
        assert seen.unplaced == ()
        shown = [(found.strides, found.offset) for found in seen.outputs.values()]
        assert shown == [(None, 3), ((1, 3), 0), (None, 0), (None, 0), (None, 6)]
        assert copied not in {id_ for group in seen.shared for id_ in group}

    def test_leaves(self, worker: Supervisor, recorded: Record) -> None:
        """What is computed from a tensor that wants a gradient wants one too and is no leaf."""
        self.skip_without(worker, "standing")
        case = recorded(lambda: ((x := tensor(2)), x * 2, x.detach() * 2))
        [seen] = self.eager(worker, case.program)
        shown = [(found.requires_grad, found.leaf) for found in seen.outputs.values()]
        assert shown == [(True, True), (True, False), (False, True)]

    def test_states(self, worker: Supervisor, recorded: Record) -> None:
        """A module's parameters and buffers have the reference's names, dtypes, shapes and flags."""
        self.skip_without(worker, "modules")

        def body() -> Any:
            m = torch.nn.BatchNorm2d(2)
            m.weight.requires_grad_(False)
            return m(tensor(2, 2, 3, 3))

        case = recorded(body)
        [seen] = self.eager(worker, case.program)
        assert (seen.states, seen.saved) == (case.seen.states, case.seen.saved)
        assert seen.states[0]["weight"] == ("float32", (2,), False)
        assert seen.saved[0] == ("bias", "num_batches_tracked", "running_mean", "running_var", "weight")

    def test_missing_op(self, worker: Supervisor, recorded: Record) -> None:
        """An op that the target lacks is `missing`, as a function and as a method; `unmapped` where its table has no
        row for it.
        """
        for call in (lambda: torch.relu(tensor(2)), lambda: tensor(2).relu()):
            case = recorded(call)
            case.program.calls[0].op = "no_such_op"
            [seen] = self.eager(worker, case.program)
            assert seen.ended
            [failure] = seen.failures
            assert failure.call == 0
            assert failure.kind in ("missing", "unmapped")

    def test_failing_call(self, worker: Supervisor, recorded: Record) -> None:
        """A call that raises ends its case, names the call, and the next case is not touched."""
        bad = recorded(lambda: torch.matmul(tensor(2, 3), tensor(3, 2)) * 2)
        bad.program.calls[0].args = (bad.program.calls[0].args[0], bad.program.calls[0].args[0])
        good = recorded(lambda: tensor(2) * 2)
        failed, fine = self.eager(worker, bad.program, good.program)
        assert failed.ended
        assert [failure.call for failure in failed.failures] == [0]
        assert failed.failures[0].classes
        assert_same(good.seen, fine, self.rtol, self.atol)

    def test_unknown_value_differs(self, worker: Supervisor, recorded: Record) -> None:
        """A host value that differs from the recorded one is told by its call."""
        case = recorded(lambda: (tensor(2, 3).shape, tensor(2))[1])
        case.program.calls[0].out = (7, 3)
        [seen] = self.eager(worker, case.program)
        assert seen.hosts == {0: (2, 3)}
