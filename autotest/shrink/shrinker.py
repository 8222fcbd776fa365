"""Shrinking: a divergence made minimal, always with the same fingerprint.

First the case's choices are shrunk, by running its test's body again and again; then the Program, starting from the
blamed call alone. A target that dies costs a new worker each time that it does, so there only the Program is reduced.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from autotest.budget import Allowance, Budget, OutOfTimeError
from autotest.cases.case import Origin
from autotest.cases.drawer import Drawer
from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence, blamed_line
from autotest.compare.kinds import DEADLY, PHASES, in_graph
from autotest.compare.training import shown_in_step
from autotest.errors import EnvironmentFault, HarnessFault
from autotest.expressions import command
from autotest.judge.blame.localization import call_alone
from autotest.judge.standalone import TrialError, trial
from autotest.shrink.choices import UnavailableError, check_available, minimise
from autotest.shrink.reducer import Reducer
from autotest.workers.protocol import Target
from dual_object.program.inputs import input_lines
from dual_object.program.program import Program
from dual_object.replay.adapter import Reference
from generators.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autotest.workers.supervisor import Stage, Supervisor

#: Seconds after which a shrunk candidate counts as hanging, where the case itself was given longer.
HANG_SECONDS = 2.0
#: Seconds after which the result of such a search counts as hanging: a busy machine may be slow for two.
SURE_SECONDS = 10.0
#: The share of a divergence's seconds that its choices may take; the rest is the Program's.
CHOICES_SHARE = 0.5
#: Where one run takes so many seconds (it may poison the worker), a search by choices, which needs hundreds, is too
#: dear.
COSTLY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What a divergence was shrunk to.

    Attributes:
        program: the simplest Program found; None where there is none, and `note` says why.
        note: also why a Program could be simpler still: its seconds were spent.
        seconds, runs: what the search took.
        line: of the blamed call in the printed Program, from 1.
        divergence: as that Program shows it.
    """

    program: Program | None
    note: str | None
    seconds: float
    runs: int
    line: int | None = None
    divergence: Divergence | None = field(default=None, compare=False, repr=False)

    def record(self) -> dict[str, Any]:
        """What the records and the report keep."""
        program = self.program
        return {
            "program": None if program is None else str(program),
            "blamed_line": self.line,
            "values": [] if program is None else input_lines(program),
            "check": None if program is None else command(program),
            "calls": None if program is None else calls(program),
            "elements": None if program is None else elements(program),
            "seconds": round(self.seconds, 3),
            "runs": self.runs,
            "note": self.note,
        }


class Interestingness:
    """Delta debugging's test: whether a Program shows the wanted fingerprint, of a training in the same part of a step
    and what it shows: a learning rate that is wrong from the start has another cause than one that becomes so. Where
    the target raises, it must raise the same class: another refusal has another cause. Raises OutOfTimeError past its
    `allowance`, if it has one.

    Attributes:
        simplest: the simplest Program that has shown it, with its divergence.
        others: the fingerprints that came instead.
        shapes: the exceptional shapes that a Program may have, such as `empty`.
    """

    def __init__(
        self,
        reference: Reference,
        target: Target,
        name: str,
        rules: Rules,
        wanted: Divergence,
        allowance: Allowance | None = None,
    ) -> None:
        self.allowance = allowance
        self.runs = 0
        self.simplest: tuple[Program, Divergence] | None = None
        self.others: dict[str, None] = {}
        self.shapes = shapes(wanted.program) | shapes(wanted.proof)
        self._reference = reference
        self._target = target
        self._name = name
        self._rules = rules
        self._fingerprint = wanted.fingerprint(name)
        self._graph = in_graph(wanted.difference.phase)
        self._whole = wanted.difference.kind == "unsupported"
        self._configuration = wanted.difference.configuration
        self._shown = shown_in_step(wanted.program, wanted.difference)
        self._raised = wanted.difference.raised

    def __call__(self, program: Program) -> bool:
        """Run a Program on both sides."""
        if self.allowance is not None:
            self.allowance.check()
        if not shapes(program) <= self.shapes:
            return False
        self.runs += 1
        try:
            divergences = trial(
                self._reference,
                self._target,
                program,
                self._rules,
                graph=self._graph,
                whole=self._whole,
                configuration=self._configuration,
            )
        except TrialError:
            return False
        for divergence in divergences:
            fingerprint = divergence.fingerprint(self._name)
            if (
                fingerprint == self._fingerprint
                and divergence.difference.raised == self._raised
                and shown_in_step(divergence.program, divergence.difference) == self._shown
            ):
                if self.simplest is None or size(program) <= size(self.simplest[0]):
                    self.simplest = program, divergence
                return True
            self.others[fingerprint] = None
        return False


