"""The life of one test: draw and record its cases, replay them, compare, judge, record the verdicts, raise what
diverged.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from autotest import again
from autotest.again import drawing
from autotest.blame import Target, blame, blame_death, of_death, of_refusal, of_refused_draw
from autotest.case import Case, Drawer, Origin, Rejection, case_test_name
from autotest.comparison import Difference, compare
from autotest.divergence import Divergence
from autotest.dropin.alone import refused_alone
from autotest.dropin.levels import aligns_exceptions, unseen
from autotest.errors import AutotestError, DivergenceError, EnvironmentFault, HarnessFault, RejectionError, UsageError
from autotest.facts import Facts, properties
from autotest.graphs import GraphPhase, GraphRun, backward_share
from autotest.judgement import Judgement, second_reached
from autotest.layouts import eager_differences
from autotest.options import TestOptions
from autotest.proving import StaleEntryError, stale_entries
from autotest.recollection import Recollection
from autotest.sampling import random_calls, sample_differences
from autotest.session import Session, session_for
from autotest.survey import Survey
from autotest.undecidable import decidable, reason_of
from autotest.verdicts import Verdicts
from autotest.worker import Death, GraphFailure
from dual_object.adapter import GraphRefusal
from dual_object.errors import DualError, RawTargetNeeded
from dual_object.observation import Observation
from dual_object.program import Program
from generators import GeneratorError
from reports import ReportError

#: Cases that travel together; bounds the memory of a test with a great n.
CHUNK = 20
#: A test may draw so many times its n before it gives up on the reference's refusals.
DRAWS_PER_CASE = 20
#: So many refused draws per test are shown to the target as well.
REFUSED_SAMPLE = 2
#: So many divergent cases per test, phase and kind are blamed call by call; the others share the blame.
BLAMED = 2


class TestRun:
    """One test's run. `run` raises DivergenceError, RejectionError, or what the body raises."""

    __test__ = False  # pytest: no test class

    def __init__(self, session: Session, nodeid: str, key: str, options: TestOptions, body: Callable[[], Any]) -> None:
        self.session = session
        self.nodeid = nodeid
        self.options = options
        self.n = session.options.cases or options.n
        run = session.options
        self.drawer = Drawer(session.reference, key, run.seed, run.target, options, body, inputs=run.inputs)
        self.ledger = session.ledger()
        self.verdicts = Verdicts(session, nodeid, options, self.ledger)
        self._survey: Survey | None = None
        if session.options.survey or (options.rtol is not None and not options.drop_in):
            self._survey = Survey(session.reference, options, exact=session.options.survey)
        self._blamed: dict[tuple[Any, ...], tuple[int, list[Divergence]]] = {}
        self._accepted = 0
        self._rejections: list[Rejection] = []
        self._refused: RejectionError | None = None
        self._phase: GraphPhase | None = None
        self._facts: Facts | None = None
        self._sampled: set[str] = set()
        self._recollection = Recollection(session.memory, f"{nodeid} {key}", self.drawer)

    def run(self) -> None:
        """Run all n cases; whatever one of them shows, the others still run."""
        isolate = self.session.options.isolate
        inline = isolate == "never" or self.nodeid in self.session.inline_tests
        if not inline:
            self.session.supervisor.start()
            try:
                self._run_isolated()
            except RawTargetNeeded as needed:
                if isolate == "always":
                    raise UsageError(
                        f"{needed}, but the run is isolated: use --isolate auto or never to run such a test inline"
                    ) from None
                self.session.inline_tests[self.nodeid] = str(needed)
                inline = True
        if inline:
            self._run_inline()
        self._conclude(inline)

    def _conclude(self, inline: bool) -> None:
        """Record the survey, prove what the ledger knows of this test, and raise what is new: what the cases and
        refused draws have shown comes before that nearly all were refused.
        """
        refused = self._refused
        if self._survey is not None and self.session.writer is not None:
            for row in self._survey.rows():
                self.session.writer.tolerance(self.nodeid, row)
        stale: list[str] = []
        # Another call of the same test may show the rest; and what several ranks showed, one worker cannot.
        whole = self.session.options.case is None and not self.session.nested and refused is None
        if self.ledger.entries and whole and self.verdicts.peers is None:
            target = self.session.supervisor
            about = self.ledger.about(self.drawer.test)
            stale = stale_entries(self.session.reference, target, target.info, about, self.verdicts.seen)
        if not inline:
            self._recollection.update(self.verdicts, self.session.writer, self.nodeid)
        if self.verdicts.rows:
            self.verdicts.shrink(self.drawer, inline=inline)
            self.verdicts.blame(inline=inline)
            raise DivergenceError("\n\n".join([self.verdicts.message(), *stale, *([str(refused)] if refused else [])]))
        if refused is not None:
            raise refused
        if stale:
            raise StaleEntryError("\n".join(stale))

    def _draws(self) -> Iterator[int]:
        """Draw numbers until n cases stand, or the reference has refused nearly all, which `_refused` then says."""
        only = self.session.options.case
        if only is not None:
            yield int(only.rpartition("#")[2])
            return
        limit = DRAWS_PER_CASE * self.n
        for index in range(limit):
            if self._accepted >= self.n:
                return
            yield index
        if self._accepted < self.n:
            reasons = Counter(rejection.reason for rejection in self._rejections)
            reason, count = reasons.most_common(1)[0]
            self._refused = RejectionError(
                f"{self.drawer.test}: the reference refused {sum(reasons.values())} of {limit} draws, "
                f"so only {self._accepted} "
                f"of n={self.n} cases could run; the commonest reason ({count} times) is {reason}: "
                "narrow the generators' ranges"
            )

    def _run_isolated(self) -> None:
        """First what diverged in an earlier run and is not drawn anyway, then the n cases."""
        for origin, indices in self._recollection.besides(self.n):
            self._run_chunks(indices, origin)
        self._run_chunks(self._draws())

    def _run_chunks(self, indices: Iterable[int], origin: Origin | None = None) -> None:
        """Record and judge the run's own cases, or remembered ones of `origin`, which do not count among the n."""
        chunk: list[Judgement] = []
        for index in indices:
            try:
                judgement = self._record(index, origin)
            except (RawTargetNeeded, KeyboardInterrupt, EnvironmentFault, ReportError):
                raise
            except BaseException:
                # A body that raises or skips ends its test; the cases drawn before still get their verdicts.
                self._judge(chunk)
                raise
            if judgement is not None:
                chunk.append(judgement)
            if len(chunk) == CHUNK:
                self._judge(chunk)
                chunk = []
        self._judge(chunk)

    def _record(self, index: int, origin: Origin | None = None) -> Judgement | None:
        """Draw and record one case; a refused draw is recorded as such and gives None."""
        started = time.perf_counter()
        writer = self.session.writer
        key = self.drawer.key(index, origin)
        if origin is None and key in self.verdicts.ended:  # a remembered case, which counts here
            self._accepted += self.verdicts.ended[key] != "rejected"
            return None
        if writer is not None:
            writer.start(self.nodeid, key, index)
        drawn = self.drawer.draw(index, origin=origin)
        self.session.drawn = drawn.program
        if isinstance(drawn, Rejection):
            self._reject(drawn, started, self.session.supervisor, remembered=origin is not None)
            return None
        self._accepted += origin is None
        return Judgement(drawn, started)

    def _reject(self, rejection: Rejection, started: float, target: Target, *, remembered: bool = False) -> None:
        """Record a draw that the reference refused; a sample of them, and each that is remembered, is given to the
        target, which should refuse them too.
        """
        if not remembered:
            self._rejections.append(rejection)
        program = rejection.program
        divergences: list[Divergence] = []
        shown = remembered or len(self._rejections) <= REFUSED_SAMPLE
        if shown and program.calls and program.calls[-1].raises:
            [answer] = target.eager([program])
            divergences = self._told(of_refused_draw(self.session.reference, target, program, answer), target)
        unshown = divergences if self.options.drop_in and not aligns_exceptions() else []
        self.verdicts.write(rejection.key, "rejected", started, divergences, unshown, reason=rejection.reason)

    def _judge(self, chunk: list[Judgement]) -> None:
        """Replay a chunk eagerly and in graphs, and record every verdict."""
        if not chunk:
            return
        self.session.record_target()
        target = self.session.supervisor
        answers = target.eager([judgement.case.program for judgement in chunk])
        for judgement, answer in zip(chunk, answers, strict=True):
            self._judge_eager(judgement, answer, target)
        if self.options.check_graph:
            self._judge_graphs(chunk, target)
        for judgement in chunk:
            if judgement.case.program.random is not None:
                self._judge_samples(judgement, target)
            self._end(judgement)

    def _judge_samples(self, judgement: Judgement, target: Target) -> None:
        """Judge many repetitions of each random op, once per test: of one case nothing random can be compared."""
        program, eager = judgement.case.program, judgement.sides.eager
        if judgement.divergences or eager is None or eager.ended or self.verdicts.peers is not None:
            return
        reference = self.session.reference
        for index, op, alone in random_calls(reference, program):
            if op in self._sampled:
                continue
            self._sampled.add(op)
            for graph in (False, True) if judgement.graph["forward"] == "verified" else (False,):
                found = sample_differences(reference, target, program, index, alone, graph=graph)
                self._found(judgement, [divergence.difference for divergence in found], found)

    def _judge_eager(self, judgement: Judgement, answer: Observation | Death, target: Target) -> None:
        case = judgement.case
        if isinstance(answer, Death):
            self._died(judgement, answer, "eager_forward")
            return
        judgement.sides.eager = answer
        if self.options.grad_order == 2:
            judgement.graph["second"] = second_reached(case.program, answer)
        if self._survey is not None:
            self._survey.take(case, answer)
        differences = self._agreed(
            f"{case.key} eager",
            eager_differences(self.session.reference, case.program, case.reference, answer, self.options.rules),
        )
        if differences:
            self._found(judgement, differences, self._blame(judgement, differences, target, graph=False))
            judgement.apart = not judgement.divergences

    def _found(
        self, judgement: Judgement, differences: Sequence[Difference], divergences: Sequence[Divergence]
    ) -> None:
        """Keep what `differences` were blamed on, and which of it OneFlow's own harness would not have seen."""
        judgement.divergences += divergences
        if self.options.drop_in:
            case = judgement.case
            judgement.unseen += unseen(differences, divergences, case.program, self.options, backward=case.backward)

    def _died(self, judgement: Judgement, death: Death, phase: Literal["eager_forward", "graph_forward"]) -> None:
        judgement.death = death
        program, target = judgement.case.program, self.session.supervisor
        divergence = of_death(program, death, phase)
        signature = (divergence.call, *self._signature(program, [divergence.difference]))
        _, known = self._blamed.get(signature, (0, []))
        if not known:  # each look at it costs a worker
            blamed = blame_death(self.session.reference, target, divergence)
            known = self._told([blamed], target, graph=phase == "graph_forward")
            self._blamed[signature] = (1, known)
        difference = replace(divergence.difference, call=known[0].call)
        told = replace(known[0], difference=difference, program=program, last_words=divergence.last_words)
        self._found(judgement, [divergence.difference], [told])

    def _told(self, divergences: Sequence[Divergence], target: Target, *, graph: bool = False) -> list[Divergence]:
        """The divergences with what their inputs need for them to show; ranks would have to agree on experiments."""
        if self.verdicts.peers is not None:
            return list(divergences)
        if self._facts is None or self._facts.target is not target:
            self._facts = Facts(self.session.reference, target, self.options.rules)
        return self._facts.told(divergences, graph=graph)

    def _judge_graphs(self, chunk: Sequence[Judgement], target: Target) -> None:
        by_index = {judgement.case.index: judgement for judgement in chunk}
        ready: list[Case] = []
        for judgement in chunk:
            judgement.graph["forward"] = "its eager run failed"
            if judgement.sides.eager is not None and not judgement.sides.eager.ended:
                ready.append(judgement.case)
        if self._phase is None:
            # Several ranks would have to agree on what a second call shows, too.
            self._phase = GraphPhase(target, drawing(self.session.reference) if self.verdicts.peers is None else None)
        phase = self._phase
        share = backward_share(ready, self.options.graph_backward)
        for judgement in chunk:
            eager = judgement.sides.eager
            if eager is not None and eager.backward_failure is not None:
                share.discard(judgement.case.index)  # it would fail again, and take the graph's forward with it
        for run in phase.run(ready, share):
            self._judge_graph(by_index[run.case.index], run, phase, target)

    def _judge_graph(self, judgement: Judgement, run: GraphRun, phase: GraphPhase, target: Target) -> None:
        case, result = run.case, run.result
        reached = ["forward", "backward"] if run.backward else ["forward"]
        if run.backward:
            judgement.graph["backward"] = "verified"
        judgement.graph["forward"] = "verified"
        if result is None or (isinstance(result, GraphRefusal) and result.skipped):
            reason = run.reason if result is None else result.message
            for part in reached:
                judgement.graph[part] = reason or "not run"
            return
        if isinstance(result, Death):
            kind = "timeout" if result.timed_out else "crash"
            for part in reached:
                judgement.graph[part] = f"the graph ended in a {kind}"
            self._died(judgement, result, "graph_forward")
            return
        if isinstance(result, (GraphRefusal, GraphFailure)):
            for part in reached:
                judgement.graph[part] = "the target's graph refused it"
            self._graph_refused(judgement, result, run.batched, target)
            return
        judgement.sides.graph = result
        if self._survey is not None:
            self._survey.take(case, result, graph=True)
        if case.reference.buffers:
            judgement.graph["state"] = "verified"
        differences = self._agreed(f"{case.key} graph", self._graph_differences(judgement, result))
        if not differences:
            self._judge_again(judgement, result, run, phase, target)
            return
        if run.batched:
            again = phase.alone(case, run.backward)
            if isinstance(again.result, Observation) and not self._graph_differences(judgement, again.result):
                first = differences[0]
                first.kind = "batch_only"
                first.message += "; alone in its graph it does not"
                self._found(judgement, [first], [Divergence(first, case.program, None, sides=judgement.sides)])
                return
        self._found(judgement, differences, self._blame(judgement, differences, target, graph=True))

    def _judge_again(
        self, judgement: Judgement, first: Observation, run: GraphRun, phase: GraphPhase, target: Target
    ) -> None:
        """Judge what the same graph showed at a second call, where its first call and eager are sound."""
        second, shown, rules = run.second, first.again, self.options.rules
        if judgement.divergences or isinstance(second, str) or shown is None:
            judgement.graph["again"] = second if isinstance(second, str) else "its first call diverges"
            return
        judgement.graph["again"] = "verified"
        found = again.differences(second, shown, rules)
        if not found:
            return
        program = judgement.case.program
        if run.batched:
            alone = phase.alone(judgement.case, run.backward).result
            if isinstance(alone, Observation) and (
                alone.again is None or not again.differences(second, alone.again, rules)
            ):
                found[0].kind = "batch_only"
                found[0].message += "; alone in its graph it does not"
                self._found(judgement, found[:1], [Divergence(found[0], program, None, sides=judgement.sides)])
                return
        reference, left = self.session.reference, partial(self._decidable, judgement)
        judged = again.judge(reference, target, program, second, shown, found, rules, left)
        # What eager computes wrong from these values is told as any other of its divergences.
        told = [*judged] if any(one.difference.again for one in judged) else self._told(judged, target)
        self._found(judgement, found if told else [], told)

    def _graph_differences(self, judgement: Judgement, result: Observation) -> list[Difference]:
        """What the graph computes otherwise than eager; and than the reference, where eager agrees with that."""
        case, rules, eager = judgement.case, self.options.rules, judgement.sides.eager
        assert eager is not None, "what has no eager result has no graph"
        against_eager = compare(case.program, eager, result, rules, graph=True)
        if any(not d.difference.phase.startswith("graph") for d in judgement.divergences):
            # Where eager is wrong already, a graph that does what the reference does is right.
            if against_eager and compare(case.program, case.reference, result, rules, graph=True):
                return against_eager
            return []
        if against_eager or judgement.apart:
            return against_eager  # where eager gives another lawful answer, a graph that agrees with it does so too
        return compare(case.program, case.reference, result, rules, graph=True)

    def _graph_refused(
        self, judgement: Judgement, result: GraphRefusal | GraphFailure, batched: bool, target: Target
    ) -> None:
        program = judgement.case.program
        if batched and isinstance(result, GraphFailure):
            message = f"its graph raised {result.classes[0]}: {result.message}; alone in its graph it does not"
            together = Difference("graph_forward", "batch_only", "the program", message)
            self._found(judgement, [together], [Divergence(together, program, None)])
        else:
            [refused] = self._told([of_refusal(program, result)], target, graph=True)
            self._found(judgement, [refused.difference], [refused])
            if self.options.drop_in and not refused_alone(self.session.reference, target, program):
                judgement.unseen.append(refused)

    def _blame(
        self, judgement: Judgement, differences: Sequence[Difference], target: Target, *, graph: bool
    ) -> list[Divergence]:
        """Blame call by call for the first such cases of the test; later ones of the same ops share that blame."""
        case, sides = judgement.case, judgement.sides
        signature = self._signature(case.program, differences)
        count, known = self._blamed.get(signature, (0, []))
        if count >= BLAMED and len(known) == 1:
            first = known[0]
            return [Divergence(differences[0], case.program, first.call, first.alone, sides, facts=first.facts)]
        if count >= BLAMED and self.verdicts.peers is not None:  # what was found alone may differ from rank to rank
            return [Divergence(differences[0], case.program, differences[0].call, sides=sides)]
        found = blame(self.session.reference, target, case.program, differences, self.options.rules, sides, graph=graph)
        found = self._told(self._decidable(judgement, found), target, graph=graph)
        if found:
            self._blamed[signature] = (count + 1, found)
        return found

    def _signature(self, program: Program, differences: Sequence[Difference]) -> tuple[Any, ...]:
        """What cases have in common that share a blame."""
        dtypes = tuple(x.dtype for x in program.inputs)
        shown = tuple(sorted({(d.phase, d.kind) for d in differences}))
        return tuple(program.ops()), dtypes, shown, properties(program)

    def _decidable(self, judgement: Judgement, divergences: Sequence[Divergence]) -> list[Divergence]:
        """What of the divergences the reference defines; the case keeps its doubts about the rest."""
        left, doubts = decidable(self.session.reference, divergences, self.options.rules)
        judgement.doubts += doubts
        return left

    def _agreed(self, place: str, differences: list[Difference]) -> list[Difference]:
        """The differences of all ranks: whatever one of them has to look at again, all run again."""
        return differences if self.verdicts.peers is None else self.verdicts.peers.agree(place, differences)

    def _run_inline(self) -> None:
        """Run the test with the target in this process; what an isolated run has ended before stands."""
        self._accepted = len(self.verdicts.ended) - len(self._rejections) - self._recollection.drawn(self.verdicts)
        self._phase = None  # an isolated run's graphs are the worker's
        inline = self.session.inline
        self.verdicts.peers = inline.peers
        if self.session.writer is not None:
            info = inline.info()
            self.session.writer.target(info.environment, info.devices)
        for index in self._draws():
            key = f"{self.drawer.test}#{index}"
            if key in self.verdicts.ended:
                continue
            started = time.perf_counter()
            if self.session.writer is not None:
                self.session.writer.start(self.nodeid, key, index)
            if self.verdicts.peers is not None:
                self.verdicts.peers.starts(self.nodeid, key)
            stepper = inline.stepper()
            drawn = self.drawer.draw(index, stepper)
            self.session.drawn = drawn.program
            if isinstance(drawn, Rejection):
                self._reject(drawn, started, inline)
                continue
            self._accepted += 1
            judgement = Judgement(drawn, started)
            self._judge_eager(judgement, inline.finish(stepper), inline)
            if self.options.check_graph:
                self._judge_graphs([judgement], inline)
            if drawn.program.random is not None:
                self._judge_samples(judgement, inline)
            self._end(judgement)

    def _end(self, judgement: Judgement) -> None:
        case = judgement.case
        self.verdicts.write(
            case.key,
            judgement.verdict,
            judgement.started,
            judgement.divergences,
            judgement.unseen,
            reason=reason_of(judgement.doubts) if judgement.verdict == "undecidable" else None,
            doubts=judgement.doubts,
            ops=case.program.ops(),
            dtypes=case.op_dtypes,
            graph=judgement.graph,
        )


