"""Views and writes: which results lie in one memory, and what a write to one of them does to the others."""

from __future__ import annotations

import pytest
from rows import size, tensor

from autotest import autotest, each, torch

#: Views of a tensor of shape (4, 6).
VIEWS = {
    "x[1]": lambda x: x[1],
    "x[1:3]": lambda x: x[1:3],
    "x[:,::2]": lambda x: x[:, ::2],
    "x[None]": lambda x: x[None],
    "x[...,-1]": lambda x: x[..., -1],
    "t": lambda x: x.t(),
    "view": lambda x: x.view(2, 12),
    "reshape": lambda x: x.reshape(-1),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.squeeze(),
    "narrow": lambda x: x.narrow(1, 2, 3),
    "select": lambda x: torch.select(x, 1, 2),
    "diagonal": lambda x: torch.diagonal(x),
    "flatten": lambda x: x.flatten(),
    "as_strided": lambda x: x.as_strided((2, 3), (1, 4), 2),
    "unfold_apart": lambda x: x.unfold(1, 2, 3),
    "view_of_a_view": lambda x: x.t()[1:4].t(),
}
#: Those of several elements in one place, which a write to their base changes, too.
OVERLAPPING_VIEWS = {
    "expand": lambda x: x.unsqueeze(0).expand(3, 4, 6),
    "unfold": lambda x: x.unfold(1, 3, 1),
}
#: Those that autograd keeps from being written, or from which their base is kept apart.
READ_ONLY_VIEWS = {
    "chunk": lambda x: x.chunk(2)[1],
    "split": lambda x: x.split(3, 1)[0],
    "unbind": lambda x: x.unbind(0)[2],
    "detach": lambda x: x.detach(),
}


def of_an_input(view):
    x = tensor(4, 6)
    return view(x), x * 2


def of_a_result(view):
    x = tensor(4, 6) * 2
    return x, view(x)


def base_is_written(view):
    x = tensor(4, 6) * 2
    y = view(x)
    x.add_(1)
    return x, y, y * 2


def of_an_input_is_written(view):
    x = tensor(4, 6, requires_grad=False)
    y = view(x)
    y.add_(1)
    return y, x.sum()


READS = (of_an_input, of_a_result)
USES = (*READS, base_is_written, of_an_input_is_written)
#: Some of each kind: whether gradients pass through a write depends on the write, not on the view.
WRITTEN = {name: VIEWS[name] for name in ("x[1]", "x[:,::2]", "t", "reshape", "diagonal", "view_of_a_view")}
checked = autotest(n=2, coverage="none", inputs="plain")


def views(table):
    """A test per view, as its argument `view`."""
    return pytest.mark.parametrize("view", table.values(), ids=table)


@views(VIEWS)
@checked
def test_view(view):
    return each(*USES).value()(view)


@views(WRITTEN)
@checked
def test_view_is_written(view):
    x = tensor(4, 6) * 2
    y = view(x)
    y.mul_(3)
    return x, y


@views(WRITTEN)
@checked
def test_view_is_written_by_a_tensor(view):
    x = tensor(4, 6) * 2
    y = view(x)
    y.mul_(y + 1)
    return x, y


@views(OVERLAPPING_VIEWS)
@checked
def test_overlapping_view(view):
    return each(*READS, base_is_written).value()(view)


@views(READ_ONLY_VIEWS)
@checked
def test_read_only_view(view):
    return each(*READS).value()(view)


@checked
def test_two_views_that_overlap():
    x = tensor(6) * 2
    head, tail = x[:4], x[2:]
    head.mul_(2)
    tail.add_(1)
    return x, head, tail


@checked
def test_halves_change_places():
    x = tensor(6) * 2
    kept = x[:3].clone()
    x[:3] = x[3:]
    x[3:] = kept
    return x


@checked
def test_item_is_set():
    x = tensor(4, 6) * 2
    x[1] = 0.5
    x[:, 2] = x[:, 3]
    x[0, 0] += 1
    return x


@checked
def test_mask_is_set():
    x = tensor(4, 6) * 2
    x[x > 0.3] = -1.0
    x[1:].masked_fill_(x[1:] < -0.5, 0.25)
    return x


@checked
def test_copy_into_a_view():
    x, y = tensor(4, 6) * 2, tensor(4)
    x[:, 1].copy_(y)
    x.t()[2].copy_(y * 2)
    return x


@checked
def test_out():
    x, y = tensor(3, requires_grad=False), tensor(3, requires_grad=False)
    z = torch.zeros(2, 3)
    torch.add(x, y, out=z[1])
    return z


@checked
def test_out_is_an_operand():
    x, y = tensor(3, requires_grad=False), tensor(3, requires_grad=False)
    torch.mul(x, y, out=x)
    return x + y


@checked
def test_written_twice_through_a_detached_view():
    x = tensor(4) * 2
    y = x.detach()
    y.zero_()
    y.add_(2)
    return x + 1, y


@checked
def test_one_input_twice():
    x = tensor(3, requires_grad=False)
    y = x[:]
    y.add_(1)
    x.mul_(2)
    return x, y, x + y


@checked
def test_loop_of_writes():
    x = tensor(4) * 2
    for place in range(4):
        x[place] = x[place] * place + x[place - 1]
    return x


@checked
def test_accumulation_into_zeros():
    x = tensor(3, 4)
    total = torch.zeros(4)
    for row in range(3):
        total += x[row]
    return total


@checked
def test_size_is_gone_after_a_write():
    x = tensor(size(), 3) * 2
    y = x.unsqueeze(0)
    y.squeeze(0).zero_()
    return x, y
