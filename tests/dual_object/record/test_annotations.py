"""A generator among the arguments draws what its parameter takes, or the error says that nobody knows."""

from __future__ import annotations

import pytest
import torch as real

from autotest.conformance.bodies import double, integers, tensor, torch
from dual_object.errors import SignatureError
from dual_object.record.annotations import parameter_name, parameter_type
from generators import constant, nothing, oneof, random, random_or_nothing
from generators import tuple as generated_tuple

nn, F = torch.nn, torch.nn.functional
N = (1, 3)


def drawn(recorded, body):
    """Return the arguments of the last call of a body, without its receiver and tensors, as Python sees them."""
    call = recorded(body, backward=False).program.calls[-1]
    plain = (bool, int, float)
    found = [arg for arg in (*call.args, *call.kwargs.values()) if type(arg) in plain]
    for arg in (*call.args, *call.kwargs.values()):
        if type(arg) in (tuple, list):
            found += [item for item in arg if type(item) in plain]
        elif type(arg) is slice:
            found += [arg.start, arg.stop]
    return [type(item) for item in found]


@pytest.mark.parametrize(
    ("body", "types"),
    [
        (lambda: torch.sum(tensor(2, 3), dim=random(0, 2), keepdim=random()), [int, bool]),
        (lambda: tensor(2, 3).sum(random(0, 2), random()), [int, bool]),
        (lambda: torch.softmax(tensor(2, 3), random(0, 2)), [int]),
        (lambda: torch.transpose(tensor(2, 3), random(0, 2), dim1=random(0, 2)), [int, int]),
        (lambda: torch.full((2,), random(0, 1)), [float, int]),
        (lambda: torch.addcmul(tensor(2), tensor(2), tensor(2), value=random(*N)), [float]),
        (lambda: torch.std(tensor(4), unbiased=random()), [bool]),
        (lambda: torch.topk(tensor(5), random(*N), largest=random(), sorted=random()), [int, bool, bool]),
        (lambda: F.one_hot(integers(0, 1), num_classes=random(2, 4)), [int]),
        (lambda: F.dropout(tensor(2), p=random(0, 1), training=random()), [float, bool]),
        (lambda: torch.randperm(random(*N)), [int]),
        (lambda: nn.Linear(random(*N), random(*N), bias=random()), [int, int, bool]),
        (lambda: nn.Dropout(random(0, 1), inplace=random()), [float, bool]),
        (lambda: nn.BatchNorm2d(random(*N), eps=random(1, 2), affine=random()), [int, float, bool]),
        (lambda: nn.LSTM(random(*N), random(*N), num_layers=random(*N), batch_first=random()), [int, int, int, bool]),
        (lambda: nn.GRU(2, 3, random(*N), random(), random(), 0.0, random()), [int, int, int, bool, bool, float, bool]),
        (lambda: nn.RNN(2, 3, bidirectional=random()), [int, int, bool]),
        (lambda: nn.RNNCell(2, 3, bias=random()), [int, int, bool]),
        (lambda: F.max_pool2d(tensor(1, 1, 4, 4), random(*N), ceil_mode=random()), [int, bool]),
        (lambda: F.avg_pool2d(tensor(1, 1, 4, 4), random(*N), ceil_mode=random()), [int, bool]),
        (lambda: F.adaptive_avg_pool2d(tensor(1, 1, 4, 4), random(*N)), [int]),
        (lambda: F.adaptive_max_pool2d(tensor(1, 4, 4), random(*N), return_indices=random()), [int, bool]),
        (lambda: tensor(4, 3).reshape(random(6, 7), -1), [int, int]),
        (lambda: tensor(4, 3).reshape((random(6, 7), -1)), [int, int]),
        (lambda: torch.reshape(tensor(4, 3), [random(6, 7), -1]), [int, int]),
        (lambda: torch.flip(tensor(2, 2), [random(0, 2)]), [int]),
        (lambda: torch.zeros(random(*N), random(*N)), [int, int]),
        (lambda: torch.ones((random(*N), random(*N))), [int, int]),
        (lambda: tensor(3) + random(*N), [float]),
        (lambda: tensor(3) ** random(*N), [float]),
        (lambda: tensor(3)[random(0, 3)], [int]),
        (lambda: tensor(3)[random(0, 2) : random(2, 4)], [int, int]),
        (lambda: tensor(3, 3)[random(0, 2), ...], [int]),
        (lambda: nn.Linear(3, random(*N).to(int)), [int, int]),
    ],
    ids=lambda value: "" if callable(value) else "-".join(kind.__name__ for kind in value),
)  # fmt: skip
def test_drawn_types(body, types, recorded):
    """Each generator draws the type of its parameter: annotation, operator schema, or the table of the rest."""
    assert drawn(recorded, body) == types