def shrink(
    reference: Reference,
    target: Supervisor | Stage,
    drawer: Drawer,
    rules: Rules,
    divergence: Divergence,
    draw: tuple[int, Origin],
    budget: Budget[Shrunk],
) -> Shrunk:
    """Shrink what the case of `draw` (its index and origin) shows, in seconds that are taken from the budget."""
    kind = divergence.difference.kind
    if kind == "batch_only":
        return Shrunk(None, "it shows only in a static graph that other cases share", 0.0, 0)
    fingerprint = divergence.fingerprint(drawer.target)
    known = budget.found.get(fingerprint)
    if known is not None:
        return known
    if budget.spent:
        note = f"the {budget.total:g} s that this process has for shrinking are spent; --shrink-total gives more"
        return Shrunk(None, note, 0.0, 0)
    unavailable = _unavailable()
    allowance = budget.allow()
    scarce = "--shrink" if allowance.seconds == budget.each else "--shrink-total"
    name = drawer.target if divergence.stages is None else divergence.stages.first
    interesting = Interestingness(reference, target, name, rules, divergence, allowance)
    with _waiting(target, HANG_SECONDS if kind == "timeout" else None), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hundreds of draws that nobody wrote
        notes = unavailable + _search(
            reference, drawer, divergence, draw, interesting, allowance, choices=not unavailable, scarce=scarce
        )
        if interesting.simplest is None and interesting.runs:
            _ask_the_case(interesting, divergence.program)
    if kind == "timeout" and interesting.simplest is not None:
        with _waiting(target, SURE_SECONDS):
            notes += _sure(interesting)
    return budget.keep(fingerprint, _result(interesting, notes, budget.take(allowance)))


def _ask_the_case(interesting: Interestingness, program: Program) -> None:
    """Run the whole Program of the case again, and forget what simpler candidates showed instead: the note is to say
    what the case itself shows now.
    """
    interesting.others.clear()
    interesting.allowance = None
    interesting(program)


def _result(interesting: Interestingness, notes: list[str], seconds: float) -> Shrunk:
    if interesting.simplest is None:
        return Shrunk(None, "; ".join(notes + _instead(interesting)), seconds, interesting.runs)
    program, minimal = interesting.simplest
    call = minimal.call if minimal.program is program else None
    note = "; ".join(notes) or None
    return Shrunk(program, note, seconds, interesting.runs, blamed_line(program, call), minimal)


def _instead(interesting: Interestingness) -> list[str]:
    if interesting.others:
        return [f"run again, it became another failure: {', '.join(interesting.others)}"]
    return ["run again, it did not show"] if interesting.runs else []


def _search(
    reference: Reference,
    drawer: Drawer,
    divergence: Divergence,
    draw: tuple[int, Origin],
    interesting: Interestingness,
    allowance: Allowance,
    *,
    choices: bool,
    scarce: str,
) -> list[str]:
    """Shrink choices, then the Program; what is to be said of it. `scarce` is the option whose seconds these are."""
    notes: list[str] = []
    try:
        if choices and divergence.difference.kind not in DEADLY:  # each time that those show costs a worker
            interesting.allowance = allowance.first(CHOICES_SHARE)
            _shrink_choices(drawer, draw, interesting)
            interesting.allowance = allowance
        starts = _starts(reference, interesting, divergence)
        interesting.shapes = interesting.shapes.union(*map(shapes, starts))
        forward = PHASES[divergence.difference.phase].step != "backward"
        Reducer(reference, interesting).run(starts, forward=forward)
    except OutOfTimeError:
        notes.append(f"its {round(allowance.seconds, 2):g} s were spent before it was minimal; {scarce} gives more")
    return notes


