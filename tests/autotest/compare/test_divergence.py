"""The row that records and summary keep of a divergence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence, blamed_line, fingerprint_id, op_of
from autotest.compare.evidence.evidence import Sides
from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import Tolerance
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.observation import Observation, Seen


def program(dtype: str = "float32", strides: tuple[int, ...] | None = None) -> Program:
    """`mul`, then a module, then its call, on one input."""
    return Program(
        [Input(0, "", np.ones((1, 2), np.float32), dtype, strides=strides)],
        [
            Call("operator", "mul", (Ref(0), 2), {}, out=Ref(1)),
            Call("module", "nn.Linear", (2, 2), {}, out=Ref(2)),
            Call("call", "Linear", (Ref(2), Ref(1)), {}, out=Ref(3)),
        ],
        Ref(3),
    )


def difference(kind: str = "value", **fields: Any) -> Difference:
    """A difference of the eager forward."""
    return Difference("eager_forward", kind, "t1", "t1 has gone", **fields)


def test_row() -> None:
    """A row holds every documented key, and its id stands for its fingerprint."""
    made = program()
    row = Divergence(difference(), made, 2).row("oneflow", "test_a.py::test_b", "test_a.py::test_b#3")
    fingerprint = "oneflow/eager_forward/value/Linear/float32"
    assert dict(row) == {
        "id": fingerprint_id(fingerprint),
        "fingerprint": fingerprint,
        "target": "oneflow",
        "test": "test_a.py::test_b",
        "op": "Linear",
        "phase": "eager_forward",
        "kind": "value",
        "level": "wrong",
        "case_key": "test_a.py::test_b#3",
        "message": "Linear: t1 has gone",
        "replay": f"autotest replay {fingerprint_id(fingerprint)}",
        "reason": None,
        "evidence": None,
    }


def test_second_call_of_a_graph() -> None:
    """What a graph shows at its second call says so in its message, its fingerprint and in what scripts are made of."""
    divergence = Divergence(difference(again=True), program(), 2)
    assert divergence.row("t", "a", "a#0")["message"] == "Linear: at the second call of the same graph, t1 has gone"
    assert divergence.fingerprint("t") == "t/eager_forward/value/Linear/float32,again"
    assert divergence.shown == {"call": 2, "program_call": 2, "part": "output", "key": ""}


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("accepts_invalid", "float32,dim=,refusal=dims"),
        ("exception_class", "float32,dim=,refusal=dims"),
        ("crash", "float32,refusal=dims"),
        ("missing", "float32"),
    ],
)
def test_refused_call(kind: str, facts: str) -> None:
    """What becomes of a call that PyTorch refuses says why it does: an op that takes a dimension which is not there is
    not known to take a wrong dtype.
    """
    made = program()
    words = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    made.calls = [Call("function", "sum", (Ref(0),), {"dim": 2}, raises=("IndexError",), refusal=words)]
    assert Divergence(difference(kind), made, 0).fingerprint("t") == f"t/eager_forward/{kind}/sum/{facts}"
    made.calls[0].refusal = ""
    assert "refusal" not in Divergence(difference(kind), made, 0).fingerprint("t")


def test_evidence() -> None:
    """Evidence holds the printed program, its diverging line, a dead target's last words, and what the sides show."""
    made = program()
    assert dict(Divergence(difference(), made, 2, last_words="Check failed").evidence()) == {
        "program": str(made),
        "inputs": ["x = torch.tensor([[1.0, 1.0]], dtype=torch.float32)"],
        "blamed_line": 4,
        "last_words": "Check failed",
        "facts": [],
        "words": [],
        "worst": [],
        "heat": None,
        "histogram": None,
        "sample": None,
        "whole": None,
    }


def test_evidence_of_two_tensors() -> None:
    """The tensors of a difference, and the sides of the Program that showed it, are what is told."""
    one, other, third = (Seen("float32", (1,), "cpu", False, np.array([v], "float32")) for v in (1.0, 2.0, 4.0))
    sides = Sides(Observation(outputs={3: one}), Observation(outputs={3: other}), Observation(outputs={3: third}))
    near = Mismatch.of(one.data, other.data, Tolerance(0.0, 0.0))
    shown = difference(key="3", expected=one, actual=other, mismatch=near)
    [worst] = Divergence(shown, program(), 2, sides=sides).evidence()["worst"]
    assert (worst["reference"], worst["eager"], worst["graph"], worst["absolute"]) == (1.0, 2.0, 4.0, 1.0)
    agreeing = replace(shown, mismatch=Mismatch.of(one.data, other.data, Tolerance(2.0, 0.0)))
    assert Divergence(agreeing, program(), 2, sides=sides).evidence()["worst"] == []


def test_id_is_eight_hexadecimal_digits() -> None:
    """An id is a golden hash of its fingerprint, so that it is the same in every run."""
    assert fingerprint_id("oneflow/eager_forward/value/relu/float32") == "275dd73f"


@pytest.mark.parametrize(
    ("kind", "level"), [("missing", "refuses"), ("unsupported", "refuses"), ("exception", "wrong"), ("crash", "wrong")]
)
def test_level(kind: str, level: str) -> None:
    """What the target does not do at all is told apart from what it does wrong."""
    assert Divergence(difference(kind), program(), 2).row("t", "a", "a#0")["level"] == level


def in_place() -> Program:
    """A value that is made, and written twice."""
    x = Input(0, "x", np.array([1.0], np.float16), "float16")
    made = Call("operator", "mul", (Ref(0), 2), {}, Ref(1))
    written = [Call("function", "sin_", (), {"input": Ref(1)}, Ref(1)) for _ in range(2)]
    return Program([x], [made, *written], Ref(1))


@pytest.mark.parametrize(
    ("made", "call", "facts"),
    [
        (program(), 0, "float32"),
        (program("float16"), 2, "float16"),
        (program("float32", (2, 1)), 0, "float32"),
        (program(), 1, "none"),
        (program("int64"), None, "int64"),
        (Program(), None, "none"),
        (in_place(), 2, "float16"),
    ],
)
def test_facts_tell_the_dtype(made: Program, call: int | None, facts: str) -> None:
    """The fingerprint ends with the dtype of the input that the blamed call works on, and what experiments found."""
    assert Divergence(difference(), made, call).fingerprint("t").split("/")[-1] == facts
    found = Divergence(difference(), made, call, facts=("strided", "nonfinite"))
    assert found.fingerprint("t").split("/")[-1] == f"{facts},strided,nonfinite"


def test_program_is_blamed_where_no_call_is() -> None:
    """Without a call the op is `program` and no line is marked."""
    blamed = Divergence(difference(), program(), None)
    assert blamed.op == "program"
    assert blamed.evidence()["blamed_line"] is None


@pytest.mark.parametrize(("call", "op", "line"), [(0, "mul", 2), (1, "Linear", 3), (2, "Linear", 4)])
def test_blamed_line_is_the_calls(call: int, op: str, line: int) -> None:
    """Lines are counted from 1, the frame of the function included."""
    assert (op_of(program(), call), blamed_line(program(), call)) == (op, line)
