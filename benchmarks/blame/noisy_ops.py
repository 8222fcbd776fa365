"""One ordinary test for each op that `noise` makes another one at every call."""

from autotest import autotest, random_tensor, torch

F = torch.nn.functional


@autotest(n=3, check_graph=False)
def test_sin():
    return torch.sin(random_tensor())


@autotest(n=3, check_graph=False)
def test_cos():
    return torch.cos(random_tensor())


@autotest(n=3, check_graph=False)
def test_exp():
    return torch.exp(random_tensor())


@autotest(n=3, check_graph=False)
def test_relu():
    return F.relu(random_tensor())


@autotest(n=3, check_graph=False)
def test_sum():
    return torch.sum(random_tensor(ndim=2, low=1, high=2))


@autotest(n=3, check_graph=False)
def test_matmul():
    return torch.matmul(random_tensor(ndim=2, dim0=3, dim1=4), random_tensor(ndim=2, dim0=4, dim1=2))


@autotest(n=3, check_graph=False)
def test_cumsum():
    return torch.cumsum(random_tensor(ndim=2, low=1, high=2), 0)


@autotest(n=3, check_graph=False)
def test_tanh():
    return torch.tanh(random_tensor(low=0.5, high=2))


@autotest(n=3, check_graph=False)
def test_argmax():
    return torch.argmax(random_tensor(ndim=2), 0)


@autotest(n=3, check_graph=False)
def test_softmax():
    return F.softmax(random_tensor(ndim=2), 1)
