"""Recording: what may be an argument and a result, whose exceptions propagate, and which objects are refused."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict

import numpy as np
import pytest
import torch as real

from autotest.conformance.bodies import assert_same, state, tensor, torch
from dual_object import Program, Recording, Replay, current_recording
from dual_object.adapters.torch.adapter import Adapter
from dual_object.errors import ArgumentError, RawTargetNeeded
from dual_object.program.values import Device, Name, Named, Ref
from generators import Nothing, random

HOW = "return what dual calls gave you, or pass auto_backward=False and return None"


def last(recorded, body):
    """Return the last call of a body."""
    return recorded(body).program.calls[-1]


def test_containers_of_arguments(recorded):
    """Tuples, lists, dicts and keywords of dual objects are recorded with their structure."""
    assert last(recorded, lambda: torch.cat([tensor(2), tensor(2)], dim=0)).args == ([Ref(0), Ref(1)],)
    assert last(recorded, lambda: torch.stack((tensor(2), tensor(2)))).args == ((Ref(0), Ref(1)),)
    call = last(recorded, lambda: torch.nn.ModuleDict({"a": torch.nn.ReLU()}))
    assert call.args == ({"a": Ref(0)},)
    call = last(recorded, lambda: torch.nn.Sequential(OrderedDict([("b", torch.nn.ReLU()), ("a", torch.nn.Tanh())])))
    assert call.args == (OrderedDict([("b", Ref(0)), ("a", Ref(1))]),)
    assert type(call.args[0]) is OrderedDict


def test_neutral_arguments(recorded):
    """dtypes, devices, sizes, dual functions, NumPy numbers and arrays are recorded in their neutral forms."""
    call = last(recorded, lambda: torch.ones(real.Size([2]), dtype=torch.float64, device=real.device("cpu")))
    assert (call.args, call.kwargs) == (((2,),), {"dtype": Name("float64"), "device": Device("cpu")})
    call = last(recorded, lambda: torch.nn.TransformerEncoderLayer(4, 2, 4, 0.0, activation=torch.nn.functional.relu))
    assert call.kwargs == {"activation": Name("nn.functional.relu")}
    assert last(recorded, lambda: tensor(2) * np.float64(2)).args == (Ref(0), 2.0)
    array = np.ones((2, 2)).T
    call = last(recorded, lambda: torch.from_numpy(array))
    assert call.args[0].tolist() == array.tolist()
    assert call.args[0] is not array
    assert last(recorded, lambda: torch.tensor(np.array(2.5))).args[0].shape == ()


def test_results(recorded):
    """Tuples, lists, dicts and named tuples of results come back as what they are, with dual objects inside."""

    def body():
        found = torch.max(tensor(2, 3), dim=1)
        assert type(found) is real.return_types.max
        assert found.values is found[0]
        parts = torch.split(tensor(4), 2)
        assert type(parts) is tuple
        state = torch.nn.Linear(1, 1).state_dict()
        assert type(state) is OrderedDict
        return found, list(parts), state

    case = recorded(body)
    assert case.program.calls[0].out == Named(("values", "indices"), (Ref(1), Ref(2)))
    assert case.program.outputs == (
        (Ref(1), Ref(2)),
        [Ref(4), Ref(5)],
        OrderedDict(weight=Ref(7), bias=Ref(8)),
    )


def test_exception_propagates_unchanged(recorded, reference):
    """PyTorch's own exception reaches the body, which may go on; the Program keeps its classes."""
    caught = []

    def body():
        x = tensor(2, 3)
        try:
            torch.matmul(x, x)
        except RuntimeError as error:
            caught.append(error)
        return x * 2

    case = recorded(body)
    assert type(caught[0]) is RuntimeError
    assert str(caught[0]) == "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    assert case.recording.refused is caught[0]
    assert case.program.calls[0].raises == ("RuntimeError",)
    assert case.program.calls[0].out is None
    assert_same(case.seen, Replay(reference, case.program).run())


def test_raw_tensor_is_refused(recorded):
    """A raw tensor or module among the arguments is refused with what to do."""
    tensors = (
        'draw it with random_tensor, make it one with dual_tensor, or wrap it in GetDualObject("x", pytorch, oneflow)'
    )
    for raw, name, way in [
        (real.ones(2), "torch.Tensor", tensors),
        (real.nn.ReLU(), "ReLU", "make it by autotest's `torch`, as torch.nn.ReLU(...)"),
    ]:
        for body in (lambda raw=raw: torch.add(tensor(2), raw), lambda raw=raw: torch.add(tensor(2), other=[raw])):
            with pytest.raises(ArgumentError) as caught:
                recorded(body)
            assert str(caught.value) == f"add was given a raw {name}, but should be given a dual object: {way}"


@pytest.mark.parametrize("body", [
    lambda: tensor(2) + np.ones(2), lambda: np.ones(2) + tensor(2), lambda: operator.iadd(tensor(2), np.ones(())),
])  # fmt: skip
def test_raw_array_is_no_operand(recorded, body):
    """NumPy would compute what no tracer sees, and no gradient."""
    with pytest.raises(ArgumentError) as caught:
        recorded(body)
    name = "iadd" if body.__code__.co_names[0] == "operator" else "add"
    assert str(caught.value) == (
        f"{name} was given a raw numpy.ndarray, but should be given a dual object: "
        "make it one with dual_tensor(pytorch.from_numpy(...)), where pytorch is your own `import torch as pytorch`"
    )


def test_raw_array_is_an_index(recorded):
    """And an argument where PyTorch takes one."""
    assert recorded(lambda: tensor(3)[np.array([0, 2])]).seen.outputs
    assert recorded(lambda: torch.tensor(np.ones(2))).seen.outputs


