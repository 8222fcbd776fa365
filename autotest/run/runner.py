"""The life of one test: draw and record its cases, have them judged, record the verdicts, raise what diverged."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest

from autotest.cases.case import Case, Origin, Rejection, case_test_name
from autotest.cases.compared import Compared
from autotest.cases.design import MOST_ROWS, Level
from autotest.cases.dialect import Dialect
from autotest.cases.drawer import LAID
from autotest.cases.places import bracketed, raised_at, warn_at
from autotest.compare.divergence import Divergence
from autotest.compare.kinds import DEADLY
from autotest.errors import AutotestError, DivergenceError, EnvironmentFault, HarnessFault, UsageError
from autotest.judge.judgement import Judgement
from autotest.judge.survey import Survey
from autotest.ledger.check import StaleEntryError, stale_entries
from autotest.options import TestOptions
from autotest.oracle.inference import ShapeInference
from autotest.oracle.undecidable import reason_of
from autotest.run.draws import Draws, nothing_ran
from autotest.run.line import AnyJudge, Line, judge_on
from autotest.run.reached import Reached
from autotest.run.regressions import Memory, Recollection
from autotest.run.replayers import InlineReplayer, Replayer, WorkerReplayer
from autotest.run.results import Verdicts
from autotest.run.session import Session, running_session
from autotest.run.sparing.deaths import Deaths
from autotest.run.sparing.forms import Sparing
from dual_object.errors import DualError, RawTargetNeeded
from dual_object.record.recording import current_recording
from generators import GeneratorError
from reports import ReportError

#: So many refused draws per test are shown to the target as well.
REFUSED_SAMPLE = 2


class TestRun:
    """One test's run. `run` raises DivergenceError, RejectionError, or what the body raises."""

    __test__ = False  # pytest: no test class

    def __init__(
        self,
        session: Session,
        nodeid: str,
        key: str,
        options: TestOptions,
        body: Callable[[], Any],
        dialect: Dialect,
    ) -> None:
        self._dialect = dialect
        self.session = session
        self.nodeid = nodeid
        self.options = options = replace(options, check_graph=False) if session.options.eager else options
        self.n = options.count(session.options)
        run = session.options
        self.drawer = session.drawer(key, options, body, dialect)
        self.ledger = session.ledger()
        self.verdicts = Verdicts(session, nodeid, options, self.ledger)
        #: What has run of this test already, in processes that were ended.
        self._before = session.resumed.get(nodeid, {})
        self.verdicts.ended.update(self._before)
        self._survey: Survey | None = None
        if session.options.survey or options.own_tolerance is not None:
            self._survey = Survey(session.reference, options, exact=session.options.survey)
        self._draws = Draws(self.drawer, run, self.n)
        self._sparing = Sparing()
        #: Why the target could not be asked about some cases.
        self._lacking: set[str] = set()
        self._reached = Reached()
        self._inference = ShapeInference(session.reference)
        self._deaths = Deaths(self.ledger)
        #: The target lacks what the test's ordinary case calls, which is counted: its corners would say no more.
        self._missing = False
        self._compared = Compared(options.rules)
        memory = Memory(run.root, run.remembered) if run.memory and run.root is not None else None
        self._recollection = Recollection(memory, f"{nodeid} {key}", self.drawer)

    def run(self) -> None:
        """Run all n cases; whatever one of them shows, the others still run."""
        self.session.progress.begins(self.nodeid, self.n)
        try:
            if not self._inline:
                self._run_isolated()
            if self._inline:
                self._run_drawn(InlineReplayer(self.session))
        except (pytest.skip.Exception, SkipTest):
            if not (self.verdicts.rows or self.verdicts.excused):  # what has diverged is not skipped
                raise
        finally:
            if self.session.writer is not None:
                self.session.writer.reached(self.nodeid, self._reached.record(self.drawer.design))
                self.session.writer.inferred(self.nodeid, self._inference.record())
        whole = self.session.options.laid_out is None and self.session.options.case is None
        if whole and not (self.n or self.verdicts.ended):
            self._draws.refusal = nothing_ran(self.drawer, deadly=self._deaths.any)
        self._conclude()

    @property
    def _inline(self) -> bool:
        """Whether the target runs in this process; a test is found to need that while it runs."""
        return self.session.options.isolate == "never" or self.nodeid in self.session.inline_tests

    def _conclude(self) -> None:
        """Record the survey, check what the ledger knows of this test, and raise what is new.

        A divergence is raised before the error that nearly all draws were refused.
        """
        refused, inline = self._draws.refusal, self._inline
        if self._survey is not None and self.session.writer is not None:
            for row in self._survey.rows():
                self.session.writer.tolerance(self.nodeid, row)
        stale: list[str] = []
        # Another call of the same test may show the rest; and what several ranks showed, one worker cannot.
        whole = self.session.options.case is None and not self.session.nested and refused is None
        if self.ledger.entries and whole and self.verdicts.consensus.alone:
            session, about = self.session, self.ledger.about(self.drawer.test)
            info, seen = session.supervisor.info, self.verdicts.fingerprints
            stale = stale_entries(session.reference, session.supervisor.stage, info, about, seen)
        if not inline:
            self._recollection.update(self.verdicts.ended, self.verdicts.rows, self.session.writer, self.nodeid)
        if self.verdicts.rows or self.verdicts.excused:  # pytest knows that an excused test may fail
            self.verdicts.triage.run(self.drawer, inline=inline)
            told = [self.verdicts.message(), *stale, *([str(refused)] if refused else [])]
            raise DivergenceError("\n\n".join(told), self.verdicts.replays())
        if refused is not None:
            raise refused
        if self._compared.calls_nothing and self._all_drawn and not inline and self._dialect.must_call:
            raise self.drawer.misuse(
                "nothing was compared, since its body calls nothing: call the op under test as PyTorch has it, "
                "by autotest's own torch"
            )
        undecided = self.verdicts.undecided
        if undecided is not None and self._all_drawn and self._dialect.must_call:
            raise self.drawer.misuse(undecided)
        self._warn()
        lost = [key for key, verdict in self._before.items() if verdict in ("crashed", "timed_out")]
        if lost:
            raise DivergenceError(f"{', '.join(lost)} ended the ranks; the other cases have run on new ones")
        if stale:
            raise StaleEntryError("\n".join(stale))
        if self._lacking and not {*self.verdicts.ended.values()} - {"skipped", "rejected"}:
            raise SkipTest("; ".join(sorted(self._lacking)))  # what has looked at nothing has not passed

    @property
    def _all_drawn(self) -> bool:
        """Whether this run has seen all cases that the test asks for: of some alone, nobody knows what others do."""
        run = self.session.options
        return run.case is None and run.laid_out is None and self.n >= self.options.n and not self._before

    def _warn(self) -> None:
        """Warn of what a test that passes did not compare, at the line where its body begins."""
        words = self._compared.too_small
        if words is not None and self._all_drawn and self._dialect.must_call:
            warn_at(self.drawer.body, f"{self.drawer.test}: {words}")

    def _laid_out(self) -> Iterator[int]:
        """The numbers of the test's laid-out cases; what comes of one decides on the next."""
        for index in range(*(self.session.options.laid_out or (0, MOST_ROWS))):
            if self._missing or not self.drawer.laid_out(index):
                return
            yield index

    def _go_on(self, line: Line) -> None:
        """Draw the laid-out cases before those that the run is asked for, which another run has recorded: what they
        come to decides on the others. The ordinary one is judged as well, for corners show no fault anew that it has.
        """
        first, _ = self.session.options.laid_out or (0, MOST_ROWS)
        ordinary: Case | None = None
        for index in range(first):
            if self.drawer.laid_out(index):
                row, drawn = self.drawer.design.rows[index], line.replayer.draw(self.drawer, index, LAID)
                if self._obstacle(drawn, row.levels) is None and isinstance(drawn, Case) and row.ordinary:
                    ordinary = drawn
        self._reached.begins(self.drawer.design)
        if ordinary is not None and line.judge.lacking(ordinary.program) is None:
            line.replayer.ready()
            judgement = Judgement(ordinary, time.perf_counter())
            line.judge.judge([judgement], line.replayer.submit([ordinary.program]).result())
            self._learn(judgement)

    def _run_isolated(self) -> None:
        """Run the laid-out cases, the remembered ones that are not drawn anyway, then the n cases. A case that needs
        the target in this process ends this, and the test is noted as one to run inline.
        """
        self.session.supervisor.start()
        replayer = WorkerReplayer(self.session)
        try:
            if self.session.options.case is None:
                self._run_cases(replayer, self._laid_out(), LAID)
                if self.session.options.laid_out is not None:
                    self._draws.laid = self._draws.accepted
                for origin, indices in self._recollection.besides(self.n):
                    self._run_cases(replayer, indices, origin)
            self._run_drawn(replayer)
        except RawTargetNeeded as needed:
            if self.session.options.isolate == "always":
                raise UsageError(
                    f"{needed}, but the run is isolated: use --isolate auto or never to run such a test inline"
                    f"{bracketed(raised_at(needed))}"
                ) from None
            self.session.inline_tests[self.nodeid] = str(needed)

    def _run_drawn(self, replayer: Replayer) -> None:
        """Run the n cases, or the one that the run is asked for, whatever it is drawn from."""
        only = self.session.options.case
        if only is None:
            self._run_cases(replayer, self._draws.numbers())
            return
        index, origin = self.drawer.place(only)
        self._run_cases(replayer, [index], None if origin == self.drawer.origin else origin)

    def _run_cases(self, replayer: Replayer, indices: Iterable[int], origin: Origin | None = None) -> None:
        """Draw, replay and judge the run's own cases, or remembered ones of `origin`, which do not count among the n. A
        case that has its verdict already is not run again.
        """
        self.verdicts.consensus = replayer.consensus
        # A graph is made of each case, and corners are many: they show themselves in the kernels, which eager has, too.
        # What an optimizer or a schedule is given, a training graph is told apart from any kernel.
        eager_alone = origin == LAID and self.options.train is None
        options = replace(self.options, check_graph=False) if eager_alone else self.options
        line = Line(replayer, judge_on(replayer, self.session, options, self._survey, self._dialect, self.ledger))
        self._draws.accepted = 0
        if origin == LAID:
            self._go_on(line)
        for index in indices:
            key = self.drawer.key(index, origin)
            self.verdicts.avoid(key)
            if key in self.verdicts.ended:
                self._draws.accepted += self.verdicts.ended[key] != "rejected"
                continue
            try:
                judgement = self._record(line, index, origin)
            except (EnvironmentFault, ReportError):
                raise
            except (RawTargetNeeded, KeyboardInterrupt):
                self._judge_all(line)
                raise
            except BaseException:
                # A body that raises or skips ends its test; the cases drawn before still get their verdicts.
                self._submit(line)
                self._judge_all(line)
                raise
            if judgement is not None:
                self._draws.accepted += 1
                line.drawn.append(judgement)
            # What the target lacks has no corners, and each of a list would show it: where that is only counted, the
            # first case goes alone.
            many = origin == LAID or self.drawer.listed is not None
            first = many and index == 0 and self.options.missing == "count"
            if len(line.drawn) == replayer.chunk or first:
                self._submit(line)
            if first:
                self._judge_all(line)
            if len(line.refused) == replayer.chunk:
                self._judge_refused(line)
            while len(line.sent) > 1 or (line.sent and line.sent[0][1].ready):
                self._judge(line)
        self._submit(line)
        self._judge_all(line)
        self._judge_refused(line)

    def _record(self, line: Line, index: int, origin: Origin | None) -> Judgement | None:
        """Draw and record one case; a refused draw is recorded as such and gives None."""
        if origin == LAID:
            return self._record_laid_out(line, index)
        started = time.perf_counter()
        writer, key = self.session.writer, self.drawer.key(index, origin)
        if writer is not None:
            writer.start(self.nodeid, key, index)
        line.replayer.consensus.starts(self.nodeid, key)
        drawn = line.replayer.draw(self.drawer, index, origin)
        self.session.drawn = drawn.program
        if isinstance(drawn, Rejection):
            self._reject(line.judge, drawn, started, remembered=origin is not None)
            return None
        return Judgement(drawn, started)

    def _record_laid_out(self, line: Line, index: int) -> Judgement | None:
        """Draw a laid-out case; None where the reference refuses it, it has come out as another one before, or it is
        known to end the target.
        """
        started = time.perf_counter()
        writer, key = self.session.writer, self.drawer.key(index, LAID)
        if writer is not None:  # PyTorch itself may end this process
            writer.start(self.nodeid, key, index)
        drawn = line.replayer.draw(self.drawer, index, LAID)
        self.session.drawn = drawn.program
        levels = self.drawer.design.rows[index].levels
        if len(levels) > 1 and not self._deaths.complete:
            self._submit(line)
            self._judge_all(line)
            self._judge_refused(line)
            self._deaths.complete = True
        if isinstance(drawn, Rejection):
            self._reached.refused(drawn.program)
        reason = self._obstacle(drawn, levels)
        if reason is not None:
            if writer is not None:
                writer.left_out(self.nodeid, key, reason)
        elif isinstance(drawn, Case):
            return Judgement(drawn, started)
        else:
            line.refused.append((drawn, started))
        return None

    def _obstacle(self, drawn: Case | Rejection, levels: tuple[Level, ...]) -> str | None:
        """Why a laid-out case is not run; None where it is."""
        if isinstance(drawn, Rejection):
            calls = drawn.program.calls
            if self.options.refusals != "all" or not calls or not calls[-1].raises:
                return drawn.reason
        elif self.drawer.repeated():
            return "it is an earlier one again"
        end = self._deaths.foreseen(levels)
        if end is None:
            end = self._deaths.known(drawn.program, self.session.target_info)
            if end is not None:
                self._deaths.met(levels, drawn.key)
        if end is not None:
            self.drawer.spare()
        return end

    def _reject(self, judge: AnyJudge, rejection: Rejection, started: float, *, remembered: bool) -> None:
        """Record a draw that the reference refused. The first few, and each that is remembered, also run on the target,
        which should refuse them too.
        """
        if not remembered:
            self._draws.rejections.append(rejection)
        program = rejection.program
        self._reached.refused(program)
        divergences: list[Divergence] = []
        sampled = remembered or len(self._draws.rejections) <= REFUSED_SAMPLE
        if sampled and program.calls and program.calls[-1].raises:
            divergences = judge.refused(program)
        unshown = divergences if self._dialect.passes_refused_draws() else []
        self.verdicts.write(rejection.key, "rejected", started, program, divergences, unshown, reason=rejection.reason)

    def _submit(self, line: Line) -> None:
        """Send the cases drawn since the last chunk to be replayed."""
        if not line.drawn:
            return
        line.replayer.ready()
        if self.drawer.listed is not None:  # what has ended the target is known before more of it is sent
            self._judge_all(line)
        drawn, line.drawn = line.drawn, []
        chunk = self._able(line.judge, drawn)
        programs = [judgement.case.program for judgement in chunk]
        together = not any(self._deaths.likely(program, self.session.target_info) for program in programs)
        line.sent.append((chunk, line.replayer.submit(programs, together=together)))
        if self.session.writer is not None:
            for judgement in drawn:  # while the target replays them
                case = judgement.case
                self._inference.take(case.key, case.program, case.reference)

    def _judge_refused(self, line: Line) -> None:
        """Show the target the laid-out draws that the reference has refused since the last time, all at once."""
        refused, line.refused = line.refused, []
        if not refused:
            return
        line.replayer.ready()
        shown = line.judge.all_refused([rejection.program for rejection, _ in refused])
        for (rejection, started), divergences in zip(refused, shown, strict=True):
            if any(divergence.difference.kind in DEADLY for divergence in divergences):
                self._deaths.met(self.drawer.design.rows[rejection.index].levels, rejection.key)
            program, reason = rejection.program, rejection.reason
            self.verdicts.write(rejection.key, "rejected", started, program, divergences, reason=reason)

    def _judge_all(self, line: Line) -> None:
        while line.sent:
            self._judge(line)

    def _judge(self, line: Line) -> None:
        """Judge the chunk that was submitted first, and record the verdict of every case."""
        chunk, answers = line.sent.popleft()
        line.judge.judge(chunk, answers.result())
        for judgement in chunk:
            self._end(judgement)

    def _able(self, judge: AnyJudge, judgements: Sequence[Judgement]) -> list[Judgement]:
        """The cases that the target can be asked about; the others are recorded as skipped."""
        able: list[Judgement] = []
        for judgement in judgements:
            case = judgement.case
            reason = lacking = judge.lacking(case.program)
            if reason is None and self.drawer.listed is not None:
                reason = self._sparing.reason(case) or self._deaths.known(case.program, self.session.target_info)
            if reason is None:
                able.append(judgement)
            else:
                self.verdicts.write(case.key, "skipped", judgement.started, case.program, [], reason=reason)
            if lacking is not None:
                self._lacking.add(lacking)
        return able

    def _learn(self, judgement: Judgement) -> None:
        """Note what a case says about those after it."""
        case = judgement.case
        self._sparing.note(judgement)
        if judgement.death is not None:
            self._deaths.met(self.drawer.design.rows[case.index].levels if case.laid_out else None, case.key)
        if case.laid_out:
            kinds = {divergence.difference.kind for divergence in judgement.divergences}
            self._missing |= case.index == 0 and self.options.missing == "count" and kinds == {"missing"}

    def _end(self, judgement: Judgement) -> None:
        case = judgement.case
        self._learn(judgement)
        self._compared.take(case)
        self._recollection.met(case.key, case.program)
        self._reached.judged(judgement)
        self.verdicts.write(
            case.key,
            judgement.verdict,
            judgement.started,
            case.program,
            judgement.divergences,
            judgement.unseen,
            reason=reason_of(judgement.doubts) if judgement.verdict == "undecidable" else judgement.unsupported,
            doubts=judgement.doubts,
            ops=case.program.ops(),
            dtypes=case.op_dtypes,
            graph=judgement.graph,
        )


