from autotest import autotest, random_tensor, torch


@autotest(n=1, check_graph=False)
def test_sin():
    return torch.sin(torch.ones(2) * random_tensor(ndim=1, dim0=2, requires_grad=False))


@autotest(n=1, check_graph=False)
def test_cos():
    return torch.cos(random_tensor(ndim=1, requires_grad=False))


@autotest(n=1, check_graph=False)
def test_exp():
    return torch.exp(random_tensor(ndim=1, requires_grad=False))


@autotest(n=1, check_graph=False)
def test_tan():
    return torch.tan(random_tensor(ndim=1, requires_grad=False))


@autotest(n=1, check_graph=False)
def test_argmax():
    return torch.argmax(random_tensor(ndim=1, dtype=int), 0)


@autotest(n=1, check_graph=False)
def test_view():
    return torch.sinh(random_tensor(ndim=1, requires_grad=False).view(torch.int32).view(torch.float32))
