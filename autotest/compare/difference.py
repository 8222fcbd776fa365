"""A Difference: one thing in which two observations differ, as data; such as that of two tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from autotest.compare.kinds import PHASES, Phase
from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import Tolerance, tolerance, widened
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.observation import Failure, Seen

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
        configuration: the name of that which the graph was built under, where the graph that is built under none does
            not show it.
        blamed: what is to blame where that is no op that a call is of: `accumulate`; empty elsewhere.
        raised: the class of the exception that it ended in, such as `ValueError`; empty where it ended in none.
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
    configuration: str = ""
    blamed: str = ""
    raised: str = ""
    mismatch: Mismatch | None = field(default=None, compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """The message, under which configuration of the graph, and at which call of it."""
        under = f"under {self.configuration}, " if self.configuration else ""
        return under + (_AGAIN if self.again else "") + self.message

    @property
    def told(self) -> tuple[str, ...]:
        """All that is told of it, numbers included."""
        return self.phase, self.kind, self.part, self.key, self.message

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

    def computed_in(self, dtype: str) -> Rules:
        """The same for a target that may compute all floating values in this dtype; empty: in their own."""
        if not dtype:
            return self
        rtol, atol = widened(dtype, self.rtol, self.atol)
        return replace(self, rtol=rtol, atol=atol)


#: A value's number in words that know no names.
_NUMBER = re.compile(r"\{(\d+)\}")


class Names:
    """Value numbers and leaf keys as the printed Program names them, which is printed for the first of them."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @cached_property
    def _names(self) -> Mapping[int, str]:
        from dual_object.program.printing import names

        return names(self._program)

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


class Unlike(NamedTuple):
    """In what two tensors differ: kind and words, and their mismatch where it is in their values."""

    kind: str
    words: str
    mismatch: Mismatch | None = None


def unlike(expected: Seen, actual: Seen, rules: Rules, *, signed: bool = False) -> Unlike | None:
    """In what two tensors differ first; None where they agree, which nearly every comparison finds at once. `signed`:
    in the sign of zeros, too.
    """
    if rules.check_dtype and expected.dtype != actual.dtype:
        return Unlike("dtype", f"has dtype {actual.dtype}, but should have {expected.dtype}")
    if expected.shape != actual.shape:
        return Unlike("shape", f"has shape {actual.shape}, but should have {expected.shape}")
    if expected.device != actual.device:
        return Unlike("device", f"has device {actual.device}, but should have {expected.device}")
    left, right = expected.data, actual.data
    if not rules.check_allclose or (left.dtype == right.dtype and left.tobytes() == right.tobytes()):
        return None
    mismatch = Mismatch.between(left, right, allowed_between(expected, rules, signed=signed))
    return None if mismatch is None else Unlike(mismatch.kind, mismatch.words, mismatch)


def unlike_besides(expected: Seen, actual: Seen, rules: Rules) -> Unlike | None:
    """In what the values differ of two tensors of two dtypes, held together in the one that `actual` has: what is known
    of an op's dtype excuses no wrong number. None also where one of the dtypes has fractions, or imaginary parts, and
    the other has none: there the dtype explains the values.
    """
    left, right = expected.data, actual.data
    if not rules.check_allclose or left.shape != right.shape or _numbers(left) != _numbers(right):
        return None
    given = allowed_between(actual, rules)
    wanted = allowed_between(expected, rules)
    mismatch = Mismatch.between(left.astype(right.dtype), right, max(given, wanted))
    return None if mismatch is None else Unlike(mismatch.kind, mismatch.words, mismatch)


def _numbers(data: Array) -> str:
    """Whole numbers, fractions or complex ones."""
    return data.dtype.kind if data.dtype.kind in "fc" else "i"


def tensor_difference(
    phase: Phase, where: str, way: Unlike, part: Part, key: str, expected: Seen, actual: Seen, rules: Rules
) -> Difference:
    """The difference of two tensors that are unlike."""
    mismatch = way.mismatch
    if mismatch is None and expected.shape == actual.shape:
        allowed = allowed_between(expected, rules, signed=part == "output")
        mismatch = Mismatch.of(expected.data, actual.data, allowed)
    return Difference(
        phase,
        way.kind,
        where,
        f"{where} {way.words}",
        part=part,
        key=key,
        expected=expected,
        actual=actual,
        mismatch=mismatch,
    )


def failure_difference(program: Program, failure: Failure, phase: Phase) -> Difference:
    """A call that ended otherwise than on the reference, as a Difference."""
    where = "the program"
    raised = failure.classes[0] if failure.kind in ("exception", "exception_class") else ""
    if failure.call is not None:
        call = program.calls[failure.call]
        where = call.op
        if failure.kind == "exception_class":
            message = f"{where} raised {failure.classes[0]}: {failure.message}; but should raise {call.raises[0]}"
            return Difference(phase, failure.kind, where, message, call=failure.call, raised=raised)
    if failure.kind in ("accepts_invalid", "structure", "mode"):
        message = f"{where} {failure.message}"
    else:
        message = f"{where} {failure.words}"
    return Difference(phase, failure.kind, where, message, call=failure.call, raised=raised)
