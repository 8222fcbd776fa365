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
    shape = {"ndim": 3, "dim0": 2, "dim1": 3, "dim2": 4}
    given = [random_tensor(**shape) for _ in range(3)]
    return torch.nn.functional.scaled_dot_product_attention(*given)


@autotest(n=3, check_graph=True, coverage="none")
def test_other():
    return torch.sin(x())
