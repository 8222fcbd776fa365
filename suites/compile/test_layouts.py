"""Strides: of results of inputs that lie transposed, channels last, strided, expanded, overlapping."""

from __future__ import annotations

import pytest
import torch as pytorch
from rows import tensor, whole

from autotest import autotest, dual_tensor, each, torch

#: Ways in which an input of shape (2, 4, 3, 3) lies in memory.
LAYOUTS = {
    "packed": lambda: pytorch.rand(2, 4, 3, 3),
    "transposed": lambda: pytorch.rand(4, 2, 3, 3).transpose(0, 1),
    "channels_last": lambda: pytorch.rand(2, 3, 3, 4).permute(0, 3, 1, 2),
    "every_second": lambda: pytorch.rand(2, 4, 3, 6)[..., ::2],
    "images_transposed": lambda: pytorch.rand(2, 4, 3, 3).transpose(2, 3),
}
#: What gives a result of the same or a smaller shape. Layers are in eval mode, where they only look at an element.
CALLS = {
    "BatchNorm2d": lambda x: torch.nn.BatchNorm2d(4).eval()(x),
    "InstanceNorm2d": lambda x: torch.nn.InstanceNorm2d(4)(x),
    "GroupNorm": lambda x: torch.nn.GroupNorm(2, 4)(x),
    "LayerNorm": lambda x: torch.nn.LayerNorm(3)(x),
    "Conv2d": lambda x: torch.nn.Conv2d(4, 2, 1)(x),
    "AvgPool2d": lambda x: torch.nn.AvgPool2d(2)(x),
    "MaxPool2d": lambda x: torch.nn.MaxPool2d(2)(x),
    "relu": lambda x: torch.relu(x),
    "softmax": lambda x: torch.softmax(x, 1),
    "x+1": lambda x: x + 1,
    "clone": lambda x: x.clone(),
    "zeros_like": lambda x: torch.zeros_like(x),
    "where": lambda x: torch.where(x > 0.5, x, x * 2),
    "cat": lambda x: torch.cat([x, x], 1),
    "sum": lambda x: x.sum(1, keepdim=True),
    "flip": lambda x: torch.flip(x, [1]),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 0)),
    "cumsum": lambda x: torch.cumsum(x, 2),
    "float64": lambda x: x.to(torch.float64),
}
#: Tensors of shape (3, 4) of which several elements lie in one place.
SHARED = {
    "row": lambda: pytorch.rand(1, 4).expand(3, 4),
    "column": lambda: pytorch.rand(3, 1).expand(3, 4),
    "number": lambda: pytorch.rand(1, 1).expand(3, 4),
    "windows": lambda: pytorch.rand(6).as_strided((3, 4), (1, 1)),
}
#: What reads them.
READERS = {
    "returned": lambda x: x,
    "x+1": lambda x: x + 1,
    "view": lambda x: x[1:],
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.contiguous(),
    "sum": lambda x: x.sum(0),
    "matmul": lambda x: x @ x.t(),
    "cat": lambda x: torch.cat([x, x]),
    "stack": lambda x: torch.stack([x, x], 1),
    "softmax": lambda x: torch.softmax(x, -1),
    "write_to_a_copy": lambda x: (x * 1).add_(x),
}
checked = autotest(coverage="none")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@checked
def test_of_an_input(call):
    return call(dual_tensor(each(*LAYOUTS.values()).value()().requires_grad_()))


@checked
def test_of_shared_elements():
    return each(*READERS.values()).value()(dual_tensor(each(*SHARED.values()).value()()))


@autotest(n=3, coverage="none")
def test_expanded_in_the_graph():
    x, y = tensor(1, 4), tensor(3, 1)
    both = [x.expand(3, 4), y.expand(3, 4)]
    joined = torch.cat(both, 1)
    joined[0] = 2.0
    return joined, torch.stack(both).sum(0), both[0] * both[1]


@autotest(n=3, coverage="none")
def test_batch_norm_of_a_transposed_result():
    x = tensor(whole(1, 4), 3, 4)
    return torch.nn.BatchNorm1d(4).eval()(x.transpose(1, 2)), torch.nn.BatchNorm1d(3).eval()(x)


@autotest(n=3, coverage="none")
def test_reduction_of_a_permuted_product():
    x = tensor(2, 3, 4)
    return (x.permute(2, 0, 1) * x.permute(2, 0, 1)).sum(-1), x.permute(1, 2, 0).contiguous() + 1


@autotest(n=3, coverage="none")
def test_channels_last_and_back():
    x = tensor(2, 3, 4, 4)
    y = torch.relu(x.permute(0, 2, 3, 1)) * 2
    return y.permute(0, 3, 1, 2), y
