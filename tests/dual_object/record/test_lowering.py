"""Lowering: which Programs have one, what it is made of, and what is seen of it told of the original."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest.conformance.bodies import BODIES, Body, Recorded, assert_same, integers, record, tensor, torch
from dual_object import Program, Replay
from dual_object.errors import NotLowered
from dual_object.program.calls import Call
from dual_object.record.lowered import Lowering
from dual_object.record.lowering import lower
from dual_object.replay.adapter import Reference, load_reference
from dual_object.replay.observation import ALL_PARTS, Failure, Observation

nn = torch.nn


@pytest.fixture(scope="module")
def reference() -> Reference:
    """PyTorch."""
    return load_reference()


@pytest.fixture
def lowered(reference: Reference) -> Callable[[Body], tuple[Recorded, Lowering]]:
    """Records a body and lowers its Program."""

    def lowered(body: Body) -> tuple[Recorded, Lowering]:
        recorded = record(body, reference)
        return recorded, lower(recorded.program, reference)

    return lowered


Lowered = Callable[[Body], "tuple[Recorded, Lowering]"]


def run(lowering: Lowering, reference: Reference) -> Observation:
    """What the reference shows of a lowered Program, told of the original."""
    return lowering.restored(Replay(reference, lowering.program).run())


@pytest.mark.parametrize("name", BODIES)
def test_every_kind_of_call(name: str, lowered: Lowered, reference: Reference) -> None:
    """A Program shows the same when its modules are lowered; without modules it is its own lowering."""
    recorded, lowering = lowered(BODIES[name])
    seen = run(lowering, reference)
    assert_same(recorded.seen, seen)
    assert seen.shared == recorded.seen.shared
    assert seen.unplaced == recorded.seen.unplaced
    assert seen.structures == recorded.seen.structures
    if any(recorded.program.modules()):
        assert not any(lowering.program.modules())
        assert seen.shows == ALL_PARTS - {"states"}
        assert (seen.states, seen.saved) == ({}, {})
    else:
        assert lowering.program is recorded.program
        assert seen.shows == ALL_PARTS


def test_text(lowered: Lowered) -> None:
    """Functions stand where modules were called, with the keywords that a person would write; what a graph is to show
    of a buffer is returned.
    """
    _, lowering = lowered(BODIES["batch_norm"])
    inputs = [
        f"batchnorm1d_{name}" for name in ("num_batches_tracked", "running_mean", "running_var", "weight", "bias")
    ]
    assert str(lowering.program).splitlines() == [
        f"def program(torch, x, {', '.join(inputs)}):",
        "    batchnorm1d_num_batches_tracked.add_(1)",
        "    t0 = torch.nn.functional.batch_norm(x, batchnorm1d_running_mean, batchnorm1d_running_var, "
        "weight=batchnorm1d_weight, bias=batchnorm1d_bias, training=True)",
        "    return (t0, [batchnorm1d_running_mean, batchnorm1d_running_var, batchnorm1d_num_batches_tracked])",
    ]
    assert [x.requires_grad for x in lowering.program.inputs] == [True, False, False, False, True, True]
    assert [x.dtype for x in lowering.program.inputs[1:3]] == ["int64", "float32"]


def _twice() -> Any:
    m = nn.BatchNorm1d(3)
    return m(m(tensor(5, 3))) + m.weight


def _shared() -> Any:
    m = nn.Linear(3, 3)
    both = nn.Sequential(m, m)
    return both(tensor(2, 3)) + m(tensor(2, 3))


def _modes() -> Any:
    m = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5)).eval()
    y = m(tensor(5, 3))
    m[0].train()
    return y, m(tensor(5, 3))


def _written() -> Any:
    m = nn.Linear(3, 4)
    torch.nn.init.constant_(m.bias, 2.0)
    return m(tensor(2, 3))


def _double() -> Any:
    return nn.Linear(3, 4).to(torch.float64)(tensor(2, 3, dtype="float64"))


def _frozen() -> Any:
    m = nn.Linear(3, 4)
    m.requires_grad_(False)
    m.bias.requires_grad_(True)
    return m(tensor(2, 3))


def _exchanged() -> Any:
    m = nn.Linear(3, 4)
    y = m(tensor(2, 3))
    m.bias = nn.Parameter(tensor(4, grad=False) * 2)
    return y + m(tensor(2, 3))


def _given() -> Any:
    return nn.CrossEntropyLoss(weight=tensor(3, low=1, high=2, grad=False))(tensor(2, 3), integers(0, 2))


def _returned() -> Any:
    m = nn.Linear(3, 4)
    return m.weight, m(tensor(2, 3)), [*m.parameters()]


def _untouched() -> Any:
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(5))
    return m[0](tensor(2, 3))


def _saved() -> Any:
    m = nn.Linear(3, 4)
    y = m(tensor(2, 3))
    return y + m.state_dict()["bias"]


def _refused() -> Any:
    x = tensor(2, 3)
    try:
        nn.Linear(4, 5)(x)
    except RuntimeError:
        return x * 2
    return x


@pytest.mark.parametrize(
    "body",
    [
        *(_twice, _shared, _modes, _written, _double, _frozen, _exchanged, _given, _returned, _untouched, _saved),
        _refused,
    ],
)
def test_modules_in_use(body: Body, lowered: Lowered, reference: Reference) -> None:
    """Called twice, shared, switched, written to, moved, frozen, exchanged, returned: it shows the same."""
    recorded, lowering = lowered(body)
    assert not any(lowering.program.modules())
    seen = run(lowering, reference)
    assert_same(recorded.seen, seen)
    assert seen.parameters.keys() == recorded.seen.parameters.keys()
    for key, parameter in seen.parameters.items():
        assert parameter.data.tobytes() == recorded.seen.parameters[key].data.tobytes()


@pytest.mark.parametrize("brief", [False, True])
def test_brief(brief: bool, reference: Reference) -> None:
    """What a brief run leaves out of its modules, a lowered one does, too."""
    program = record(BODIES["sequential"], reference).program
    program.brief = brief
    expected = Replay(reference, program, side="reference").run()
    seen = run(lower(program, reference), reference)
    assert seen.parameters.keys() == expected.parameters.keys()
    assert bool(seen.parameters) is not brief


def test_strided(lowered: Lowered, reference: Reference) -> None:
    """A parameter lies in memory as the module's does."""
    recorded, lowering = lowered(lambda: nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last)(tensor(1, 2, 4, 4)))
    weight = next(x for x in lowering.program.inputs if x.name == "conv2d_weight")
    assert weight.strides == (8, 1, 4, 2)
    assert_same(recorded.seen, run(lowering, reference))