def test_raw_object_of_a_known_value(recorded):
    """A raw object that belongs to a dual one of the case stands for it."""

    def body():
        x = tensor(2)
        return torch.add(x, x.pytorch)

    assert last(recorded, body).args == (Ref(0), Ref(0))


def test_object_of_another_case_is_refused(recorded):
    """A dual object that outlived its case is refused as an argument and as a result."""
    kept = []
    recorded(lambda: kept.append(tensor(2)))
    with pytest.raises(ArgumentError) as caught:
        recorded(lambda: torch.add(tensor(2), kept[0]))
    assert str(caught.value) == ("add was given a dual object of another case; draw it inside the body, once per case")
    with pytest.raises(ArgumentError) as caught:
        recorded(lambda: kept[0])
    assert str(caught.value) == (
        "return was given a dual object of another case; draw it inside the body, once per case"
    )


def test_unknown_object_needs_an_inline_run(recorded):
    """An object that cannot be stored asks for an inline run, in which it is passed on."""

    def body():
        return torch.tensor(range(3))

    with pytest.raises(RawTargetNeeded) as caught:
        recorded(body)
    assert str(caught.value) == "tensor was given a range, which only an inline run can pass on"
    case = recorded(body, stepper=Replay(Adapter(), Program()))
    assert case.program.inline == "tensor was given a range, which cannot be stored"
    assert case.text().split("\n")[1] == "    t0 = torch.tensor(<range>)"


@pytest.mark.parametrize(
    ("value", "name"),
    [(object(), "builtins.object"), (real.ones(1), "torch.Tensor"), ({1}, "builtins.set")],
    ids=["object", "tensor", "set"],
)
def test_what_a_body_may_not_return(value, name, recorded):
    """A body which returns something else is told what to return."""
    with pytest.raises(ArgumentError) as caught:
        recorded(lambda: (tensor(2), [value]))
    assert str(caught.value) == f"the body returned a {name}, but should return dual objects: {HOW}"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (random(1, 3), "random(1, 3), but should return dual objects: its .value() is what a generator has drawn"),
        (torch.relu, "<dual torch.relu>, but should return dual objects: call it"),
    ],
    ids=["generator", "function"],
)
def test_what_a_body_has_not_drawn_or_called(value, told, recorded):
    """A generator, or an op, is told by what it is and how its result is had."""
    with pytest.raises(ArgumentError) as caught:
        recorded(lambda: value)
    assert str(caught.value) == f"the body returned {told}"


def test_state_is_the_cases_own(recorded):
    """A new module starts with the case's own state, buffers included, which is in the Program and on the module."""
    case = recorded(lambda: torch.nn.BatchNorm1d(3))
    state = case.program.calls[0].state
    assert list(state) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    module = case.returned.reference
    for name, array in state.items():
        assert getattr(module, name).tolist() == array.tolist()
    assert module.weight.tolist() != [1, 1, 1]


def test_input_is_its_own_copy(recorded):
    """The body's in-place calls do not reach the drawn values of the Program."""
    data = np.zeros(3, np.float32)

    def body():
        x = tensor(data=data, dtype="float32", grad=False)
        x.add_(1)
        return x

    case = recorded(body)
    assert case.program.inputs[0].data.tolist() == [0, 0, 0]
    assert case.seen.inputs[0].tolist() == [1, 1, 1]


def test_strides_of_an_input(recorded):
    """An input lies in memory as its strides say, overlapping ones included."""

    def body():
        x = tensor(2, 3, strides=(1, 2))
        y = tensor(data=[[1, 1], [1, 1]], dtype="int64", strides=(0, 1))
        assert x.stride() == (1, 2)
        assert y.stride() == (0, 1)
        return x

    recorded(body)


def test_leaves_of_the_body(recorded):
    """Leaves that the body made are observed by number, parameters by their module's name only."""

    def body():
        w = torch.ones(2, requires_grad=True)
        m = torch.nn.Linear(2, 2)
        return m(tensor(1, 2)) * w + m.bias

    case = recorded(body)
    assert case.program.leaves == [0]
    assert list(case.seen.gradients) == ["2", "0", "1.weight", "1.bias"]
    assert all(gradient is not None for gradient in case.seen.gradients.values())


def test_inline_steps_as_it_records(recorded):
    """With a stepper each call runs on the target at once."""
    stepper = Replay(Adapter(), Program())

    def body():
        x = tensor(2)
        y = x * 2
        assert real.equal(stepper.values.by_id[1], y.reference)
        return y

    assert recorded(body, stepper=stepper).program is stepper.program


def test_no_recording_after_a_case(recorded):
    """After a case, one that failed too, no recording is current."""
    with pytest.raises(ZeroDivisionError):
        recorded(lambda: 1 / 0)
    assert current_recording.get(None) is None


def test_warning_is_no_refusal(reference):
    """A warning that the user's filters make an error is no refusal of the reference."""

    def warns():
        warnings.warn("deprecated", UserWarning, stacklevel=1)

    record = Recording(reference, draw_state=state, omitted=Nothing)
    with pytest.raises(UserWarning):
        record.call("function", "relu", warns, (), {})
    assert record.refused is None
    assert record.program.calls == []


def test_buffer_that_the_body_made(recorded):
    """A buffer passed to a module keeps its values, and is the input's, not the module's."""

    def body():
        weight = tensor(3, grad=False)
        loss = torch.nn.BCEWithLogitsLoss(pos_weight=weight)
        return loss(tensor(2, 3), tensor(2, 3))

    found = recorded(body)
    [made] = found.program.modules()
    assert made.state == {}
    assert found.seen.buffers == {}
