"""Dual objects as OneFlow's harness has them: both sides of whatever a call gives, and of `torch` itself."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch as real

from autotest.dropin import generators as g
from autotest.dropin.alone import builds_graph
from autotest.dropin.duals.namespace import AutoTestNamespace, torch
from autotest.dropin.duals.pairs import GetDualObject
from autotest.dropin.duals.recording import AutoTestRecording
from autotest.dropin.duals.values import TwoSided, plain, two_sided
from autotest.dropin.errors import PyTorchDoesNotSupportError
from autotest.dropin.item import surrounded
from autotest.dropin.tensors import random_tensor
from autotest.run.session import Session
from dual_object.adapters.torch.adapter import Adapter
from dual_object.errors import ArgumentError, RawTargetNeeded
from dual_object.program.calls import Call, CallKind
from dual_object.program.values import Device, Name, Ref
from dual_object.record.dual import DualObject
from dual_object.record.recording import Recording, current_recording
from generators import Nothing


@pytest.fixture
def both(torch_session: Session) -> Iterator[DualObject]:
    """A dual tensor of 2 by 3 outside of a case, where both sides run at once."""
    with surrounded(torch_session, "a"):
        yield random_tensor(2, 2, 3)


def recorded(kind: type[Recording]) -> tuple[Recording, DualObject]:
    """A recording whose target is in another process, and an input of it."""
    recording = kind(Adapter(), draw_state=lambda _, data: data, omitted=Nothing, target="oneflow")
    return recording, recording.input(np.zeros((2, 3), "float32"), "float32", requires_grad=True)


@pytest.mark.parametrize(
    "value",
    [True, 3, 0.5, "sum", (2, 3), [1], {"a": 1}, OrderedDict(a=1), real.float32, real.device("cpu"), real.strided],
)
def test_a_plain_value_has_both_sides(value: Any) -> None:
    """It is equal to itself, prints as itself, is told from itself by its sides alone, and a call takes it as it is."""
    made = two_sided(value, value, lambda: "the target's")
    assert isinstance(made, TwoSided)
    assert made == value
    assert (made.pytorch, made.oneflow) == (value, "the target's")
    assert made.pytorch is value
    assert plain(made) == value
    assert type(plain(made)) in (type(value), dict)
    if not isinstance(value, OrderedDict):
        assert repr(made) == repr(value)
        assert str(made) == str(value)


def test_what_is_left_as_it_is() -> None:
    """None and arrays have no sides; nor has what is dual already."""
    array = np.zeros(2)
    assert two_sided(None, None, lambda: None) is None
    assert two_sided(array, array, lambda: None) is array


def test_elements_of_a_group_have_sides() -> None:
    """By place, by slice and by the name of a field; a size has what PyTorch's own has."""
    size = two_sided(real.Size([2, 3]), real.Size([2, 3]), lambda: [20, 30])
    assert (size[1].pytorch, size[1].oneflow, size[:1].oneflow) == (3, 30, [20])
    assert (size.numel(), size.__len__().pytorch, size.__len__().oneflow) == (6, 2, 2)
    named = real.max(real.tensor([[1.0, 4.0]]), 1)
    both = two_sided((named.values, named.indices), named, lambda: ("v", "i"))
    assert (both.indices is named.indices, both.pytorch is named, both.oneflow) == (True, True, ("v", "i"))
    with pytest.raises(AttributeError):
        _ = both.brand_new


def test_attributes_and_results(both: DualObject) -> None:
    """Shapes, numbers, dtypes and groups have both sides; calls and generators take them as plain values."""
    assert (both.ndim.pytorch, both.shape.oneflow, both.dtype.oneflow) == (2, real.Size([2, 3]), real.float32)
    assert both.requires_grad.pytorch is True
    assert torch.sum(both, dim=both.ndim - 1, keepdim=both.requires_grad).shape == (2, 1)
    assert g.random(both.ndim, both.ndim + 1).to(int).value() == 2
    least = torch.min(both, dim=1)
    assert least.oneflow[0] is least.values.oneflow
    assert least.pytorch.indices is least[1].pytorch
    assert torch.cat(torch.split(both, 1)).shape == (2, 3)
    assert random_tensor(len(both.shape), *both.shape, dtype=both.dtype).shape == (2, 3)


def test_python_gets_what_it_asks_for(both: DualObject) -> None:
    """`bool`, `int` and `len` of a dual tensor are plain."""
    one = both.numel() == 6
    assert one
    total = torch.ones(())
    assert (type(bool(total)), type(int(total)), type(len(both))) == (bool, int, int)
    assert both.__len__().oneflow == 2


def test_the_target_is_needed() -> None:
    """While it is in another process, PyTorch's side is there, and asking for the target's makes the test inline."""
    recording, x = recorded(AutoTestRecording)
    assert x.ndim.pytorch == 2
    for ask in (lambda: x.ndim.oneflow, lambda: setattr(x, "oneflow", 3), lambda: x.shape.oneflow):
        with pytest.raises(RawTargetNeeded) as caught:
            ask()
        assert str(caught.value) == "the body uses a raw target object"
    assert recording.returned([x.shape, (x.ndim, x)]) == [(2, 3), (2, Ref(0))]


