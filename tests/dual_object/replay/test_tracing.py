"""What every static graph shares: obstacles, the calls that belong inside, refusals."""

from __future__ import annotations

import pytest

from autotest.conformance.bodies import BODIES, tensor, torch
from dual_object import Replay
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Failure
from dual_object.replay.tracing import TraceRefused, leaf, obstacle, returned_tensors, traced_calls


@pytest.mark.parametrize("name", BODIES)
def test_ordinary_bodies_have_no_obstacle(name, recorded):
    """A static graph can stand for every ordinary body."""
    assert obstacle(recorded(BODIES[name]).program) is None


def _backward_method():
    x = tensor(2)
    (x * x).sum().backward()
    return x * 1


def _backward_function():
    x = tensor(2)
    torch.autograd.backward((x * x).sum())
    return x * 1


def _grad_function():
    x = tensor(2)
    return torch.autograd.grad((x * x).sum(), x)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_backward_method, "the body calls backward itself"),
        (_backward_function, "the body calls backward itself"),
        (_grad_function, "the body reads gradients"),
        (lambda: tensor(2).grad, "the body reads gradients"),
        (lambda: torch.broadcast_shapes((2, 1), (3,)), "no call computes a tensor"),
        (lambda: torch.nn.CrossEntropyLoss(weight=tensor(2)), "a module is constructed from a tensor"),
        (lambda: torch.nn.CrossEntropyLoss(weight=torch.ones(2)), "a module is constructed from a tensor"),
    ],
)
def test_obstacles(body, reason, recorded):
    """What no static graph can stand for is skipped with its reason."""
    assert obstacle(recorded(body, backward=False).program) == reason


def test_inline_is_an_obstacle(recorded):
    """A Program that only an inline run can replay is skipped with that reason."""
    program = recorded(BODIES["relu"]).program
    program.inline = "mine"
    assert obstacle(program) == "mine"


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("host", ["sum", "gt", "reshape", "mul", "mul"]),
        ("raises", ["add"]),
        ("linear", ["Linear"]),
        ("no_grad", ["no_grad", "enter", "mul", "exit", "mul"]),
        ("setitem", ["mul", "setitem", "getitem", "setitem"]),
        ("inplace", ["mul", "iadd", "imul", "sub_"]),
    ],
)
def test_traced_calls(name, ops, recorded):
    """Host reads, constructions and refused calls stay outside; regions and item assignments belong inside."""
    program = recorded(BODIES[name]).program
    assert [program.calls[index].op for index in traced_calls(program)] == ops


def test_returned_tensors(recorded, reference):
    """Tensors that the body returned are listed once each, other values are not."""
    case = recorded(lambda: (lambda y: {"a": [y, 3], "b": (y, tensor(2), torch.nn.ReLU())})(tensor(2) * 2))
    replay = Replay(reference, case.program)
    replay.run()
    assert returned_tensors(replay) == [1, 2]


def test_leaf(recorded, reference):
    """A gradient's key names an input or a module's parameter."""
    case = recorded(BODIES["linear"])
    replay = Replay(reference, case.program)
    replay.run()
    module = replay.values.modules[0]
    assert leaf(replay, "0.weight") is module.weight
    assert leaf(replay, "1") is replay.values.by_id[1]


def test_refusal_of_a_trace():
    """A call that failed while a graph was traced is told with its classes and words."""
    refused = TraceRefused(Failure(3, "exception", ("A", "B"), "words"))
    assert str(refused) == "words"
    assert refused.as_refusal() == GraphRefusal(False, 3, ("A", "B"), "words")
