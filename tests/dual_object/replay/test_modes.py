"""Modes that a body switches: its own calls meet them, nothing else in the process does."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch as real

from autotest.conformance.bodies import tensor, torch
from dual_object import Program, Replay
from dual_object.program.calls import Call
from dual_object.program.values import Ref
from dual_object.replay.isolation import isolate
from dual_object.replay.modes import Modes


@pytest.fixture(autouse=True)
def ordinary():
    """Whatever a test leaves, the next one begins as a process does."""
    yield
    real.set_grad_enabled(True)
    real.set_default_dtype(real.float32)
    real.use_deterministic_algorithms(False)
    real.set_autocast_enabled("cpu", False)
    real.set_autocast_dtype("cpu", real.bfloat16)


def modes():
    """The modes of this process."""
    return real.is_grad_enabled(), real.get_default_dtype(), real.are_deterministic_algorithms_enabled()


def others():
    """More of them: whether ops choose a dtype, and which."""
    return real.is_autocast_enabled("cpu"), real.get_autocast_dtype("cpu")


ORDINARY = (True, real.float32, False)


def switched():
    """A body that switches everything for good."""
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    torch.use_deterministic_algorithms(True)
    return torch.exp(tensor(2)), torch.ones(2)


def test_what_is_switched_for_good_ends_with_the_run(recorded, reference):
    """Later calls of the same run meet it, the process does not, and each further run begins anew."""
    with Modes(reference).applied():
        case = recorded(switched)
        assert modes() == (False, real.float64, True)
    assert modes() == ORDINARY
    for _ in range(2):
        seen = Replay(reference, case.program).run()
        assert [(one.requires_grad, one.dtype) for one in seen.outputs.values()] == [
            (False, "float32"),
            (False, "float64"),
        ]
        assert modes() == ORDINARY


def test_modes_of_the_process_are_those_of_a_run(recorded, reference):
    """A run inside another default dtype makes its tensors in it, and leaves it."""
    case = recorded(lambda: torch.ones(2))
    with reference.default_dtype("float64"):
        [out] = Replay(reference, case.program).run().outputs.values()
        assert (out.dtype, modes()) == ("float64", (True, real.float64, False))


def test_region_that_a_failure_leaves_open(recorded, reference):
    """A run that ends inside `no_grad` leaves no process without gradients."""

    def body():
        with torch.no_grad():
            return torch.exp(tensor(2))

    program = recorded(body).program
    [exp] = [index for index, call in enumerate(program.calls) if call.op == "exp"]
    calls = [replace(call, op="lacking" if index == exp else call.op) for index, call in enumerate(program.calls)]
    replay = Replay(reference, replace(program, calls=calls))
    assert replay.run().ended
    assert modes() == ORDINARY


def test_autocast(recorded, reference):
    """A run that stops inside a region has these modes to itself as well."""

    def body():
        with torch.autocast("cpu", dtype=torch.float16):
            return torch.Size((2, 2)).numel()

    ordinary = others()
    assert ordinary == (False, real.bfloat16)
    with Modes(reference).applied():
        program = recorded(body, backward=False).program
    assert others() == ordinary
    replay = Replay(reference, program)
    replay.advance(len(program.calls) - 1)  # the region's end is left out
    assert others() == ordinary
    with replay._modes.applied():
        assert others() == (True, real.float16)


def test_runs_beside_each_other(reference):
    """Of two runs that are stepped by turns each meets its own modes."""
    off = Call("function", "set_grad_enabled", (False,), {}, out=Ref(0))
    tell = Call("function", "is_grad_enabled", (), {}, out=True)
    without, ordinary = Replay(reference, Program([], [off, tell])), Replay(reference, Program([], [tell]))
    without.step(0, off)
    ordinary.step(0, tell)
    without.step(1, tell)
    assert (without.seen.hosts, ordinary.seen.hosts) == ({1: False}, {})


@pytest.mark.parametrize("refused", [False, True])
def test_mode_that_a_call_leaves_switched(refused, recorded, reference):
    """Where the call is none that switches, it is told, put back, and met by no other call; beside what it raises."""
    program = recorded(lambda: (torch.sin(tensor(2)), torch.ones(2))).program

    def leaving(x):
        real.use_deterministic_algorithms(True)
        real.set_default_dtype(real.float64)
        if refused:
            raise ValueError("planted")
        return real.sin(x)

    class Leaving(type(reference)):
        def resolve(self, path):
            return leaving if path == "sin" else super().resolve(path)

    seen = Replay(Leaving(), program).run()
    assert modes() == ORDINARY
    assert [(one.call, one.kind, one.message) for one in seen.failures] == [
        (
            0,
            "mode",
            "left get_default_dtype() at torch.float64, but should leave it at torch.float32, and "
            "are_deterministic_algorithms_enabled() at True, but should leave it at False",
        ),
        *([(0, "exception", "planted")] if refused else []),
    ]
    assert seen.ended == refused
    assert [one.dtype for one in seen.outputs.values()] == ([] if refused else ["float32", "float32"])


@pytest.mark.parametrize("region", ["no_grad", "inference_mode", "enable_grad"])
def test_sides_in_one_process(region, recorded, reference):
    """A region of both sides that share a process leaves neither of them in it."""

    def body():
        x = tensor(2)
        with getattr(torch, region)():
            inside = x * 2
        return inside, x * 3

    stepper = Replay(reference, Program())
    case = recorded(body, stepper=stepper)
    assert (modes(), real.is_inference_mode_enabled()) == (ORDINARY, False)
    assert [one.requires_grad for one in case.seen.outputs.values()] == [region == "enable_grad", True]
    outputs = [stepper.values.by_id[id_] for id_ in case.seen.outputs]
    assert [one.requires_grad for one in outputs] == [region == "enable_grad", True]


def test_call_alone_is_outside_its_region(recorded, reference):
    """A call of a `no_grad` region that is run alone has a gradient on every side."""

    def body():
        x = tensor(2)
        with torch.no_grad():
            y = torch.exp(x)
        return x * y

    [(alone, seen)] = [
        (alone, seen)
        for _, alone, seen in isolate(reference, recorded(body).program)
        if modes() == ORDINARY and alone.calls[-1].op == "exp"
    ]
    for side in (seen, Replay(reference, alone).run()):
        assert [one.requires_grad for one in side.outputs.values()] == [True]


def test_modes_that_cannot_be_told(recorded, reference):
    """A framework whose modes cannot be asked runs as before."""

    class Silent:
        """An adapter that fails where it is asked for a mode."""

        def __getattr__(self, name):
            return getattr(reference, name)

        def resolve(self, path):
            """As the reference, but for modes."""
            if path.startswith(("is_", "get_", "are_")):
                raise OSError("planted")
            return reference.resolve(path)

    case = recorded(lambda: torch.exp(tensor(2)))
    assert not Replay(Silent(), replace(case.program)).run().ended


class Region:
    """Switches gradients as OneFlow's regions do: back when it is freed, whatever its `__exit__` is told."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> Region:
        self.before = real.is_grad_enabled()
        real.set_grad_enabled(self.mode)
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing: only its end counts."""

    def __del__(self) -> None:
        real.set_grad_enabled(self.before)


def test_regions_that_end_when_they_are_freed(recorded, reference, monkeypatch):
    """What a failed call has left open is freed while the run has its modes, the inner region first: else enabling
    gradients inside `no_grad` would bring back, for all later runs, that there are none.
    """

    def body():
        with torch.no_grad(), torch.enable_grad():
            return torch.exp(tensor(2)) @ tensor(2)

    program = recorded(body).program
    regions = {"no_grad": False, "enable_grad": True}
    found = reference.resolve

    def resolve(path):
        return (lambda: Region(regions[path])) if path in regions else found(path)

    monkeypatch.setattr(reference, "resolve", resolve)
    monkeypatch.setattr(reference, "operators", {}, raising=False)
    failing = [replace(call, op="no_such_op") if call.op == "exp" else call for call in program.calls]
    replay = Replay(reference, replace(program, calls=failing))
    finished = replay.start()
    assert replay.seen.ended
    assert modes() == ORDINARY
    del replay, finished
    assert modes() == ORDINARY
