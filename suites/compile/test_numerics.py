"""Half precision, and random ops: what a compiler keeps in more digits than asked for, and which numbers it draws."""

from __future__ import annotations

import pytest
from rows import shape, tensor

from autotest import autotest, torch

HALVES = ("float16", "bfloat16")
halves = pytest.mark.parametrize("dtype", HALVES)
checked = autotest(n=3, coverage="none", inputs="plain")


@halves
@checked
def test_rounded_after_each_call(dtype):
    x = tensor(3, 4, dtype=dtype)
    return ((x + 100) - 100) * 3, (x * 3) / 3


@halves
@checked
def test_there_and_back(dtype):
    x = tensor(3, 4)
    return x.to(getattr(torch, dtype)).to(torch.float32), (x.to(getattr(torch, dtype)) * 2).float() + x


@halves
@checked
def test_reduced(dtype):
    x = tensor(3, 4, dtype=dtype)
    return x.sum(1), x.mean(), torch.softmax(x, 1), torch.amax(x, 0)


@halves
@checked
def test_pointwise_chain(dtype):
    x = tensor(3, 4, low=0.5, high=2, dtype=dtype)
    return torch.relu(torch.exp(torch.tanh(x)) - 1) * torch.sigmoid(x), torch.sqrt(x) + x


@halves
@checked
def test_mixed_with_float32(dtype):
    x, y = tensor(3, 4, dtype=dtype), tensor(4)
    return x * y, (x * 2).to(torch.float32) + y, torch.where(y > 0, x, x * 0.5)


@halves
@checked
def test_written_in_place(dtype):
    x = tensor(3, 4, dtype=dtype) * 2
    x.add_(0.1).mul_(3)
    x[0] = 1.001
    return x


@checked
def test_dropout():
    x = tensor(*shape(2))
    return torch.relu(torch.nn.functional.dropout(x * 2, 0.5)), x.sum()


@checked
def test_dropout_of_all_and_none():
    x = tensor(*shape(2))
    return torch.nn.functional.dropout(x, 1.0), torch.nn.functional.dropout(x, 0.0), torch.nn.Dropout(0.3).eval()(x)


@checked
def test_draws_of_one_call():
    x = tensor(3, 4)
    return torch.rand_like(x) * 0 + x, torch.bernoulli(torch.zeros(3)), torch.randperm(1)


@checked
def test_same_seed_same_numbers():
    torch.manual_seed(3)
    first = torch.rand(4)
    torch.manual_seed(3)
    return first - torch.rand(4)
