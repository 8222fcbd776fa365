"""Facts of a divergence, found by experiment: what of its inputs it needs in order to show.

A wrong value at NaN and one at ordinary numbers are two faults, a wrong value in eight layouts is one. So each property
that an input has beyond the ordinary is taken away from the least Program known to show the divergence, and it is run
again on both sides. What no longer shows then needs the property: its class (autotest/compare/fingerprint.py) is a fact
of the fingerprint. What shows with values that are nearer to the ordinary, too, needs no more than those: an infinity
that overflows as a huge number does is `extreme`, whichever of them came first. A target that fails at times would not
show it then by chance: what is claimed has held in repeated runs, of other ordinary values each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.fingerprint import STRIDED, VALUES, classes
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import compare
from autotest.judge.localization import of_death, of_refusal
from autotest.judge.properties import apart, calmed, grown, nearer, packed, properties
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Death, Target
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter
from dual_object.replay.isolation import waves
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

#: So many runs with a property must all show a divergence, and as many without it none, for the divergence to need it.
TRIALS = 3
#: (phase, kind) of every difference that a Program shows.
PhaseKinds = frozenset[tuple[str, str]]


@dataclass(slots=True)
class Facts:
    """Finds out what the inputs of divergences need for them to show.

    What one divergence needs is taken over for all others of the same op, phase, kind and properties of inputs.
    """

    reference: Adapter
    target: Target
    rules: Rules
    known: dict[tuple[object, ...], tuple[str, ...]] = field(default_factory=dict)

    def with_conditions(self, divergences: Sequence[Divergence], *, graph: bool) -> list[Divergence]:
        """The divergences with their facts; those whose inputs are ordinary are left as they are."""
        return [self._with_conditions(divergence, graph) for divergence in divergences]

    def _with_conditions(self, divergence: Divergence, graph: bool) -> Divergence:
        program, difference = divergence.proof, divergence.difference
        has = properties(program)
        # Each experiment with what never ends takes as long as the deadline, or all the memory that there is.
        endless = difference.kind in ("timeout", "out_of_memory")
        if not has or program.training is not None or program.inline is not None or endless or distributed(program):
            return divergence
        key = (divergence.op, difference.phase, difference.kind, graph, has)
        if key not in self.known:
            wanted = (difference.phase, difference.kind)
            self.known[key] = self._facts(program, wanted, graph)
        return replace(divergence, facts=self.known[key])

    def _facts(self, program: Program, wanted: tuple[str, str], graph: bool) -> tuple[str, ...]:
        """What a Program's divergence needs; nothing where it does not show at each run, for then nobody knows."""

        def stands(candidate: Program) -> bool:
            return wanted in self._phase_kinds(candidate, graph)

        def shown(candidates: Iterable[Program]) -> Program | None:
            return next(filter(stands, candidates), None)

        # Each experiment with what ends the target costs a process: such a Program is taken at its word.
        trusted = wanted[1] == "crash"
        if not (trusted or stands(program)):
            return ()
        needed = tuple(self._needed(program, shown))
        if needed and not trusted and not all(stands(program) for _ in range(TRIALS - 1)):
            return ()
        return needed

    def _needed(self, program: Program, shown: Callable[[Iterable[Program]], Program | None]) -> Iterator[str]:
        """One property after the other is taken away; what can go stays away, and what can be nearer to the ordinary
        becomes that.
        """
        layouts = properties(program) & {*STRIDED, "expanded"}
        if layouts:
            plain = shown(repeat(packed(program), TRIALS))
            if plain is not None:
                program = plain
            elif "expanded" in layouts and shown(repeat(apart(program), TRIALS)) is None:
                yield "expanded"
            else:
                yield "strided"
        program = self._of_few_classes(program, shown)
        for name, members in VALUES.items():
            if name not in classes(properties(program)):
                continue
            less = shown(_without(program, members))
            if less is None and name != "tie":
                less = shown(repeat(nearer(program, name), TRIALS))
            if less is None:
                yield name
            else:
                program = less
        for size, name in ((0, "empty"), (None, "0-dim")):
            if name not in properties(program):
                continue
            larger = grown(self.reference, program, size)
            more = None if larger is None else shown(repeat(larger, TRIALS))
            if more is None:
                yield name
            else:
                program = more

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

    def _phase_kinds(self, program: Program, graph: bool) -> PhaseKinds:
        """What a Program shows; nothing where the reference does not do what was recorded."""
        expected = Replay(self.reference, program, side="reference").run()
        if expected.backward_failure is not None:  # other values may give results of another size: what a mask selects
            program = replace(program, cotangents=waves(self.reference, program), cotangent_strides={})
            expected = Replay(self.reference, program, side="reference").run()
        if expected.ended or expected.failures or expected.backward_failure is not None:
            return frozenset()
        eager = run_alone(self.target, program)
        if isinstance(eager, Death):
            return _of([of_death(program, eager, "eager_forward")])
        if not graph:
            differences = eager_differences(self.reference, program, expected, eager, self.rules)
            return frozenset((d.phase, d.kind) for d in differences)
        if eager.ended:
            return frozenset()
        result = run_graph_alone(self.target, program, eager.gradient_keys())
        if isinstance(result, Death):
            return _of([of_death(program, result, "graph_forward")])
        if not isinstance(result, Observation):
            return _of([of_refusal(program, result)])
        differences = compare(program, eager, result, self.rules, graph=True)
        differences = differences or compare(program, expected, result, self.rules, graph=True)
        return frozenset((d.phase, d.kind) for d in differences)


def _of(divergences: Sequence[Divergence]) -> PhaseKinds:
    return frozenset((d.difference.phase, d.difference.kind) for d in divergences)


def _without(program: Program, names: Collection[str]) -> Iterator[Program]:
    """The Program of each trial without some classes of values."""
    return (calmed(program, names, trial) for trial in range(TRIALS))