def _unavailable() -> list[str]:
    """Why choices cannot be shrunk; its first call imports Hypothesis, which no divergence's seconds are for."""
    try:
        check_available()
    except UnavailableError as error:
        return [f"choices were not shrunk: {error}"]
    return []


def _shrink_choices(drawer: Drawer, draw: tuple[int, Origin], interesting: Interestingness) -> None:
    """Shrink the choices of a case; `interesting` keeps the simplest Program that shows the divergence."""
    index, origin = draw
    drawn = drawer.choices(index, origin)
    raised = drawer.raised
    try:
        attempt = _attempt(drawer, draw, interesting)
        costly = Allowance(COSTLY_SECONDS)
        attempt(drawn)  # also for its choices
        if drawn.choices and not costly.over:
            minimise(drawn.choices, attempt)
    except OutOfTimeError:
        return  # the Program is reduced in the seconds that are left
    finally:
        drawer.raised = raised


def _attempt(drawer: Drawer, draw: tuple[int, Origin], interesting: Interestingness) -> Callable[[Source], bool]:
    index, origin = draw

    def attempt(source: Source) -> bool:
        try:
            drawn = drawer.draw(index, origin=origin, source=source)
        except (EnvironmentFault, HarnessFault):
            raise
        except (Exception, pytest.skip.Exception, pytest.fail.Exception):
            return False  # simpler choices may be none that the body can work with
        return interesting(drawn.program)

    return attempt


def _starts(reference: Reference, interesting: Interestingness, divergence: Divergence) -> list[Program]:
    """Programs to reduce, the most promising first: the blamed call alone, then all."""
    starts: list[Program] = []
    simpler = [] if interesting.simplest is None else [interesting.simplest[1]]
    for candidate in (*simpler, divergence):
        if candidate.alone is not None:
            starts.append(candidate.alone)
        elif candidate.call is not None:
            alone = call_alone(reference, candidate.program, candidate.call)
            starts += [] if alone is None else [alone]
        starts.append(candidate.program)
    return starts


def _sure(interesting: Interestingness) -> list[str]:
    """Run a Program that hung within `HANG_SECONDS` once more with longer to answer; if it answers, it is no result."""
    assert interesting.simplest is not None
    program, _ = interesting.simplest
    interesting.simplest, interesting.allowance = None, None
    if interesting(program):
        return []
    return ["what was found answers when it is given longer"]


@contextmanager
def _waiting(target: Supervisor | Stage, seconds: float | None) -> Iterator[None]:
    """Wait at most so many seconds for each answer, where the run would wait longer."""
    timeout = target.timeout
    if seconds is not None and (timeout is None or timeout > seconds):
        target.timeout = seconds
    try:
        yield
    finally:
        target.timeout = timeout


def size(program: Program) -> tuple[int, int]:
    """Calls and elements, of which both should be few."""
    return calls(program), elements(program)


def shapes(program: Program) -> frozenset[str]:
    """The exceptional shapes of inputs and of modules' states: `0-dim`, `empty`.

    A target often has other faults of the same fingerprint there: a Program that came to such a shape only while it was
    reduced would show one of those.
    """
    arrays = [x.data for x in program.inputs]
    states = [array for call in program.calls for array in call.state.values()]
    dimensionless = {"0-dim" for array in arrays if not array.ndim}
    return frozenset(dimensionless | {"empty" for array in arrays + states if not array.size})


def calls(program: Program) -> int:
    """The calls of ops and of modules' constructors."""
    return len(list(program.op_calls()))


def elements(program: Program) -> int:
    """The elements of all inputs and of the modules' states."""
    states = sum(array.size for call in program.calls for array in call.state.values())
    return sum(x.data.size for x in program.inputs) + states


def worst_first(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Divergences in the order in which they are shrunk: what ends the target, what is wrong, what it refuses."""
    return sorted(rows, key=lambda row: (row["kind"] not in DEADLY, row["level"] != "wrong"))


__all__ = ["Interestingness", "Shrunk", "shrink", "worst_first"]
