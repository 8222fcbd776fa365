"""What a body does to PyTorch past its recording is told of, for no target would do it."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as pytorch

from autotest import dual, dual_tensor, random_tensor, torch
from autotest.cases.case import Case
from autotest.cases.drawer import Drawer
from autotest.errors import UsageError
from autotest.options import TestOptions
from autotest.run.session import Session
from dual_object.errors import ArgumentError

HERE = "tests/autotest/cases/test_bypasses.py"
DONE = (
    "t.py::t: the body {} that it has from .pytorch or .reference, which is no call of the Program, so the target "
    "would not do it: {}"
)
WRITES = ("writes to a raw tensor", "write to the dual object, as x.fill_(5)")
REQUIRES = ("sets requires_grad of a raw tensor", "set it on the dual object, as x.requires_grad_(False)")
SWITCHES = ("switches a raw module", "switch the dual object, as m.eval()")
BACKWARD = ("runs a backward from a raw tensor, or sets the gradient of one,", "use the dual object, as y.backward()")
MODE = (
    "{} was called where {} is {}, but should be where it is {}: what the body does through PyTorch's own module the "
    "target is not told of, so call it by autotest's `torch`"
)


def draw(session: Session, body: Callable[[], Any]) -> Any:
    """The first case of a body, which returns no gradients."""
    return Drawer(session.reference, "t.py::t", 0, "torch", TestOptions(auto_backward=False), body).draw(0)


def marked(body: Callable[[], Any]) -> str:
    """The place of the line that is marked."""
    lines, first = inspect.getsourcelines(body)
    return f"{HERE}:{first + next(at for at, line in enumerate(lines) if line.rstrip().endswith('# here'))}"


def of_an_input() -> Any:
    """Writes to an input."""
    x = random_tensor(ndim=2, requires_grad=False)
    x.pytorch.fill_(5)  # here
    return torch.exp(x)


def of_a_result() -> Any:
    """Writes to a result, which it returns."""
    y = torch.exp(random_tensor(ndim=2, requires_grad=False))
    y.reference[0] = 3  # here
    return y


def of_a_view() -> Any:
    """Writes to a view, between two calls."""
    x = random_tensor(ndim=2, requires_grad=False)
    torch.exp(x)
    x.pytorch.t().mul_(2)  # here
    x.add_(1)
    return x


def of_a_parameter() -> Any:
    """Writes to a module's parameter."""
    m = torch.nn.Linear(3, 4)
    raw = m.pytorch  # here
    x = random_tensor(ndim=2, dim1=3)
    with torch.no_grad():
        raw.weight.fill_(1)
    return m(x)


def of_a_buffer() -> Any:
    """Writes to a module's buffer, when all calls are done."""
    m = torch.nn.BatchNorm2d(3)
    y = m(random_tensor(ndim=4, dim1=3))
    m.pytorch.running_mean.zero_()  # here
    return y


def of_requires_grad() -> Any:
    """Takes an input out of the backward."""
    x = random_tensor(ndim=2, requires_grad=True)
    x.pytorch.requires_grad_(False)  # here
    return torch.exp(x)


def of_training() -> Any:
    """Switches a module within one."""
    m = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    m.pytorch[0].eval()  # here
    return m(random_tensor(ndim=2, dim1=3))


def of_a_backward() -> Any:
    """Leaves a gradient in an input."""
    y = torch.exp(random_tensor(ndim=2, requires_grad=True)).sum()
    pytorch.autograd.backward(y.pytorch, retain_graph=True)  # here
    return y


def of_a_second_backward() -> Any:
    """Adds to a gradient that a recorded backward has left in a parameter."""
    y = torch.nn.Linear(3, 1)(random_tensor(ndim=2, dim1=3)).sum()
    y.backward(retain_graph=True)
    y.pytorch.backward(retain_graph=True)  # here
    return y * 2


def of_a_gradient() -> Any:
    """Takes a gradient away."""
    x = random_tensor(ndim=2, requires_grad=True)
    torch.exp(x).sum().backward()
    x.pytorch.grad = None  # here
    return x * 2


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (of_an_input, WRITES),
        (of_a_result, WRITES),
        (of_a_view, WRITES),
        (of_a_parameter, WRITES),
        (of_a_buffer, WRITES),
        (of_requires_grad, REQUIRES),
        (of_training, SWITCHES),
        (of_a_backward, BACKWARD),
        (of_a_second_backward, BACKWARD),
        (of_a_gradient, BACKWARD),
    ],
)
def test_bypasses(session: Session, body: Callable[[], Any], told: tuple[str, str]) -> None:
    """What is done to a raw tensor or module is told, at the line where the body got hold of it."""
    with pytest.raises(UsageError) as caught:
        draw(session, body)
    assert str(caught.value) == f"{DONE.format(*told)} [{marked(body)}]"


