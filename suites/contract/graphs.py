"""Small static graphs of a framework like OneFlow, for contracts: what is always the same about them."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from contextlib import contextmanager

#: A batch of four rows, and what a model of three inputs begins with.
ROWS = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [-2.0, 1.0, 0.75], [0.1, -0.3, 0.9]]
WEIGHT = [[0.5, -0.25, 1.0], [-0.75, 0.5, 0.25]]


def batch(flow):
    return flow.tensor(ROWS)


def linear(flow):
    """Three inputs, two outputs, always the same weights."""
    made = flow.nn.Linear(3, 2)
    made.weight.data.copy_(flow.tensor(WEIGHT))
    made.bias.data.copy_(flow.tensor([0.1, -0.2]))
    return made


def of_function(flow, function):
    """A graph without a module, which computes a function of its arguments."""

    class Function(flow.nn.Graph):
        def build(self, *args, **kwargs):
            return function(*args, **kwargs)

    return Function()


def of_module(flow, module, configure=None):
    """A graph that calls a module; `configure` gets it once it is initialised."""

    class Calling(flow.nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = module
            if configure is not None:
                configure(self)

        def build(self, x):
            return self.model(x)

    return Calling()


def sgd(flow, module, lr=0.1, **arguments):
    return flow.optim.SGD(module.parameters(), lr=lr, **arguments)


def of_groups(flow, module, rates):
    """An SGD of the parameters of a linear layer, each in a group with a learning rate of its own; all in one group
    where there is one rate.
    """
    parts = [[module.weight], [module.bias]] if len(rates) > 1 else [[module.weight, module.bias]]
    groups = [{"params": part, "lr": rate} for part, rate in zip(parts, rates, strict=True)]
    return flow.optim.SGD(groups, lr=1.0)


def training(flow, module, *optimizers, lr_sch=None, scaler=None, configure=None, loss=None):
    """A graph that trains a module, and gives its loss: by default the mean square of what comes out."""

    class Training(flow.nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = module
            for optimizer in optimizers:
                self.add_optimizer(optimizer, lr_sch=lr_sch)
            if scaler is not None:
                self.set_grad_scaler(scaler)
            if configure is not None:
                configure(self)

        def build(self, x):
            value = mean_square(self.model(x)) if loss is None else loss(self.model(x))
            value.backward()
            return value

    return Training()


def mean_square(y):
    return (y * y).mean()


def train_eagerly(flow, module, optimizer, steps, schedule=None):
    """So many steps as the same graph would do them; the losses."""
    losses = []
    for _ in range(steps):
        loss = mean_square(module(batch(flow)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if schedule is not None:
            schedule.step()
        losses.append(loss.item())
    return losses


def losses(flow, graph, steps):
    return [graph(batch(flow)).item() for _ in range(steps)]


def values(module):
    """All parameters and buffers of a module, or of its state, each as a list of numbers."""
    state = module if isinstance(module, dict) else module.state_dict()
    return {name: tensor.reshape(-1).tolist() for name, tensor in state.items()}


def flat(tensor):
    return tensor.reshape(-1).tolist()


def copied(flow, state):
    """A state that no later step changes."""
    return {
        name: copied(flow, part) if isinstance(part, dict) else flow.tensor(part.numpy())
        for name, part in state.items()
    }


def near(one, other):
    """Whether two lists of numbers are the same but for rounding."""
    return len(one) == len(other) and all(abs(a - b) <= 1e-5 + 1e-5 * abs(b) for a, b in zip(one, other, strict=True))


@contextmanager
def printed():
    """What is printed meanwhile, by Python and by C++: a list that holds it as one text afterwards."""
    told = []
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 1)
        try:
            yield told
        finally:
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            told.append(file.read())
