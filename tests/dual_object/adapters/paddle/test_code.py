"""The functions and layers that Paddle's dialect has code for are PyTorch's: values, gradients, state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autotest.conformance.bodies import assert_same, tensor, torch
from autotest.workers.supervisor import Supervisor
from support.targets import launched

pytestmark = pytest.mark.own_environment


@pytest.fixture(scope="module")
def worker() -> Iterator[Supervisor]:
    """Paddle in its own process."""
    supervisor = Supervisor(launched("paddle"), 60)
    supervisor.start()
    yield supervisor
    supervisor.close()


def signed(*shape: int) -> Any:
    """Numbers of both signs that are no multiples of each other."""
    return tensor(*shape, low=-3, high=3)


def _classes(*shape: int) -> Any:
    return tensor(*shape, grad=False, low=0, high=3).long()


def _shares(*shape: int) -> Any:
    """That are 1 in all: the gradient of Paddle 3.3.1 takes them so."""
    return torch.softmax(tensor(*shape, grad=False), min(len(shape) - 1, 1))


def _loss(*args: Any, **named: Any) -> Any:
    return torch.nn.functional.cross_entropy(*args, **named)


def _pool(dimensions: int, *args: Any, **named: Any) -> Any:
    return getattr(torch.nn.functional, f"avg_pool{dimensions}d")(*args, **named)


def _normalized(training: bool) -> Any:
    mean, var = tensor(2, grad=False), tensor(2, grad=False, low=1, high=2)
    return torch.nn.functional.batch_norm(signed(3, 2, 4), mean, var, signed(2), signed(2), training, 0.25, 1e-3), mean


def _read_gradient() -> Any:
    x = signed(3)
    (x * x).sum().backward()
    return x.grad, x.grad * 2


def _kept_gradient() -> Any:
    y = signed(3) * 2
    y.retain_grad()
    (y * y).sum().backward()
    return y.grad


def _cells() -> Any:
    x, state, cell = signed(2, 3), signed(2, 4), signed(2, 4)
    made = torch.nn.LSTMCell(3, 4)(x, (state, cell))
    return *made, torch.nn.GRUCell(3, 4)(x), torch.nn.RNNCell(3, 4, nonlinearity="relu")(x, state)


def _held() -> Any:
    m = torch.nn.ParameterDict({"scale": torch.nn.Parameter(torch.ones(3))})
    return signed(3) * m["scale"]


def _written() -> Any:
    x = signed(4) * 1
    torch.clamp_(x, -2, 2)
    torch.clamp_min_(x, -1.5)
    torch.clamp_max_(x, max=1.5)
    return torch.sin_(x)


def _zeroed() -> Any:
    x, y = tensor(3, grad=False), signed(3)
    return torch.zero_(x), torch.floor_(y * 1)


#: Without biases a recurrent layer of Paddle 3.3.1 ends the process.
BODIES: dict[str, Callable[[], Any]] = {
    "allclose": lambda: (signed(2) * 1, torch.allclose(torch.ones(2), torch.ones(2) + 1e-4, atol=1e-3)),
    "is_nonzero": lambda: (signed(2) * 1, torch.is_nonzero(torch.ones(1)), torch.is_nonzero(torch.zeros(1))),
    "shape": lambda: (x := signed(2, 3), x.shape, x.size(), x.size(1)),
    "grad": _read_gradient,
    "retain_grad": _kept_gradient,
    "select": lambda: (torch.select(signed(2, 3), 1, 2), signed(2, 3).select(-2, 0)),
    "reshape_as": lambda: signed(2, 3).reshape_as(torch.ones(3, 2)),
    "split": lambda: (*torch.hsplit(signed(2, 4), sections=2), *torch.dsplit(signed(1, 1, 4), indices=(1,))),
    "avg_pool": lambda: [_pool(n, signed(1, 2, *[4] * n), 3, 1, padding=1, count_include_pad=False) for n in (1, 2, 3)],
    "avg_pool_divisor": lambda: _pool(2, signed(1, 2, 4, 4), 2, divisor_override=3),
    "batch_norm": lambda: _normalized(training=False)[0],
    "cross_entropy": lambda: [
        _loss(signed(*s), _classes(*t)) for s, t in (((3,), ()), ((2, 3), (2,)), ((2, 3, 4), (2, 4)))
    ],
    "cross_entropy_shares": lambda: [
        _loss(signed(*s), _shares(*s), reduction="sum") for s in ((3,), (2, 3), (2, 3, 4))
    ],
    "cross_entropy_layer": lambda: [
        torch.nn.CrossEntropyLoss()(signed(2, 3, 4), y) for y in (_classes(2, 4), _shares(2, 3, 4))
    ],
    "cells": _cells,
    "clamp_function": _written,
    "zero_function": _zeroed,
    "grid": lambda: torch.nn.functional.grid_sample(signed(1, 2, 3, 4), tensor(1, 2, 2, 2, low=-0.9, high=0.9)),
    "affine_grid": lambda: torch.nn.functional.affine_grid(signed(1, 2, 3), (1, 1, 2, 3)),
    "fold": lambda: torch.nn.functional.fold(signed(1, 4, 3), (3, 4), (2, 2), 1, 0, (2, 1)),
    "not_dropped": lambda: (torch.nn.functional.alpha_dropout(signed(3)) * 1, torch.nn.functional.rrelu(signed(3))),
    "max_pool": lambda: torch.nn.functional.max_pool2d(signed(1, 2, 4, 4), 2, None, 0, 1, True),
    "flip": lambda: (torch.flip(signed(2, 3), dims=(0,)), signed(2, 3).flip(0, 1)),
    "diag": lambda: torch.diag(signed(3), diagonal=1),
    "names": lambda: (torch.tan(input=signed(2)), torch.mv(input=signed(2, 3), vec=signed(3))),
    "broadcast": lambda: list(torch.broadcast_tensors(signed(2, 1), signed(3))),
    "held": _held,
    "addcdiv": lambda: torch.addcdiv(signed(2, 3), signed(3), tensor(2, 1, low=1, high=2), value=-0.5),
    "addcmul": lambda: torch.addcmul(signed(2, 3), signed(3), signed(2, 1), value=2),
    "addcmul_method": lambda: signed(2).addcmul(signed(2), signed(2)),
    "erfc": lambda: torch.erfc(signed(2, 3)),
    "fmod": lambda: torch.fmod(signed(4, 6), signed(6)),
    "fmod_far": lambda: torch.fmod(signed(4, 6), torch.tensor([[1e20], [-1e20], [math.inf], [-math.inf]])),
    "fmod_number": lambda: torch.fmod(signed(4, 6), -0.7),
    "numel": lambda: (signed(2, 3) * 1, torch.numel(signed(2, 3)), signed(4).nelement()),
    "instance_norm": lambda: torch.nn.InstanceNorm2d(3, eps=1e-3, affine=True)(signed(2, 3, 4, 5)),
    "instance_norm_weight": lambda: (m := torch.nn.InstanceNorm2d(3, affine=True))(signed(2, 3, 4, 5)) * m.weight.sum(),
    "instance_norm_plain": lambda: torch.nn.InstanceNorm1d(3)(signed(2, 3, 5)),
    "lstm": lambda: torch.nn.LSTM(3, 4, batch_first=True, bidirectional=True)(signed(2, 5, 3))[0],
    "gru": lambda: torch.nn.GRU(3, 4, num_layers=2)(signed(5, 2, 3)),
    "rnn": lambda: torch.nn.RNN(3, 4, nonlinearity="relu")(signed(5, 2, 3)),
}


@pytest.mark.filterwarnings("ignore:Default grid_sample and affine_grid")
@pytest.mark.parametrize("name", BODIES)
def test_like_the_reference(name: str, worker: Supervisor, recorded: Any) -> None:
    """Outputs, gradients of inputs and parameters, and plain numbers are PyTorch's."""
    case = recorded(BODIES[name])
    [seen] = worker.eager([case.program])
    assert_same(case.seen, seen, 1e-4, 1e-5)