def run_test(
    function: Callable[..., Any], options: TestOptions, body: Callable[[], Any], dialect: Dialect | None = None
) -> None:
    """Run an `@autotest` body as a test: in the running session, or outside pytest in one of its own.

    Raises DivergenceError, RejectionError, UsageError, EnvironmentFault, and whatever the body raises by itself.
    """
    __tracebackhide__ = True
    if dialect is None and current_recording.get(None) is not None:
        raise UsageError(
            f"{function.__qualname__} is decorated by @autotest, and called in the body of another such test, where it "
            "would be a test of its own: take the decorator off one of them, and have the other call that"
        )
    session = running_session(function)
    nodeid = session.nodeid or f"{Path(function.__code__.co_filename).name}::{function.__qualname__.replace('.', '::')}"
    key = case_test_name(nodeid)
    if session.nested:
        key = f"{key}~{session.calls}"
    session.calls += 1
    only = session.options.case
    if only is not None and only.rpartition("#")[0] != key:
        return
    run = TestRun(session, nodeid, key, options, body, dialect or Dialect())
    try:
        # What a target gives may be memory that nobody wrote, and its NaN one that warns when it is looked at.
        with np.errstate(all="ignore"):
            run.run()
    except HarnessFault as fault:
        if session.writer is not None:
            session.writer.fault(nodeid, str(fault))
        raise
    except (AutotestError, DualError, GeneratorError, ReportError, SkipTest):
        raise
    except Exception as error:
        if error is run.drawer.raised:
            session.raised = error, run.drawer.raised_in
            raise
        message = (
            f"the harness failed in {nodeid}: {type(error).__name__}: {error}; please report this with the traceback"
        )
        if session.writer is not None:
            session.writer.fault(nodeid, f"{type(error).__name__}: {error}", traceback.format_exc())
        raise HarnessFault(message) from error
