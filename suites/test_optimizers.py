"""Optimizers: five steps of a small model, eagerly and in the target's training graph."""

from __future__ import annotations

import pytest
from rows import flag, pick, placed, real, tensor
from training import decay, loss_of, rate, share

from autotest import autotest, oneof, torch


def sgd(parameters):
    momentum = pick(0.0, 0.9)
    nesterov = bool(momentum) and flag()
    return torch.optim.SGD(parameters, lr=rate(), momentum=momentum, weight_decay=decay(), nesterov=nesterov)


def dampened_sgd(parameters):
    return torch.optim.SGD(parameters, lr=rate(), momentum=0.9, dampening=0.3, weight_decay=decay())


def maximized_sgd(parameters):
    momentum = pick(0.0, 0.9)
    nesterov = bool(momentum) and flag()
    return torch.optim.SGD(
        parameters, lr=rate(), momentum=momentum, weight_decay=decay(), nesterov=nesterov, maximize=True
    )


def adam(parameters):
    return torch.optim.Adam(
        parameters,
        lr=rate(),
        betas=(share(), share()),
        eps=oneof(1e-8, 1e-3),
        weight_decay=decay(),
        amsgrad=flag(),
    )


def adamw(parameters):
    return torch.optim.AdamW(
        parameters,
        lr=rate(),
        betas=(share(), share()),
        eps=oneof(1e-8, 1e-3),
        weight_decay=oneof(0.01, 0.3, 0.0),
        amsgrad=flag(),
    )


def adagrad(parameters):
    return torch.optim.Adagrad(
        parameters,
        lr=rate(),
        lr_decay=oneof(0.0, 0.1),
        weight_decay=decay(),
        initial_accumulator_value=oneof(0.0, 0.5),
        eps=oneof(1e-10, 1e-3),
    )


def rmsprop(parameters):
    return torch.optim.RMSprop(parameters, lr=rate(), alpha=share(), eps=1e-30, weight_decay=decay(), centered=flag())


def rmsprop_eps(parameters):
    return torch.optim.RMSprop(parameters, lr=rate(), alpha=share(), eps=oneof(1e-8, 1e-3))


def rmsprop_momentum(parameters):
    return torch.optim.RMSprop(parameters, lr=rate(), momentum=share())


def adadelta(parameters):
    return torch.optim.Adadelta(
        parameters, lr=real(0.5, 2), rho=share(), eps=oneof(1e-10, 1e-6, 1e-3), weight_decay=decay(), maximize=flag()
    )


def maximized_adam(parameters):
    return torch.optim.Adam(parameters, lr=rate(), maximize=True)


OPTIMIZERS = {
    "SGD": sgd,
    "SGD-dampening": dampened_sgd,
    "SGD-maximize": maximized_sgd,
    "Adam": adam,
    "Adam-maximize": maximized_adam,
    "AdamW": adamw,
    "Adagrad": adagrad,
    "RMSprop": rmsprop,
    "RMSprop-eps": rmsprop_eps,
    "RMSprop-momentum": rmsprop_momentum,
    "Adadelta": adadelta,
}
DEFAULTS = ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta")
#: What is left out in `test_defaults` alone, for a default that is known to be another hides all else.
GIVEN = {"RMSprop": {"eps": 1e-30}, "AdamW": {"weight_decay": 0.01}}
#: What a group of parameters has of its own besides its learning rate and weight decay, unlike any default.
OWN = {
    "SGD": {"momentum": 0.5},
    "SGD-nesterov": {"momentum": 0.5, "nesterov": True},
    "SGD-maximize": {"maximize": True},
    "Adam": {"betas": (0.5, 0.7)},
    "Adam-eps": {"eps": 1e-2},
    "Adam-amsgrad": {"amsgrad": True},
    "AdamW": {"betas": (0.5, 0.7)},
    "AdamW-eps": {"eps": 1e-2},
    "AdamW-amsgrad": {"amsgrad": True},
    "Adagrad": {"eps": 1e-3},
    "Adagrad-lr_decay": {"lr_decay": 0.3},
    "RMSprop": {"alpha": 0.5},
    "RMSprop-centered": {"centered": True},
    "Adadelta": {"rho": 0.5},
    "Adadelta-eps": {"eps": 1e-2},
    "Adadelta-maximize": {"maximize": True},
}
#: What an optimizer does that its second group does not: an option that is off is given all the same.
OFF = {
    "SGD": ({"momentum": 0.9, "weight_decay": 0.3}, {"momentum": 0.0, "weight_decay": 0.0}),
    "Adam": ({"weight_decay": 0.3, "amsgrad": True}, {"weight_decay": 0.0, "amsgrad": False}),
    "AdamW": ({"weight_decay": 0.3, "amsgrad": True}, {"weight_decay": 0.0, "amsgrad": False}),
    "Adagrad": ({"weight_decay": 0.3, "lr_decay": 0.3}, {"weight_decay": 0.0, "lr_decay": 0.0}),
    "RMSprop": ({"weight_decay": 0.3, "centered": True}, {"weight_decay": 0.0, "centered": False}),
    "Adadelta": ({"weight_decay": 0.3}, {"weight_decay": 0.0}),
}
#: What gives an optimizer a state for each parameter that has none without.
STATEFUL = {"SGD": {"momentum": 0.9}}


