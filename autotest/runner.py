"""The life of one test: draw and record its cases, replay them, compare, judge, record the verdicts, raise what
diverged.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autotest.blame import Target, blame, of_death, of_refusal
from autotest.case import Case, Drawer, Rejection
from autotest.comparison import Difference, compare, failure_difference
from autotest.divergence import Divergence, Row
from autotest.errors import AutotestError, DivergenceError, EnvironmentFault, HarnessFault, RejectionError, UsageError
from autotest.graphs import GraphPhase, GraphRun, backward_share
from autotest.options import TestOptions
from autotest.proving import StaleEntryError, stale_entries
from autotest.session import Session, session_for
from autotest.worker import Death, GraphFailure
from dual_object.adapter import GraphRefusal
from dual_object.errors import DualError, RawTargetNeeded
from dual_object.observation import Observation
from dual_object.program import Program
from generators import GeneratorError
from reports import ReportError

Verdict = Literal["aligned", "divergent", "rejected", "skipped", "crashed", "timed_out"]

#: Cases that travel together; bounds the memory of a test with a great n.
CHUNK = 20
#: A test may draw so many times its n before it gives up on the reference's refusals.
DRAWS_PER_CASE = 20
#: So many refused draws per test are shown to the target as well.
REFUSED_SAMPLE = 2
#: So many divergent cases per test, phase and kind are blamed call by call; the others share the blame.
BLAMED = 2
#: So many cases per fingerprint keep their Program on disk.
KEPT_PROGRAMS = 3


@dataclass(slots=True)
class Judgement:
    """What a case has come to so far."""

    case: Case
    started: float
    eager: Observation | None = None
    divergences: list[Divergence] = field(default_factory=list)
    graph: dict[str, str] = field(init=False)
    death: Death | None = None

    def __post_init__(self) -> None:
        """Without a graph check, the records still say whether the case has gradients to compare."""
        backward = "off" if self.case.program.cotangents else "nothing to differentiate"
        self.graph = {"forward": "off", "backward": backward}

    @property
    def verdict(self) -> Verdict:
        """The worst that happened."""
        if self.death is not None:
            return "timed_out" if self.death.timed_out else "crashed"
        return "divergent" if self.divergences else "aligned"


class TestRun:
    """One test's run. `run` raises DivergenceError, RejectionError, or what the body raises."""

    __test__ = False  # pytest: no test class

    def __init__(self, session: Session, nodeid: str, key: str, options: TestOptions, body: Callable[[], Any]) -> None:
        self.session = session
        self.nodeid = nodeid
        self.options = options
        self.n = session.options.cases or options.n
        self.drawer = Drawer(session.reference, key, session.options.seed, session.options.target, options, body)
        self.rows: list[Row] = []
        self.seen: set[str] = set()
        self.ledger = session.ledger()
        self.counts = session.counts
        self._blamed: dict[tuple[Any, ...], tuple[int, list[Divergence]]] = {}
        self._kept: Counter[str] = Counter()
        self._accepted = 0
        self._ended: set[str] = set()
        self._rejections: list[Rejection] = []
        self._phase: GraphPhase | None = None

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
        self._conclude()

    def _conclude(self) -> None:
        """Prove what the ledger knows of this test, and raise what is new."""
        stale: list[str] = []
        if self.ledger.entries:
            target = self.session.supervisor
            about = self.ledger.about(self.drawer.test)
            stale = stale_entries(self.session.reference, target, target.info, about, self.seen)
        if self.rows:
            raise DivergenceError("\n\n".join([self._message(), *stale]))
        if stale:
            raise StaleEntryError("\n".join(stale))

    def _draws(self) -> Iterator[int]:
        """Draw numbers until n cases stand; raises RejectionError when the reference refuses nearly all."""
        limit = DRAWS_PER_CASE * self.n
        for index in range(limit):
            if self._accepted >= self.n:
                return
            yield index
        if self._accepted < self.n:
            reasons = Counter(rejection.reason for rejection in self._rejections)
            reason, count = reasons.most_common(1)[0]
            raise RejectionError(
                f"{self.drawer.test}: the reference refused {sum(reasons.values())} of {limit} draws, "
                f"so only {self._accepted} "
                f"of n={self.n} cases could run; the commonest reason ({count} times) is {reason}: "
                "narrow the generators' ranges"
            )

    def _run_isolated(self) -> None:
        chunk: list[Judgement] = []
        for index in self._draws():
            try:
                judgement = self._record(index)
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

    def _record(self, index: int) -> Judgement | None:
        """Draw and record one case; a refused draw is recorded as such and gives None."""
        started = time.perf_counter()
        writer = self.session.writer
        key = f"{self.drawer.test}#{index}"
        if writer is not None:
            writer.start(self.nodeid, key, index)
        drawn = self.drawer.draw(index)
        if isinstance(drawn, Rejection):
            self._reject(drawn, started, self.session.supervisor)
            return None
        self._accepted += 1
        return Judgement(drawn, started)

    def _reject(self, rejection: Rejection, started: float, target: Target) -> None:
        """Record a draw that the reference refused; a sample of them is given to the target, which should refuse
        them too.
        """
        self._rejections.append(rejection)
        program = rejection.program
        divergences: list[Divergence] = []
        if len(self._rejections) <= REFUSED_SAMPLE and program.calls and program.calls[-1].raises:
            [answer] = target.eager([program])
            divergences = _refused(program, answer)
        self._write(rejection.key, "rejected", rejection.reason, [], None, started, divergences)

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
            self._end(judgement)

    def _judge_eager(self, judgement: Judgement, answer: Observation | Death, target: Target) -> None:
        case = judgement.case
        if isinstance(answer, Death):
            self._died(judgement, answer, "eager_forward")
            return
        judgement.eager = answer
        differences = compare(case.program, case.reference, answer, self.options.rules)
        if differences:
            judgement.divergences += self._blame(case, differences, target, graph=False)

    def _died(self, judgement: Judgement, death: Death, phase: Literal["eager_forward", "graph_forward"]) -> None:
        judgement.death = death
        judgement.divergences.append(of_death(judgement.case.program, death, phase))

    def _judge_graphs(self, chunk: Sequence[Judgement], target: Target) -> None:
        by_index = {judgement.case.index: judgement for judgement in chunk}
        ready: list[Case] = []
        for judgement in chunk:
            judgement.graph["forward"] = "its eager run failed"
            if judgement.eager is not None and not judgement.eager.ended:
                ready.append(judgement.case)
        if self._phase is None:
            self._phase = GraphPhase(target)
        phase = self._phase
        share = backward_share(ready, self.options.graph_backward)
        for judgement in chunk:
            if judgement.eager is not None and judgement.eager.backward_failure is not None:
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
            self._graph_refused(judgement, result, run.batched)
            return
        if case.reference.buffers:
            judgement.graph["state"] = "verified"
        differences = self._graph_differences(judgement, result)
        if not differences:
            return
        if run.batched:
            again = phase.alone(case, run.backward)
            if isinstance(again.result, Observation) and not self._graph_differences(judgement, again.result):
                first = differences[0]
                first.kind = "batch_only"
                first.message += "; alone in its graph it does not"
                judgement.divergences.append(Divergence(first, case.program, None))
                return
        judgement.divergences += self._blame(case, differences, target, graph=True)

    def _graph_differences(self, judgement: Judgement, result: Observation) -> list[Difference]:
        """What the graph computes otherwise than eager; and than the reference, where eager agrees with that."""
        case, rules = judgement.case, self.options.rules
        assert judgement.eager is not None
        against_eager = compare(case.program, judgement.eager, result, rules, graph=True)
        if any(d.difference.phase.startswith("eager") for d in judgement.divergences):
            # Where eager is wrong already, a graph that does what the reference does is right.
            if against_eager and compare(case.program, case.reference, result, rules, graph=True):
                return against_eager
            return []
        if against_eager:
            return against_eager
        return compare(case.program, case.reference, result, rules, graph=True)

    def _graph_refused(self, judgement: Judgement, result: GraphRefusal | GraphFailure, batched: bool) -> None:
        program = judgement.case.program
        if batched and isinstance(result, GraphFailure):
            message = f"its graph raised {result.classes[0]}: {result.message}; alone in its graph it does not"
            together = Difference("graph_forward", "batch_only", "the program", message)
            judgement.divergences.append(Divergence(together, program, None))
        else:
            judgement.divergences.append(of_refusal(program, result))

    def _blame(self, case: Case, differences: Sequence[Difference], target: Target, *, graph: bool) -> list[Divergence]:
        """Blame call by call for the first such cases of the test; later ones of the same ops share that blame."""
        dtypes = tuple(x.dtype for x in case.program.inputs)
        shown = tuple(sorted({(d.phase, d.kind) for d in differences}))
        signature = (tuple(case.program.ops()), dtypes, shown)
        count, known = self._blamed.get(signature, (0, []))
        if count >= BLAMED and len(known) == 1:
            return [Divergence(differences[0], case.program, known[0].call, known[0].alone)]
        found = blame(self.session.reference, target, case.program, differences, self.options.rules, graph=graph)
        self._blamed[signature] = (count + 1, found)
        return found

    def _run_inline(self) -> None:
        """Run the test with the target in this process; what an isolated run has ended before stands."""
        self._accepted = len(self._ended) - len(self._rejections)
        self._phase = None  # an isolated run's graphs are the worker's
        inline = self.session.inline
        if self.session.writer is not None:
            self.session.writer.target(inline.info().environment)
        for index in self._draws():
            key = f"{self.drawer.test}#{index}"
            if key in self._ended:
                continue
            started = time.perf_counter()
            if self.session.writer is not None:
                self.session.writer.start(self.nodeid, key, index)
            stepper = inline.stepper()
            drawn = self.drawer.draw(index, stepper)
            if isinstance(drawn, Rejection):
                self._reject(drawn, started, inline)
                continue
            self._accepted += 1
            judgement = Judgement(drawn, started)
            self._judge_eager(judgement, inline.finish(stepper), inline)
            if self.options.check_graph:
                self._judge_graphs([judgement], inline)
            self._end(judgement)

    def _end(self, judgement: Judgement) -> None:
        case = judgement.case
        self._write(
            case.key,
            judgement.verdict,
            None,
            case.program.ops(),
            judgement.graph,
            judgement.started,
            judgement.divergences,
        )

    def _write(
        self,
        key: str,
        verdict: Verdict,
        reason: str | None,
        ops: Sequence[str],
        graph: dict[str, str] | None,
        started: float,
        divergences: Sequence[Divergence],
    ) -> None:
        target = self.session.options.target
        rows = [self._levelled(divergence.row(target, self.nodeid, key)) for divergence in divergences]
        self.rows += [row for row in rows if row["level"] != "known"]
        self.seen.update(row["fingerprint"] for row in rows)
        self.counts[verdict] += 1
        self._ended.add(key)
        for divergence, row in zip(divergences, rows, strict=True):
            if row["level"] != "known":
                self._keep(divergence, row)
        writer = self.session.writer
        if writer is not None:
            seconds = time.perf_counter() - started
            writer.end(
                self.nodeid,
                key,
                verdict,
                reason=reason,
                ops=ops,
                graph=graph,
                seconds=seconds,
                divergences=rows,
            )

    def _levelled(self, row: Row) -> Row:
        """The row, told as known where the ledger has it for this target's version and device, or where the test
        counts what is missing.
        """
        if row["kind"] == "missing" and self.options.missing == "count":
            return {**row, "level": "known"}
        entry = self.ledger.entries.get(row["fingerprint"])
        if entry is None or not entry.applies(self.session.supervisor.info()):
            return row
        return {**row, "level": "known"}

    def _keep(self, divergence: Divergence, row: Row) -> None:
        """Store a divergent case's Program, for `autotest replay`, and its proof, for `autotest accept`."""
        program = divergence.program
        folder = self.session.programs
        self._kept[row["id"]] += 1
        count = self._kept[row["id"]]
        if folder is None or count > KEPT_PROGRAMS or program.inline is not None:
            return
        proofs = folder / "proofs"
        proofs.mkdir(parents=True, exist_ok=True)
        name = f"{row['id']}-{self.session.options.worker}-{count}.json"
        if not (folder / name).exists():
            rules = dataclasses.asdict(self.options.rules)
            program.save(folder / name, {"row": dict(row), "rules": rules})
            divergence.proof.save(proofs / name, {"message": row["message"], "rules": rules})

    def _message(self) -> str:
        from reports import failure_text

        total = sum(self.counts[v] for v in ("aligned", "divergent", "crashed", "timed_out"))
        return failure_text(self.rows, cases=total)


def _refused(program: Program, answer: Observation | Death) -> list[Divergence]:
    """How the target's answer to a refused draw differs from a refusal."""
    if isinstance(answer, Death):
        return [of_death(program, answer, "eager_forward")]
    return [
        Divergence(failure_difference(program, failure, "eager_forward"), program, failure.call)
        for failure in answer.failures
    ]


def run_test(function: Callable[..., Any], options: TestOptions, body: Callable[[], Any]) -> None:
    """Run an `@autotest` body as a test: in the running session, or outside pytest in one of its own.

    Raises DivergenceError, RejectionError, UsageError, EnvironmentFault, and whatever the body raises by itself.
    """
    __tracebackhide__ = True
    session = session_for(function.__qualname__)
    nodeid = session.nodeid or f"{Path(function.__code__.co_filename).name}::{function.__qualname__.replace('.', '::')}"
    run = TestRun(session, nodeid, case_test_name(nodeid), options, body)
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


def case_test_name(nodeid: str) -> str:
    """The test's name in case keys: file name and qualified name, no folders, so that a checkout elsewhere draws the
    same.
    """
    path, separator, name = nodeid.partition("::")
    return f"{path.rpartition('/')[2]}{separator}{name}"
