"""What the documentation of LAMB, which PyTorch has not, says of its updates, eagerly and in a graph. One test a
sentence.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from graphs import near, training

from autotest import contract

lamb = partial(contract, target="oneflow", of="optim.LAMB")
static = pytest.mark.parametrize("static", [False, True], ids=["eager", "graph"])
START = [0.5, -1.0, 2.0, 0.25]
#: What the gradients of each step are.
GRADIENTS = [[0.5, -1.0, 2.0, 0.1], [1.5, 0.25, -0.5, 0.2], [-2.0, 1.0, 0.75, -0.3], [0.1, -0.3, 0.9, 0.4]]
#: The documented defaults, but for a rate that shows.
OPTIONS = {"lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0}
CHANGED = {"lr": 0.01, "betas": (0.5, 0.9), "eps": 0.5, "weight_decay": 0.3}


def documented(options, *, adam_w_mode=True, do_bias_correction=True):
    """The weight after all steps by the formula of the documentation. At which rate a decoupled weight decays is left
    open there: it is read as the rate at which the weight moves.
    """
    (first, second), decay = options["betas"], options["weight_decay"]
    weight, mean, square = np.array(START), np.zeros(4), np.zeros(4)
    for step, gradient in enumerate(np.array(GRADIENTS), 1):
        whole = gradient if adam_w_mode else gradient + decay * weight
        mean = first * mean + (1 - first) * whole
        square = second * square + (1 - second) * whole**2
        due = (1 - first**step, 1 - second**step) if do_bias_correction else (1, 1)
        update = mean / due[0] / (np.sqrt(square / due[1]) + options["eps"])
        rate = options["lr"] * np.linalg.norm(weight) / np.linalg.norm(update)
        weight = weight - rate * (update + (decay * weight if adam_w_mode else 0))
    return weight.tolist()


def trained(flow, static, groups, **modes):
    """The weights after all steps; each group of options has a weight of its own."""

    class Weights(flow.nn.Module):
        def __init__(self):
            super().__init__()
            for number in range(len(groups)):
                setattr(self, f"weight{number}", flow.nn.Parameter(flow.tensor(START)))

        def forward(self, gradient):
            return sum((getattr(self, f"weight{number}") * gradient).sum() for number in range(len(groups)))

    model = Weights()
    parts = [{"params": [weight], **options} for weight, options in zip(model.parameters(), groups, strict=True)]
    optimizer = flow.optim.LAMB(parts, **modes)

    graph = training(flow, model, optimizer, loss=lambda loss: loss) if static else None
    for gradient in GRADIENTS:
        if graph is not None:
            graph(flow.tensor(gradient))
            continue
        optimizer.zero_grad()
        model(flow.tensor(gradient)).backward()
        optimizer.step()
    return [weight.tolist() for weight in model.parameters()]


def assert_documented(flow, static, *groups, **modes):
    given = trained(flow, static, groups, **modes)
    expected = [documented(group, **modes) for group in groups]
    for one, other in zip(given, expected, strict=True):
        assert near(one, other), f"the weights are {given}, by the formula {expected}"


@lamb("a parameter moves by the rate times its norm over that of the update, against the update")
@pytest.mark.parametrize("option", ["lr", "betas", "eps"])
@static
def test_update(flow, static, option):
    assert_documented(flow, static, OPTIONS | {option: CHANGED[option]}, do_bias_correction=False)


@lamb("do_bias_correction divides both averages by what they are short of at first")
@static
def test_bias_correction(flow, static):
    assert_documented(flow, static, OPTIONS | {"eps": 0.5}, do_bias_correction=True)


@lamb("weight_decay is decoupled with adam_w_mode, and an L2 penalty without")
@pytest.mark.parametrize("adam_w_mode", [True, False])
@static
def test_weight_decay(flow, static, adam_w_mode):
    assert_documented(flow, static, OPTIONS | {"weight_decay": 0.3}, adam_w_mode=adam_w_mode)


@lamb("a group has a rate, betas, eps and weight_decay of its own")
@pytest.mark.parametrize("option", CHANGED)
@static
def test_groups(flow, static, option):
    assert_documented(flow, static, OPTIONS, OPTIONS | {option: CHANGED[option]}, adam_w_mode=False)
