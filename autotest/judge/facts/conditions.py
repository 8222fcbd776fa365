"""Facts of a divergence, found by experiment: what of its inputs and arguments it needs in order to show.

A wrong value at NaN and one at ordinary numbers are two faults, a wrong value in eight layouts is one. So each property
that an input has beyond the ordinary is taken away from the least Program known to show the divergence, and it is run
again on both sides. What no longer shows then needs the property: its class (autotest/compare/fingerprint.py) is a fact
of the fingerprint. An exception that says something else is another divergence. What shows with values that are nearer
to the ordinary, too, needs no more than those: an infinity that overflows as a huge number does is `extreme`, whichever
of them came first. A target that fails at times would not show it then by chance: what is claimed has held in repeated
runs, of other ordinary values each.

So is each argument of the blamed call, where the call gives a wrong result: it is left out, or is another one. An
argument that the divergence needs is a fact by its name, such as `p=`, so that what is known of `norm(x, p=inf)` is
another thing than whatever `norm(x)` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat, takewhile
from typing import Any, NamedTuple

from autotest.compare.causes import cause
from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.fingerprint import CLOSE, NEGATIVE, SIZES, STRIDED, UNSTEADY, VALUES, VECTOR, classes
from autotest.compare.kinds import KINDS, PHASES, in_graph
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import graph_differences
from autotest.judge.blame.localization import of_death, of_refusal
from autotest.judge.facts.arguments import Argument, arguments, plain
from autotest.judge.facts.closeness import spread
from autotest.judge.facts.properties import apart, calmed, grown, matrices, nearer, packed, positive, properties, usual
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Death, Target
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.replay.adapter import Reference
from dual_object.replay.isolation import waves
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.replay import Replay

#: So many runs with a property must all show a divergence, and as many without it none, for the divergence to need it.
TRIALS = 3
#: The phase and kind of a difference, and the cause that it tells where it is raised eagerly. What a graph says is of
#: all cases that it is built of.
Sign = tuple[str, str, str]
#: A wrong number may be none, once an argument is another.
_NUMBERS = frozenset({"value", "nonfinite"})


class Shown(NamedTuple):
    """What a Program shows: its differences, and the steps whose results could be compared: `forward`, `backward`,
    `second`.
    """

    differences: frozenset[Sign]
    compared: frozenset[str] = frozenset()


@dataclass(slots=True)
class Facts:
    """Finds out what the inputs and arguments of divergences need for them to show.

    What one divergence needs is taken over for all others of the same op, phase, kind, cause, arguments and properties
    of inputs. What has ended the target in one experiment is asked in no other one: each end costs a process.
    """

    reference: Reference
    target: Target
    rules: Rules
    known: dict[tuple[object, ...], tuple[str, ...]] = field(default_factory=dict)
    _ends: dict[tuple[object, ...], Shown] = field(default_factory=dict)
    #: The Program that was asked for last, as the reference could take it, and what that showed.
    _latest: tuple[Program, Program, Observation] | None = None

    def with_conditions(self, divergences: Sequence[Divergence], *, graph: bool) -> list[Divergence]:
        """The divergences with their facts; those whose inputs are ordinary are left as they are."""
        return [self._with_conditions(divergence, graph) for divergence in divergences]

    def present(self, divergence: Divergence) -> frozenset[str]:
        """All that a divergence may need: the classes of what its inputs have, and the arguments of its call."""
        has, given = _asked_of(divergence)
        names = {f"{argument.name(self.reference, divergence.proof)}=" for argument in given}
        return classes(has) | names

    def _with_conditions(self, divergence: Divergence, graph: bool) -> Divergence:
        program, difference = divergence.proof, divergence.difference
        # Each experiment with what never ends takes as long as the deadline, or all the memory that there is.
        endless = difference.kind in ("timeout", "out_of_memory")
        if program.training is not None or program.inline is not None or endless or distributed(program):
            return divergence
        has, given = _asked_of(divergence)
        if not (has or given):
            return divergence
        values = tuple((argument, repr(argument.of(program))) for argument in given)
        wanted = _sign(difference)
        key = (divergence.op, wanted, graph, has, values)
        if key not in self.known:
            self.known[key] = self._facts(program, wanted, _result_of(divergence), graph)
        facts = self.known[key]
        if UNSTEADY not in facts:
            return replace(divergence, facts=facts)
        # Nobody knows what of all that is there it needs.
        return replace(divergence, facts=facts, present=self.present(divergence))

    def _facts(self, program: Program, wanted: Sign, call: int | None, graph: bool) -> tuple[str, ...]:
        """What a Program's divergence needs. Where it does not show at each run, nobody knows: a wrong result is
        `unsteady`. Its sizes are told, too, for memory that was never written holds another number in each run, and
        that comes of sizes.
        """

        def stands(candidate: Program) -> bool:
            return wanted in self._shown(candidate, graph).differences

        def shown(candidates: Iterable[Program]) -> Program | None:
            return next(filter(stands, candidates), None)

        sizes = [size for size in SIZES if size in properties(program)]
        by_chance = () if call is None else (*sizes, UNSTEADY)
        # Each experiment with what ends the target costs a process: such a Program is taken at its word.
        trusted = wanted[1] == "crash"
        if not (trusted or stands(program)):
            return by_chance
        needed, plain = self._needed(program, shown)
        if call is not None:
            needed += self._needed_by_call(plain, call, wanted, graph, special=not VALUES.keys().isdisjoint(needed))
        if needed and not trusted and not all(stands(program) for _ in range(TRIALS - 1)):
            return by_chance
        return tuple(needed)

    def _needed(
        self, program: Program, shown: Callable[[Iterable[Program]], Program | None]
    ) -> tuple[list[str], Program]:
        """One property of the inputs after the other is taken away; what can go stays away, and what can be nearer to
        the ordinary becomes that. What is left, and the Program with nothing else.
        """
        needed: list[str] = []
        layouts = properties(program) & {*STRIDED, "expanded"}
        if layouts:
            plain = shown(repeat(packed(program), TRIALS))
            if plain is not None:
                program = plain
            elif "expanded" in layouts and shown(repeat(apart(program), TRIALS)) is None:
                needed.append("expanded")
            else:
                needed.append("strided")
        program = self._of_few_classes(program, shown)
        for name, members in VALUES.items():
            if name not in classes(properties(program)):
                continue
            less = shown(_without(program, members))
            if less is None and name != "tie":
                less = shown(repeat(nearer(program, name), TRIALS))
            if less is None:
                needed.append(name)
            else:
                program = less
        for size, name in ((0, "empty"), (None, "0-dim")):
            if name not in properties(program):
                continue
            larger = grown(self.reference, program, size)
            more = None if larger is None else shown(repeat(larger, TRIALS))
            if more is None:
                needed.append(name)
            else:
                program = more
        return needed, program

    def _needed_by_call(
        self, program: Program, call: int, wanted: Sign, graph: bool, *, special: bool
    ) -> Iterator[str]:
        """The same for numbers close together, where no `special` ones are needed, for numbers below zero, for vectors,
        and for one argument of the call after the other.
        """
        apart: Program | None = None
        for name in (CLOSE, NEGATIVE, VECTOR):
            if name not in usual(program) or (special and name == CLOSE):
                continue
            less, needed = self._lessened(self._unlike(program, name), wanted, graph)
            if name == CLOSE:  # numbers that were spread are no more ordinary than those that were there
                apart = less
            else:
                program = less or program
            if needed:
                yield name
        named = self._needed_arguments(program, call, wanted, graph)
        if not named and apart is not None:
            # What is wrong by itself among close numbers shows without the argument that makes it wrong everywhere.
            named = self._needed_arguments(apart, call, wanted, graph)
        yield from named

    def _unlike(self, program: Program, name: str) -> Iterable[Program]:
        """The Program without one of what is asked for where a result is wrong."""
        if name == CLOSE:
            return filter(None, [spread(self.reference, program)])
        return [positive(program)] if name == NEGATIVE else matrices(program)

    def _needed_arguments(self, program: Program, call: int, wanted: Sign, graph: bool) -> list[str]:
        """The arguments that are needed. Where it takes some of those with names, and none of them alone, all of these
        that could not be spared: of the two dimensions of a diagonal none can be left out without the other.
        """
        unnamed = plain(self.reference, program, call)
        less, of_names = self._lessened([] if unnamed is None else [unnamed], wanted, graph)
        program = less or program
        needed: list[Argument] = []
        for argument in arguments(program, call):
            less, alone = self._lessened(argument.replaced(self.reference, program), wanted, graph)
            program = less or program
            if alone:
                needed.append(argument)
        if of_names and not needed:
            needed = [argument for argument in arguments(program, call) if isinstance(argument.at, str)]
        return sorted({f"{argument.name(self.reference, program)}=" for argument in needed})

    def _lessened(self, candidates: Iterable[Program], wanted: Sign, graph: bool) -> tuple[Program | None, bool]:
        """The first of some Programs without one thing whose results can be compared, where it shows the divergence,
        too; and whether the thing is needed, for in `TRIALS` runs it does not. Where none can be compared, nobody
        knows.
        """
        phase, kind, _ = wanted
        as_good = {(phase, other, "") for other in (_NUMBERS if kind in _NUMBERS else {kind})}
        for candidate in candidates:
            for trial in range(TRIALS):
                shown = self._shown(candidate, graph)
                if not as_good.isdisjoint(shown.differences):
                    return candidate, False
                if PHASES[phase].step not in shown.compared:
                    break
                if trial == TRIALS - 1:
                    return None, True
        return None, False

    def _of_few_classes(self, program: Program, shown: Callable[[Iterable[Program]], Program | None]) -> Program:
        """The Program with no values of any class, or of one alone, where one is enough: that nearest to the ordinary.
        Taking one class after the other could end with two that have a part each.
        """
        present = classes(properties(program)) & VALUES.keys()
        if len(present) < 2:
            return program
        for kept in ("", *reversed([*VALUES])):
            others = [member for name, members in VALUES.items() if name != kept for member in members]
            less = shown(_without(program, others)) if not kept or kept in present else None
            if less is not None:
                return less
        return program

    def _shown(self, program: Program, graph: bool) -> Shown:
        """What a Program shows; nothing where the reference does not do what was recorded."""
        program, expected = self._of_reference(program)
        if expected.ended or expected.failures or expected.backward_failure is not None:
            return Shown(frozenset())
        asked = _asked(program)
        if asked in self._ends:
            return self._ends[asked]
        eager = run_alone(self.target, program)
        if isinstance(eager, Death):
            self._ends[asked] = _of([of_death(program, eager, "eager_forward")])
            return self._ends[asked]
        if not graph:
            return _compared(eager_differences(self.reference, program, expected, eager, self.rules), expected)
        if eager.ended:
            return Shown(frozenset())
        result = run_graph_alone(self.target, program, eager.gradient_keys())
        if isinstance(result, Death):
            return _of([of_death(program, result, "graph_forward")])
        if not isinstance(result, Observation):
            return _of([of_refusal(program, result)])
        return _compared(graph_differences(program, expected, eager, result, self.rules), expected)

    def _of_reference(self, program: Program) -> tuple[Program, Observation]:
        """What the reference shows of a Program, which gets cotangents that fit where its own do not: other values may
        give results of another size, as what a mask selects. It shows the same in each trial.
        """
        if self._latest is None or self._latest[0] is not program:
            asked, expected = program, Replay(self.reference, program, side="reference").run()
            if expected.backward_failure is not None:
                asked = replace(program, cotangents=waves(self.reference, program), cotangent_strides={})
                expected = Replay(self.reference, asked, side="reference").run()
            self._latest = program, asked, expected
        return self._latest[1:]


def _result_of(divergence: Divergence) -> int | None:
    """The call in the proof whose result is wrong; None where no single one is to blame, or it gives none."""
    kind = KINDS[divergence.difference.kind]
    return None if kind.ends or kind.of_form else divergence.proof_call


def _asked_of(divergence: Divergence) -> tuple[frozenset[str], Sequence[Argument]]:
    """What is asked for of a divergence's inputs, and the arguments of its call."""
    program, call = divergence.proof, _result_of(divergence)
    if call is None:
        return properties(program), []
    return properties(program) | usual(program), arguments(program, call)


