"""The run of one pytest process: its options, its reference, its target, its records."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotest.budget import Budget
from autotest.cases.dialect import Dialect
from autotest.cases.drawer import Drawer
from autotest.cases.store import Store
from autotest.errors import EnvironmentFault, HarnessFault, UsageError
from autotest.judge.consensus import Consensus
from autotest.ledger.entries import Ledger, Ledgers
from autotest.options import RunOptions, TestOptions
from autotest.options.targets import launch
from autotest.run.lending import lent
from autotest.run.progress.stages import Progress
from autotest.workers.launch import TARGET_PYTHON
from autotest.workers.supervisor import Supervisor
from autotest.workers.wrapped.configured import ALL, wanted
from autotest.workers.wrapped.lowered import LoweringSupervisor
from dual_object.replay.stages import called, stages

if TYPE_CHECKING:
    from autotest.judge.judgement import Verdict
    from autotest.judge.shared_graphs import Foreseen, SharedGraphs
    from autotest.oracle.attribution import Attribution
    from autotest.shrink.shrinker import Shrunk
    from autotest.workers.inline import InlineTarget
    from autotest.workers.protocol import Target
    from dual_object.program.program import Program
    from dual_object.replay.adapter import Reference, TargetInfo
    from reports import RecordWriter

current_session: ContextVar[Session] = ContextVar("current_session")


def _open_alone(target: str) -> tuple[InlineTarget, Consensus]:
    from autotest.workers.inline import load_inline

    return load_inline(target), Consensus()


class Session:
    """Everything that the tests of one process share. Frameworks are imported, workers spawned and files opened at
    first use.

    `open_inline` opens a target, by its name, in this process.
    """

    def __init__(
        self,
        options: RunOptions,
        open_inline: Callable[[str], tuple[InlineTarget, Consensus]] = _open_alone,
    ) -> None:
        self.options = options
        self.launch = launch(options.target, options.target_python, overrides=options.override)
        self.supervisor = LoweringSupervisor(
            self.launch, options.case_timeout, memory=options.memory_limit, reference=lambda: self.reference
        )
        #: For functions of tests as they are (`@hazard`, `@contract`): what they leave behind must not be where
        #: Programs run.
        self.functions = Supervisor(self.launch, options.case_timeout, memory=options.memory_limit)
        self.nodeid: str | None = None
        self.test_file: Path | None = None
        #: Why the test that runs may diverge, where it is marked as one that does.
        self.excuse: str | None = None
        #: The executors that the target lists, by the names under which their divergences are told; else the target.
        self.stages = stages(options.target)
        #: Of the test that runs: its verdicts, and its worst elements.
        self.counts: Counter[str] = Counter()
        self.worst: list[Mapping[str, object]] = []
        #: Whether the running test itself is no `@autotest` test, but calls such; and how many it has called.
        self.nested = False
        #: The Program of the case that was drawn last.
        self.drawn: Program | None = None
        #: What the test's body raised, and the key of the case in which it did.
        self.raised: tuple[Exception, str] | None = None
        self.calls = 0
        self.inline_tests: dict[str, str] = {}
        #: By test, the verdicts of the cases that have run already, in a process whose place this one takes.
        self.resumed: Mapping[str, Mapping[str, Verdict]] = {}
        #: The cases of all tests that were collected, for who shows how far the run is.
        self.planned = 0
        #: What the tests beside the running one will ask a graph for, where tests may share graphs.
        self.foresee: Callable[[], Sequence[Foreseen]] | None = None
        self._shared: dict[str, SharedGraphs] = {}
        self._open_inline = open_inline
        self._inline: tuple[InlineTarget, Consensus] | None = None
        self._target_recorded = False

    @cached_property
    def called(self) -> tuple[str, ...]:
        """What fingerprints begin with: the stages, or the name that an adapter of the user's own gives itself."""
        # A run that is inline altogether starts no other process only to be told a name.
        return called(self.options.target, self.inline.info if self.options.isolate == "never" else self.target_info)

    @cached_property
    def ledgers(self) -> Ledgers | None:
        """What is known; None where nobody says where to look for it."""
        return None if self.options.root is None else Ledgers(self.called, self.options.root, self.options.ledger)

    @cached_property
    def progress(self) -> Progress:
        """How far this process is."""
        return Progress(self.options.folder, self.options.worker, self.planned)

    @cached_property
    def shrinking(self) -> Budget[Shrunk]:
        """The seconds that are left for making divergences minimal, and what has come of those spent."""
        return Budget(self.options.shrink_total, self.options.shrink)

    @cached_property
    def attributing(self) -> Budget[Attribution]:
        """The seconds that are left for finding out which side is wrong, and what has come of those spent."""
        from autotest.oracle.attribution import EACH

        return Budget(self.options.blame_total, EACH)

    @cached_property
    def reference(self) -> Reference:
        """PyTorch, with one thread unless OMP_NUM_THREADS says otherwise: more threads cost more than they give on
        small tensors.
        """
        from autotest.workers.server import schedule_in_batches
        from dual_object.replay.adapter import load_reference

        reference = load_reference()
        if "OMP_NUM_THREADS" not in os.environ:
            reference.use_one_thread()
        schedule_in_batches()
        gc.freeze()  # PyTorch's million objects live as long as the process: no collection need look at them again
        return reference

    @cached_property
    def writer(self) -> RecordWriter | None:
        """The record file of this process, None where the run keeps no records (outside pytest)."""
        folder = self.options.folder
        return None if folder is None else open_records(folder, self.options.worker, self.environment(), self.options)

    def drawer(
        self, test: str, options: TestOptions, body: Callable[[], Any], dialect: Dialect | None = None
    ) -> Drawer:
        """Draws the cases of a test, by its name in their keys, as the run asks for."""
        run = self.options
        return Drawer(
            self.reference,
            test,
            run.seed,
            self.stages[0],
            options,
            body,
            dialect or Dialect(),
            inputs=run.inputs,
            timeout=run.case_timeout,
            coverage=run.coverage,
        )

    def shared_graphs(self, stage: str, target: Target) -> SharedGraphs | None:
        """The graphs that tests share on one of the stages; None where they share none."""
        if self.foresee is None:
            return None
        from autotest.judge.shared_graphs import SharedGraphs

        return self._shared.setdefault(stage, SharedGraphs(target, self.foresee))

    def run_inline_on(self, target: InlineTarget, consensus: Consensus) -> None:
        """Take this target for all that runs inline, and agree with these others about it."""
        self._inline = target, consensus

    @property
    def inline(self) -> InlineTarget:
        """The target in this process, for bodies that use its own objects."""
        return self._opened()[0]

    @property
    def consensus(self) -> Consensus:
        """With whom inline runs have to agree."""
        return self._opened()[1]

    def _opened(self) -> tuple[InlineTarget, Consensus]:
        if self._inline is None:
            if self.options.override:
                raise UsageError(
                    "kernels run in a process of their own, but the test uses the target's own objects, which are in "
                    "this one [--override]"
                )
            if self.launch.python is not None:
                raise UsageError(
                    f"the target {self.launch.target} runs in {self.launch.python}, but should run in this process: "
                    "the test uses the target's own objects, or the run is inline [--target-python, --isolate]"
                )
            self._inline = self._open_inline(self.launch.loads)
        return self._inline

    def target_info(self) -> TargetInfo:
        """What the target says of itself, by whichever of its processes runs."""
        inline = None if self._inline is None else self._inline[0]
        return self.supervisor.info() if inline is None else inline.info()

    def ledger(self) -> Ledger:
        """What is known about the test that is running."""
        if self.ledgers is None or self.test_file is None:
            return Ledger()
        return self.ledgers.nearest(self.test_file)

    @property
    def store(self) -> Store | None:
        """Where the Programs of divergent cases are kept; None where the run keeps no records."""
        return None if self.options.folder is None else Store(self.options.folder)

    def environment(self) -> dict[str, str]:
        """What the reference runs on."""
        import numpy

        return {
            "python": platform.python_version(),
            "torch": self.reference.info().environment["torch"],
            "numpy": numpy.__version__,
            "platform": f"{sys.platform} {platform.machine()}",
        }

    def record_target(self) -> None:
        """Note the target's versions once they are known; raises EnvironmentFault where it cannot start."""
        if not self._target_recorded:
            info = self.supervisor.info()
            self.check_configurations(info)
            self._target_recorded = True
            if self.writer is not None:
                environment = dict(info.environment)
                if self.launch.python is not None and "python" in environment:  # beside that of this process
                    environment[TARGET_PYTHON] = environment.pop("python")
                self.writer.target(environment, info.devices, info.lacks)

    def check_configurations(self, info: TargetInfo) -> None:
        """Refuse a run that asks for configurations which the target's graphs have not; raises EnvironmentFault."""
        named = next((name for name in self.options.graph_configs if name != ALL), None)
        if named is not None and not info.configurations:
            raise EnvironmentFault(
                f"graph_configs={named!r}, but {info.name}'s graphs have no configurations: leave it out, or choose "
                "another target [--graph-configs]"
            )
        try:
            wanted(self.options.graph_configs, info)
        except UsageError as error:
            raise EnvironmentFault(str(error)) from None

    def record_test(
        self,
        nodeid: str,
        seconds: float,
        outcome: str,
        line: int | None,
        error: str | None = None,
        trace: str | None = None,
    ) -> None:
        """Note that a test has ended; `line` is its first one, from 1, `error` what it raised, `trace` from where."""
        if self.writer is not None:
            self.writer.test(nodeid, seconds, outcome, line, error, trace)

    def record_stop(self, nodeid: str, message: str) -> None:
        """Note what has ended the run in a test."""
        if self.writer is not None:
            self.writer.stopped(nodeid, message)

    def turn_to(self, **options: Any) -> None:
        """Go on with these options in the place of those before: what is recorded from now on lies in the file of their
        `worker`, and budgets are whole again.
        """
        self.end_records()
        self.options = replace(self.options, **options)
        for kept in ("progress", "shrinking", "attributing"):
            self.__dict__.pop(kept, None)

    def end_records(self) -> None:
        """Record what the target has and what has run of it, and close the records; ending them twice is allowed."""
        writer: RecordWriter | None = self.__dict__.pop("writer", None)
        if writer is None:
            return
        with writer:
            self._record_surface(writer)
        self._target_recorded = False

    def close(self) -> None:
        """End the records and the worker; closing twice is allowed."""
        self.progress.close()
        try:
            self.end_records()
        finally:
            self.supervisor.close()
            self.functions.close()

    def _record_surface(self, writer: RecordWriter) -> None:
        inline = None if self._inline is None else self._inline[0]
        if not self._target_recorded and inline is None:
            return
        from dual_object.adapters.torch.surface import op_paths
        from reports import RecordError

        paths = op_paths()
        # A folder that cannot be written any more is told of by the run's summary, which is to be written there next.
        with contextlib.suppress(RecordError):
            try:
                surfaces = [self.supervisor.surface(paths), None if inline is None else inline.surface(paths)]
            except HarnessFault as fault:
                writer.fault(None, str(fault))
                return
            for surface in surfaces:
                if surface is not None:
                    writer.surface(surface.registry, surface.touched, surface.names)


def open_records(folder: Path, worker: str, environment: Mapping[str, str], options: RunOptions) -> RecordWriter:
    """Open the records of `worker` in a run's folder, which begin with what the run is asked for. Raises RecordError
    where they cannot be written.
    """
    from reports import RecordWriter

    return RecordWriter(
        folder,
        worker,
        seed=options.seed,
        inputs=options.inputs,
        target=options.target,
        environment=dict(environment),
        command=options.command,
        commit=options.commit,
        selection=options.selection,
        path=None if options.root is None else str(options.root),
    )


def running_session(function: Callable[..., Any] | None = None) -> Session:
    """The running session, also of a test that is none of ours; outside pytest one with default options, that keeps no
    records. `function` is what is decorated, where that asks for it.
    """
    session: Session | None = lent(current_session.get(None), function)
    if session is None:
        session = Session(RunOptions())
        current_session.set(session)
    return session


__all__ = ["EnvironmentFault", "Session", "current_session", "open_records", "running_session"]