def test_second_derivatives(reference: Reference) -> None:
    """They are asked of the inputs that parameters have become, and told of the parameters; what a parameter has under
    two keys is differentiated from both.
    """
    program = record(lambda: _shared() ** 3, reference).program
    first = Replay(reference, program, side="reference").run()
    program.second_cotangents = {
        key: np.cos(np.arange(gradient.data.size, dtype="float32")).reshape(gradient.shape)
        for key, gradient in first.gradients.items()
        if gradient is not None
    }
    assert len(program.second_cotangents) == 6  # two inputs, and two tensors under two keys
    expected = Replay(reference, program, side="reference").run()
    seen = run(lower(program, reference), reference)
    assert [*seen.second] == [*expected.second]
    for key, wanted in expected.second.items():
        found = seen.second[key]
        assert wanted is not None
        assert found is not None
        np.testing.assert_allclose(found.data, wanted.data, rtol=1e-5, err_msg=key)


REASONS: dict[str, tuple[Body, str]] = {
    "reads values": (
        lambda: nn.BatchNorm1d(3, momentum=None)(tensor(5, 3)),
        "BatchNorm1d reads values to Python by Tensor.__float__",
    ),
    "writes to what it is given": (
        lambda: nn.CrossMapLRN2d(2)(tensor(1, 3, 4, 4)),
        "CrossMapLRN2d calls pow with out=",
    ),
    "refuses by itself": (
        lambda: _caught(lambda: nn.BatchNorm1d(3)(tensor(2, 3, 4, 5))),
        "BatchNorm1d itself refuses what it is given: no function that it calls does",
    ),
    "is not made": (
        lambda: _caught(lambda: nn.Conv1d(3, 4, 1, groups=2)),
        "PyTorch refuses to make a Conv1d: no function does",
    ),
    "starts anew": (
        lambda: _started_anew(),
        "Sequential is made of a module that was used before, and starts it anew",
    ),
    "moved after use": (
        lambda: _moved(),
        "double switches a mode by _set_grad_enabled",
    ),
    "reads gradients": (
        lambda: _gradients(),
        "zero_grad reads grad of a tensor",
    ),
    "takes no gradients": (
        lambda: _loaded(),
        "load_state_dict switches a mode by _set_grad_enabled",
    ),
}


