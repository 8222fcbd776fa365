"""What every static graph shares: obstacles, the calls that belong inside, refusals."""

from __future__ import annotations

import copy

import pytest

from autotest.conformance.bodies import BODIES, tensor, torch
from dual_object import Replay
from dual_object.replay import tracing
from dual_object.replay.adapter import GraphRefusal, GraphRequest
from dual_object.replay.modes import Modes
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.tracing import (
    Graph,
    NotTraced,
    Trace,
    TraceRefused,
    leaf,
    obstacle,
    returned_tensors,
    traced_calls,
)


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


def _loaded():
    first, second = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    second.load_state_dict(first.state_dict())
    return second(tensor(2, 3))


def _copied():
    first, second = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    with torch.no_grad():
        second.weight.copy_(first.weight)
    return second(tensor(2, 3))


def _initialised():
    net = torch.nn.Sequential(torch.nn.Linear(3, 2))
    torch.nn.init.zeros_(net[0].bias)
    return net(tensor(2, 3))


def _averaged():
    linear = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for parameter in linear.parameters():
            parameter.mul_(0.9)
    return linear(tensor(2, 3))


def _averaged_copy():
    net = copy.deepcopy(torch.nn.Sequential(torch.nn.Linear(3, 2)))
    with torch.no_grad():
        for _, layer in net.named_children():
            layer.bias.zero_()
    return net(tensor(2, 3))


def _frozen():
    linear = torch.nn.Linear(3, 2)
    linear.weight.requires_grad_(False)
    return linear(tensor(2, 3))


def _own_generator():
    return torch.rand(3, generator=torch.Generator()) * tensor(3)


def _default_dtype():
    torch.set_default_dtype(torch.float64)
    return torch.ones(3) * tensor(3)


def _other_data():
    x = tensor(3)
    x.data = tensor(3)
    return x * 2


def _other_gradient():
    x = tensor(3)
    x.grad = tensor(3)
    return x * 2


def _other_weight():
    linear = torch.nn.Linear(3, 2)
    linear.weight.data = tensor(2, 3)
    return linear(tensor(2, 3))


def _normed():
    linear = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2), dim=1)
    return linear(tensor(2, 3))


def _normed_late():
    linear = torch.nn.Linear(3, 2)
    y = linear(tensor(2, 3))
    torch.nn.utils.parametrizations.weight_norm(linear)
    return y + linear(tensor(2, 3))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_normed, None),
        (_normed_late, "a module is changed after it was used"),
        (_other_data, "the body assigns the data of a tensor"),
        (_other_gradient, "the body assigns the grad of a tensor"),
        (_other_weight, None),
        (_loaded, "the body writes to a module's parameters"),
        (_copied, "the body writes to a module's parameters"),
        (_initialised, "the body writes to a module's parameters"),
        (_averaged, "the body writes to a module's parameters"),
        (_averaged_copy, "the body writes to a module's parameters"),
        (_frozen, None),
        (_own_generator, "the body has a random generator of its own"),
        (_default_dtype, "the body sets what new tensors are like"),
        (_backward_method, "the body calls backward itself"),
        (_backward_function, "the body calls backward itself"),
        (_grad_function, "the body reads gradients"),
        (lambda: tensor(2).grad, "the body reads gradients"),
        (lambda: torch.broadcast_shapes((2, 1), (3,)), "no call computes a tensor"),
        (lambda: torch.nn.CrossEntropyLoss(weight=tensor(2)), "a module is constructed from a tensor"),
        (lambda: torch.nn.CrossEntropyLoss(weight=torch.ones(2)), "a module is constructed from a tensor"),
    ],
)
def test_obstacles(body, reason, recorded, reference):
    """What no static graph can stand for is skipped with its reason."""
    with Modes(reference).applied():
        program = recorded(body, backward=False).program
    assert obstacle(program) == reason


def test_inline_is_an_obstacle(recorded):
    """A Program that only an inline run can replay is skipped with that reason."""
    program = recorded(BODIES["relu"]).program
    program.inline = "mine"
    assert obstacle(program) == "mine"


def test_a_region_is_left(recorded):
    """Also one whose end returns something, as that of `torch.autocast` does: a graph that never left it would leave
    the process in it.
    """

    def body():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return tensor(2, 2) @ tensor(2, 2)

    program = recorded(body).program
    assert [program.calls[index].op for index in traced_calls(program)] == ["autocast", "enter", "matmul", "exit"]


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


