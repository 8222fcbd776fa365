"""A Difference: one thing in which two observations differ, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from autotest.compare.kinds import PHASES, Phase
from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import Tolerance, tolerance
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.replay.observation import Seen

#: What of an Observation is compared; a `host` is what a call gave to Python, a `call` how its result is built.
Part = Literal["output", "gradient", "second", "buffer", "input", "host", "call"]
#: How the sentence of a difference at a graph's second call begins.
_AGAIN = "at the second call of the same graph, "


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which the target differs, such as kind `dtype` at `t0` with the message `t0 has dtype int32, but
    should have int64`.

    Attributes:
        phase, kind, where: which run, what kind of difference, and what differs: `t0`, `gradient of m0.weight`, an op.
        message: `where`, what it is, and what it should be.
        call: index of the call that shows it, where that is known.
        part, key: what was compared, such as `gradient` and `3.weight`.
        expected, actual: the two tensors, where there are two; `mismatch` compares them, where they have one shape.
        ranks: those that saw it, where a run has more than one.
        again: whether it showed at the second call of the same graph.
    """

    phase: Phase
    kind: str
    where: str
    message: str
    call: int | None = None
    part: Part = "output"
    key: str = ""
    expected: Seen | None = None
    actual: Seen | None = None
    ranks: tuple[int, ...] = ()
    again: bool = False
    mismatch: Mismatch | None = field(default=None, compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """The message, and at which call of the graph."""
        return _AGAIN + self.message if self.again else self.message

    @property
    def buffer(self) -> str:
        """What a module calls the buffer or parameter that differs; empty where it is none."""
        return self.key.rpartition(".")[2] if self.part == "buffer" else ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a test wants compared, and how closely."""

    rtol: float | None = None
    atol: float | None = None
    check_allclose: bool = True
    check_dtype: bool = True
    check_layout: bool = True


#: A value's number in words that know no names.
_NUMBER = re.compile(r"\{(\d+)\}")


class Names:
    """Value numbers and leaf keys as the printed Program names them."""

    def __init__(self, program: Program) -> None:
        from dual_object.program.printing import names

        self._names = names(program)

    def value(self, id_: int) -> str:
        """`x`, `t0`, `m1`."""
        return self._names.get(id_, f"v{id_}")

    def fill(self, words: str) -> str:
        """`words` with names for numbers: `shares memory with {3}` becomes `shares memory with t0`."""
        return _NUMBER.sub(lambda match: self.value(int(match[1])), words)

    def leaf(self, key: str) -> str:
        """`x`, `m0.weight`."""
        id_, _, attribute = key.partition(".")
        name = self.value(int(id_))
        return f"{name}.{attribute}" if attribute else name


def in_world(program: Program, phase: Phase) -> Phase:
    """The phase by its name for this Program: `eager_forward` of one with global tensors is `global_forward`."""
    row = PHASES[phase]
    if row.mode != "eager" or not distributed(program):
        return phase
    return next((other.name for other in PHASES.values() if (other.mode, other.step) == ("global", row.step)), phase)


def allowed_between(expected: Seen, rules: Rules, *, signed: bool = False) -> Tolerance:
    """How far a tensor may be from `expected`.

    `signed`, for outputs: IEEE 754 says which zero an operation gives. A gradient's depends on the order in which its
    parts are added up: there only infinities have a sign to compare.
    """
    allowed = tolerance(expected.dtype, expected.device, rules.rtol, rules.atol)
    return allowed._replace(signed=True) if signed else allowed
