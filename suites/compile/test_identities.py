"""Calls that change no value: a compiler may leave them out, but not hand out the memory of what they were given."""

from __future__ import annotations

import pytest
from rows import shape, tensor

from autotest import autotest, each, torch

#: What gives its operand, in memory of its own or in the same; a graph has to know which.
IDENTITIES = {
    "x*1": lambda x: x * 1,
    "1.0*x": lambda x: 1.0 * x,
    "x+0": lambda x: x + 0,
    "x-0": lambda x: x - 0,
    "0+x": lambda x: 0 + x,
    "x/1": lambda x: x / 1,
    "x**1": lambda x: x**1,
    "neg_twice": lambda x: torch.neg(torch.neg(x)),
    "x[:]": lambda x: x[:],
    "x[...]": lambda x: x[...],
    "reshape": lambda x: x.reshape(x.shape),
    "expand_as": lambda x: x.expand_as(x),
    "contiguous": lambda x: x.contiguous(),
    "to": lambda x: x.to(torch.float32),
    "clone": lambda x: x.clone(),
    "transposed_twice": lambda x: x.transpose(0, 1).transpose(0, 1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "cat_of_one": lambda x: torch.cat([x]),
    "stack_of_one": lambda x: torch.stack([x])[0],
    "roll_by_0": lambda x: torch.roll(x, 0, 0),
    "flipped_twice": lambda x: torch.flip(torch.flip(x, [0]), [0]),
    "repeat_once": lambda x: x.repeat(1, 1),
    "clamp": lambda x: torch.clamp(x, -10, 10),
    "sum_of_one": lambda x: x.unsqueeze(0).sum(0),
    "dropout_of_none": lambda x: torch.nn.functional.dropout(x, 0.0),
    "dropout_eval": lambda x: torch.nn.functional.dropout(x, 0.5, training=False),
    "Identity": lambda x: torch.nn.Identity()(x),
}


def returned(identity):
    return identity(tensor(*shape(2), requires_grad=False))


def written_after(identity):
    y = identity(tensor(*shape(2), requires_grad=False))
    y.add_(1)
    return y


def operand_written_after(identity):
    x = tensor(*shape(2), requires_grad=False)
    y = identity(x)
    x.mul_(2)
    return y * 1, y


def written_after_with_a_gradient(identity):
    x = tensor(*shape(2)) * 2
    y = identity(x)
    y.mul_(3)
    return x, y


USES = (returned, written_after, operand_written_after, written_after_with_a_gradient)


@pytest.mark.parametrize("identity", IDENTITIES.values(), ids=IDENTITIES)
@autotest(coverage="none")
def test_identity(identity):
    return each(*USES).value()(identity)