def _eager(trace: Trace) -> Graph:
    """No graph at all: the body, called on the inputs, and a gradient for each leaf that is wanted."""

    def graph(tensors):
        return trace.body(tensors), dict.fromkeys(trace.keys, tensors[0])

    return graph


def test_run(recorded, reference):
    """Each Program shows what its graph gives, of its first inputs and of others; buffers are read beside."""
    relu, norm = recorded(BODIES["relu"]).program, recorded(BODIES["batch_norm"]).program
    other = [x.data + 1 for x in relu.inputs]
    request = GraphRequest([relu, norm], [["0"], ["1"]], [other, None])
    first, second = tracing.run(reference, request, _eager)
    assert isinstance(first, Observation)
    assert isinstance(second, Observation)
    [data] = [x.data for x in relu.inputs]
    [seen], [again] = first.outputs.values(), first.again.outputs.values()
    assert (seen.data == data.clip(0)).all()
    assert (again.data == (data + 1).clip(0)).all()
    assert (first.gradients["0"].data == data).all()
    assert first.buffers == {}
    assert second.again is None
    assert sorted(second.buffers) == ["0.num_batches_tracked", "0.running_mean", "0.running_var"]


def test_run_keeps_what_a_second_call_writes_over(recorded, reference):
    """A graph may give the same memory at each call."""

    def into_one(trace):
        memory = []

        def graph(tensors):
            results = trace.body(tensors)
            memory[:] = [kept.copy_(one) for kept, one in zip(memory, results, strict=True)] if memory else results
            return memory, {}

        return graph

    program = recorded(BODIES["relu"], backward=False).program
    request = GraphRequest([program], None, [[x.data + 1 for x in program.inputs]])
    [seen] = tracing.run(reference, request, into_one)
    [shown] = seen.outputs.values()
    assert (shown.data == program.inputs[0].data.clip(0)).all()


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (NotTraced("by design"), GraphRefusal(True, None, (), "by design")),
        (TraceRefused(Failure(0, "missing", ("MissingOp",), "none")), GraphRefusal(False, 0, ("MissingOp",), "none")),
        (ValueError("broken"), GraphRefusal(False, None, ("ValueError",), "broken")),
    ],
)
def test_run_that_is_refused(error, refusal, recorded, reference):
    """A limit of the maker is counted; what else it raises, when it compiles or when it runs, is a refusal. The others
    of the request are not touched.
    """
    program = recorded(BODIES["relu"]).program

    def raising(*_):
        raise error

    turns = iter([raising, lambda trace: raising, _eager])
    found = tracing.run(reference, GraphRequest([program] * 3, None), lambda trace: next(turns)(trace))
    assert found[:2] == [refusal, refusal]
    assert isinstance(found[2], Observation)


def test_run_without_trying(recorded, reference):
    """What no graph can stand for is not tried: of one that a backward runs through, leaves that the body makes."""

    def never(trace):
        raise AssertionError("it was tried")

    program = recorded(BODIES["leaf"]).program
    reason = "the body makes leaves, which are none outside of a graph"
    [found] = tracing.run(reference, GraphRequest([program], None), never, inside=False)
    assert found == GraphRefusal(True, None, (), reason)
    assert obstacle(program) is None


def test_a_trace_ends_at_the_first_failure(recorded, reference):
    """Where a call fails, of those before the graph and of those in it, the trace is refused at that call."""
    program = recorded(BODIES["linear"]).program
    program.calls[0].op = "nn.NoSuchLayer"
    with pytest.raises(TraceRefused) as refused:
        Trace(reference, program, [])
    assert refused.value.failure.call == 0
    program = recorded(lambda: torch.relu(tensor(2)) * 2).program
    program.calls[0].op = "no_such_op"
    trace, told = Trace(reference, program, []), []
    with pytest.raises(TraceRefused) as refused:
        trace.body(trace.placed(), told.append)
    assert (refused.value.failure.call, told) == (0, [])


def test_a_body_runs_anew(recorded, reference):
    """What it has left in an earlier run is none of its operands: each result is another tensor there."""
    trace = Trace(reference, recorded(BODIES["linear"]).program, [])
    tensors = trace.placed()
    for _ in range(2):
        trace.body(tensors)
        assert trace.replay.seen.structures == {}


def test_what_changes_a_module_comes_before_the_graph(recorded):
    """A function that is given a module alone and gives it back is no op: what a graph is made of begins behind it."""
    program = recorded(_normed).program
    assert [program.calls[index].op for index in traced_calls(program)] == ["ParametrizedLinear"]
