"""Isolation: each call alone, on the values that it had on the reference."""

from __future__ import annotations

import pytest

from autotest.conformance.bodies import BODIES, assert_same, double, tensor, torch
from dual_object import Replay
from dual_object.replay.isolation import _alone, isolate


def alone(case, reference):
    """Return the isolated calls of a case: index and printed Program."""
    return [(index, str(program)) for index, program, _ in isolate(reference, case.program)]


def test_each_computing_call_stands_alone(recorded, reference):
    """Each call that computes something is a Program on its own inputs, under the names of the whole one."""
    case = recorded(lambda: (tensor(2, 3) * 2).sum(dim=1).relu())
    assert alone(case, reference) == [
        (0, "def program(torch, x):\n    t0 = x * 2\n    return t0"),
        (1, "def program(torch, t0):\n    t1 = t0.sum(dim=1)\n    return t1"),
        (2, "def program(torch, t1):\n    t0 = t1.relu()\n    return t0"),
    ]


@pytest.mark.parametrize("name", BODIES)
def test_alone_like_in_the_whole(name, recorded, reference):
    """Each isolated Program, replayed again, shows what it is yielded with."""
    for _, program, seen in isolate(reference, recorded(BODIES[name]).program):
        assert_same(seen, Replay(reference, program, side="reference").run())


def test_outputs_are_those_of_the_whole(recorded, reference):
    """The last call alone gives what the whole body gave."""
    case = recorded(lambda: torch.exp(tensor(2, 3) * 2) - 1)
    *_, (index, _, seen) = isolate(reference, case.program)
    assert index == 2
    [whole], [part] = case.seen.outputs.values(), seen.outputs.values()
    assert part.data.tobytes() == whole.data.tobytes()


def test_host_reads_are_left_out(recorded, reference):
    """A call without a tensor among its results does not stand alone."""
    assert [index for index, _ in alone(recorded(BODIES["host"]), reference)] == [1, 2, 4, 5, 7]


def test_refused_calls_are_left_out(recorded, reference):
    """A call that the reference refused does not stand alone."""
    assert [index for index, _ in alone(recorded(BODIES["raises"]), reference)] == [1]


def test_in_place_call_works_on_a_clone(recorded, reference):
    """A call that writes its operand is given a clone of it, so that a leaf may be written."""
    case = recorded(lambda: (tensor(2) * 2).add_(1))
    assert alone(case, reference)[1] == (
        1,
        "def program(torch, t0):\n    t1 = t0.clone()\n    t1.add_(1)\n    return t1",
    )


def test_item_assignment_alone(recorded, reference):
    """An item assignment returns what it wrote into."""
    programs = [program for index, program, _ in isolate(reference, recorded(BODIES["setitem"]).program) if index == 1]
    assert len(programs) == 1
    assert [call.op for call in programs[0].calls] == ["clone", "setitem"]


def test_module_alone_has_its_state_and_mode(recorded, reference):
    """A module call is isolated with the state and the mode that the module has then."""

    def body():
        m = torch.nn.BatchNorm1d(3)
        x = m(tensor(4, 3))
        return m.eval()(x)

    case = recorded(body)
    programs = {index: program for index, program, _ in isolate(reference, case.program)}
    calls = [index for index, call in enumerate(case.program.calls) if call.kind == "call"]
    assert len(calls) == 2
    first, second = (programs[index] for index in calls)
    assert [call.args[1] for program in (first, second) for call in program.calls if call.op == "train"] == [
        True,
        False,
    ]
    before, after = (next(program.modules()).state["running_mean"] for program in (first, second))
    assert before.tolist() != after.tolist()


def test_module_of_modules_alone(recorded, reference):
    """A module that is made of others is isolated with these, and each in its own mode."""

    def body():
        inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
        outer = torch.nn.Sequential(inner, torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
        outer(tensor(4, 3))
        inner.eval()
        outer(tensor(4, 3))
        return outer.eval()(tensor(4, 3))

    case = recorded(body)
    programs = {index: program for index, program, _ in isolate(reference, case.program)}
    calls = [index for index, call in enumerate(case.program.calls) if call.kind == "call"]
    modes = []
    for index in calls:
        assert len(list(programs[index].modules())) == 6
        modes.append([call.args[1] for call in programs[index].calls if call.op == "train"])
    # First the whole's, then, where they are not all alike, that of each part.
    assert modes == [[True], [True, True, True, False, False, False], [False]]


def test_part_that_is_shared_is_made_once(recorded, reference):
    """Two modules that hold one third have it together when they are isolated, too."""

    def body():
        shared = torch.nn.Linear(3, 3)
        inner = torch.nn.Sequential(shared, torch.nn.Tanh())
        return torch.nn.Sequential(inner, shared)(tensor(4, 3))

    *_, (_, program, _) = isolate(reference, recorded(body).program)
    assert [call.op for call in program.modules()] == ["nn.Linear", "nn.Tanh", "nn.Sequential", "nn.Sequential"]


def test_module_of_a_tensor_alone(recorded, reference):
    """A loss that is given weights is isolated with these, which are no state of its own."""

    def body():
        weight = (tensor(3) * 2).detach()
        return torch.nn.BCEWithLogitsLoss(pos_weight=weight)(tensor(4, 3), tensor(4, 3).detach())

    case = recorded(body)
    *_, (index, program, seen) = isolate(reference, case.program)
    assert case.program.calls[index].kind == "call"
    [made] = program.modules()
    [weight] = made.operands()
    assert ([x.id for x in program.inputs].count(weight), len(program.inputs), made.state) == (1, 3, {})
    assert next(iter(seen.outputs.values())).shape == ()


def test_custom_dual_alone(recorded, reference):
    """A custom dual op keeps both its functions."""
    [(_, program, _)] = isolate(reference, recorded(lambda: double(tensor(2))).program)
    assert program.calls[0].custom == ("autotest.conformance.bodies:scaled", "autotest.conformance.bodies:scaled")


def test_cotangents_where_a_backward_starts(recorded, reference):
    """An isolated Program has cotangents where the whole one has a backward and its output is differentiable."""
    for backward in (True, False):
        case = recorded(lambda: (tensor(2) * 2 > 0, tensor(2) * 2)[1], backward=backward)
        found = [len(program.cotangents) for _, program, _ in isolate(reference, case.program)]
        assert found == ([1, 0, 1] if backward else [0, 0, 0])


def test_operands_lie_in_memory_as_they_did(recorded, reference):
    """A transposed or sliced operand stays one, so that a fault of the layout shows alone; one without elements lies
    nowhere.
    """
    case = recorded(
        lambda: [tensor(2, 3).t() * 2, tensor(4)[1:] * 2, tensor(2, 3)[:0].t() * 2, tensor(2, 3)[:, 1:] * 2]
    )
    lying = [(x.strides, x.offset) for _, program, _ in isolate(reference, case.program) for x in program.inputs]
    inputs = [(None, 0), ((1, 3), 0), (None, 0), (None, 1), (None, 0), (None, 0), (None, 0), (None, 0), ((3, 1), 1)]
    assert lying == inputs


def test_what_writes_to_a_module_stands_not_alone(recorded, reference):
    """`m.zero_grad()` gives nothing, and what it writes to is no tensor that a call alone could show."""
    program = recorded(lambda: (m := torch.nn.Linear(3, 2), m.zero_grad(), m(tensor(4, 3)))[2]).program
    [index] = [index for index, call in enumerate(program.calls) if call.op == "zero_grad"]
    replay = Replay(reference, program, side="reference")
    replay.advance(index)
    assert _alone(replay, program.calls[index], {}, backward=False, lying={}) is None
