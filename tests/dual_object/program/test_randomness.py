"""What of a Program depends on random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.conformance.bodies import tensor, torch
from dual_object.program.program import Program, Randomness
from dual_object.program.values import refs
from dual_object.replay.observation import Observation, Seen, blinded

F = torch.nn.functional


def in_place():
    """A view is written to: its base is random as well."""
    x = tensor(3, 4)
    y = x.detach().clone()
    y[0].uniform_()
    return y, x * 2


def initialised():
    """A parameter is drawn: what the module gives is random."""
    m = torch.nn.Linear(4, 3)
    torch.nn.init.normal_(m.weight)
    return m(tensor(2, 4))


def statistics():
    """A module takes its running statistics from random values."""
    return torch.nn.BatchNorm1d(4)(F.dropout(tensor(3, 4), 0.4))


def read():
    """A random number becomes a number of Python's, which every side then has."""
    return tensor(2) * torch.rand(1).item()


# Per body: printed names of the random calls' ops, and which outputs, gradients and buffers depend on them.
BODIES = {
    "function": (lambda: (F.dropout(tensor(3, 4), 0.4) * 2, tensor(2)), ["dropout"], [0], ["0"], []),
    "module": (lambda: torch.nn.Dropout(0.5)(tensor(3, 4)), ["call"], [0], ["1"], []),
    "no gradient": (lambda: (tensor(2) * 2, torch.rand(3)), ["rand"], [1], [], []),
    "view": (in_place, ["uniform_"], [0], ["0"], []),
    "parameter": (initialised, ["normal_"], [0], ["0.weight", "0.bias", "2"], ["0.weight"]),
    "statistics": (
        statistics,
        ["dropout"],
        [0],
        ["0.weight", "0.bias", "1"],
        ["0.running_mean", "0.running_var", "0.num_batches_tracked"],
    ),
    "host": (read, ["rand"], [], [], []),
    "layers": (
        lambda: torch.nn.LSTM(4, 3, num_layers=2, dropout=0.5)(tensor(2, 2, 4))[0],
        ["call"],
        [0],
        None,
        [],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_random(name, recorded):
    """The calls that draw, and what depends on them through values, memory and modules; nothing else."""
    body, calls, outputs, gradients, buffers = BODIES[name]
    case = recorded(body)
    random, program = case.program.random, case.program
    ops = [program.calls[index] for index in random.calls]
    assert [call.kind if call.kind == "call" else call.op.rpartition(".")[2] for call in ops] == calls
    ids = refs(program.outputs)
    assert [position for position, id_ in enumerate(ids) if id_ in random.values] == outputs
    assert gradients is None or sorted(random.gradients) == sorted(gradients)
    assert sorted(random.state) == sorted(buffers)


@pytest.mark.parametrize(
    "body",
    [
        lambda: torch.nn.Dropout(0.5).eval()(tensor(3)),
        lambda: F.dropout(tensor(3), 0.5, training=False),
        lambda: F.dropout(tensor(3), 1.0),
        lambda: torch.nn.Linear(4, 3)(tensor(2, 4)),
        lambda: (torch.manual_seed(3), tensor(2))[1],
    ],
    ids=["eval", "not training", "certain", "new module", "seeding"],
)
def test_what_is_not(body, recorded):
    """Ops that draw nothing for these arguments are compared by value, as are new modules."""
    assert recorded(body).program.random is None


def test_cases_draw_the_same_again(recorded):
    """The reference's random numbers start from the case, whatever was drawn before."""
    first, second = (recorded(lambda: torch.rand(5)).seen.outputs for _ in range(2))
    assert [seen.data.tolist() for seen in first.values()] == [seen.data.tolist() for seen in second.values()]


def test_sizes_that_depend_on_values(recorded):
    """What is as long as random values say is compared without its size, and no backward starts there."""
    case = recorded(lambda: torch.masked_select(tensor(6), torch.rand(6) > 0.5))
    assert case.program.random.sizes == {case.program.outputs.id}
    assert case.program.cotangents == {}


def test_stored_with_its_program(recorded):
    """A Program comes back from JSON with its randomness."""
    program = recorded(statistics).program
    arrays = []
    assert Program.from_json(program.to_json(arrays), arrays).random == program.random


def test_blinded_keeps_what_is_defined():
    """Without values, dtype, shape and device of what is random stay; all else stays as it is."""
    random = Randomness((0,), frozenset({1, 2}), frozenset({2}), frozenset({5}), frozenset({"0"}), frozenset({"3.b"}))
    one = Seen("float32", (2,), "cpu", False, np.array([1, 2], np.float32))
    zeros = Seen("float32", (2,), "cpu", False, np.zeros(2, np.float32))
    seen = Observation(
        outputs={0: one, 1: one, 2: one},
        gradients={"0": one, "4": one, "7": None},
        buffers={"3.b": one, "3.c": one},
        hosts={5: 1.0, 6: 2.0},
        inputs={1: one.data},
    )
    blind = blinded(seen, random)
    assert blind.outputs[0] is one
    assert told(blind.outputs[1]) == told(zeros)
    assert blind.outputs[2].shape == ()
    assert told(blind.gradients["0"]) == told(zeros)
    assert blind.gradients["4"] is one
    assert blind.gradients["7"] is None
    assert told(blind.buffers["3.b"]) == told(zeros)
    assert blind.buffers["3.c"] is one
    assert blind.hosts == {6: 2.0}
    assert blind.inputs == {}


def told(seen):
    """A tensor as plain data."""
    return seen.dtype, seen.shape, seen.device, seen.requires_grad, seen.data.tolist()
