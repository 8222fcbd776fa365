"""Schedules of learning rates: seven steps of a small model, eagerly and in the target's training graph."""

from __future__ import annotations

import pytest
from rows import real, tensor, whole
from training import loss_of, rate, share

from autotest import autotest, oneof, torch

lr = torch.optim.lr_scheduler


def step(optimizer):
    return lr.StepLR(optimizer, step_size=whole(1, 4), gamma=share())


def multi_step(optimizer):
    return lr.MultiStepLR(optimizer, milestones=oneof([2, 4], [1], [3, 3]), gamma=share())


def exponential(optimizer):
    return lr.ExponentialLR(optimizer, gamma=share())


def constant(optimizer):
    return lr.ConstantLR(optimizer, factor=share(), total_iters=whole(1, 6))


def linear(optimizer):
    return lr.LinearLR(optimizer, start_factor=share(), end_factor=share(), total_iters=whole(1, 6))


def polynomial(optimizer):
    return lr.PolynomialLR(optimizer, total_iters=whole(2, 6), power=real(0.5, 3))


def cosine(optimizer):
    return lr.CosineAnnealingLR(optimizer, T_max=whole(2, 6), eta_min=oneof(0.0, 0.005))


def warm_restarts(optimizer):
    return lr.CosineAnnealingWarmRestarts(optimizer, T_0=whole(1, 4), T_mult=oneof(1, 2), eta_min=oneof(0.0, 0.005))


def sequential(optimizer):
    first, then = lr.ConstantLR(optimizer, factor=0.1, total_iters=2), lr.ExponentialLR(optimizer, gamma=share())
    return lr.SequentialLR(optimizer, schedulers=[first, then], milestones=[whole(1, 5)])


def warm_up(optimizer):
    first, then = lr.LinearLR(optimizer, start_factor=0.1, total_iters=3), lr.CosineAnnealingLR(optimizer, T_max=4)
    return lr.SequentialLR(optimizer, schedulers=[first, then], milestones=[3])


def chained(optimizer):
    held = lr.ConstantLR(optimizer, factor=0.5, total_iters=2)
    return lr.ChainedScheduler([held, lr.ExponentialLR(optimizer, 0.9), lr.StepLR(optimizer, step_size=3, gamma=0.5)])


def plateau(optimizer):
    return lr.ReduceLROnPlateau(
        optimizer,
        mode=oneof("min", "max"),
        factor=share(),
        patience=whole(0, 2),
        threshold=oneof(1e-4, 0.3),
        threshold_mode=oneof("rel", "abs"),
        cooldown=whole(0, 3),
        min_lr=oneof(0.0, 0.01),
    )


SCHEDULES = {
    "StepLR": step,
    "MultiStepLR": multi_step,
    "ExponentialLR": exponential,
    "ConstantLR": constant,
    "LinearLR": linear,
    "PolynomialLR": polynomial,
    "CosineAnnealingLR": cosine,
    "CosineAnnealingWarmRestarts": warm_restarts,
    "SequentialLR": sequential,
    "SequentialLR-warm_up": warm_up,
    "ChainedScheduler": chained,
    "ReduceLROnPlateau": plateau,
}
#: Wrong, or refused, in fewer steps.
KNOWN = ("PolynomialLR", "SequentialLR", "SequentialLR-warm_up")


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=rate())


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in SCHEDULES.items()])
@autotest(n=3, train=7)
def test_schedule(make):
    """With every argument drawn."""
    return loss_of(sgd, make)


@pytest.mark.parametrize("make", [pytest.param(SCHEDULES[name], id=name) for name in SCHEDULES if name not in KNOWN])
@autotest(n=1, train=25, coverage="none")
def test_long(make):
    """Long after the last thing that it is told to do."""
    return loss_of(sgd, make)


@pytest.mark.parametrize("make", [pytest.param(SCHEDULES[name], id=name) for name in SCHEDULES if name not in KNOWN])
@autotest(n=1, train=5, coverage="none")
def test_groups(make):
    """Of two groups of parameters, each keeps its own learning rate."""
    return loss_of(lambda groups: torch.optim.SGD(groups, lr=rate()), make, own={"lr": rate()})


@autotest(n=2, train=5)
def test_two_optimizers():
    """Each optimizer has a schedule of its own."""
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    lr.StepLR(sgd(first.parameters()), step_size=2, gamma=share())
    lr.ExponentialLR(sgd(second.parameters()), gamma=share())
    return torch.square(second(first(tensor(2, 3)))).mean()
