"""The learning rates that the documentation of each schedule gives a formula for, eagerly and in a graph."""

from __future__ import annotations

from functools import partial
from math import ceil, cos, pi

import pytest
from graphs import batch, linear, near, of_groups, training

from autotest import contract

documented = partial(contract, "the learning rate follows the formula, and each group's from its own", target="oneflow")
#: How long: past the end of whatever ends.
STEPS = 14


def held(base, step):
    """ConstantLR of three steps."""
    return base * (0.5 if step < 3 else 1.0)


def decayed(base, step, gamma=0.9):
    """ExponentialLR."""
    return base * gamma**step


def warmed(base, step, factor=0.25, count=4):
    """A linear warm-up."""
    return base * (factor + (1 - factor) * step / count if step < count else 1.0)


def annealed(base, step, period=5, least=0.002):
    """CosineAnnealingLR."""
    return least + (base - least) * (1 + cos(pi * step / period)) / 2


def restarted(base, step, first=2, longer=2, least=0.002, decay=0.5, limit=0):
    """CosineAnnealingWarmRestarts."""
    length, count = first, 0
    while step >= length:
        step, length, count = step - length, length * longer, count + 1
    if limit and count >= limit:
        return least
    return annealed(base * decay**count, step, length, least)


def polynomial(base, step, cycle, count=4, end=0.01, power=2.0):
    """PolynomialLR; in cycles the first step is as the second, where the formula would divide by 0."""
    step = max(step, 1) if cycle else step
    whole = count * ceil(step / count) if cycle else count
    return (base - end) * (1 - min(step, whole) / whole) ** power + end