def test_native_bodies_keep_their_rules() -> None:
    """There a number is a number, and an attribute that is set is one of the tensors'."""
    recording, x = recorded(Recording)
    assert (type(x.ndim), type(x.shape)) == (int, real.Size)
    x.pytorch_is_fast = True
    assert recording.program.calls[-1].kind == "set"


def test_a_side_can_be_set(both: DualObject) -> None:
    """Calls then go on with the new sides, on each."""
    total = both * 1
    total.oneflow = real.ones(2, 3)
    total.pytorch = real.ones(2, 3) * 2
    result = total + 1
    assert (result.oneflow.tolist(), result.pytorch.tolist()) == ([[2.0] * 3] * 2, [[3.0] * 3] * 2)


def test_inputs_keep_their_gradient_when_a_side_is_set(both: DualObject) -> None:
    """An input whose side is set is that tensor for the backward, too."""
    mine = real.zeros(2, 3, requires_grad=True)
    both.pytorch = mine
    assert both._recording.values.inputs[both._ref.id] is mine  # type: ignore[attr-defined]


class Foreign:
    """An object of the target's."""


Foreign.__module__ = "oneflow"


def test_raw_objects_of_the_target(both: DualObject) -> None:
    """In a body that is inline a dual call takes them, and PyTorch refuses them; elsewhere they make it inline."""
    with pytest.raises(PyTorchDoesNotSupportError):
        torch.add(both, Foreign())
    for kind, error in ((AutoTestRecording, RawTargetNeeded), (Recording, ArgumentError)):
        recording, x = recorded(kind)
        token = current_recording.set(recording)
        try:
            with pytest.raises(error):
                torch.add(x, Foreign())
        finally:
            current_recording.reset(token)


def test_torch_has_both_sides(monkeypatch: pytest.MonkeyPatch, both: DualObject) -> None:
    """`torch` and its modules are dual, and `broadcast_like` is a function of OneFlow's alone."""
    flow = SimpleNamespace(nn=SimpleNamespace(functional="its"), broadcast_like=lambda x, like: x.expand_as(like))
    monkeypatch.setitem(sys.modules, "oneflow", flow)
    assert (torch.pytorch, torch.oneflow) == (real, flow)
    assert (torch.nn.functional.pytorch, torch.nn.functional.oneflow) == (real.nn.functional, "its")
    assert GetDualObject("", real, flow).oneflow is flow
    assert AutoTestNamespace("nn").functional.oneflow == "its"
    assert AutoTestNamespace().broadcast_like(both, torch.ones(4, 2, 3)).shape == (4, 2, 3)


def test_a_generator_is_true() -> None:
    """Whatever it would draw, as there."""
    assert all([g.random(0, 1), g.oneof(0, 0), g.nothing(), g.constant(0)])


def _select() -> None: ...


def _ones_op() -> None: ...


#: What OneFlow's harness goes by, as OneFlow 0.9.0 has it: in C++ with and without a module, and in Python.
FLOW = SimpleNamespace(
    Tensor=SimpleNamespace(bincount=str.upper, sort=_ones_op),
    select=SimpleNamespace(__name__="select", __module__="oneflow._oneflow_internal._C"),
    tensor=SimpleNamespace(__name__="tensor", __module__="oneflow._oneflow_internal._C"),
    homeless=SimpleNamespace(__name__="homeless", __module__=None),
    linspace=_ones_op,
    nn=SimpleNamespace(
        Parameter=SimpleNamespace(__name__="Parameter", __module__="oneflow.nn.parameter"),
        ReLU=SimpleNamespace(__name__="ReLU", __module__="oneflow.nn.modules.activation"),
    ),
)


@pytest.mark.parametrize(
    ("kind", "op", "args", "expected"),
    [
        ("method", "bincount", (), False),
        ("method", "sort", (), True),
        ("method", "to", (Device("cpu"),), False),
        ("method", "to", ("cpu",), False),
        ("method", "to", (Name("float64"),), True),
        ("method", "of_a_module", (), True),
        ("operator", "add", (1,), True),
        ("call", "ReLU", (), True),
        ("function", "select", (1, 0), True),
        ("function", "linspace", (0, 1, 3), True),
        ("function", "tensor", (1,), False),
        ("function", "homeless", (), False),
        ("function", "nn.Parameter", (), False),
        ("function", "nn.ReLU", (), False),
        ("function", "brand_new", (), False),
    ],
)
def test_which_calls_have_a_graph(
    monkeypatch: pytest.MonkeyPatch, kind: CallKind, op: str, args: tuple[Any, ...], expected: bool
) -> None:
    """OneFlow's harness builds a graph of some calls only."""
    monkeypatch.setitem(sys.modules, "oneflow", FLOW)
    assert builds_graph(Call(kind, op, (Ref(0), *args), {}, out=Ref(1))) is expected
