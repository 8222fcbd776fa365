"""Each tensor of a case counts once in its cell, under what was done with it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from autotest.cases.case import Case
from autotest.cases.design import Design
from autotest.judge.facts.properties import CLASSES, properties
from autotest.judge.judgement import VERIFIED, Check, Judgement
from autotest.run.reached import ORDINARY, Reached, calm
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.observation import Observation
from generators import DTYPES, Factor, fill_values
from generators.fills import FILLS, LAID_OUT
from generators.layouts import LAYOUTS
from reports.tallies.argument_space import AXES

PLAIN = np.array([[0.1, 0.2, 0.3], [0.4, 0.6, 0.7]], np.float32)
CELL = "float32 2 contiguous ordinary"


def tensor(data: Array, dtype: str = "float32", **rest: Any) -> Input:
    """An input with these values."""
    return Input(0, "x", data, dtype, **rest)


def judged(
    *inputs: Input,
    ops: tuple[str, ...] = ("relu",),
    backward: bool = False,
    eager: Observation | None = None,
    laid_out: bool = False,
) -> Judgement:
    """The judgement of a case which has run eagerly, and in no graph."""
    calls = [Call("function", op, (), {}) for op in ops]
    program = Program(inputs=[*inputs], calls=calls, cotangents={1: PLAIN} if backward else {})
    judgement = Judgement(Case(0, "test_x.py::test_a#0", program, Observation(), laid_out=laid_out), 0.0)
    judgement.sides.eager = Observation() if eager is None else eager
    return judgement


def cells(*judgements: Judgement) -> dict[str, list[int]]:
    """The cells of cases that call relu."""
    reached = Reached()
    for judgement in judgements:
        reached.judged(judgement)
    found: Any = reached.record(Design("none"))["groups"]
    assert [group["ops"] for group in found] == [["relu"]]
    return found[0]["cells"]


@pytest.mark.parametrize(
    ("forward", "backward", "counts"),
    [
        (None, False, [1, 0, 0, 0, 0, 0]),
        (None, True, [1, 1, 0, 0, 0, 0]),
        (VERIFIED, False, [1, 1, 1, 0, 0, 0]),
        (VERIFIED, True, [1, 1, 1, 1, 0, 0]),
        (Check("unverified", "refused"), True, [1, 1, 0, 0, 0, 0]),
    ],
)
def test_phases(forward: Check | None, backward: bool, counts: list[int]) -> None:
    """A phase is reached where something was compared in it: forward and backward, eagerly and in a graph."""
    judgement = judged(tensor(PLAIN), backward=backward or forward is not None)
    if forward is not None:
        judgement.graph.ran(forward, backward=backward)
    assert cells(judgement) == {CELL: counts}


def test_what_ended_the_target() -> None:
    """An op that ends the target, or raises there, was asked forward; its backward was not."""
    dead = judged(tensor(PLAIN), backward=True)
    dead.sides.eager = None
    assert cells(dead, judged(tensor(PLAIN), backward=True, eager=Observation(ended=True))) == {
        CELL: [2, 0, 0, 0, 0, 0]
    }


def test_unsupported() -> None:
    """What the target says that it does not support was compared in no phase."""
    judgement = judged(tensor(PLAIN), backward=True)
    judgement.unsupported = "fake says that it does not support float16 there"
    assert cells(judgement) == {CELL: [0, 0, 0, 0, 0, 1]}


def test_each_tensor_counts_once() -> None:
    """Two tensors of a cell are two, however often the op is called with them."""
    assert cells(judged(tensor(PLAIN), tensor(PLAIN), ops=("relu", "relu"))) == {CELL: [2, 0, 0, 0, 0, 0]}


def test_cells() -> None:
    """A cell has dtype, rank, layout, and all classes of the values."""
    special = PLAIN.copy()
    special[0] = [np.nan, 0, 0.3]
    found = cells(
        judged(tensor(PLAIN, strides=(1, 2)), tensor(PLAIN.T.copy(), strides=(1, 2))),
        judged(tensor(special)),
        judged(tensor(np.float32(0.3).reshape(()), offset=3), tensor(np.zeros((0, 2), np.int64), "int64")),
    )
    assert [*found] == [
        "float32 2 transposed ordinary",
        "float32 2 strided ordinary",
        "float32 2 contiguous nan+zero",
        "float32 0 offset ordinary",
        "int64 2 contiguous empty",
    ]


def test_every_op_of_a_case() -> None:
    """Cases that call the same ops are one group, and what tensors an op is given does not depend on the others."""
    reached = Reached()
    reached.judged(judged(tensor(PLAIN), ops=("Conv2d", "call"), laid_out=True))
    reached.judged(judged(ops=("arange",)))
    met = {frozenset({(Factor("index", (2,), turn), 1)}) for turn in range(9)}
    assert reached.record(Design("none", refused=3, pairs=10, spared=2, _ran=met)) == {
        "laid_out": {"cases": 1, "spared": 2, "refused": 3, "pairs": 10, "covered": 9},
        "groups": [{"ops": ["Conv2d", "call"], "cells": {CELL: [1, 0, 0, 0, 0, 0]}}, {"ops": ["arange"], "cells": {}}],
    }


def test_refused_draws() -> None:
    """The op that refuses a draw has refused its tensors, those before it have not; what a body refuses is no op's."""
    reached = Reached()
    calls = [Call("function", "relu", (), {}), Call("function", "cholesky", (), {}, raises=("RuntimeError",))]
    reached.refused(Program(inputs=[tensor(PLAIN)], calls=calls))
    reached.refused(Program(inputs=[tensor(PLAIN)], calls=calls[:1]))
    reached.refused(Program())
    assert reached.record(Design("none"))["groups"] == [{"ops": ["cholesky"], "cells": {CELL: [0, 0, 0, 0, 1, 0]}}]


@pytest.mark.parametrize("dtype", DTYPES)
def test_short_look(dtype: str) -> None:
    """What a short look takes for ordinary is that; it finds most uniform tensors so."""
    found = set()
    for fill, seed, shape in product({*FILLS, *LAID_OUT}, range(4), ((), (5,), (3, 4))):
        if fill == "distinct":
            continue
        x = tensor(fill_values(fill, seed, shape, dtype, -3, 3, bounded=False), dtype)
        if calm(x):
            assert not properties(Program(inputs=[x])) & {*CLASSES}, (fill, x.data)
            found.add(fill)
    assert ("uniform" in found) == (not dtype.startswith("complex"))


def test_levels_are_those_of_the_report() -> None:
    """The report knows each level that there is, so that it can tell what was never reached."""
    assert AXES["dtype"] == (*DTYPES,)
    assert AXES["layout"] == LAYOUTS
    assert {*AXES["values"]} == {ORDINARY, *CLASSES, "empty"}
