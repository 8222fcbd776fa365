"""Stored Programs: where a run keeps those of its divergent cases, and how one is found again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotest.compare.difference import Rules
from autotest.errors import AutotestError
from dual_object.program.program import Program
from reports import ReportError, resolve_run, runs

#: So many cases per fingerprint and test keep their evidence in the records and their Program on disk.
KEPT_CASES = 3
#: How the file of a shrunk Program ends.
SHRUNK = "-shrunk"


def _proofs(run: Path, id_: str) -> Iterator[Path]:
    return iter(sorted((run / "programs" / "proofs").glob(f"{id_}-*.json")))


class ReplayError(AutotestError, LookupError):
    """A divergence cannot be replayed here."""


def find(id_: str, report: Path, *, original: bool = False) -> Path:
    """The newest stored Program of a divergence: the one that it was shrunk to where there is one, or the `original`;
    raises ReplayError naming where it looked.
    """
    return find_run(id_, report, original=original)[1]


def find_run(id_: str, report: Path, *, original: bool = False) -> tuple[Path, Path]:
    """The newest run that stored a Program of a divergence, and that Program; raises ReplayError as `find`."""
    if not id_.isalnum():
        raise ReplayError(f"ID={id_!r}, but should be the eight digits that a report names")
    try:
        latest = resolve_run(report)
    except ReportError as error:
        raise ReplayError(str(error)) from None
    folders = [latest, *reversed(runs(report))]
    for folder in folders:
        stored = sorted((folder / "programs").glob(f"{id_}-*.json"))
        # False before True: first what is asked for, then what there is.
        stored.sort(key=lambda path: path.stem.endswith(SHRUNK) is original)
        if stored:
            return folder, stored[0]
    raise ReplayError(
        f"ID={id_!r} names no stored Program under {report}{os.sep}; "
        "run its test again, or name the folder that has it with --report (a test that runs inline stores none)"
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored Program of a divergence, and what its note says."""

    program: Program
    row: Mapping[str, Any]
    rules: Rules
    shown: Mapping[str, Any] | None

    @property
    def size(self) -> tuple[int, int]:
        """How much there is to read: calls, then elements."""
        return len(self.program.calls), sum(x.data.size for x in self.program.inputs)


def stored_programs(run: Path, id_: str) -> list[Stored]:
    """What a run has stored of a divergence: what it was shrunk to, then proofs, the least first, then whole Programs.

    Raises ProgramError for a file that cannot be read.
    """
    shrunk: list[Stored] = []
    proofs: list[Stored] = []
    whole: list[Stored] = []
    for path in sorted((run / "programs").glob(f"{id_}-*.json")):
        program, note = Program.load(path)
        row, rules = note["row"], Rules(**note["rules"])
        (shrunk if path.stem.endswith(SHRUNK) else whole).append(Stored(program, row, rules, None))
        proof = path.parent / "proofs" / path.name
        if proof.exists():
            least, told = Program.load(proof)
            proofs.append(Stored(least, row, rules, told.get("shown")))
    return [stored for group in (shrunk, proofs, whole) for stored in sorted(group, key=lambda one: one.size)]
