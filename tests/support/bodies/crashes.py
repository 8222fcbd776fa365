"""Calls that end OneFlow's process, each in a chain of others; the reference refuses the first."""

from autotest import autotest, random_tensor, torch


@autotest(n=1, auto_backward=False, check_graph=False)
def test_fmod():
    y = torch.abs(random_tensor(ndim=2, dim0=3, dim1=4, dtype=int)) + 1
    return torch.fmod(y, y * 0) + 1


@autotest(n=1, auto_backward=False, check_graph=False)
def test_amax():
    x = random_tensor(ndim=2, dim0=3, dim1=4)
    return torch.amax(torch.sum(torch.exp(x)), dim=0) + 1


@autotest(n=1, auto_backward=False, check_graph=False)
def test_tensor_split():
    x = random_tensor(ndim=1, dim0=5)
    return torch.tensor_split(torch.exp(x) + 1, (1, 7))[0] + 1


@autotest(n=1, check_graph=False)
def test_div():
    x = random_tensor(ndim=2, dim0=3, dim1=4)
    y = random_tensor(ndim=2, dim0=3, dim1=1)
    return torch.div(torch.exp(x[:, :0]), torch.exp(y)) * 2
