"""Repros as a report tells them: the script and the issue of each divergence, and whether the script was seen to fail.

They lie in `repros/<id>` of a run's folder; `repros/repros.json` says what became of each.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reports.errors import RecordError, unwritable
from reports.folders.runs import replace_text
from reports.records.plain import encode
from reports.words.literals import literal_path

#: The name of a repro's script, in its folder.
SCRIPT = "repro.py"
FOLDER = "repros"
ISSUE = "issue.md"
_NAME = "repros.json"
#: What is said of a script that was seen to show its divergence.
VERIFIED = "verified: exits 1"


@dataclass(frozen=True)
class Repro:
    """A divergence's repro; `folder` is None where there is no script, for the reason that `words` gives."""

    folder: Path | None
    words: str

    @property
    def sentence(self) -> str:
        """Where the script lies and whether it was verified, in one line."""
        return (
            f"repro: {self.words}"
            if self.folder is None
            else f"repro: {literal_path(self.folder / SCRIPT)} ({self.words})"
        )


@dataclass(frozen=True)
class ReproResult:
    """What became of one repro: whether there is a script, and in words whether it was verified."""

    written: bool
    words: str


def script_path(run_folder: Path, id_: str) -> Path:
    """Where a run writes the script of a divergence."""
    return run_folder / FOLDER / id_ / SCRIPT


def texts(repro: Repro) -> dict[str, object]:
    """A repro as plain data, with the texts that people copy. Raises RecordError where they cannot be read."""
    if repro.folder is None:
        return {"words": repro.words, "path": None, "script": None, "issue": None}
    try:
        script = (repro.folder / SCRIPT).read_text(encoding="utf-8")
        issue = (repro.folder / ISSUE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{repro.folder} cannot be read: {error}; remove it, or run the tests again") from error
    return {"words": repro.words, "path": str(repro.folder / SCRIPT), "script": script, "issue": issue}


def save_repros(run_folder: Path, results: Mapping[str, ReproResult]) -> None:
    """Keep what became of a run's repros, by id. Raises RecordError where it cannot be written."""
    rows = {id_: {"written": result.written, "words": result.words} for id_, result in sorted(results.items())}
    folder = run_folder / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    replace_text(folder / _NAME, encode(rows, _NAME) + "\n")


def load_repros(run_folder: Path) -> dict[str, Repro]:
    """The repros of a run by id, none where it has none. Raises RecordError for a file that is not what was saved."""
    folder = run_folder / FOLDER
    path = folder / _NAME
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {id_: Repro(folder / id_ if row["written"] else None, str(row["words"])) for id_, row in rows.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path} cannot be read: {error}; remove it, or run the tests again") from error


def join_repros(run_folder: Path, folder: Path) -> None:
    """Add the repros of one run to those of another: of each divergence the first that there is."""
    held = load_repros(folder)
    results = {id_: ReproResult(repro.folder is not None, repro.words) for id_, repro in held.items()}
    for id_, repro in load_repros(run_folder).items():
        if id_ in results and (results[id_].written or repro.folder is None):
            continue
        if repro.folder is not None:
            shutil.copytree(repro.folder, folder / FOLDER / id_)
        results[id_] = ReproResult(repro.folder is not None, repro.words)
    if results:
        save_repros(folder, results)
