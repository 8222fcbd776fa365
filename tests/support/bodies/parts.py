"""Trainings, each with what one fault of `training_faults:parts` concerns."""

from collections import OrderedDict

import pytest

from autotest import autotest, random_tensor, torch

STEPS = {"n": 2, "train": 3, "coverage": "none"}


def loss_of(compute):
    return torch.square(compute(random_tensor(2, 4, 3, low=0.5, high=1.5))).mean()


def in_sequentials(norm):
    return torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(3, 2), norm), torch.nn.Dropout(0.5))


def by_names(norm):
    inner = torch.nn.Sequential(OrderedDict(first=torch.nn.Linear(3, 2), second=norm))
    return torch.nn.Sequential(OrderedDict(inner=inner))


def in_a_list(norm):
    layers = torch.nn.ModuleList([torch.nn.Linear(3, 2), torch.nn.Sequential(norm)])
    return layers, lambda x: layers[1](layers[0](x))


def in_a_dict(norm):
    layers = torch.nn.ModuleDict({"first": torch.nn.Linear(3, 2), "rest": torch.nn.ModuleList([norm])})
    return layers, lambda x: layers["rest"][0](layers["first"](x))


@pytest.mark.parametrize("nest", [in_sequentials, by_names, in_a_list, in_a_dict])
@autotest(**STEPS)
def test_nested(nest):
    made = nest(torch.nn.BatchNorm1d(2))
    model, compute = made if isinstance(made, tuple) else (made, made)
    model.eval()
    torch.optim.SGD(model.parameters(), lr=0.1)
    return loss_of(compute)


def trained(make, clip=False):
    """The loss of a layer whose parameters are given to what makes an optimizer and a schedule."""
    layer = torch.nn.Linear(3, 2)
    make(layer.parameters())
    loss = loss_of(layer)
    if clip:
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 10.0)
    return loss


@autotest(**STEPS, accumulate=2)
def test_summed():
    return trained(lambda parameters: torch.optim.SGD(parameters, lr=0.1))


@autotest(**STEPS, accumulate=2)
def test_summed_with_a_state():
    return trained(lambda parameters: torch.optim.Adam(parameters, lr=0.1, eps=1e-2))


@autotest(**STEPS, accumulate=2)
def test_summed_by_schedule():
    return trained(
        lambda parameters: torch.optim.lr_scheduler.ExponentialLR(torch.optim.SGD(parameters, lr=0.1), gamma=0.9)
    )


@autotest(**STEPS, accumulate=2)
def test_summed_and_clipped():
    return trained(lambda parameters: torch.optim.SGD(parameters, lr=0.1), clip=True)


@autotest(**STEPS, accumulate=3)
def test_late():
    return trained(lambda parameters: torch.optim.lr_scheduler.StepLR(torch.optim.SGD(parameters, lr=0.1), step_size=2))


@autotest(**STEPS, accumulate=3)
def test_overwritten():
    return trained(lambda parameters: torch.optim.Adagrad(parameters, lr=0.1, eps=1e-2))


@autotest(**STEPS)
def test_end():
    return trained(
        lambda parameters: torch.optim.lr_scheduler.LinearLR(
            torch.optim.SGD(parameters, lr=0.1), start_factor=0.5, end_factor=0.8, total_iters=2
        )
    )


@autotest(**STEPS)
def test_later_batch():
    layer = torch.nn.Linear(3, 2)
    torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    return torch.square(layer(torch.sinh(random_tensor(2, 4, 3, low=0.5, high=1.5)))).mean()