def _caught(body: Body) -> Any:
    x = tensor(2)
    try:
        body()
    except (RuntimeError, ValueError):
        return x * 2
    return x


def _started_anew() -> Any:
    m = nn.Linear(3, 3)
    y = m(tensor(2, 3))
    return nn.Sequential(m)(y)


def _moved() -> Any:
    m = nn.Linear(3, 4)
    y = m(tensor(2, 3))
    return m.double()(tensor(2, 3, dtype="float64")), y


def _gradients() -> Any:
    m = nn.Linear(3, 4)
    y = m(tensor(2, 3))
    y.sum().backward(retain_graph=True)
    m.zero_grad()
    return y


def _loaded() -> Any:
    m, other = nn.Linear(3, 4), nn.Linear(3, 4)
    y = m(tensor(2, 3))
    m.load_state_dict(other.state_dict())
    return m(tensor(2, 3)), y


@pytest.mark.parametrize("name", REASONS)
def test_reason(name: str, reference: Reference) -> None:
    """What functions cannot stand for is refused, in one line."""
    body, reason = REASONS[name]
    program = record(body, reference).program
    with pytest.raises(NotLowered) as told:
        lower(program, reference)
    assert str(told.value) == reason


def test_reasons_of_programs(reference: Reference) -> None:
    """Of those that only this process can run, or that hand a module to a function of the test's own."""
    program = record(BODIES["linear"], reference).program
    program.inline = "the body uses a raw target object"
    with pytest.raises(NotLowered, match=r"\Athe body uses a raw target object\Z"):
        lower(program, reference)
    program.inline = None
    program.calls.append(Call("custom", "mine", (program.calls[0].out,), {}, custom=("operator:neg", "operator:neg")))
    with pytest.raises(
        NotLowered, match=r"\Amine is a function of the test's own that is given a module, or gives one\Z"
    ):
        lower(program, reference)


def test_reference_ends(reference: Reference) -> None:
    """A Program that PyTorch itself cannot run is told so."""
    program = record(BODIES["linear"], reference).program
    program.calls[1].kwargs["unknown"] = 1
    with pytest.raises(NotLowered) as told:
        lower(program, reference)
    assert str(told.value).startswith("PyTorch itself cannot run it here: TypeError: ")


def test_told_of_the_original(lowered: Lowered) -> None:
    """A call within a module is the module's call, and its op is named; numbers are the original's."""
    recorded, lowering = lowered(lambda: (lambda x: nn.Linear(3, 4)(x * 2) + 1)(tensor(2, 3)))
    ops = [call.op for call in lowering.program.calls]
    assert ops == ["mul", "nn.functional.linear", "add"]
    at = {place.within or recorded.program.calls[place.call].op: place.call for place in lowering.places}
    linear = at["nn.functional.linear"]
    assert recorded.program.calls[linear].kind == "call"
    failed = Observation(
        failures=[Failure(1, "missing", ("MissingOp",), "no linear here"), Failure(2, "exception", ("E",), "no sum")],
        ended=True,
    )
    told = lowering.restored(failed)
    assert [(one.call, one.message) for one in told.failures] == [
        (linear, "in nn.functional.linear: no linear here"),
        (at["add"], "no sum"),
    ]
    weight = lowering.program.inputs[1].id
    odd = Observation(
        structures={
            0: "returned {0} itself, but should return another tensor",
            1: f"returned a list of 1, but should return what {{{weight}}} is",
        },
        hosts={2: 3.5},
        shared=[(0, weight)],
        unplaced=(weight,),
        inputs={weight: np.zeros((4, 3), np.float32)},
        shows=ALL_PARTS,
    )
    told = lowering.restored(odd)
    assert told.structures == {
        at["mul"]: "returned {0} itself, but should return another tensor",
        linear: "in nn.functional.linear: returned a list of 1, but should return what another value is",
    }
    assert told.hosts == {at["add"]: 3.5}
    assert (told.shared, told.unplaced, told.inputs) == ([], (), {})
    made = next(call.out.id for call in recorded.program.modules())
    assert [*told.parameters] == [f"{made}.weight"]
    assert not told.parameters[f"{made}.weight"].data.any()


