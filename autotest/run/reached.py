"""What the cases of one test have reached: dtypes, ranks, layouts and values of tensors, phase by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from autotest.cases.design import Design
from autotest.judge.facts.properties import CLASSES, FAR, GREAT, properties
from autotest.judge.judgement import Judgement
from dual_object.program.calls import Input, op_name
from dual_object.program.program import Program
from generators.layouts import LAYOUTS
from reports import REACHED_COUNTS

#: No float from here to what is far from 0 is subnormal, huge, zero or infinite: in float16, and in wider dtypes.
CALM_HALF, CALM = 1e-4, 1e-30
#: What a tensor has whose values are nothing special.
ORDINARY = "ordinary"
REFUSED, UNSUPPORTED = (REACHED_COUNTS.index(name) for name in ("refused", "unsupported"))


class Reached:
    """Counts the input tensors of a test's cases by cell, such as `float32 2 transposed nan+zero`, and by what was done
    with them: a phase in which the target was compared, a refusal of the reference, a target that says that it does not
    support this.

    Every op of a Program counts with all tensors that the case has drawn, each once; of a draw that the reference
    refuses, the op that refused it alone.
    """

    def __init__(self) -> None:
        self._laid_out = 0
        self._before: Counter[str] = Counter()
        self._counts: dict[tuple[str, ...], dict[str, list[int]]] = {}
        self._layouts: dict[tuple[object, ...], str] = {}

    def begins(self, design: Design) -> None:
        """Leave out what has come of a design so far: another run of the test counts it."""
        self._before = _come(design)

    def judged(self, judgement: Judgement) -> None:
        """Count a case by what was compared of it."""
        self._laid_out += judgement.case.laid_out
        program = judgement.case.program
        self._count(program.ops(), program, [UNSUPPORTED] if judgement.unsupported else _phases(judgement))

    def refused(self, program: Program) -> None:
        """Count a draw whose last call the reference has refused; what a body itself refuses is no op's."""
        if program.calls and program.calls[-1].raises:
            self._count([op_name(program.calls[-1])], program, [REFUSED])

    def record(self, design: Design) -> dict[str, object]:
        """What the records keep at the end of a test."""
        come = _come(design)
        come.subtract(self._before)
        groups = [{"ops": [*ops], "cells": cells} for ops, cells in self._counts.items()]
        return {"laid_out": {"cases": self._laid_out, **come}, "groups": groups}

    def _count(self, ops: Sequence[str], program: Program, columns: Sequence[int]) -> None:
        cells = self._counts.setdefault(tuple(dict.fromkeys(ops)), {})
        for x in program.inputs:
            counts = cells.setdefault(self._cell(x), [0] * len(REACHED_COUNTS))
            for column in columns:
                counts[column] += 1

    def _cell(self, x: Input) -> str:
        lies = (x.data.shape, x.strides, x.offset)
        layout, values = self._layouts.get(lies), ORDINARY
        if layout is None or not calm(x):
            names = properties(Program(inputs=[x]))
            layout = self._layouts[lies] = next((name for name in LAYOUTS if name in names), LAYOUTS[0])
            values = "+".join(name for name in (*CLASSES, "empty") if name in names) or ORDINARY
        return f"{x.dtype} {x.data.ndim} {layout} {values}"


def _come(design: Design) -> Counter[str]:
    return Counter(refused=design.refused, spared=design.spared, pairs=design.pairs, covered=design.covered)


def calm(x: Input) -> bool:
    """Whether a short look is enough to know that no value of a tensor is beyond the ordinary, which most are not:
    `properties` takes ten times as long.
    """
    data = x.data
    kind = data.dtype.kind
    if not data.size or kind == "c":
        return False
    if kind != "f":
        return kind == "b" or bool(data.min() >= -GREAT and data.max() <= GREAT)
    sizes = np.sort(np.abs(data.ravel()))
    least = CALM_HALF if data.dtype.itemsize == 2 else CALM
    if not (sizes[0] > least and sizes[-1] < FAR):  # NaN comes last, and is in no order
        return False
    doubled = sizes + sizes
    return not ((sizes[1:] == sizes[:-1]).any() or (doubled == np.floor(doubled)).any())


def _phases(judgement: Judgement) -> list[int]:
    """The phases in which a case was compared; where the target ended, it was asked at least."""
    phases = ["eager_forward"]
    eager, graph = judgement.sides.eager, judgement.graph
    if eager is not None and not eager.ended and judgement.case.program.cotangents:
        phases.append("eager_backward")
    phases += ["graph_forward"] if graph.forward.state == "verified" else []
    phases += ["graph_backward"] if graph.backward.state == "verified" else []
    return [REACHED_COUNTS.index(phase) for phase in phases]
