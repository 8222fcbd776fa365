"""`autotest run --ranks N`: N pytest processes that are the ranks of one run, watched from here.

Why not `python -m oneflow.distributed.launch`: it tells neither which rank ended nor how, never looks at one that
hangs, and ends the others by a signal to a process group that it need not lead. Here every rank leads a group of its
own, notes what it does, and is ended with the others as soon as one dies or stands still. New ones then go on with the
next case.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import click

from autotest.commands.run import PYTEST
from autotest.exits import DIVERGED, HARNESS_FAULT, NOTHING_COLLECTED, USAGE
from autotest.options.table import OPTIONS
from autotest.options.targets import launch
from autotest.ranks.environment import RANK, Resume
from autotest.ranks.peers import Note, read_note
from autotest.workers.launch import START_TIMEOUT
from autotest.workers.worker import last_words

#: A rank holds about so much.
BYTES_PER_RANK = 1 << 30
#: Seconds between two looks at the ranks.
LOOK = 0.05
#: Seconds that ranks may take to find one another, however short a case's deadline is.
LEAST_START = 30.0
#: Seconds that a rank may take to leave once its tests have ended.
LEAVE_TIMEOUT = 20.0
#: Ranks that were ended so often do not start again.
MOST_ENDS = 20
#: So many lines of a rank that died at import are shown.
LAST_LINES = 15
#: What pytest itself gives for a wrong usage.
PYTEST_USAGE = 4
#: The worst first.
_STATUSES = (HARNESS_FAULT, USAGE, DIVERGED, NOTHING_COLLECTED)

Cause = Literal["refused", "import", "died", "hung"]


@dataclass(frozen=True, slots=True)
class End:
    """Why a run ended before its tests did: the ranks at fault, the cause, and the sentence that says so."""

    ranks: tuple[int, ...]
    cause: Cause
    sentence: str


@dataclass(slots=True)
class Rank:
    """One pytest process: its number, its output, its notes, and when it last did something."""

    number: int
    process: subprocess.Popen[bytes]
    log: Path
    notes: Path
    note: Note = field(default_factory=Note)
    size: int = 0
    moved: float = field(default_factory=time.monotonic)

    def look(self, now: float) -> None:
        """Read the rank's note; whatever is new is a sign of life."""
        note, size = read_note(self.notes), self.log.stat().st_size
        if note.step != self.note.step or size != self.size:
            self.note, self.size, self.moved = note, size, now

    def gone(self, now: float) -> bool:
        """Whether the process has ended, or its tests have and it does not leave."""
        return self.process.returncode is not None or (self.note.stage == "ended" and now - self.moved > LEAVE_TIMEOUT)

    def how_it_ended(self) -> str:
        """How the process ended, with its last words."""
        code = self.process.returncode
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        words = last_words(self.log.read_bytes().splitlines())
        return f"{how}: {words}" if words else how

    def kill(self) -> None:
        """End the process and whatever it started in its group."""
        with suppress(ProcessLookupError):  # the whole group has gone
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Ranks:
    """The ranks of one run, as a context: whatever is left of them at its end is killed."""

    def __init__(self, place: Path, count: int, arguments: Sequence[str], rank_input: Mapping[str, Any]) -> None:
        self.all: list[Rank] = []
        self._printed = 0
        world = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(_free_port()),
            "WORLD_SIZE": str(count),
            "COLUMNS": str(shutil.get_terminal_size().columns),
        }
        color = ["--color=yes"] if sys.stdout.isatty() else []
        try:
            for number in range(count):
                notes = place / f"rank{number}.json"
                own = {"workerid": f"rank{number}", "notes": str(notes)}
                environment = {"OMP_NUM_THREADS": "1", **os.environ, **world, "RANK": str(number)}
                environment |= {"LOCAL_RANK": str(number), RANK: json.dumps({**rank_input, **own})}
                command = [sys.executable, "-c", PYTEST, *color, *arguments]
                self.all.append(_spawn(number, command, environment, place / f"rank{number}.log", notes))
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Ranks:
        """The ranks themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill what is left."""
        self.kill()

    def kill(self) -> None:
        """End all ranks and whatever they started; show what the first one still had to say."""
        for rank in self.all:
            rank.kill()
        if self.all:
            self._show()

    def wait(self, timeout: float | None) -> End | None:
        """Show what the first rank prints until all have ended; why they cannot go on, None where all could.

        `timeout` is the seconds that a rank may stand still, None without a deadline.
        """
        while True:
            now = time.monotonic()
            for rank in self.all:
                rank.process.poll()
                rank.look(now)
            self._show()
            end = self._refusal() or self._death() or self._standstill(timeout, now)
            if end is not None or all(rank.gone(now) for rank in self.all):
                return end
            time.sleep(LOOK)

    def _show(self) -> None:
        with self.all[0].log.open("rb") as file:
            file.seek(self._printed)
            data = file.read()
        self._printed += len(data)
        if data:
            click.echo(data, nl=False)

    def _refusal(self) -> End | None:
        for rank in self.all:
            if rank.note.stage == "refused":
                return End((rank.number,), "refused", rank.note.said)
        return None

    def _death(self) -> End | None:
        for rank in self.all:
            if rank.process.returncode is None or rank.note.stage == "ended":
                continue
            how = rank.how_it_ended()
            if rank.note.stage == "starting":
                return End((rank.number,), "import", f"rank {rank.number} died at import: {how}")
            return End((rank.number,), "died", f"rank {rank.number} died in {rank.note.place()}: {how}")
        return None

    def _standstill(self, timeout: float | None, now: float) -> End | None:
        """The ranks that stand still: those that wait for others are not to blame, unless all of them do."""
        alive = [rank for rank in self.all if rank.process.returncode is None and rank.note.stage != "ended"]
        limit = START_TIMEOUT if timeout is None else max(timeout, LEAST_START)
        late = [rank for rank in alive if rank.note.stage == "starting" and now - rank.moved > limit]
        if late and len(late) == len([rank for rank in alive if rank.note.stage == "starting"]):
            least = min(rank.note.step for rank in late)
            late = [rank for rank in late if rank.note.step == least]
            where = late[0].note.place()
            return End(_numbers(late), "import", f"{_named(late)} did not get past {where} in {limit:g} s")
        if timeout is None:
            return None
        still = [rank for rank in alive if rank.note.stage == "ready" and now - rank.moved > timeout]
        stuck = [rank for rank in still if not rank.note.waits]
        if stuck:  # those that stood still a little later stand still with them
            half = [rank for rank in alive if rank.note.stage == "ready" and now - rank.moved > timeout / 2]
            stuck = [rank for rank in half if not rank.note.waits]
            places = ", ".join(dict.fromkeys(rank.note.place() for rank in stuck))
            failed = [f"; before, {_named([rank])}: {rank.note.said}" for rank in alive if rank.note.said]
            words = f"{_named(stuck)} stood still for {timeout:g} s in {places}{''.join(failed)}"
            return End(_numbers(stuck), "hung", words)
        if still and len(still) == len(alive):
            gone = [rank for rank in self.all if rank not in alive]
            words = f"for {_named(gone)}, which has ended its tests" if gone else "for one another"
            return End(
                _numbers(still), "hung", f"{_named(still)} waited {timeout:g} s in {still[0].note.place()} {words}"
            )
        return None