def plain(name, parameters, **options):
    """An optimizer with nothing drawn but its learning rate."""
    return getattr(torch.optim, name)(parameters, lr=rate(), **GIVEN.get(name, {}) | options)


def stateful(name, parameters, **options):
    """The same, with a state for each parameter."""
    return plain(name, parameters, **STATEFUL.get(name, {}), **options)


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in OPTIMIZERS.items()])
@autotest(n=4, train=5)
def test_optimizer(make):
    """With every argument drawn."""
    return loss_of(make)


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=3)
def test_defaults(name):
    """With nothing but what must be given."""
    return loss_of(lambda parameters: getattr(torch.optim, name)(parameters, lr=rate()))


@pytest.mark.parametrize("name", OWN)
@autotest(n=2, train=3, coverage="none")
def test_groups(name):
    """Of two groups of parameters, one has a learning rate, a weight decay and another option of its own."""
    own = {"lr": rate(), "weight_decay": 0.3, **OWN[name]}
    return loss_of(lambda groups: plain(name.partition("-")[0], groups, weight_decay=decay()), own=own)


@pytest.mark.parametrize("name", OFF)
@autotest(n=1, train=4, coverage="none")
def test_switched_off(name):
    """Of two groups of parameters, one is without what the optimizer does else."""
    on, off = OFF[name]
    return loss_of(lambda groups: plain(name, groups, **on), own=off)


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=3, coverage="none")
def test_added_group(name):
    """A group that is added afterwards has its own learning rate and weight decay, and what else is the optimizer's."""
    first, second = placed(torch.nn.Linear(3, 4)), placed(torch.nn.Linear(4, 2))
    optimizer = stateful(name, first.parameters())
    optimizer.add_param_group({"params": second.parameters(), "lr": rate(), "weight_decay": 0.3})
    return torch.square(second(torch.tanh(first(tensor(2, 3))))).mean()


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=1, train=5, coverage="none")
def test_scheduled(name):
    """Decay and state follow the learning rate of the schedule, which warms up, not the one that was given."""
    return loss_of(
        lambda parameters: stateful(name, parameters, weight_decay=0.1),
        lambda optimizer: torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=share(0.2, 0.6), total_iters=3),
    )


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=3)
def test_clipping(name):
    """Gradients are clipped by their norm."""
    layer = placed(torch.nn.Linear(3, 2))
    plain(name, layer.parameters())
    loss = torch.square(layer(tensor(2, 3))).sum()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), oneof(0.1, 100.0), norm_type=oneof(2.0, 1.0, 3.0, float("inf")))
    return loss


@autotest(n=2, train=3)
def test_clipping_of_groups():
    """Each group of parameters is clipped by itself."""
    first, second = placed(torch.nn.Linear(3, 4)), placed(torch.nn.Linear(4, 2))
    plain("SGD", [{"params": first.parameters()}, {"params": second.parameters(), "lr": rate()}])
    loss = torch.square(second(first(tensor(2, 3)))).sum()
    torch.nn.utils.clip_grad_norm_(first.parameters(), 0.1)
    torch.nn.utils.clip_grad_norm_(second.parameters(), oneof(0.2, 100.0), norm_type=oneof(2.0, 1.0))
    return loss


