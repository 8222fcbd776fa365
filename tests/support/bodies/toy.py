"""Tests of a target in an interpreter of its own."""

from autotest import autotest, random_tensor, torch


@autotest(n=4)
def test_right():
    x = random_tensor(ndim=2, dtype="float64")
    return torch.sum(torch.mul(torch.exp(x), torch.sin(x)))


@autotest(n=4)
def test_wrong():
    return torch.cos(random_tensor(ndim=1, low=0.1, high=0.2, dtype="float64"))


@autotest(n=4)
def test_no_row():
    return torch.erf(random_tensor(ndim=1, dtype="float64"))


@autotest(n=4)
def test_no_op():
    return torch.tan(random_tensor(ndim=1, dtype="float64"))


@autotest(n=2)
def test_end():
    return torch.asinh(random_tensor(ndim=1, dtype="float64"))


@autotest(n=4)
def test_random():
    return torch.rand(3)


@autotest(n=1)
def test_raw():
    return torch.sin(random_tensor(ndim=1, dtype="float64")).target
