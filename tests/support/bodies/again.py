"""One test per fault of `faults.again`: only the second call of a graph shows it."""

from autotest import autotest, random, random_tensor, torch


def leaf(**knobs):
    """A tensor of rank 2 with positive values that wants a gradient."""
    return random_tensor(ndim=2, low=0.1, high=0.9, **knobs)


@autotest(n=3, graph_backward="none")
def test_baked_constant():
    return torch.sin(leaf())


@autotest(n=3, graph_backward="none")
def test_baked_constant_in_a_chain():
    return torch.sin(leaf() * 2) + 1


@autotest(n=3)
def test_earlier_results():
    return torch.cos(leaf())


@autotest(n=3)
def test_earlier_gradients():
    return torch.exp(leaf())


@autotest(n=3)
def test_nothing_done():
    return torch.tan(leaf())


@autotest(n=3)
def test_state_kept():
    return torch.nn.BatchNorm1d(3)(random_tensor(ndim=2, dim0=random(2, 5), dim1=3))


@autotest(n=3)
def test_together_alone():
    return torch.log2(leaf())


@autotest(n=3)
def test_eager_is_wrong():
    return torch.log10(leaf())


@autotest(n=3)
def test_eager_is_wrong_in_a_chain():
    return torch.log10(leaf()) + 1


@autotest(n=3)
def test_no_other_values():
    return torch.square(torch.zeros(2, 3))


@autotest(n=3)
def test_values_are_read():
    x = leaf()
    return x * x.sum().item()


@autotest(n=3)
def test_untouched():
    x = leaf()
    return torch.square(torch.nn.Linear(4, 3)(random_tensor(ndim=2, dim1=4))), x[0] * 2