def _spawn(number: int, command: Sequence[str], environment: Mapping[str, str], log: Path, notes: Path) -> Rank:
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and pytest
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    return Rank(number, process, log, notes)


def _numbers(ranks: Sequence[Rank]) -> tuple[int, ...]:
    return tuple(rank.number for rank in ranks)


def _named(ranks: Sequence[Rank]) -> str:
    numbers = [str(rank.number) for rank in ranks]
    return f"rank{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}"


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def run_ranks(paths: Sequence[str], count: int, workers: str, options: Mapping[str, Any]) -> int:
    """Run pytest as `count` ranks and sum up what they found; returns the documented exit status.

    `options` are ours by name. Raises click.UsageError for options that several ranks
    cannot have, or more ranks than memory carries.
    """
    from autotest.commands.run import pytest_arguments, refuse_meaningless, refuse_missing
    from autotest.run.settings import commit, typed_command
    from reports import plan_run

    _check(count, workers, options)
    refuse_missing(paths)
    refuse_meaningless(options)
    seed = OPTIONS["seed"].read(options["seed"])
    timeout = OPTIONS["case_timeout"].read(options["case_timeout"])
    repro_total = OPTIONS["repro_total"].read(options["repro_total"])
    folder = plan_run(Path(options["report"]).absolute(), seed)
    rank_input = {"autotest_folder": str(folder), "autotest_seed": seed}
    rank_input |= {"autotest_command": typed_command(), "autotest_commit": commit(Path.cwd())}
    ours = pytest_arguments({**options, "isolate": "never"})
    # Captured at its descriptors, the last words of a target that ends the process would be lost with it.
    arguments = ["-n", "0", "-p", "no:randomly", "--capture=sys", *paths, *ours]
    ends: list[End] = []
    resume: Resume | None = None
    with tempfile.TemporaryDirectory(prefix="autotest-ranks-") as place:
        while True:
            own = Path(place) / str(len(ends))
            own.mkdir()
            with Ranks(own, count, arguments, {**rank_input, "resume": resume and asdict(resume)}) as ranks:
                end = ranks.wait(timeout)
            if end is not None:
                ends.append(end)
                resume = _record(ranks.all, end, folder, seed, options)
            _keep_output(ranks.all, folder)
            if end is None or resume is None or len(ends) == MOST_ENDS:
                return _conclude(ranks.all, ends, folder, seed, repro_total)
            click.echo(f"{end.sentence}; the ranks start again behind it", err=True)


