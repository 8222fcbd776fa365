"""Softmax as a function, as a layer, and within another function."""

from autotest import autotest, random_tensor, torch


def x():
    return random_tensor(ndim=2, dim0=3, dim1=4)


@autotest(n=3, check_graph=True, coverage="none")
def test_function():
    return torch.softmax(x(), -1)


@autotest(n=3, check_graph=True, coverage="none")
def test_layer():
    return torch.nn.Softmax(-1)(x())


@autotest(n=3, check_graph=True, coverage="none")
def test_within():
    return torch.nn.functional.softmin(x(), dim=-1)


@autotest(n=3, check_graph=True, coverage="none")
def test_other():
    return torch.sin(x())