@autotest(n=3, train=3)
def test_clipping_by_value():
    """Gradients are clipped element by element."""
    layer = placed(torch.nn.Linear(3, 2))
    torch.optim.SGD(layer.parameters(), lr=rate())
    loss = torch.square(layer(tensor(2, 3))).sum()
    torch.nn.utils.clip_grad_value_(layer.parameters(), real(0.01, 1))
    return loss


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@autotest(n=2, train=4)
def test_two_optimizers(name):
    """Each layer has its own optimizer."""
    first, second = placed(torch.nn.Linear(3, 4)), placed(torch.nn.Linear(4, 2))
    torch.optim.SGD(first.parameters(), lr=rate(), momentum=share())
    getattr(torch.optim, name)(second.parameters(), lr=rate())
    return torch.square(second(first(tensor(2, 3)))).mean()


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=3)
def test_frozen_and_unused(name):
    """One parameter is frozen, and one leads to no loss: neither moves, whatever decays."""
    frozen, unused, used = placed(torch.nn.Linear(3, 4)), placed(torch.nn.Linear(2, 2)), placed(torch.nn.Linear(4, 2))
    frozen.weight.requires_grad_(False)
    parameters = [*frozen.parameters(), *unused.parameters(), *used.parameters()]
    plain(name, parameters, weight_decay=0.1)
    return torch.square(used(frozen(tensor(2, 3)))).mean()


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=3)
def test_alike_and_single(name):
    """Parameters of the same shape have a state each, and one has a single element."""
    layers = [placed(torch.nn.Linear(2, 2)), placed(torch.nn.Linear(2, 2)), placed(torch.nn.Linear(2, 1))]
    stateful(name, [parameter for layer in layers for parameter in layer.parameters()])
    x = tensor(3, 2)
    for layer in layers:
        x = torch.tanh(layer(x))
    return torch.square(x - 1).mean()


class Scaled(torch.nn.Module):
    """A layer whose result is multiplied by a parameter without dimensions."""

    def __init__(self):
        super().__init__()
        self.layer, self.scale = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        return self.layer(x) * self.scale


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=4, coverage="none")
def test_no_dimensions(name):
    """A parameter without dimensions has a state as any other."""
    model = placed(Scaled())
    stateful(name, model.parameters(), weight_decay=0.1)
    return torch.square(model(tensor(2, 3)) - 1).mean()


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=3)
def test_zero_gradient(name):
    """A gradient of zeros is no missing one: weight decay moves its parameter."""
    idle, used = placed(torch.nn.Linear(3, 2)), placed(torch.nn.Linear(3, 2))
    plain(name, [*idle.parameters(), *used.parameters()], weight_decay=0.1)
    x = tensor(2, 3)
    return torch.square(used(x)).mean() + (idle(x) * 0).sum()


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@autotest(n=3, train=5)
def test_scaler(name):
    """The loss is scaled, and the scale grows."""
    layer = placed(torch.nn.Linear(3, 2))
    getattr(torch.optim, name)(layer.parameters(), lr=rate())
    torch.amp.GradScaler("cpu", init_scale=oneof(2.0**10, 2.0**16), growth_interval=oneof(2, 1000))
    return torch.square(layer(tensor(2, 3))).mean()


@autotest(n=2, train=4)
def test_scaler_clipping():
    """Gradients are clipped as they are without the scale."""
    layer = placed(torch.nn.Linear(3, 2))
    torch.optim.SGD(layer.parameters(), lr=rate(), momentum=share())
    torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
    loss = torch.square(layer(tensor(2, 3))).sum()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), oneof(0.1, 100.0))
    return loss


@autotest(n=2, train=5)
def test_scaler_overflow():
    """A step whose gradients overflow is left out, and the scale backs off."""
    layer = placed(torch.nn.Linear(3, 2))
    torch.optim.SGD(layer.parameters(), lr=rate())
    torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_factor=2.0**4, backoff_factor=2.0**-4, growth_interval=100)
    return torch.square(layer(tensor(2, 3, low=1, high=3))).sum() * 8


@autotest(n=3, train=4)
def test_batch_norm():
    """A layer whose statistics move as it trains."""
    layer = placed(torch.nn.Linear(3, 4, bias=False))
    norm = placed(torch.nn.BatchNorm1d(4, eps=oneof(1e-5, 1e-2), momentum=oneof(0.1, 0.4), affine=flag()))
    torch.optim.SGD([*layer.parameters(), *norm.parameters()], lr=rate(), momentum=share())
    return torch.square(norm(layer(tensor(5, 3)))).mean()