def test_recorded_writes(session: Session) -> None:
    """What calls write, to a tensor that the body holds, to a view of it, to a module's state or to a gradient, is the
    Program's.
    """

    def body() -> Any:
        x = random_tensor(ndim=2, dim0=3, dim1=3, requires_grad=True)
        y = x * 3
        m = torch.nn.BatchNorm1d(3)
        held = [x.pytorch, y.pytorch, m.pytorch]
        y.t().add_(1)
        y[0] = 2
        assert held[1].detach()[0, 0].item() == 2
        m.eval()
        m.train()
        m.weight.requires_grad_(False)
        m(y).sum().backward()
        assert x.grad.pytorch is not None
        (x * 2).sum().backward()
        torch.optim.SGD(m.parameters(), lr=0.1).step()
        return y

    assert isinstance(draw(session, body), Case)


def test_uncounted_writes(session: Session) -> None:
    """Tensors of `torch.inference_mode()` count no writes, and may be held."""

    def body() -> Any:
        with torch.inference_mode():
            y = torch.exp(random_tensor(ndim=2))
            assert y.pytorch.shape
            return y.add_(1)

    assert isinstance(draw(session, body), Case)


def test_inline_writes(session: Session) -> None:
    """A body that holds its sides itself may write to both."""

    def body() -> Any:
        y = dual(reference=lambda x: x + 1, target=lambda x: x + 1, name="one_more")(random_tensor(ndim=2))
        y.pytorch.detach().zero_()
        return y

    drawer = Drawer(session.reference, "t.py::t", 0, "torch", TestOptions(auto_backward=False), body)
    assert isinstance(drawer.draw(0, session.inline.stepper()), Case)


def in_a_region() -> Any:
    """Calls in a region of PyTorch's own."""
    x = random_tensor(ndim=2)
    with pytorch.no_grad():
        return torch.exp(x)  # here


def in_another_dtype() -> Any:
    """Makes a tensor of a default dtype that PyTorch was given."""
    pytorch.set_default_dtype(pytorch.float64)
    return torch.ones(3)  # here


def under_autocast() -> Any:
    """Calls under an autocast of PyTorch's own."""
    x = random_tensor(ndim=2, dim0=3, dim1=3)
    with pytorch.autocast("cpu", dtype=pytorch.bfloat16):
        return torch.matmul(x, x)  # here


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (in_a_region, ("exp", "is_grad_enabled()", False, True)),
        (in_another_dtype, ("ones", "get_default_dtype()", pytorch.float64, pytorch.float32)),
        (under_autocast, ("matmul", "is_autocast_enabled('cpu')", True, False)),
    ],
)
def test_modes(session: Session, body: Callable[[], Any], told: tuple[object, ...]) -> None:
    """A call in a mode that PyTorch was given by itself is told; the process has its own again afterwards."""
    with pytest.raises(ArgumentError) as caught:
        draw(session, body)
    assert str(caught.value) == f"{MODE.format(*told)} [{marked(body)}]"
    assert pytorch.is_grad_enabled()
    assert pytorch.get_default_dtype() == pytorch.float32


def test_recorded_modes(session: Session) -> None:
    """Modes that calls set, and regions enter and leave, are the Program's."""

    def body() -> Any:
        x = random_tensor(ndim=2, dim0=3, dim1=3)
        with torch.no_grad(), torch.autocast("cpu"):
            y = torch.matmul(x, x)
        torch.set_default_dtype(torch.float64)
        z = torch.ones(3)
        torch.set_grad_enabled(False)
        return y, z, torch.exp(x), dual_tensor(pytorch.ones(2))

    assert isinstance(draw(session, body), Case)


def swallowed() -> Any:
    """Goes on after what autotest refuses."""
    x = random_tensor(ndim=2)
    try:
        x = torch.add(x, pytorch.ones(1))  # here
    except Exception:
        x = x * 2
    return x


def test_refusals_are_not_swallowed(session: Session) -> None:
    """What autotest refuses ends the test, whatever the body catches."""
    with pytest.raises(ArgumentError) as caught:
        draw(session, swallowed)
    assert str(caught.value) == (
        "add was given a raw torch.Tensor, but should be given a dual object: draw it with random_tensor, make it one "
        f'with dual_tensor, or wrap it in GetDualObject("x", pytorch, oneflow) [{marked(swallowed)}]'
    )


def _apply() -> Any:
    def start(layer: Any) -> None:
        torch.nn.init.constant_(layer.weight, 0.5)

    return torch.nn.Linear(2, 2).apply(start)(random_tensor(ndim=2, dim1=2))


def test_calls_inside_of_a_call(session: Session) -> None:
    """A function that is handed to a call makes calls that cannot be recorded: told at the first, not as a refusal."""
    drawer = Drawer(session.reference, "t.py::t", 0, "torch", TestOptions(auto_backward=False), _apply)
    with pytest.raises(ArgumentError) as caught:
        drawer.draw(0, session.inline.stepper())
    assert str(caught.value).startswith(
        "apply was given start, a function that makes dual calls, but should be given none: calls inside of a call "
        f"cannot be recorded, so make them in the body itself [{HERE}:"
    )


