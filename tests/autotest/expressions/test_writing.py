"""The test file of an expression is one that a person would write."""

from __future__ import annotations

from autotest.expressions import parse, test_file


def test_the_file() -> None:
    """One test for each expression, by its op's name, numbered where two have the same."""
    texts = ["torch.softmax(x[2, n], dim=-1)", "nn.Softmax(0)(x[2])", "torch.relu(tensor([1.0]))"]
    assert test_file([parse(text) for text in texts], None) == (
        "# autotest check 'torch.softmax(x[2, n], dim=-1)' 'nn.Softmax(0)(x[2])' 'torch.relu(tensor([1.0]))'\n"
        "import torch as pytorch\n"
        "\n"
        "from autotest import autotest, dual_tensor, random, random_tensor, torch\n"
        "\n\n"
        "@autotest(n=20)\n"
        "def test_softmax():\n"
        "    # torch.softmax(x[2, n], dim=-1)\n"
        "    n = random(1, 8).to(int)\n"
        "    x = random_tensor(ndim=2, dim0=2, dim1=n)\n"
        "    return torch.softmax(x, dim=-1)\n"
        "\n\n"
        "@autotest(n=20)\n"
        "def test_softmax_2():\n"
        "    # nn.Softmax(0)(x[2])\n"
        "    x = random_tensor(ndim=1, dim0=2)\n"
        "    return torch.nn.Softmax(0)(x)\n"
        "\n\n"
        "@autotest(n=1)\n"
        "def test_relu():\n"
        "    # torch.relu(tensor([1.0]))\n"
        "    x = dual_tensor(pytorch.tensor([1.0]))\n"
        "    return torch.relu(x)\n"
    )


def test_names_and_cases() -> None:
    """A test is named after what is called last; `n` is as asked."""
    texts = ["x[2] + 1", "x[2] < 1", "-x[2]", "x[3][0]", "x[2].T", "nn.ReLU()(x[1])", "(torch.abs(x[2]), 1)"]
    written = test_file([parse(text) for text in texts], 7)
    assert [line[4:-3] for line in written.splitlines() if line.startswith("def ")] == [
        "test_add",
        "test_lt",
        "test_neg",
        "test_getitem",
        "test_T".lower(),
        "test_relu",
        "test_abs",
    ]
    assert written.count("@autotest(n=7)") == 7
