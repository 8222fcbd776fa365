"""Bodies for the faults of `faults.shrinkable`."""

from autotest import autotest, dual, random, random_tensor, torch


@autotest(n=3, check_graph=False)
def test_chain():
    x = random_tensor(ndim=2, dim0=random(2, 5), dim1=random(3, 8))
    return torch.abs(torch.sin(torch.relu(x)))


@autotest(n=3, check_graph=False, auto_backward=False)
def test_condition():
    x = random_tensor(ndim=2, dim0=random(4, 6), dim1=random(4, 8))
    return torch.tan(x)


@autotest(n=3, check_graph=False)
def test_backward():
    x = random_tensor(ndim=2, dim0=random(2, 5), dim1=random(3, 8))
    return torch.cosh(torch.relu(x))


@autotest(n=1, check_graph=False)
def test_crash():
    x = random_tensor(ndim=2, dim0=4, dim1=random(3, 8))
    return torch.cos(torch.relu(x)) + 1


@autotest(n=1, check_graph=False, auto_backward=False)
def test_hungry():
    return torch.erf(torch.relu(random_tensor(ndim=2, dim0=4, dim1=3)))


@autotest(n=1, check_graph=False, auto_backward=False)
def test_fickle():
    return torch.asinh(random_tensor(ndim=2, dim0=4, dim1=3))


@autotest(n=3, check_graph=False, auto_backward=False)
def test_accepts_invalid():
    a = random_tensor(ndim=2, dim0=3, dim1=random(3, 5))
    b = random_tensor(ndim=2, dim0=3, dim1=4)
    return torch.mm(a, b)


@autotest(n=2, auto_backward=False)
def test_graph():
    x = random_tensor(ndim=2, dim0=random(2, 5), dim1=random(3, 8))
    return torch.exp(torch.relu(x))


@autotest(n=1, check_graph=False, auto_backward=False)
def test_inline():
    planted = dual(reference=lambda x: x + 0, target=lambda x: x + 1, name="planted")
    return planted(random_tensor(ndim=2, dim0=4, dim1=3))