def _hooked() -> Any:
    m = torch.nn.Linear(2, 2)
    m.register_forward_hook(lambda module, given, y: torch.relu(y))
    return m(random_tensor(ndim=2, dim1=2))


def _mapped() -> Any:
    return torch.vmap(lambda row: torch.sum(row))(random_tensor(ndim=2))


@pytest.mark.parametrize(("body", "op"), [(_hooked, "Linear"), (_mapped, "function")])
def test_calls_of_what_a_call_has_already(session: Session, body: Callable[[], Any], op: str) -> None:
    """So does a hook, or a function that another was made of."""
    drawer = Drawer(session.reference, "t.py::t", 0, "torch", TestOptions(auto_backward=False), body)
    with pytest.raises(ArgumentError) as caught:
        drawer.draw(0, session.inline.stepper())
    assert str(caught.value).startswith(
        f"{op} runs a function that makes dual calls, but should run none: calls inside of a call cannot be recorded, "
        f"so make them in the body itself [{HERE}:"
    )


def _swallowing() -> Any:
    x, seen = random_tensor(ndim=2, dim1=2), []

    def hook(module: Any, given: Any, y: Any) -> None:
        with contextlib.suppress(Exception):
            seen.append(torch.exp(x))

    m = torch.nn.Linear(2, 2)
    m.register_forward_hook(hook)
    return m(x)


def test_calls_inside_of_a_call_on_values_of_the_case(session: Session) -> None:
    """They are refused, too, and what swallows that does not hide it."""
    drawer = Drawer(session.reference, "t.py::t", 0, "torch", TestOptions(auto_backward=False), _swallowing)
    with pytest.raises(ArgumentError) as caught:
        drawer.draw(0, session.inline.stepper())
    assert str(caught.value).startswith(
        "exp is called while Linear runs: calls inside of a call cannot be recorded, so make them in the body itself "
        f"[{HERE}:"
    )


def test_packed_sequences(session: Session) -> None:
    """A tuple of tensors with a class of its own is not handed from one call to another."""

    def body() -> Any:
        lengths = torch.tensor([3, 2])
        packed = torch.nn.utils.rnn.pack_padded_sequence(random_tensor(ndim=3, dim0=3, dim1=2, dim2=2), lengths)
        return torch.nn.LSTM(2, 3)(packed)

    with pytest.raises(ArgumentError) as caught:
        draw(session, body)
    assert str(caught.value).startswith(
        "LSTM was given a PackedSequence, but should be given tensors: one that a call gave can be returned, and not "
        f"handed on to another call, so make one call of both by dual(reference=..., target=...) [{HERE}:"
    )


def test_calls_in_the_backward(session: Session) -> None:
    """What PyTorch's own checkpoint runs again in the backward is no draw that PyTorch refuses."""

    def body() -> Any:
        x = random_tensor(ndim=2, requires_grad=True)
        return pytorch.utils.checkpoint.checkpoint(torch.tanh, x, use_reentrant=False)

    with pytest.raises(UsageError) as caught:
        Drawer(session.reference, "t.py::t", 0, "torch", TestOptions(), body).draw(0)
    assert str(caught.value).startswith(
        "t.py::t: its backward runs a function of the body's that makes dual calls, which are recorded in the body "
        "alone: torch.tanh is used outside a case; dual calls have a meaning only in the body of a test with "
    )


def test_raw_modules(session: Session) -> None:
    """A module of PyTorch's own is to be made by autotest's `torch`."""
    with pytest.raises(ArgumentError) as caught:
        draw(session, lambda: torch.nn.Sequential(pytorch.nn.ReLU()))
    assert str(caught.value).startswith(
        "nn.Sequential was given a raw ReLU, but should be given a dual object: make it by autotest's `torch`, as "
        f"torch.nn.ReLU(...) [{HERE}:"
    )


def test_addresses_are_refused(session: Session) -> None:
    """An address is another on each side, and nothing that a target could be held to."""
    with pytest.raises(ArgumentError) as caught:
        draw(session, lambda: random_tensor(ndim=2).data_ptr())
    assert str(caught.value).startswith(
        "data_ptr gives an address, which is another on each side: which tensors share memory is compared anyway, and "
        f"x.pytorch.data_ptr() is PyTorch's own [{HERE}:"
    )


def test_folder_is_put_back(session: Session, tmp_path: Path) -> None:
    """A body that changes the current folder changes it for itself alone."""
    before = Path.cwd()

    def body() -> Any:
        os.chdir(tmp_path)
        return torch.exp(random_tensor(ndim=2))

    assert isinstance(draw(session, body), Case)
    assert Path.cwd() == before
