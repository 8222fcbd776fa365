"""A run's record files, read: each line is a record, or damage where it is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from reports.errors import FolderError, RecordError, VersionError
from reports.records.shape import VERSION, Record, fault_of


@dataclass(frozen=True)
class Damage:
    """A line which is not a record; str() is its sentence."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        """Name the line, why it is not a record, and what became of it."""
        return f"{self.file}:{self.line} is not a record ({self.reason}); it is left out"


@dataclass(frozen=True)
class Run:
    """The record files of one run folder, in the order of their workers."""

    folder: Path
    files: tuple[Path, ...]

    def lines(self) -> Iterator[tuple[Path, Record | Damage]]:
        """Yield each file's records and damaged lines in order, reading one line at a time.

        Raises RecordError where a file cannot be read and VersionError where it is of another version.
        """
        for path in self.files:
            for line in _lines(path):
                yield path, line


def records_file(folder: Path, worker: str) -> Path:
    """Where a pytest worker of a run writes its records."""
    return folder / f"records-{worker}.jsonl"


def records_beside(path: Path, worker: str) -> Path:
    """Where another worker of the same run writes, or of the same shard of a joined one, as records-2-gw0.jsonl is
    beside records-2-main.jsonl.
    """
    return path.with_name(f"{path.stem.rpartition('-')[0]}-{worker}{path.suffix}")


def last_begun(folder: Path, worker: str) -> str | None:
    """The key of the case that a pytest worker began last, whether or not it has ended; None where it began none.

    Raises as Run.lines.
    """
    return _last(folder, worker, "start")


def last_ahead(folder: Path, worker: str) -> str | None:
    """The key of the case of another test that a pytest worker was drawing ahead; None where it drew none.

    Raises as Run.lines.
    """
    return _last(folder, worker, "ahead")


def _last(folder: Path, worker: str, kind: str) -> str | None:
    path = records_file(folder, worker)
    lines = Run(folder, (path,)).lines() if path.exists() else ()
    keys: list[str | None] = [line["key"] for _, line in lines if not isinstance(line, Damage) and line["type"] == kind]
    return keys[-1] if keys else None


def read_run(folder: Path) -> Run:
    """Return the run whose records lie in `folder`, having checked the version of each file.

    Raises FolderError for a folder that is missing or holds no records, RecordError and VersionError as
    Run.lines.
    """
    if not folder.is_dir():
        raise FolderError(f"folder={str(folder)!r}, but should be an existing run folder")
    paths = sorted(folder.glob("records-*.jsonl"), key=lambda path: (len(path.name), path.name))
    if not paths:
        raise FolderError(
            f"folder={str(folder)!r}, but should be a run folder holding records-*.jsonl; "
            "a run writes them under runs/ of the folder given with --report"
        )
    for path in paths:
        next(_lines(path), None)
    return Run(folder, tuple(paths))


def _lines(path: Path) -> Iterator[Record | Damage]:
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                yield _parse(path, number, raw)
    except OSError as error:
        if isinstance(error, RecordError):
            raise
        refusal = RecordError(f"{path} cannot be read: {error.strerror}; check its permissions")
        refusal.errno = error.errno
        raise refusal from error


def _parse(path: Path, number: int, raw: bytes) -> Record | Damage:
    try:
        record = _DECODER.decode(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return Damage(path.name, number, _reason(error, raw))
    # The version comes before the shape: another version may well have another shape.
    if isinstance(record, dict) and record.get("type") == "run" and record.get("version") != VERSION:
        raise VersionError(
            f"version={record.get('version')!r}, but should be {VERSION} [{path}]; "
            "read it with the op-autotest that wrote it, or run the tests again"
        )
    fault = fault_of(record)
    if fault is not None:
        return Damage(path.name, number, fault)
    parsed: Record = record
    return parsed


def _reason(error: Exception, raw: bytes) -> str:
    if not raw.endswith(b"\n"):
        return "the line was cut short"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    return str(error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
