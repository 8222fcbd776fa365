"""Graphs under each configuration of the target: what one fuses, orders, casts or computes twice stays the same."""

from __future__ import annotations

import pytest
from rows import pick, real, tensor
from training import decay, loss_of, rate, share

from autotest import autotest, torch

F = torch.nn.functional
EACH = {"n": 1, "graph_configs": "all", "graph_backward": "all", "coverage": "none"}
TRAINED = {"n": 1, "train": 3, "graph_configs": "all", "coverage": "none"}

PRODUCTS = {
    "matmul": lambda: torch.matmul(tensor(3, 4), tensor(4, 2)),
    "batched": lambda: torch.matmul(tensor(2, 3, 4), tensor(2, 4, 5)),
    "broadcast": lambda: torch.matmul(tensor(2, 3, 4), tensor(4, 5)),
    "linear": lambda: F.linear(tensor(3, 4), tensor(2, 4), tensor(2)),
    "convolution": lambda: F.conv2d(tensor(2, 3, 5, 5), tensor(4, 3, 3, 3)),
    "pooling": lambda: F.max_pool2d(tensor(2, 3, 4, 4), 2),
}


@pytest.mark.parametrize("product", [pytest.param(made, id=name) for name, made in PRODUCTS.items()])
@autotest(**EACH)
def test_added(product):
    """An addition may be made part of what computes one side of it."""
    y = product()
    return torch.relu(y + tensor(*y.shape)) + y


@autotest(**EACH)
def test_added_to_a_norm():
    """Of a layer whose statistics move."""
    norm, x = torch.nn.BatchNorm2d(3), tensor(4, 3, 2, 2)
    return torch.relu(norm(x) + x)


@autotest(**EACH)
def test_added_to_a_layer_norm():
    """Its gradient is a sum of two."""
    x = tensor(4, 6)
    return torch.nn.LayerNorm(6)(x) + torch.tanh(x)


@pytest.mark.parametrize("dtype", ["int32", "float64", "float16"])
@autotest(**EACH)
def test_cast_and_scaled(dtype):
    """A cast, and a product with a number after it or before it."""
    x = tensor(3, 4, low=-5, high=5, requires_grad=False)
    return (x * 2.0).to(getattr(torch, dtype)).to(torch.float32) * 0.5


@autotest(**EACH)
def test_branches():
    """Several ways from one tensor to the result, which may be taken in any order."""
    x = tensor(3, 4)
    ways = [torch.sin(x), torch.exp(x) * 2, torch.matmul(x, tensor(4, 4)), torch.cumsum(x, 1)]
    return torch.cat([torch.tanh(way).sum(1) for way in ways])


@autotest(**EACH)
def test_memory():
    """Tensors of many sizes, some of which live long."""
    x = tensor(2, 3)
    first, y = torch.cat([x, x * 2], 0), x
    for repeats in (2, 5, 3):
        y = torch.tanh(y.repeat(repeats, 1)).sum(0, keepdim=True) + x
    return torch.matmul(first, y.transpose(0, 1)), y


@autotest(**EACH)
def test_written():
    """What is written in place, with views of it."""
    x = tensor(3, 4) * 1.0
    x[1:, ::2] += tensor(2, 2)
    x.mul_(2)
    return x + x[0]


@autotest(**EACH)
def test_half():
    """Ops that are safe in half precision, and some that are not."""
    x = tensor(3, 8)
    scores = torch.softmax(torch.matmul(x, x.transpose(0, 1)) / 3, dim=-1)
    return torch.log(scores + 0.5), torch.exp(scores).sum(), torch.matmul(scores, x)


@autotest(**EACH)
def test_layers():
    """Modules in modules, whose results a backward may compute again."""
    inner = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 4))
    model = torch.nn.Sequential(inner, torch.nn.LayerNorm(4), torch.nn.GELU(), inner)
    return model(tensor(3, 4))


@autotest(**EACH)
def test_recurrent():
    """A layer that calls itself."""
    return torch.nn.LSTM(3, 4, batch_first=True)(tensor(2, 5, 3))[0]


OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=rate(), momentum=pick(0.0, 0.9), weight_decay=decay()),
    "Adam": lambda parameters: torch.optim.Adam(
        parameters, lr=rate(), betas=(share(), share()), eps=1e-2, weight_decay=decay()
    ),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=rate(), eps=1e-2, weight_decay=real(0.01, 0.3)),
    "Adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=rate(), eps=1e-2, weight_decay=decay()),
    "RMSprop": lambda parameters: torch.optim.RMSprop(parameters, lr=rate(), eps=1e-30),
}


@pytest.mark.parametrize("optimizer", [pytest.param(made, id=name) for name, made in OPTIMIZERS.items()])
@autotest(**TRAINED)
def test_update(optimizer):
    """All parameters may be updated in one op, with decay and cast in it."""
    return loss_of(optimizer)


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
@autotest(**TRAINED)
def test_update_of_groups(name):
    """Each group with its own learning rate and weight decay."""
    own = {"lr": rate(), "weight_decay": 0.3}
    return loss_of(lambda groups: getattr(torch.optim, name)(groups, lr=rate(), weight_decay=0.1), own=own)


@autotest(**TRAINED)
def test_clipped_update():
    """Gradients are clipped, decay comes after it, each step is half as long; one parameter has a single element."""
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=rate(), momentum=share(), weight_decay=0.1)
    torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    loss = torch.square(layer(tensor(2, 3))).sum()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.5)
    return loss


@autotest(**TRAINED, accumulate=2)
def test_accumulated_update():
    """Gradients of two batches are averaged first."""
    return loss_of(lambda parameters: torch.optim.Adam(parameters, lr=rate()))


@autotest(**TRAINED)
def test_convolutional():
    """Convolution, statistics, a shortcut and pooling."""
    convolution, norm, last = torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.BatchNorm2d(2), torch.nn.Linear(2, 3)
    parameters = [*convolution.parameters(), *norm.parameters(), *last.parameters()]
    torch.optim.SGD(parameters, lr=rate(), momentum=0.9)
    x = tensor(3, 2, 4, 4)
    y = torch.relu(norm(convolution(x)) + x).mean(dim=(2, 3))
    return F.cross_entropy(last(y), tensor(3, low=0, high=3, dtype=int))