@pytest.mark.parametrize("momentum", [0.1, 0.75])
def test_momentum(momentum: float, worker: Supervisor, recorded: Any) -> None:
    """The momentum of a batch norm is how much of a batch its statistics take; that of Paddle's is how much stays."""
    case = recorded(lambda: torch.nn.BatchNorm2d(2, momentum=momentum, affine=False)(signed(3, 2, 2, 2)))
    [seen] = worker.eager([case.program])
    mean = seen.buffers["0.running_mean"].data
    assert mean == pytest.approx(case.seen.buffers["0.running_mean"].data, rel=1e-4)
    assert seen.states[0].keys() == {"running_mean", "running_var"}


@pytest.mark.parametrize(
    ("body", "shape", "ends"),
    [
        (lambda: torch.randint(3, (50,)), (50,), (0, 3)),
        (lambda: torch.randint(2, 5, (50,)), (50,), (2, 5)),
        (lambda: torch.randint(2, high=5, size=(50,)), (50,), (2, 5)),
        (lambda: torch.randint(high=5, size=(50,)), (50,), (0, 5)),
        (lambda: torch.randint_like(torch.ones(50), 3), (50,), (0, 3)),
        (lambda: torch.randint_like(torch.ones(50), 2, high=5), (50,), (2, 5)),
    ],
)
def test_drawn(body: Callable[[], Any], shape: Any, ends: Any, worker: Supervisor, recorded: Any) -> None:
    """Integers between the ends that were given, however they were given, in PyTorch's dtype."""
    case = recorded(lambda: body() * 1)
    [seen] = worker.eager([case.program])
    [(id_, drawn)] = seen.outputs.items()
    assert (drawn.dtype, drawn.shape) == (case.seen.outputs[id_].dtype, shape)
    assert {*drawn.data.tolist()} == {*range(*ends)}


