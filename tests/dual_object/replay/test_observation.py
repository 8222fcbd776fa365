"""What a side shows: outputs, gradients, mutated inputs, buffers; and its way through JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from autotest.conformance.bodies import BODIES, assert_same, tensor, torch
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.observation import (
    ALL_PARTS,
    Failure,
    Observation,
    Seen,
    class_names,
    failure_kind,
    first_words,
    from_json,
    to_json,
)
from dual_object.replay.reading import Finished, Values, observe


def travelled(seen):
    """Return an observation as it arrives from a worker."""
    arrays = []
    data = json.loads(json.dumps(to_json(seen, arrays)))
    return from_json(data, arrays)


@pytest.mark.parametrize("name", BODIES)
def test_round_trip_of_a_body(name, recorded):
    """What a body shows arrives as it was."""
    seen = recorded(BODIES[name]).seen
    assert_same(seen, travelled(seen))


def test_round_trip_of_every_field():
    """Every field arrives, with its types and order."""
    tensor_seen = Seen("bfloat16", (2,), "cuda:1", True, np.ones(2, np.float32), (3,), 1, False)
    seen = Observation(
        outputs={3: tensor_seen, 1: tensor_seen},
        hosts={4: (1, [None, float("inf")]), 5: np.ones(1)},
        inputs={0: np.zeros(2)},
        gradients={"0": None, "2.weight": tensor_seen},
        buffers={"2.mean": tensor_seen},
        parameters={"2.weight": tensor_seen},
        states={2: {"mean": ("float32", (2,), False)}},
        saved={2: ("mean", "weight")},
        structures={4: "returned {3} itself"},
        shared=[(0, 3)],
        unplaced=(1,),
        failures=[Failure(1, "accepts_invalid", (), "a"), Failure(None, "exception", ("X", "Y"), "b")],
        ended=True,
        backward_failure=Failure(None, "unsupported", ("Z",), "c"),
    )
    back = travelled(seen)
    assert list(back.outputs) == [3, 1]
    assert back.hosts[4] == (1, [None, float("inf")])
    assert back.hosts[5].tolist() == [1]
    assert back.inputs[0].tolist() == [0, 0]
    assert back.gradients["0"] is None
    for found in (back.outputs[3], back.gradients["2.weight"], back.buffers["2.mean"], back.parameters["2.weight"]):
        assert (found.dtype, found.shape, found.device, found.requires_grad) == ("bfloat16", (2,), "cuda:1", True)
        assert found.data.tolist() == [1, 1]
        assert (found.strides, found.offset, found.leaf) == ((3,), 1, False)
    assert (back.states, back.saved, back.structures) == (seen.states, seen.saved, seen.structures)
    assert (back.shared, back.unplaced) == ([(0, 3)], (1,))
    assert (back.failures, back.ended, back.backward_failure) == (seen.failures, True, seen.backward_failure)


def test_empty_observation():
    """An observation of nothing arrives as nothing."""
    assert travelled(Observation()) == Observation()


def test_no_backward_from_what_is_no_tensor():
    """Where a side gives a module instead of a tensor, nothing is differentiated and no output is shown."""
    adapter, values = Adapter(), Values()
    values.by_id[0] = values.modules[0] = adapter.resolve("nn.ReLU")()
    program = Program(outputs=Ref(0), cotangents={0: np.ones(2, np.float32)})
    [seen] = observe([Finished(adapter, program, values, Observation())], adapter)
    assert seen == Observation(shows=ALL_PARTS)


def test_gradients_present_and_absent(recorded):
    """Every leaf is named; one that took no part has None, not zeros."""
    seen = recorded(lambda: (tensor(2), tensor(3) * 2, tensor(2, dtype="int64", low=0, high=3))[1]).seen
    assert list(seen.gradients) == ["0", "1", "3"]
    assert seen.gradients["3"] is None
    assert seen.gradients["0"] is None
    assert seen.gradients["1"].data.shape == (3,)


def test_no_backward_without_cotangents(recorded):
    """Without a cotangent no gradient is made."""
    assert recorded(lambda: tensor(2) * 2, backward=False).seen.gradients == {"0": None}


def test_mutated_inputs(recorded):
    """Inputs whose values changed are shown as they are now, others are not; -0 differs from 0."""

    def body():
        x, y, z = tensor(2, grad=False), tensor(2, grad=False), tensor(data=[0.0], dtype="float32", grad=False)
        x.mul_(2)
        z.neg_()
        return y

    case = recorded(body)
    assert list(case.seen.inputs) == [0, 2]
    assert case.seen.inputs[0].tolist() == (case.program.inputs[0].data * 2).tolist()
    assert np.signbit(case.seen.inputs[2]).tolist() == [True]


def test_mutation_without_shared_memory(recorded):
    """A changed bfloat16 input, which NumPy cannot share, is seen as well."""

    def body():
        x, y = tensor(2, dtype="bfloat16", grad=False), tensor(2, dtype="bfloat16", grad=False)
        x.add_(1)
        return y

    assert list(recorded(body).seen.inputs) == [0]


def test_shared_memory(recorded):
    """Outputs that lie in one memory with an input or with one another are grouped; an empty one is nowhere."""

    def body():
        x, y = tensor(4, 3, grad=False), tensor(2, grad=False)
        twice = y * 2
        return x[1:], x.t(), x + 1, twice, twice.view(1, 2), x[:0], x

    seen = recorded(body).seen
    names = dict(enumerate(seen.outputs))
    assert [group for group in seen.shared if 0 in group] == [tuple(sorted((0, names[0], names[1], names[5])))]
    assert [group for group in seen.shared if 0 not in group] == [(names[3], names[4])]


def test_changed_parameters(recorded):
    """A parameter that the body wrote to is shown as it is now; others are not."""

    def body():
        m = torch.nn.Linear(2, 2)
        with torch.no_grad():
            m.bias.add_(1)
        return m(tensor(1, 2))

    seen = recorded(body).seen
    assert list(seen.parameters) == ["0.bias"]
    assert seen.states == {0: {"weight": ("float32", (2, 2), True), "bias": ("float32", (2,), True)}}


def test_buffers(recorded):
    """A module's buffers are shown after the run, by its number and their names."""
    seen = recorded(BODIES["batch_norm"]).seen
    assert list(seen.buffers) == ["0.running_mean", "0.running_var", "0.num_batches_tracked"]
    assert seen.buffers["0.num_batches_tracked"].data.tolist() == 1


