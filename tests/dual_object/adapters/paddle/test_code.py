"""The functions and layers that Paddle's dialect has code for are PyTorch's: values, gradients, state."""

from __future__ import annotations

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


#: Without biases a recurrent layer of Paddle 3.3.1 ends the process.
BODIES: dict[str, Callable[[], Any]] = {
    "addcdiv": lambda: torch.addcdiv(signed(2, 3), signed(3), tensor(2, 1, low=1, high=2), value=-0.5),
    "addcmul": lambda: torch.addcmul(signed(2, 3), signed(3), signed(2, 1), value=2),
    "addcmul_method": lambda: signed(2).addcmul(signed(2), signed(2)),
    "erfc": lambda: torch.erfc(signed(2, 3)),
    "fmod": lambda: torch.fmod(signed(4, 6), signed(6)),
    "fmod_number": lambda: torch.fmod(signed(4, 6), -0.7),
    "numel": lambda: (signed(2, 3) * 1, torch.numel(signed(2, 3)), signed(4).nelement()),
    "instance_norm": lambda: torch.nn.InstanceNorm2d(3, eps=1e-3, affine=True)(signed(2, 3, 4, 5)),
    "instance_norm_weight": lambda: (m := torch.nn.InstanceNorm2d(3, affine=True))(signed(2, 3, 4, 5)) * m.weight.sum(),
    "instance_norm_plain": lambda: torch.nn.InstanceNorm1d(3)(signed(2, 3, 5)),
    "lstm": lambda: torch.nn.LSTM(3, 4, batch_first=True, bidirectional=True)(signed(2, 5, 3))[0],
    "gru": lambda: torch.nn.GRU(3, 4, num_layers=2)(signed(5, 2, 3)),
    "rnn": lambda: torch.nn.RNN(3, 4, nonlinearity="relu")(signed(5, 2, 3)),
}


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
    ("body", "words"),
    [
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
