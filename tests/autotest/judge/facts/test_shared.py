"""What a test has found a divergence to need is taken for what later ones need that have all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.fingerprint import UNSTEADY
from autotest.judge.facts.conditions import Facts
from autotest.judge.facts.shared import Shared
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from support.facts import Faulty

NAN = float("nan")


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Shared:
    """What a test has found, which is nothing yet; no target is asked."""
    return Shared(Facts(Adapter(), Faulty(None, monkeypatch), Rules()))


def found(
    *values: float, kind: str = "value", strided: bool = False, dtype: str = "float32", **given: float
) -> Divergence:
    """A divergence of a norm of these values, twice each."""
    data = np.array([values, values], dtype)
    x = Input(0, "x", data, dtype, True, strides=(1, 2) if strided else None)
    program = Program([x], [Call("function", "norm", (Ref(0),), given, out=Ref(1))], Ref(1))
    return Divergence(Difference("eager_forward", kind, "t0", "differs", 0), program, 0)


def facts_of(shared: Shared, divergence: Divergence) -> tuple[str, ...] | None:
    """The facts that it is told with; None where it is not the same again."""
    told = shared.told(divergence)
    return None if told is None else told.facts


def test_the_same_again(shared: Shared) -> None:
    """With all that is needed, and more; not of another kind, dtype or phase, nor without it."""
    shared.note(replace(found(1.0, NAN), facts=("nonfinite",)))
    assert facts_of(shared, found(2.0, NAN, 3.0)) == ("nonfinite",)
    assert facts_of(shared, found(2.0, NAN, strided=True, p=3.0)) == ("nonfinite",)
    assert facts_of(shared, found(2.0, NAN, kind="nonfinite")) == ("nonfinite",), "both are wrong numbers"
    told = shared.told(found(2.0, NAN, kind="nonfinite"))
    assert told is not None
    assert told.difference.kind == "value", "and the ledger knows them by one fingerprint"
    assert facts_of(shared, found(2.0, 3.0, strided=True)) is None
    assert facts_of(shared, found(2.0, NAN, kind="shape")) is None
    assert facts_of(shared, found(2.0, NAN, dtype="float64")) is None
    again = found(2.0, NAN)
    assert facts_of(shared, replace(again, difference=replace(again.difference, phase="eager_backward"))) is None


def test_an_argument_is_needed(shared: Shared) -> None:
    """By its name, as an input's properties are."""
    shared.note(replace(found(1.0, 2.0, p=3.0), facts=("p=",)))
    assert facts_of(shared, found(2.0, NAN, p=1.0)) == ("p=",)
    assert facts_of(shared, found(2.0, NAN)) is None


def test_experiments_decide_between_two(shared: Shared) -> None:
    """Where it could be either of what was found, nobody knows which."""
    shared.note(replace(found(1.0, NAN), facts=("nonfinite",)))
    shared.note(replace(found(1.0, 2.0, p=3.0), facts=("p=",)))
    assert facts_of(shared, found(2.0, NAN)) == ("nonfinite",)
    assert facts_of(shared, found(2.0, NAN, p=1.0)) is None


def test_nothing_is_known_of_another(shared: Shared) -> None:
    """What does not show in each run, or no single call shows, says nothing of others."""
    shared.note(replace(found(1.0, 2.0), facts=(UNSTEADY,)))
    shared.note(replace(found(1.0, 2.0), call=None))
    assert facts_of(shared, found(2.0, 3.0)) is None
    shared.note(found(1.0, 2.0))
    assert facts_of(shared, found(2.0, 3.0)) == ()
    assert facts_of(shared, replace(found(2.0, 3.0), call=None)) is None