def _asked(program: Program) -> tuple[object, ...]:
    """What a Program asks for; of the values in its tensors only of what classes they are."""
    tensors = ((x.dtype, x.data.shape, x.requires_grad) for x in program.inputs)
    return str(program), properties(program), *tensors


def _of(divergences: Sequence[Divergence]) -> Shown:
    return Shown(frozenset(_sign(d.difference) for d in divergences))


def _sign(difference: Difference) -> Sign:
    raised = KINDS[difference.kind].of_form and not in_graph(difference.phase)
    return difference.phase, difference.kind, cause(difference.message) if raised else ""


def _compared(differences: Iterable[Difference], expected: Observation) -> Shown:
    """What two sides that answered show. Where shapes differ, or something was raised, neither the values of this step
    nor those of the next are compared; nor are any of results without elements.
    """
    found = frozenset(map(_sign, differences))
    hidden = {PHASES[phase].step for phase, kind, _ in found if KINDS[kind].ends or kind == "shape"}
    steps: dict[str, Mapping[Any, Seen | None]]
    steps = {"forward": expected.outputs, "backward": expected.gradients, "second": expected.second}
    before = takewhile(lambda step: step not in hidden, steps)
    return Shown(found, frozenset(step for step in before if any(map(_has_elements, steps[step].values()))))


def _has_elements(seen: Seen | None) -> bool:
    return seen is not None and seen.data.size > 0


def _without(program: Program, names: Collection[str]) -> Iterator[Program]:
    """The Program of each trial without some classes of values."""
    return (calmed(program, names, trial) for trial in range(TRIALS))
