"""Dtypes: chains of promotions, plain numbers, tensors without dimensions."""

from __future__ import annotations

from rows import size, tensor

from autotest import autotest, each, torch

#: Each pair of dtypes whose promotion differs from both, or depends on which has dimensions.
PAIRS = (
    ("float32", "float64"),
    ("float16", "float32"),
    ("bfloat16", "float16"),
    ("int64", "float32"),
    ("int32", "int64"),
    ("uint8", "int8"),
    ("bool", "int64"),
    ("bool", "float32"),
)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
NUMBERS = (2, 0.5, 300)
checked = autotest(n=2, coverage="none", auto_backward=False)


def small(*sizes, dtype):
    """A tensor of small whole numbers, which every dtype has."""
    return tensor(*sizes, low=0, high=2 if dtype == "bool" else 4, dtype=dtype, requires_grad=False)


@checked
def test_pair():
    a, b = each(*PAIRS).value()
    x, y = small(2, 3, dtype=a), small(3, dtype=b)
    return x + y, y * x, x == y, x < y


@checked
def test_with_a_scalar_tensor():
    a, b = each(*PAIRS, *(pair[::-1] for pair in PAIRS)).value()
    x, y = small(3, dtype=a), small(dtype=b)
    return x * y, y + x, y * y


@checked
def test_with_a_number():
    x, number = small(3, dtype=each(*DTYPES).value()), each(*NUMBERS).value()
    return x * number, number + x, x == number


@checked
def test_with_a_truth_value():
    x = small(3, dtype="float32")
    return x * True, x + False


@checked
def test_division_of_integers():
    x, y = tensor(3, low=1, high=9, dtype=int), tensor(3, low=1, high=4, dtype="int32")
    return x / y, x // y, x % y, torch.div(x, y, rounding_mode="trunc"), -x // y, -x % y


@checked
def test_sums():
    x = small(2, 3, dtype="bool")
    return x.sum(), x.sum(0) * 0.5, x.to(torch.uint8).sum(1), x.to(torch.int32).cumsum(0), x.float().mean()


@checked
def test_bytes_wrap_around():
    x = tensor(4, low=100, high=256, dtype="uint8")
    return x + x, x * 2, x - 200, (x + x).to(torch.int64) + 1


@checked
def test_joined():
    x, y = small(2, 3, dtype="int64"), small(1, 3, dtype="float32")
    return torch.cat([x, y]), torch.stack([x.to(torch.float32), y.expand(2, 3)])


@autotest(n=3, coverage="none")
def test_chain_with_gradients():
    x, y = tensor(size(), 3), tensor(3, dtype="float64")
    doubled = x.to(torch.float64) * y
    return (doubled.sum(-1).to(torch.float32) * 2).unsqueeze(-1) + x, doubled


@autotest(n=3, coverage="none")
def test_scalar_tensors():
    x, y = tensor(), tensor()
    z = x * y + 1
    z = z.reshape(1)[0].unsqueeze(0).expand(3).sum()
    z.mul_(x.detach())
    return z, z.view(1, 1), torch.stack([x, y]).max()


@autotest(n=3, coverage="none")
def test_scalar_tensor_as_a_factor():
    x, scale = tensor(2, 3), tensor(low=1, high=2)
    return torch.add(x, x, alpha=2) / scale, x.mul(scale).sub_(scale), x[0, 0] * x


@autotest(n=3, coverage="none")
def test_comparison_as_a_factor():
    x = tensor(2, 3)
    mask = x > 0.2
    return x * mask, (mask & ~mask).sum(), mask.to(torch.float32) - x, torch.where(mask, x, 0.5)