def _check(count: int, workers: str, options: Mapping[str, Any]) -> None:
    import psutil

    if workers not in ("auto", "0"):
        raise click.UsageError(f"-n={workers!r}, but should be left out with --ranks: every rank is one process")
    if options["isolate"] == "always":
        raise click.UsageError(
            "isolate='always', but should be left out with --ranks: every rank runs the target in its own process"
        )
    if options["override"]:
        raise click.UsageError(
            f"override={options['override'][0]!r}, but should be left out with --ranks: every rank runs the target in "
            "its own process, which is the reference's, too"
        )
    python = launch(options["target"], options["target_python"]).python
    if python is not None:
        raise click.UsageError(
            f"target_python={python!r}, but should be left out with --ranks: every rank runs the target in its own "
            "process"
        )
    available = psutil.virtual_memory().available
    most = max(1, available // BYTES_PER_RANK)
    if count > most:
        raise click.UsageError(
            f"ranks={count}, but should be at most {most}: a rank takes 1 GB, and {available / BYTES_PER_RANK:.1f} GB "
            "are free [--ranks]"
        )


def _conclude(ranks: Sequence[Rank], ends: Sequence[End], folder: Path, seed: int, repro_total: float) -> int:
    """Print the summary and why ranks were ended, and give the exit status."""
    last = ends[-1] if ends else None
    if last is not None and last.cause == "refused":
        click.echo(last.sentence, err=True)
        return USAGE
    if last is not None and last.cause == "import":
        culprit = ranks[last.ranks[0]]
        if culprit.number:  # the first rank's output is on the terminal already
            for line in culprit.log.read_text(errors="replace").splitlines()[-LAST_LINES:]:
                click.echo(line)
        click.echo(f"{last.sentence}; all ranks were ended", err=True)
        return USAGE
    statuses = [rank.note.status for rank in ranks if rank.note.status is not None]
    statuses = [USAGE if status == PYTEST_USAGE else status for status in statuses]
    status = next((status for status in _STATUSES if status in statuses), 0)
    if ends and status in (0, NOTHING_COLLECTED):
        status = DIVERGED
    faulty = _tell(folder, status, repro_total) if folder.is_dir() else False
    for end in ends:
        click.echo(f"{end.sentence}; all ranks were ended", err=True)
    for rank in ranks[1:]:
        if rank.note.status not in (None, ranks[0].note.status) and folder.is_dir():
            path = folder / rank.log.name
            click.echo(f"rank {rank.number} ended with status {rank.note.status}: its output is in {path}", err=True)
    return HARNESS_FAULT if faulty else status


def _record(ranks: Sequence[Rank], end: End, folder: Path, seed: int, options: Mapping[str, Any]) -> Resume | None:
    """Close the case that was running when the ranks were ended, and tell where others may go on; None where no case
    was running. The first rank's record holds the divergence.
    """
    from autotest.compare.divergence import new_row
    from reports import RecordWriter

    note = ranks[end.ranks[0]].note
    if not note.key or end.cause not in ("died", "hung"):
        return None
    kind, verdict = ("timeout", "timed_out") if end.cause == "hung" else ("crash", "crashed")
    target, inputs = options["target"], options["inputs"]
    facts = f"{len(ranks)} ranks" + f",config={note.configuration}" * bool(note.configuration)
    phase: Literal["graph_forward", "global_forward"] = "graph_forward" if note.op == "graph" else "global_forward"
    identity = (target, phase, kind, note.op or "program", facts)
    command = shlex.join(["autotest", "run", note.test, "--ranks", str(len(ranks))])
    row = new_row(identity, note.test, note.key, end.sentence, command)
    for rank in ranks:
        with RecordWriter(
            folder, f"rank{rank.number}", seed=seed, inputs=inputs, target=target, environment={}, command=command
        ) as writer:
            ops = [note.op] if note.op else []
            rows = [] if rank.number else [row]
            writer.end(note.test, note.key, verdict, ops=ops, graph=None, seconds=0.0, divergences=rows)
            records = writer.path.read_text().splitlines()
    ended = [record for record in map(json.loads, records) if record["type"] == "end" and record["test"] == note.test]
    return Resume(note.test, {record["key"]: record["verdict"] for record in ended})


def _keep_output(ranks: Sequence[Rank], folder: Path) -> None:
    """Add the ranks' output to what is beside their records, where there are any."""
    for rank in ranks if folder.is_dir() else ():
        with (folder / rank.log.name).open("ab") as file:
            file.write(rank.log.read_bytes())


def _tell(folder: Path, status: int, repro_total: float) -> bool:
    """Keep the run's exit status beside its records and print the summary; whether the harness was at fault."""
    from autotest.commands.summary import tell
    from reports import save_status

    conclusion = tell(folder, shutil.get_terminal_size().columns, sys.stdout.isatty(), repro_total)
    click.echo(conclusion.text)
    for line in conclusion.annotations:
        click.echo(line)
    faulty = conclusion.faulty or not conclusion.written
    save_status(folder, HARNESS_FAULT if faulty else status)
    return faulty
