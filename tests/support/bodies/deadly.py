"""Tests whose ops end or stop the worker under `faults.deadly`."""

from autotest import autotest, random_tensor, torch


def plain():
    """A matrix with positive values that wants no gradient."""
    return random_tensor(ndim=2, low=0.1, high=0.9, requires_grad=False)


@autotest(n=4, check_graph=False)
def test_abort():
    return torch.sin(plain() * 2) + 1


@autotest(n=4, check_graph=False)
def test_segfault():
    return torch.cos(plain()) + 1


@autotest(n=4, check_graph=False)
def test_hang():
    return torch.tan(plain())


@autotest(n=4, check_graph=False)
def test_abort_later():
    return torch.cosh(plain())


@autotest(n=1)
def test_graph_abort():
    return torch.exp(plain())


@autotest(n=1)
def test_graph_hang():
    return torch.log1p(plain())


@autotest(n=4, check_graph=False)
def test_hungry():
    return torch.erf(plain())


@autotest(n=1)
def test_graph_hungry():
    return torch.expm1(plain())


@autotest(n=4, check_graph=False)
def test_untouched():
    return torch.square(plain())
