"""The test bodies that the benchmarks run through the harness."""

from autotest import autotest, random, random_tensor, torch


@autotest(check_graph=False)
def test_eager():
    """Three small ops, forward and backward."""
    k = random(1, 6)
    x = random_tensor(ndim=2, dim0=random(1, 6), dim1=k)
    y = random_tensor(ndim=2, dim0=k, dim1=random(1, 6))
    return torch.relu(torch.matmul(x, y)) * 2


def _matmul():
    k = random(1, 6)
    x = random_tensor(ndim=2, dim0=random(1, 6), dim1=k)
    y = random_tensor(ndim=2, dim0=k, dim1=random(1, 6))
    return torch.matmul(x, y)


@autotest(graph_backward="none")
def test_graph_none():
    """One matmul, graphs forward only."""
    return _matmul()


@autotest()
def test_graph_share():
    """One matmul, the default share of graphs backward."""
    return _matmul()


@autotest(graph_backward="all")
def test_graph_all():
    """One matmul, all graphs backward."""
    return _matmul()


def _open():
    x = random_tensor(ndim=3)
    return torch.tanh(x * 2) + x


@autotest(check_graph=False)
def test_open_eager():
    """Three pointwise ops on a tensor whose sizes, values and layout are left open."""
    return _open()


@autotest()
def test_open_graph():
    """The same in graphs, the default share of them backward."""
    return _open()


@autotest(train=5, coverage="none")
def test_training():
    """Five steps of Adam, eagerly and in a training graph."""
    layer = torch.nn.Linear(4, 3)
    torch.optim.Adam(layer.parameters(), lr=0.1)
    return torch.square(layer(random_tensor(ndim=2, dim0=4, dim1=4))).mean()
