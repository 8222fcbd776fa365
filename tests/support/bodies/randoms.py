"""One test per fault of `faults.randoms`."""

from itertools import cycle

from autotest import autotest, random_tensor, torch

#: With and without replacement.
WAYS = cycle((True, False))


def leaf(low=-0.9):
    """A matrix of 3 by 4."""
    return random_tensor(ndim=2, dim0=3, dim1=4, low=low, high=0.9)


@autotest(n=2)
def test_distribution():
    return torch.nn.functional.dropout(leaf(), 0.3) * 2


@autotest(n=2)
def test_gradient():
    return torch.nn.functional.rrelu(leaf(), training=True)


@autotest(n=2)
def test_stuck():
    return torch.rand(3, 4) + leaf()


@autotest(n=2)
def test_stuck_in_the_graph():
    return torch.randn(3, 4) + leaf()


@autotest(n=2)
def test_dtype():
    return torch.bernoulli(leaf(0.1))


@autotest(n=4)
def test_second_way():
    return torch.multinomial(leaf(0.1).detach(), 4, next(WAYS))


@autotest(n=2)
def test_untouched():
    return torch.nn.AlphaDropout(0.4)(leaf()).exp(), torch.nn.init.normal_(leaf().detach())