#: Each schedule by what makes it of an optimizer, and the learning rate of a step that began with one.
SCHEDULES = {
    "StepLR": (
        lambda lr, own, **more: lr.StepLR(own, step_size=3, gamma=0.5, **more),
        lambda base, step: base * 0.5 ** (step // 3),
    ),
    "MultiStepLR": (
        lambda lr, own, **more: lr.MultiStepLR(own, milestones=[2, 5, 6], gamma=0.5, **more),
        lambda base, step: base * 0.5 ** sum(step >= milestone for milestone in (2, 5, 6)),
    ),
    "ExponentialLR": (lambda lr, own, **more: lr.ExponentialLR(own, gamma=0.9, **more), decayed),
    "ConstantLR": (lambda lr, own: lr.ConstantLR(own, factor=0.5, total_iters=3), held),
    "LinearLR": (
        lambda lr, own, **more: lr.LinearLR(own, start_factor=0.25, end_factor=0.75, total_iters=4, **more),
        lambda base, step: base * (0.25 + 0.5 * min(step, 4) / 4),
    ),
    "PolynomialLR": (
        lambda lr, own: lr.PolynomialLR(own, decay_batch=4, end_learning_rate=0.01, power=1.5),
        partial(polynomial, cycle=False, power=1.5),
    ),
    "PolynomialLR-cycle": (
        lambda lr, own: lr.PolynomialLR(own, decay_batch=4, end_learning_rate=0.01, power=2.0, cycle=True),
        partial(polynomial, cycle=True),
    ),
    "CosineAnnealingLR": (
        lambda lr, own, **more: lr.CosineAnnealingLR(own, T_max=5, eta_min=0.002, **more),
        annealed,
    ),
    "CosineAnnealingWarmRestarts": (
        lambda lr, own: lr.CosineAnnealingWarmRestarts(own, T_0=2, T_mult=2, eta_min=0.002, decay_rate=0.5),
        restarted,
    ),
    "CosineAnnealingWarmRestarts-limit": (
        lambda lr, own: lr.CosineAnnealingWarmRestarts(own, T_0=3, eta_min=0.002, restart_limit=2),
        partial(restarted, first=3, longer=1, decay=1.0, limit=2),
    ),
    "CosineDecayLR": (
        lambda lr, own: lr.CosineDecayLR(own, decay_steps=5, alpha=0.1),
        lambda base, step: base * (0.9 * (1 + cos(pi * min(step, 5) / 5)) / 2 + 0.1),
    ),
    "WarmupLR-linear": (
        lambda lr, own: lr.WarmupLR(own, warmup_factor=0.25, warmup_iters=4, warmup_method="linear"),
        warmed,
    ),
    "WarmupLR-constant": (
        lambda lr, own: lr.WarmupLR(own, warmup_factor=0.5, warmup_iters=3, warmup_method="constant"),
        held,
    ),
    "SequentialLR": (
        lambda lr, own: lr.SequentialLR(
            own,
            schedulers=[lr.ConstantLR(own, factor=0.5, total_iters=3), lr.ExponentialLR(own, gamma=0.9)],
            milestones=[4],
        ),
        lambda base, step: held(base, step) if step < 4 else decayed(base, step),
    ),
    "SequentialLR-rescaled": (
        lambda lr, own: lr.SequentialLR(
            own,
            schedulers=[
                lr.ConstantLR(own, factor=0.5, total_iters=3),
                lr.ExponentialLR(own, gamma=0.9),
                lr.CosineAnnealingLR(own, T_max=5, eta_min=0.002),
            ],
            milestones=[4, 8],
            interval_rescaling=[True, True],
        ),
        lambda base, step: (
            (held(base, step) if step < 4 else decayed(base, step - 4)) if step < 8 else annealed(base, step - 8)
        ),
    ),
}
#: Those that have no form for a graph.
EAGER = {
    "LambdaLR": (
        lambda lr, own: lr.LambdaLR(own, [lambda step: 1 / (1 + step), lambda step: 0.9**step]),
        lambda base, step: base / (1 + step) if base == RATES[0] else decayed(base, step),
    ),
    "ChainedScheduler": (
        lambda lr, own: lr.ChainedScheduler(
            [
                lr.ConstantLR(own, factor=0.5, total_iters=3),
                lr.ExponentialLR(own, gamma=0.9),
                lr.StepLR(own, step_size=5, gamma=0.1),
            ]
        ),
        lambda base, step: decayed(held(base, step), step) * 0.1 ** (step // 5),
    ),
}
#: The learning rates of two groups.
RATES = (0.1, 0.04)
#: Those that are made anew in the middle.
RESUMED = ("StepLR", "MultiStepLR", "ExponentialLR", "LinearLR", "CosineAnnealingLR")


def assert_follows(own, schedule, formula, steps):
    """At each of these steps every group has the learning rate that the formula gives."""
    given = []
    for _ in steps:
        given.append([group["lr"] for group in own.param_groups])
        own.step()
        schedule.step()
    for group, base in enumerate(RATES):
        rates, expected = [step[group] for step in given], [formula(base, step) for step in steps]
        assert near(rates, expected), f"group {group} has {rates}, by the formula {expected}"


@documented(of="optim.lr_scheduler")
@pytest.mark.parametrize("name", [*SCHEDULES, *EAGER])
def test_eager(flow, name):
    make, formula = (SCHEDULES | EAGER)[name]
    own = of_groups(flow, linear(flow), RATES)
    assert_follows(own, make(flow.optim.lr_scheduler, own), formula, range(STEPS))


@documented(of="nn.Graph.add_optimizer")
@pytest.mark.parametrize("name", SCHEDULES)
def test_in_graph(flow, name):
    """The gradient of a sum is of ones: each step moves a parameter by its learning rate."""
    make, formula = SCHEDULES[name]
    module = linear(flow)
    own = of_groups(flow, module, RATES)
    schedule = make(flow.optim.lr_scheduler, own)
    graph = training(flow, module, own, lr_sch=schedule, loss=lambda y: y.sum())
    before, given = module.bias.numpy()[0], []
    for _ in range(STEPS):
        graph(batch(flow))
        after = module.bias.numpy()[0]
        given.append(float(before - after) / len(batch(flow)))
        before = after
    expected = [formula(RATES[1], step) for step in range(STEPS)]
    assert near(given, expected), f"the bias moves by {given}, by the formula {expected}"


@contract(
    "a schedule that is made with the last step of another goes on from there",
    of="optim.lr_scheduler.LRScheduler",
    target="oneflow",
)
@pytest.mark.parametrize("name", RESUMED)
def test_resumed(flow, name):
    make, formula = SCHEDULES[name]
    own = of_groups(flow, linear(flow), RATES)
    assert_follows(own, make(flow.optim.lr_scheduler, own), formula, range(3))
    assert_follows(own, make(flow.optim.lr_scheduler, own, last_step=2), formula, range(3, 7))


@contract("get_last_lr() gives the learning rate of each group", of="optim.lr_scheduler.LRScheduler", target="oneflow")
def test_last_rates(flow):
    own = of_groups(flow, linear(flow), RATES)
    schedule = flow.optim.lr_scheduler.ExponentialLR(own, gamma=0.9)
    own.step()
    schedule.step()
    assert near(schedule.get_last_lr(), [decayed(base, 1) for base in RATES])


#: Arguments of ReduceLROnPlateau, what is measured at each step, and the learning rate after it.
PLATEAUS = {
    "patience": ({"patience": 1}, [1, 1, 1, 1, 1], [0.1, 0.1, 0.05, 0.05, 0.025]),
    "cooldown": ({"patience": 0, "cooldown": 2}, [1, 1, 1, 1, 1], [0.1, 0.05, 0.05, 0.05, 0.025]),
    "max": ({"patience": 0, "mode": "max"}, [1, 2, 1, 3], [0.1, 0.1, 0.05, 0.05]),
    "threshold": ({"patience": 0, "threshold": 0.1}, [10, 9.5, 8.5], [0.1, 0.05, 0.05]),
    "absolute": ({"patience": 0, "threshold": 0.4, "threshold_mode": "abs"}, [10, 9.5, 9.2], [0.1, 0.1, 0.05]),
    "least": ({"patience": 0, "min_lr": 0.04}, [1, 1, 1, 1], [0.1, 0.05, 0.04, 0.04]),
    "eps": ({"patience": 0, "eps": 0.03}, [1, 1, 1, 1], [0.1, 0.05, 0.05, 0.05]),
    "nan": ({"patience": 0}, [1, float("nan"), 0.5, 0.6], [0.1, 0.05, 0.05, 0.025]),
}


@contract(
    "the learning rate falls once what is measured no longer improves",
    of="optim.lr_scheduler.ReduceLROnPlateau",
    target="oneflow",
)
@pytest.mark.parametrize("name", PLATEAUS)
def test_plateau(flow, name):
    arguments, measured, expected = PLATEAUS[name]
    own = of_groups(flow, linear(flow), RATES[:1])
    schedule, given = flow.optim.lr_scheduler.ReduceLROnPlateau(own, factor=0.5, **arguments), []
    for value in measured:
        schedule.step(value)
        given.append(own.param_groups[0]["lr"])
    assert near(given, expected), f"after {measured} the rates are {given}, but should be {expected}"


@contract(
    "the learning rate of each group falls to its own least one",
    of="optim.lr_scheduler.ReduceLROnPlateau",
    target="oneflow",
)
def test_plateau_of_groups(flow):
    own = of_groups(flow, linear(flow), RATES)
    schedule, given = flow.optim.lr_scheduler.ReduceLROnPlateau(own, factor=0.5, patience=0, min_lr=[0.03, 0.005]), []
    for _ in range(5):
        schedule.step(1.0)
        given += [group["lr"] for group in own.param_groups]
    assert near(given, [0.1, 0.04, 0.05, 0.02, 0.03, 0.01, 0.03, 0.005, 0.03, 0.005]), f"the rates are {given}"
