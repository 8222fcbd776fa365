"""A widened Program computes the same in float64; its values are changed where that is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autotest.conformance.bodies import double, tensor, torch
from dual_object import Replay
from dual_object.errors import CannotWiden
from dual_object.program.calls import Call, Input
from dual_object.program.precision import is_wide, widened
from dual_object.program.program import Program
from dual_object.program.values import Placement, Ref, Sbp


def wide(case, reference, **options):
    """What the reference shows of a case's widened Program."""
    with reference.default_dtype("float64"):
        seen = Replay(reference, widened(case.program, **options), side="reference").run()
    assert not seen.failures, seen.failures
    return seen


BODIES = {
    "function": lambda: torch.exp(tensor(2, 3)),
    "conversion": lambda: (tensor(2, 3).half() * 2).float(),
    "dtype argument": lambda: torch.sum(tensor(2, 3), dtype=torch.float32),
    "construction": lambda: tensor(3) + torch.ones(3, dtype=torch.float32),
    "default dtype": lambda: tensor(3) + torch.full((3,), 0.1),
    "module": lambda: torch.nn.Linear(3, 2)(tensor(4, 3)),
}


@pytest.mark.parametrize("name", BODIES)
def test_everything_is_float64(name, recorded, reference):
    """Outputs and gradients are float64, within float16's or float32's rounding of what they were."""
    case = recorded(BODIES[name])
    seen = wide(case, reference)
    for shown, was in zip(seen.outputs.values(), case.seen.outputs.values(), strict=True):
        assert shown.dtype == "float64"
        np.testing.assert_allclose(shown.data, was.data, rtol=2e-3)
    assert {shown.dtype for shown in seen.gradients.values() if shown is not None} <= {"float64"}
    assert seen.gradients.keys() == case.seen.gradients.keys()


def test_default_dtype_is_restored(reference):
    """Afterwards tensors are made as before, even where the run raises."""
    before = reference.resolve("get_default_dtype")()
    with reference.default_dtype("float64"):
        assert reference.resolve("get_default_dtype")() != before
    with pytest.raises(TypeError), reference.default_dtype("float64"):
        reference.resolve("exp")("no tensor")
    assert reference.resolve("get_default_dtype")() == before


def test_change_is_given_every_floating_value(recorded, reference):
    """Inputs, parameters and cotangents are handed over with their own dtype; the original keeps its own."""
    met = []

    def change(values, dtype):
        met.append((values.dtype.name, dtype))
        return values * 2

    case = recorded(lambda: torch.nn.Linear(3, 2)(tensor(4, 3)))
    before = case.program.inputs[0].data.copy()
    changed = widened(case.program, change)
    assert set(met) == {("float64", "float32")}
    assert len(met) >= 3
    np.testing.assert_array_equal(changed.inputs[0].data, before.astype(np.float64) * 2)
    np.testing.assert_array_equal(case.program.inputs[0].data, before)


def test_cotangent_of_no_dimension_stays_an_array(recorded, reference):
    """NumPy's functions make scalars of such arrays; a backward wants arrays."""
    case = recorded(lambda: torch.sum(tensor(3)))
    assert wide(case, reference, change=lambda values, dtype: np.abs(values)).backward_failure is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            lambda: tensor(4).view(torch.int32),
            "view\\(dtype\\) reads the bits of one dtype as another's",
        ),
        (lambda: double(tensor(4)), "is a custom op, which may know its dtype"),
    ],
)
def test_what_cannot_be_widened(body, reason, recorded):
    """What knows its own dtype is refused, with the reason."""
    with pytest.raises(CannotWiden, match=reason):
        widened(recorded(body).program)


def test_changed_elements_of_an_expanded_input_lie_apart(recorded):
    """Each is changed by itself, unless the body looks at the memory itself."""

    def expanded(body):
        program = recorded(body).program
        [x] = program.inputs
        return replace(program, inputs=[replace(x, data=np.broadcast_to(x.data[:1], (2, 3)), strides=(0, 1))])

    def change(values, dtype):
        return values + np.arange(values.size).reshape(values.shape) if dtype == "float32" else values

    program = expanded(lambda: torch.argmax(tensor(2, 3)))
    [x] = widened(program, change).inputs
    assert (x.strides, (x.data - program.inputs[0].data).round().tolist()) == (None, [[0, 1, 2], [3, 4, 5]])
    assert widened(program).inputs[0].strides == (0, 1)
    with pytest.raises(CannotWiden, match=r"as_strided\(\) reads an expanded input's memory"):
        widened(expanded(lambda: torch.as_strided(tensor(2, 3), (3,), (1,))), change)


@pytest.mark.parametrize(
    ("body", "wholly"),
    [
        (lambda: torch.sin(tensor(2, 3, dtype="float64")), True),
        (lambda: torch.nn.Linear(3, 2, dtype=torch.float64)(tensor(2, 3, dtype="float64")), True),
        (lambda: torch.sin(tensor(2, 3)), False),
        (lambda: tensor(2, 3, dtype="float64") + tensor(2, 3), False),
        (lambda: tensor(2, 3, dtype="float64").float(), False),
        (lambda: tensor(2, 3, dtype="float64").to(torch.float16), False),
        (lambda: tensor(2, 3, dtype="float64") * torch.ones(3), False),
        (lambda: tensor(2, 3, dtype="float64") * torch.ones(3, dtype=torch.float64), True),
        (lambda: tensor(2, 3, dtype="int64") + 1, False),
    ],
)
def test_wide_is_what_has_nothing_narrower(body, wholly, recorded):
    """A Program in float64 throughout; what has no floating input at all is in the default dtype where it has one."""
    assert is_wide(recorded(body).program) is wholly


def test_global_tensors_are_widened(reference):
    """What the reference computes of a Program with global tensors is asked of float64 as of any other: the gradient of
    a LayerNorm of nearly equal numbers is a matter of rounding on several ranks, too.
    """
    laid = {"placement": Placement("cpu", [0]), "sbp": [Sbp("split", 0)]}
    calls = [
        Call("method", "to_global", (Ref(0),), laid, Ref(1)),
        Call("function", "exp", (Ref(1),), {}, Ref(2)),
    ]
    program = Program([Input(0, "", np.array([1.5], np.float32), "float32")], calls, Ref(2))
    wide = widened(program)
    assert wide.calls == calls
    seen = Replay(reference, wide, side="reference").run()
    assert seen.outputs[2].data.tolist() == pytest.approx([np.exp(1.5)], rel=1e-12)
