"""A saved run: its summary.json, and the few facts of it by which two runs are compared."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reports.errors import FolderError, RecordError
from reports.findings.finding import Row
from reports.folders.runs import replace_text
from reports.records.plain import encode
from reports.tallies.summary import Summary

Kind = TypeVar("Kind")

TEXTS = ("id", "fingerprint", "test", "kind", "level", "case_key", "message", "replay")
NAMES: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
MOST_CHARACTERS = 60


@dataclass(frozen=True)
class SavedRow:
    """A divergence as summary.json keeps it, less what no comparison reads."""

    id: str
    fingerprint: str
    test: str
    kind: str
    level: str
    case_key: str
    message: str
    replay: str
    count: int


@dataclass(frozen=True)
class Saved:
    """One run to compare. `rows` are the divergences of every level.

    `ran` holds the tests whose silence means something: those that passed, and those that failed and showed why. One
    that was skipped, never ended, or failed without a divergence says nothing of what it showed before. `target`,
    `seed`, `inputs`, `commit`, `command`, `selection`, `cases` and `seconds` are None where they are not known.
    """

    folder: Path
    target: str | None
    seed: int | None
    inputs: str | None
    commit: str | None
    command: str | None
    selection: str | None
    environment: Mapping[str, str]
    complete: bool
    ran: frozenset[str]
    rows: tuple[Row, ...]
    cases: int | None = None
    seconds: float | None = None
    #: By fingerprint, the simplest program known with its inputs; none where an older version saved the run.
    programs: Mapping[str, str] = field(default_factory=dict)


def save_summary(run_folder: Path, summary: Summary) -> Path:
    """Write summary.json into a run folder and a copy into the report folder around it; return the first. Beside it
    lies coverage.json: what the tensors of each op have reached.

    Each file is replaced at once, so that no reader sees half of it. Raises RecordError where it cannot be
    written.
    """
    text = encode(summary.to_json(), "summary.json") + "\n"
    path = run_folder / "summary.json"
    replace_text(path, text)
    if summary.space.ops:
        replace_text(run_folder / "coverage.json", encode(summary.space.to_json(), "coverage.json") + "\n")
    parent = run_folder.resolve().parent
    if parent.name == "runs":
        replace_text(parent.parent / "summary.json", text)
    return path


def saved_of(summary: Summary) -> Saved:
    """Return what load_saved would read, had this summary been saved."""
    rows = summary.all_divergences
    return Saved(
        folder=summary.folder,
        target=summary.target,
        seed=summary.seed,
        inputs=summary.inputs,
        commit=summary.commit,
        command=summary.command,
        selection=summary.selection,
        environment=dict(summary.environment),
        complete=summary.complete,
        ran=_ran(summary.outcomes, rows),
        rows=rows,
        cases=summary.cases,
        seconds=summary.seconds,
        programs=summary.programs,
    )


def load_saved(folder: Path) -> Saved:
    """Read summary.json of a run folder; keys that it does not know are left alone.

    Raises FolderError where it is missing, and RecordError where it cannot be read, was cut short, or is no summary.
    """
    path = folder / "summary.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FolderError(
            f"folder={str(folder)!r}, but should be a run folder with a summary.json [load_saved]; {_repair(folder)}"
        ) from None
    except OSError as error:
        refusal = RecordError(f"{path} cannot be read: {error.strerror}; check its permissions")
        refusal.errno = error.errno
        raise refusal from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} cannot be read as a summary: {error}; {_repair(folder)}") from error
    return _Reader(path).saved(content)


def _ran(outcomes: Mapping[str, str], rows: Sequence[Row]) -> frozenset[str]:
    with_rows = {row.test for row in rows}
    return frozenset(test for test, outcome in outcomes.items() if outcome == "passed" or test in with_rows)


def _target(rows: Sequence[Row]) -> str | None:
    """A fingerprint begins with its target; a summary without rows has said nothing of it."""
    return rows[0].fingerprint.partition("/")[0] if rows else None


def _repair(folder: Path) -> str:
    return f"write it anew with: autotest report {shlex.quote(str(folder))}"


class _Reader:
    """Reads one summary.json, and names the part that is not as it should be."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def saved(self, content: object) -> Saved:
        if not isinstance(content, dict):
            raise self._refusal("summary", content, "an object")
        rows = self._rows(content, "divergences") + self._rows(content, "known")
        for name in ("counted", "stricter"):
            rows += self._rows(content, name) if name in content else []
        return Saved(
            folder=self._path.parent,
            target=self._optional(content, "target", str) or _target(rows),
            seed=self._optional(content, "seed", int),
            inputs=self._optional(content, "inputs", str),
            commit=self._optional(content, "commit", str),
            command=self._optional(content, "command", str),
            selection=self._optional(content, "selection", str),
            environment=self._texts(content, "environment"),
            complete=self._part(content, "complete", bool),
            ran=_ran(self._texts(content, "outcomes"), rows),
            rows=tuple(rows),
            cases=self._optional(content, "cases", int),
            seconds=self._optional(content, "seconds", float),
            programs=self._texts(content, "programs") if "programs" in content else {},
        )

    def _rows(self, content: Mapping[str, object], name: str) -> list[SavedRow]:
        saved = []
        for position, row in enumerate(self._part(content, name, list)):
            where = f"{name}[{position}]"
            if not isinstance(row, dict):
                raise self._refusal(where, row, "an object")
            texts = {text: self._part(row, text, str, f"{where}.") for text in TEXTS}
            saved.append(SavedRow(**texts, count=self._part(row, "count", int, f"{where}.")))
        return saved

    def _texts(self, content: Mapping[str, object], name: str) -> dict[str, str]:
        texts = self._part(content, name, dict)
        return {key: self._part(texts, key, str, f"{name}.") for key in texts}

    def _optional(self, holder: Mapping[str, object], name: str, kind: type[Kind]) -> Kind | None:
        return None if holder.get(name) is None else self._part(holder, name, kind)

    def _part(self, holder: Mapping[str, object], name: str, kind: type[Kind], where: str = "") -> Kind:
        value = holder.get(name)
        # True is an int to Python, but none to a reader of JSON.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._refusal(where + name, value, NAMES[kind])
        return value

    def _refusal(self, name: str, value: object, expected: str) -> RecordError:
        text = repr(value)
        excerpt = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
        return RecordError(f"{name}={excerpt}, but should be {expected} [{self._path}]; {_repair(self._path.parent)}")