def run_test(function: Callable[..., Any], options: TestOptions, body: Callable[[], Any]) -> None:
    """Run an `@autotest` body as a test: in the running session, or outside pytest in one of its own.

    Raises DivergenceError, RejectionError, UsageError, EnvironmentFault, and whatever the body raises by itself.
    """
    __tracebackhide__ = True
    session = session_for(function.__qualname__)
    nodeid = session.nodeid or f"{Path(function.__code__.co_filename).name}::{function.__qualname__.replace('.', '::')}"
    key = case_test_name(nodeid)
    if session.nested:
        key = f"{key}~{session.calls}"
    session.calls += 1
    only = session.options.case
    if only is not None and only.rpartition("#")[0] != key:
        return
    run = TestRun(session, nodeid, key, options, body)
    try:
        run.run()
    except HarnessFault as fault:
        if session.writer is not None:
            session.writer.fault(nodeid, str(fault))
        raise
    except (AutotestError, DualError, GeneratorError, ReportError):
        raise
    except Exception as error:
        if error is run.drawer.raised:
            raise
        message = (
            f"the harness failed in {nodeid}: {type(error).__name__}: {error}; please report this with the traceback"
        )
        if session.writer is not None:
            session.writer.fault(nodeid, f"{type(error).__name__}: {error}")
        raise HarnessFault(message) from error
