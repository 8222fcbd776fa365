"""One test per configuration of `configured.Adapter`, whose faults strike one op each."""

from autotest import autotest, random_tensor, torch


def leaf():
    return random_tensor(ndim=2, low=0.1, high=0.9)


@autotest(n=3, graph_configs="all")
def test_sin():
    return torch.sin(leaf())


@autotest(n=3, graph_configs="all")
def test_sin_in_a_chain():
    return torch.sin(leaf() * 2) + 1


@autotest(n=3, graph_configs="all")
def test_cos():
    return torch.cos(leaf())


@autotest(n=3, graph_configs="all")
def test_tan():
    return torch.tan(leaf())


@autotest(n=3, graph_configs="all")
def test_exp():
    return torch.exp(leaf())


@autotest(n=3, graph_configs="all")
def test_log():
    return torch.log(leaf())


@autotest(n=3, graph_configs=("sound", "half"))
def test_some():
    return torch.sin(leaf())


@autotest(n=3, graph_configs=("sound", "half"))
def test_double():
    return torch.sin(random_tensor(ndim=2, low=0.1, high=0.9, dtype=torch.float64))


@autotest(n=3, graph_configs=("sound", "fused"))
def test_unknown():
    return torch.sin(leaf())


@autotest(n=3)
def test_none():
    return torch.sin(leaf())


@autotest(n=3, graph_configs="all", check_graph=False)
def test_without_graphs():
    return torch.sin(leaf())


@autotest(n=2, graph_configs="modules_wrong")
def test_module():
    return torch.nn.Tanh()(leaf())


@autotest(n=2, graph_configs="modules_wrong")
def test_statistics():
    return torch.nn.BatchNorm1d(2)(random_tensor(ndim=2, dim0=3, dim1=2))