def test_identity_within_a_module_is_nobodys(lowered: Lowered) -> None:
    """Whether dropout gives back the very tensor that it is given is not seen from outside of a module."""
    recorded, lowering = lowered(lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.0))(tensor(2, 3)))
    [index] = [i for i, call in enumerate(lowering.program.calls) if call.op == "nn.functional.dropout"]
    words = "returned another tensor than {9}, but should return {9} itself"
    assert lowering.restored(Observation(structures={index: words}, hosts={index: 1})).structures == {
        lowering.places[index].call: "gives Python other values in nn.functional.dropout"
    }
    assert lowering.restored(Observation(structures={index: words})).structures == {}
    assert recorded.program.calls[lowering.places[index].call].op == "Sequential"


def test_graphs(lowered: Lowered, reference: Reference) -> None:
    """A static graph is asked for the leaves that parameters have become; a second call goes on with the buffers."""
    recorded, lowering = lowered(BODIES["batch_norm"])
    made = next(call.out.id for call in recorded.program.modules())
    [x] = recorded.program.inputs
    asked = [str(x.id), f"{made}.weight"]
    keys = lowering.gradient_keys(asked)
    assert keys == [str(x.id), str(lowering.parameters[f"{made}.weight"].number)]
    arrays = lowering.arrays([x.data * 2])
    assert [array.shape for array in arrays] == [y.data.shape for y in lowering.program.inputs]
    assert arrays[1] == 1  # one batch has been tracked
    seen = Replay(reference, lowering.program).run()
    seen.again = Replay(reference, lowering.program).run()
    told = lowering.restored(seen, asked)
    assert told.again is not None
    assert [*told.gradients] == [*told.again.gradients] == asked
    assert_buffers(recorded.seen, told)
    assert_buffers(recorded.seen, told.again)


def assert_buffers(expected: Observation, seen: Observation) -> None:
    """Both have the same."""
    assert [*seen.buffers] == [*expected.buffers]
    for key, buffer in expected.buffers.items():
        assert seen.buffers[key].data.tobytes() == buffer.data.tobytes()


def test_what_no_call_takes(lowered: Lowered) -> None:
    """What no call takes is no input: nothing can befall it, and it is shown as it is."""
    recorded, lowering = lowered(_untouched)
    assert [x.name for x in lowering.program.inputs[1:]] == ["linear_weight", "linear_bias"]
    left = [key for key, held in lowering.parameters.items() if held.number is None]
    assert [key.partition(".")[2] for key in left] == ["weight", "bias", "1.weight", "1.bias"]
    assert lowering.gradient_keys(left) == []
    assert_buffers(recorded.seen, lowering.restored(Observation(shows=ALL_PARTS)))


def test_names_are_their_own(lowered: Lowered) -> None:
    """Parameters of two layers of one kind are told apart."""
    _, lowering = lowered(lambda: nn.Linear(3, 3)(nn.Linear(3, 3)(tensor(2, 3))))
    assert [x.name for x in lowering.program.inputs[1:]] == [
        *("linear_weight", "linear_bias", "linear_weight_2", "linear_bias_2")
    ]


def test_stored(lowered: Lowered, reference: Reference) -> None:
    """A lowered Program can be sent, as any other."""
    recorded, lowering = lowered(BODIES["lstm"])
    arrays: list[Any] = []
    data = lowering.program.to_json(arrays)
    seen = Replay(reference, Program.from_json(data, arrays)).run()
    assert_same(recorded.seen, lowering.restored(seen))
