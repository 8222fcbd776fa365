"""Record files: one JSON object per line, written so that a killed run can still be read."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from reports.errors import PartError, RecordError, unwritable
from reports.records.plain import encode
from reports.records.run import records_file
from reports.records.shape import VERSION, Record


class RecordWriter:
    """The records of one pytest worker, appended to `<folder>/records-<worker>.jsonl`.

    Each record is one whole line handed to the operating system at once, so that it survives this process.
    The first line describes the run and is written here. Every record is stamped with the epoch time in
    seconds.

    Raises RecordError when the file cannot be opened or written, PlainError for a record that is not plain
    data and PartError for a worker name which cannot be part of a file name. Close it, or use it as a
    context manager.
    """

    def __init__(
        self,
        folder: Path,
        worker: str,
        *,
        seed: int,
        target: str,
        environment: Mapping[str, str],
        command: str,
        inputs: str | None = None,
        commit: str | None = None,
        path: str | None = None,
        selection: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the folder and the file where they are missing, and describe the run."""
        if not re.fullmatch(r"[A-Za-z0-9_-]+", worker):
            raise PartError(f"worker={worker!r}, but should be letters, digits, - and _ [RecordWriter]")
        self.path = records_file(folder, worker)
        self._clock = clock
        self._torn = False
        self._descriptor: int | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = os.open(self.path, flags, 0o644)
        except OSError as error:
            self._refuse(error)
        try:
            self.write(
                {
                    "type": "run",
                    "version": VERSION,
                    "worker": worker,
                    "seed": seed,
                    "inputs": inputs,
                    "target": target,
                    "environment": dict(environment),
                    "command": command,
                    "commit": commit,
                    "path": path,
                    "selection": selection,
                }
            )
        except BaseException:
            self.close()
            raise

    def target(self, environment: Mapping[str, str], devices: Sequence[str], lacks: Sequence[str] = ()) -> None:
        """Record what the target told about itself; its environment is merged into the run's."""
        told = {"environment": dict(environment), "devices": list(devices)}
        self.write({"type": "target", **told, **({"lacks": list(lacks)} if lacks else {})})

    def surface(self, registry: Sequence[str], touched: Sequence[str], names: Sequence[str]) -> None:
        """Record the op types that the target has registered and those that ran, and the names of the ops that both
        sides have.
        """
        self.write({"type": "surface", "registry": list(registry), "touched": list(touched), "names": list(names)})

    def start(self, test: str, key: str, index: int) -> None:
        """Record that a case begins."""
        self.write({"type": "start", "test": test, "key": key, "index": index})

    def ahead(self, key: str | None) -> None:
        """Record that a case of a test is drawn before that runs; None: that no more are."""
        self.write({"type": "ahead", "key": key})

    def end(
        self,
        test: str,
        key: str,
        verdict: str,
        *,
        reason: str | None = None,
        ops: Sequence[str] = (),
        dtypes: Sequence[str] = (),
        graph: Mapping[str, object] | None = None,
        seconds: float,
        divergences: Sequence[Mapping[str, object]] = (),
        undecidable: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        """Record how a case ended; `dtypes` are those that `ops` were given, one by one, `graph` holds the keys forward
        and backward, and `eager: global` where the case has global tensors. `undecidable` are op, phase and reason of
        what the reference does not define.
        """
        self.write(
            {
                "type": "end",
                "key": key,
                "test": test,
                "verdict": verdict,
                "reason": reason,
                "ops": list(ops),
                "dtypes": list(dtypes),
                "graph": None if graph is None else dict(graph),
                "seconds": seconds,
                "divergences": [dict(row) for row in divergences],
                **({"undecidable": [list(doubt) for doubt in undecidable]} if undecidable else {}),
            }
        )

    def reached(self, test: str, reached: Mapping[str, object]) -> None:
        """Record what the cases of a test have reached: how many were laid out, and tensors by op and cell."""
        self.write({"type": "reached", "test": test, **reached})

    def inferred(self, test: str, inferred: Mapping[str, object]) -> None:
        """Record what the reference's shape inference has said of a test's cases: of how many it was asked, why it
        `refused` others, and where it disagrees with what was computed.
        """
        self.write({"type": "inferred", "test": test, **inferred})

    def left_out(self, test: str, key: str, reason: str) -> None:
        """Record that a laid-out case has started in vain, and why: there is no such case."""
        self.write({"type": "left_out", "test": test, "key": key, "reason": reason})

    def shrunk(self, test: str, fingerprint: str, shrunk: Mapping[str, object]) -> None:
        """Record the simplest program found for a divergence, or why there is none."""
        self.write({"type": "shrunk", "test": test, "fingerprint": fingerprint, "shrunk": dict(shrunk)})

    def blamed(self, test: str, fingerprint: str, blame: Mapping[str, object]) -> None:
        """Record which side of a divergence is wrong, and why."""
        self.write({"type": "blame", "test": test, "fingerprint": fingerprint, "blame": dict(blame)})

    def remembered(self, test: str, aligned: int, problems: Sequence[str]) -> None:
        """Record how many remembered cases of a test align now, and what is wrong with what was remembered."""
        self.write({"type": "remembered", "test": test, "aligned": aligned, "problems": list(problems)})

    def test(
        self,
        test: str,
        seconds: float,
        outcome: str,
        line: int | None = None,
        error: str | None = None,
        trace: str | None = None,
        process: str | None = None,
    ) -> None:
        """Record that a test ended: `outcome` is passed, failed or skipped, `line` its first one, from 1, `error` what
        it raised, `trace` the traceback as pytest shows it, `process` the worker that ended in it, with its cases.
        """
        record = {"type": "test", "test": test, "seconds": seconds, "outcome": outcome, "line": line}
        others = (("error", error), ("trace", trace), ("process", process))
        said = {name: value for name, value in others if value is not None}
        self.write({**record, **said})

    def stopped(self, test: str, message: str) -> None:
        """Record what ended the run in a test, such as a target that cannot start."""
        self.write({"type": "stop", "test": test, "message": message})

    def tolerance(self, test: str, row: Mapping[str, object]) -> None:
        """Record the largest error that a test accepted at one place: its op, dtype, device and phase."""
        self.write({"type": "tolerance", "test": test, **row})

    def fault(self, test: str | None, message: str, trace: str | None = None) -> None:
        """Record a fault of the harness itself, in a test or outside all of them, with Python's traceback if there is
        one.
        """
        self.write({"type": "fault", "test": test, "message": message, **({"trace": trace} if trace else {})})

    def write(self, record: Record) -> None:
        """Append one record, stamped with the time unless it has one."""
        line = encode({"time": self._clock(), **record}, self.path.name).encode("ascii") + b"\n"
        if self._descriptor is None:
            raise RecordError(f"{self.path} is closed; a record needs an open RecordWriter")
        # After a line cut short by a full disk, the next one starts on a line of its own.
        rest = b"\n" + line if self._torn else line
        try:
            while rest:
                written = os.write(self._descriptor, rest)
                rest = rest[written:]
                self._torn = bool(rest)
        except OSError as error:
            self._refuse(error)

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def __enter__(self) -> RecordWriter:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def _refuse(self, error: OSError) -> NoReturn:
        raise unwritable(self.path, error) from error