def test_dropped_channels(worker: Supervisor, recorded: Any) -> None:
    """A layer that drops channels drops them whole."""
    case = recorded(lambda: torch.nn.Dropout1d(0.5)(torch.ones(1, 40, 3)))
    [seen] = worker.eager([case.program])
    [drawn] = seen.outputs.values()
    rows = {tuple(row) for row in drawn.data[0].tolist()}
    assert rows == {(0.0, 0.0, 0.0), (2.0, 2.0, 2.0)}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            lambda: torch.nn.functional.batch_norm(signed(3, 2), None, None, training=True),
            "paddle.nn.functional.batch_norm has no batch norm without running statistics",
        ),
        (
            lambda: torch.nn.Dropout1d(0.5, inplace=True)(signed(1, 2, 3) * 1),
            "paddle.nn.functional.dropout1d writes nothing in place",
        ),
        (
            lambda: torch.nn.InstanceNorm1d(3, track_running_stats=True)(signed(2, 3, 5)),
            "InstanceNorm1D has no momentum=None, no dtype and no track_running_stats=True",
        ),
        (
            lambda: torch.nn.BatchNorm1d(3, track_running_stats=False)(signed(2, 3)),
            "BatchNorm1D has no momentum=None, no dtype and no track_running_stats=False",
        ),
        (
            lambda: torch.nn.BatchNorm1d(3, momentum=None)(signed(2, 3)),
            "BatchNorm1D has no momentum=None, no dtype and no track_running_stats=False",
        ),
    ],
)
def test_refusals(body: Callable[[], Any], words: str, worker: Supervisor, recorded: Any) -> None:
    """What these layers cannot be told is not supported, and said."""
    [seen] = worker.eager([recorded(body).program])
    [failure] = seen.failures
    assert (failure.kind, failure.message) == ("unsupported", words)