@autotest(n=2, train=4)
def test_evaluated():
    """A part of the model that is in evaluation neither drops nor moves its statistics; its parameters learn."""
    inner = torch.nn.Sequential(placed(torch.nn.Linear(3, 4)), placed(torch.nn.BatchNorm1d(4)))
    fixed, last = torch.nn.Sequential(torch.nn.Sequential(inner, torch.nn.Dropout(0.5))), placed(torch.nn.Linear(4, 2))
    fixed.eval()
    torch.optim.SGD([*fixed.parameters(), *last.parameters()], lr=rate(), momentum=share())
    return torch.square(last(fixed(tensor(5, 3)))).mean()


@autotest(n=2, train=4)
def test_shared():
    """One layer is used twice."""
    layer = placed(torch.nn.Linear(3, 3))
    model = torch.nn.Sequential(layer, torch.nn.Tanh(), layer)
    torch.optim.Adam(model.parameters(), lr=rate(), weight_decay=0.1)
    return torch.square(model(tensor(2, 3))).mean()


class Tied(torch.nn.Module):
    """A classifier whose weight is that of its embedding."""

    def __init__(self):
        super().__init__()
        self.embedding, self.last = torch.nn.Embedding(7, 4), torch.nn.Linear(4, 7)
        self.last.weight = self.embedding.weight

    def forward(self, tokens):
        return self.last(torch.tanh(self.embedding(tokens)))


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=1, train=4, coverage="none")
def test_tied(name):
    """A parameter that two layers share is updated once, by the gradients of both."""
    model = placed(Tied())
    stateful(name, model.parameters())
    tokens = tensor(5, low=0, high=7, dtype=int)
    return torch.nn.functional.cross_entropy(model(tokens), tensor(5, low=0, high=7, dtype=int))


@autotest(n=3, train=4)
def test_padding():
    """The row of an embedding that stands for padding stays as it is, and what is ignored has no share in the mean."""
    embedding, last = placed(torch.nn.Embedding(6, 4, padding_idx=oneof(0, 2))), placed(torch.nn.Linear(4, 3))
    torch.optim.Adam([*embedding.parameters(), *last.parameters()], lr=rate())
    loss = torch.nn.CrossEntropyLoss(ignore_index=oneof(0, 1), reduction=oneof("mean", "sum"))
    return loss(last(embedding(tensor(8, low=0, high=3, dtype=int))), tensor(8, low=0, high=3, dtype=int))


@pytest.mark.parametrize("name", DEFAULTS)
@autotest(n=2, train=4, accumulate=3, coverage="none")
def test_accumulating(name):
    """Each update is by the mean of three batches' gradients."""
    return loss_of(lambda parameters: plain(name, parameters, weight_decay=decay()))


@autotest(n=2, train=4, accumulate=2)
def test_accumulating_by_schedule():
    """Clipped is the mean of the gradients, and a schedule goes on once for each update."""
    layer = placed(torch.nn.Linear(3, 2))
    optimizer = torch.optim.SGD(layer.parameters(), lr=rate(), momentum=share())
    torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=share())
    y = layer(tensor(2, 3))
    torch.nn.utils.clip_grad_norm_(layer.parameters(), oneof(0.1, 100.0))
    return torch.square(y).sum(), y


@autotest(n=2, train=4, accumulate=2)
def test_accumulating_scaled():
    """Each batch's loss is scaled, and the scale grows once for each update."""
    layer = placed(torch.nn.Linear(3, 2))
    torch.optim.SGD(layer.parameters(), lr=rate())
    torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
    return torch.square(layer(tensor(2, 3))).mean()


@autotest(n=2, train=4, accumulate=2)
def test_accumulating_batch_norm():
    """A layer's statistics are of each batch by itself."""
    layer, norm = placed(torch.nn.Linear(3, 4, bias=False)), placed(torch.nn.BatchNorm1d(4))
    torch.optim.SGD([*layer.parameters(), *norm.parameters()], lr=rate(), momentum=share())
    return torch.square(norm(layer(tensor(5, 3)))).mean()
