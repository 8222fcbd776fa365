"""One test per answer of `faults.lawful`: undecidable where the reference leaves a choice, divergent where not."""

import torch as real

from autotest import autotest, dual_tensor, torch


def given(*values, grad=False):
    """A tensor of these values."""
    return dual_tensor(real.tensor(values, requires_grad=grad))


@autotest(n=3)
def test_other_tie():
    return torch.argsort(given(1.0, 3.0, 3.0))


@autotest(n=3)
def test_no_tie():
    return torch.argmin(given(3.0, 1.0, 2.0))


@autotest(n=3)
def test_other_slope():
    return torch.relu(given(-1.0, 0.0, 2.0, grad=True))


@autotest(n=3)
def test_wrong_slope():
    return torch.nn.functional.relu6(given(-1.0, 0.0, 2.0, grad=True))


@autotest(n=3)
def test_other_order():
    return torch.sum(given(1e8, 1.0, -1e8, 0.5))


@autotest(n=3)
def test_wrong_mean():
    return torch.mean(given(1.0, 2.0, 3.0))


@autotest(n=3)
def test_in_a_chain():
    """The tie is one of values that the chain made; the sound calls around it are aligned."""
    values, indices = torch.sort(given(1.0, 2.0, 2.0) * 3.0)
    return values + 1.0, indices + 1


@autotest(n=3, rtol=0.5, atol=0.5)
def test_loose():
    return torch.exp(given(1.0, 2.0))
