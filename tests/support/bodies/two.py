# Two tests that are green on PyTorch.
from autotest import autotest, random_tensor, torch


@autotest(n=2)
def test_first():
    """One op."""
    return torch.sin(random_tensor(ndim=1))


@autotest(n=2)
def test_second():
    """Another."""
    return torch.square(random_tensor(ndim=1))