@pytest.mark.parametrize("generator", [nothing(), random_or_nothing(0, 1)], ids=str)
def test_nothing_leaves_the_argument_out(generator, recorded):
    """An argument drawn as Nothing is not passed, by position or by keyword; otherwise it is a value."""
    for body in (lambda: torch.sum(tensor(2), generator), lambda: torch.sum(tensor(2), dim=generator)):
        call = recorded(body).program.calls[-1]
        assert (call.args[1:], call.kwargs) in [((), {}), ((0,), {}), ((), {"dim": 0})]
    if "or" not in repr(generator):
        assert (call.args[1:], call.kwargs) == ((), {})


def test_one_value_in_two_places(recorded):
    """A generator that stands in two places has one value."""

    def body():
        k = random(1, 1000).to(int)
        return torch.zeros(k), torch.ones((2, k))

    first, second = recorded(body).program.calls
    assert first.args == (second.args[0][1],)


def test_other_generators(recorded):
    """Constants, alternatives and tuples are drawn wherever they stand."""

    def body():
        m = torch.nn.Conv2d(1, constant(2), generated_tuple(2, 2), padding_mode=oneof("zeros", "zeros"))
        return m(tensor(1, 1, 4, 4))

    call = recorded(body).program.calls[0]
    assert (call.args, call.kwargs) == ((1, 2, (2, 2)), {"padding_mode": "zeros"})


NO_TYPE = (
    "has no type, but should have one: call .to(int), .to(float) or .to(bool), "
    "or pass it to a parameter whose type is known"
)


def test_unknown_type_by_position(recorded):
    """Where nobody knows the type of a positional parameter, the error says so and names it."""
    with pytest.raises(SignatureError) as caught:
        recorded(lambda: double(random(1, 3)))
    assert str(caught.value) == f"random(1, 3) {NO_TYPE} [argument 1 of double]"


def test_unknown_type_by_keyword(recorded):
    """Where nobody knows the type of a keyword, the error says so and names it."""
    with pytest.raises(SignatureError) as caught:
        recorded(lambda: double(x=random(1, 3)))
    assert str(caught.value) == f"random(1, 3) {NO_TYPE} [x= of double]"


def test_unknown_type_inside_a_list(recorded):
    """An element whose type nobody knows is told as the argument it stands in."""
    with pytest.raises(SignatureError) as caught:
        recorded(lambda: double([1, random(1, 3)]))
    assert str(caught.value) == f"random(1, 3) {NO_TYPE} [argument 1 of double]"


@pytest.mark.parametrize(
    ("function", "op", "parameter", "found"),
    [
        (real.nn.Linear, "nn.Linear", "bias", bool),
        (real.nn.Linear, "nn.Linear", 0, int),
        (real.sum, "sum", "keepdim", bool),
        (real.sum, "sum", "nonsense", None),
        (real.nn.functional.relu, "nn.functional.relu", "inplace", bool),
        (len, "no_such_op", 0, None),
    ],
    ids=["keyword", "position", "schema", "unknown", "functional", "no_op"],
)
def test_parameter_type(function, op, parameter, found):
    """The type of one parameter, None where it is not known."""
    keywords = frozenset([parameter] if isinstance(parameter, str) else [])
    assert parameter_type(function, op, parameter, 1, keywords) == found


@pytest.mark.parametrize(
    ("function", "op", "position", "positional", "name"),
    [
        (real.norm, "norm", 1, 2, "p"),
        (real.std, "std", 1, 2, "unbiased"),
        (real.Tensor.std, "std", 1, 2, "unbiased"),
        (real.Tensor.norm, "norm", 1, 2, "p"),
        (real.Tensor.narrow, "narrow", 2, 4, "start"),
        (real.roll, "roll", 2, 3, "dims"),
        (real.nn.InstanceNorm1d, "nn.InstanceNorm1d", 4, 5, "track_running_stats"),
        (real.nn.functional.max_pool2d, "nn.functional.max_pool2d", 1, 2, "kernel_size"),
        (real.linalg.norm, "linalg.norm", 1, 2, "ord"),
        (None, "no_such_op", 1, 2, None),
    ],
)
def test_name_of_a_position(function, op, position, positional, name):
    """By position an argument is the parameter that it would be by name; a method counts its receiver."""
    method = getattr(real.Tensor, op, None) is function is not None
    assert parameter_name(function, op, position, positional, frozenset(), method=method) == name