def test_output_returned_twice_is_shown_once(recorded):
    """A tensor that was returned twice is one output with one cotangent."""
    case = recorded(BODIES["returned_twice"])
    assert list(case.seen.outputs) == [1]
    assert list(case.program.cotangents) == [1]


def test_output_description(recorded):
    """An output has dtype, shape, device and whether it requires a gradient."""
    [seen] = recorded(lambda: torch.exp(tensor(2, 3, dtype="float64"))).seen.outputs.values()
    assert (seen.dtype, seen.shape, seen.device, seen.requires_grad) == ("float64", (2, 3), "cpu", True)


def test_class_names():
    """Class names run from the most derived, without those that every exception has."""
    assert class_names(ModuleNotFoundError()) == ("ModuleNotFoundError", "ImportError")
    assert class_names(Exception()) == ("Exception",)
    assert not {*class_names(KeyError())} & {*class_names(IndexError())}
    assert class_names(LookupError()) == ("LookupError",)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("one\ntwo", "one"),
        ("\n  \x1b[31mError:\x1b[0m\nreal words ", "real words"),
        ("", "ValueError"),
        ("x" * 500, "x" * 400),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_first_words(message, words):
    """The first line that says something, without colours, not longer than 400 characters."""
    assert first_words(ValueError(message)) == words


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("op is NOT SUPPORTED", "unsupported"),
        ("unimplemented", "unsupported"),
        ("no kernel for half", "unsupported"),
        ("shape mismatch", "exception"),
    ],
)
def test_failure_kind(message, kind):
    """A message that says the target does not do this makes a refusal."""
    assert failure_kind(("RuntimeError",), message) == kind
    assert failure_kind(("NotImplementedError", "RuntimeError"), message) == "unsupported"
