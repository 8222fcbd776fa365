"""Sizes 0 and 1, reductions over them, and chains of padding, slicing and indexing."""

from __future__ import annotations

from rows import tensor

from autotest import autotest, each, torch

#: What takes a tensor of any size (n, 3).
CALLS = {
    "x+row": lambda x: x + x[:1].sum(0),
    "broadcast": lambda x: x * x.reshape(-1, 1, 3),
    "sum": lambda x: (x.sum(0), x.sum(1), x.sum()),
    "mean": lambda x: (x.mean(0), x.mean(1)),
    "prod": lambda x: x.prod(0),
    "var": lambda x: torch.var(x, 0, unbiased=False),
    "cumsum": lambda x: torch.cumsum(x, 0),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=0),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "any": lambda x: ((x > 0).any(0), (x > 0).all(0)),
    "matmul": lambda x: (x @ x.t(), x.t() @ x),
    "reshape": lambda x: x.reshape(3, x.shape[0]),
    "flatten": lambda x: x.flatten(),
    "stack": lambda x: torch.stack([x, x]),
    "expand": lambda x: x.unsqueeze(0).expand(2, *x.shape),
    "repeat": lambda x: x.repeat(2, 1),
    "flip": lambda x: torch.flip(x, [0]),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 1, 1, 0)),
    "x[1:]": lambda x: x[1:],
    "x[:,x.shape[0]:]": lambda x: x[:, x.shape[0] :],
    "split": lambda x: x.split(2),
    "tril": lambda x: torch.tril(x),
    "diagonal": lambda x: torch.diagonal(x),
    "squeeze": lambda x: x.squeeze(),
    "squeeze_0": lambda x: x.squeeze(0) * 2,
    "where": lambda x: torch.where(x > 0, x, -x),
    "LayerNorm": lambda x: torch.nn.LayerNorm(3)(x),
    "Linear": lambda x: torch.nn.Linear(3, 2)(x),
    "write": lambda x: (x * 2).mul_(x.sum(0)),
}
#: What takes one of (1, 3) and (2, 3). On one of (0, 3) it ends OneFlow's process, as the suites of these ops say.
FROM_ONE = {
    "softmax": lambda x: (torch.softmax(x, 0), torch.log_softmax(x, 1)),
    "cat": lambda x: torch.cat([x, x[:0], x]),
    "roll": lambda x: torch.roll(x, 1, 0),
}
#: What reduces along a dimension of size 1 gives that element, or what one element comes to.
OVER_ONE = {
    "sum": lambda x: x.sum(1),
    "mean": lambda x: x.mean(1, keepdim=True),
    "amax": lambda x: torch.amax(x, 1),
    "max": lambda x: x.max(1),
    "argmin": lambda x: x.argmin(1),
    "prod": lambda x: x.prod(1),
    "var": lambda x: torch.var(x, 1, unbiased=False),
    "std": lambda x: torch.std(x * 2, 0, unbiased=False),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "softmax": lambda x: torch.softmax(x, 1),
    "cumsum": lambda x: torch.cumsum(x, 1),
    "norm": lambda x: torch.linalg.vector_norm(x + 2, dim=1),
    "sort": lambda x: torch.sort(x, 1)[0],
    "median": lambda x: torch.median(x, 1)[0],
    "LayerNorm": lambda x: torch.nn.LayerNorm([1, 2])(x),
    "einsum": lambda x: torch.einsum("ijk->ik", x),
    "all": lambda x: (x > 0).all(1),
}
checked = autotest(coverage="none", inputs="plain")


@checked
def test_rows():
    return each(*CALLS.values()).value()(tensor(each(0, 1, 2), 3))


@checked
def test_rows_from_one():
    return each(*FROM_ONE.values()).value()(tensor(each(1, 2), 3))


@checked
def test_reduction_over_one():
    return each(*OVER_ONE.values()).value()(tensor(3, 1, 2))


@autotest(n=3, coverage="none")
def test_padded_and_sliced():
    x = torch.nn.functional.pad(tensor(3, 4), (1, 2), value=0.5)
    y = torch.nn.functional.pad(x[:, 1:-2], (-1, 1, 1, 0), mode="constant")
    return y[::2, 1:], x[:, [0, -1]], y


@autotest(n=3, coverage="none")
def test_slices_of_slices():
    x = tensor(8, 6)
    return x[1:][::3][-1], x[-5:-1, ::2][:, 1:], x[10:], x[:, 2:2], x[..., None][:, 0, :]


@autotest(n=3, coverage="none")
def test_indices():
    x = tensor(4, 6)
    at = tensor(2, 3, low=0, high=4, dtype=int)
    return x[at], x[at, at + 1], x[:, at[0]], x[[0, 0, -1]][:, 1], torch.gather(x, 0, at)


@autotest(n=3, coverage="none")
def test_indices_are_written():
    x = tensor(4, 6) * 2
    at = torch.tensor([0, 2])
    x[at] = 1.0
    x[:, at] += x[:, at + 1]
    x.index_add_(0, at, x[:2] * 3)
    return x


@autotest(n=3, coverage="none")
def test_mask_counts():
    x = tensor(3, 4)
    return x * (x > 0).sum(0), torch.where(x > 0, x, x.new_zeros(1)), (x > 2).sum(), (x < 2).sum(1, keepdim=True)


@autotest(n=3, coverage="none")
def test_sizes_as_numbers():
    x = tensor(3, 4)
    rows, columns = x.shape
    return x * (1.0 / rows), x.sum(1) / columns, torch.arange(rows) + x.size(1), torch.zeros(columns, rows) + x.t()
