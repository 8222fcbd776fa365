"""What the suites train: a small model, whose loss is that of one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rows import real, tensor, whole

from autotest import oneof, torch

#: Makes an optimizer of parameters, and a schedule of an optimizer.
Makes = Callable[[Any], Any]


def rate() -> Any:
    """A learning rate."""
    return real(0.01, 0.2)


def share(low: float = 0.1, high: float = 0.99) -> Any:
    """How much of what was before is kept."""
    return real(low, high)


def decay() -> Any:
    """A weight decay, ordinarily none."""
    return oneof(0.0, 0.1)


def loss_of(optimizer: Makes, schedule: Makes | None = None, own: Mapping[str, Any] | None = None) -> Any:
    """The loss of a model of two layers, after its optimizer and schedule were made. What the first layer's parameters
    have of their `own` makes two groups of them.
    """
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    if own is None:
        made = optimizer([*first.parameters(), *second.parameters()])
    else:
        made = optimizer([{"params": first.parameters(), **own}, {"params": second.parameters()}])
    if schedule is not None:
        schedule(made)
    batch = whole(1, 4)
    x, y = tensor(batch, 3), tensor(batch, 2, requires_grad=False)
    return torch.nn.functional.mse_loss(second(torch.tanh(first(x))), y)
