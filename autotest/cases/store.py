"""Stored Programs: where a run keeps those of its divergent cases, and how one is found again.

    programs/{id}-{worker}-{n}.json          the n-th case of a fingerprint as it was recorded
    programs/proofs/{id}-{worker}-{n}.json   the least Program known to show the same
    programs/{id}-{worker}-shrunk.json       what the first case was shrunk to

Arrays lie beside each in a file of the same name that ends in `.npz`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence, Row
from autotest.errors import AutotestError
from dual_object.errors import ProgramError
from dual_object.program.program import Program
from reports import ReportError, resolve_run, runs

#: So many cases per fingerprint and test keep their evidence in the records and their Program on disk.
KEPT_CASES = 3
#: Of an id, so that a typo is none.
FEWEST_DIGITS = 4
_SHRUNK = "-shrunk"


class ReplayError(AutotestError, LookupError):
    """A divergence cannot be replayed here."""


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


class Store:
    """The stored Programs of one run, whose folder is `run`."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._programs = run / "programs"
        self._proofs = self._programs / "proofs"

    def save(self, divergence: Divergence, row: Row, rules: Rules, worker: str, number: int) -> bool:
        """Store the Program of a fingerprint's case of that number, for `autotest replay`, and its proof, for `autotest
        accept`; whether it was not there yet.
        """
        name = f"{row['id']}-{worker}-{number}.json"
        if (self._programs / name).exists():
            return False
        self._proofs.mkdir(parents=True, exist_ok=True)
        common = {"rules": dataclasses.asdict(rules), "shown": divergence.shown}
        divergence.program.save(self._programs / name, {"row": dict(row), **common})
        divergence.proof.save(self._proofs / name, {"message": row["message"], **common})
        return True

    def save_shrunk(self, program: Program, row: Row, rules: Rules, worker: str) -> None:
        """Store what a fingerprint was shrunk to, if nothing is yet."""
        path = self._programs / f"{row['id']}-{worker}{_SHRUNK}.json"
        if not path.exists():
            program.save(path, {"row": dict(row), "rules": dataclasses.asdict(rules)})

    def path(self, id_: str, *, original: bool = False) -> Path | None:
        """Where a Program of a divergence lies: the one that it was shrunk to where there is one, or the `original`;
        None where there is none at all.
        """
        stored = self._paths(id_)
        # False before True: first what is asked for, then what there is.
        stored.sort(key=lambda path: path.stem.endswith(_SHRUNK) is original)
        return stored[0] if stored else None

    def programs(self, id_: str) -> list[Stored]:
        """All that is stored of a divergence: what it was shrunk to, then proofs, the least first, then whole Programs.

        Raises ProgramError for a file that cannot be read.
        """
        shrunk: list[Stored] = []
        proofs: list[Stored] = []
        whole: list[Stored] = []
        for path in self._paths(id_):
            stored = _read(path)
            (shrunk if path.stem.endswith(_SHRUNK) else whole).append(dataclasses.replace(stored, shown=None))
            proof = self._proofs / path.name
            if proof.exists():
                least, note = Program.load(proof)
                proofs.append(dataclasses.replace(stored, program=least, shown=note.get("shown")))
        return [stored for group in (shrunk, proofs, whole) for stored in sorted(group, key=lambda entry: entry.size)]

    def proofs(self, id_: str) -> Iterator[tuple[Program, dict[str, Any]]]:
        """The proofs of a divergence with their notes, in the order of their names; raises ProgramError."""
        for path in sorted(self._proofs.glob(f"{id_}-*.json")):
            yield Program.load(path)

    def _paths(self, id_: str) -> list[Path]:
        return sorted(self._programs.glob(f"{id_}-*.json"))


def whole_id(id_: str, report: Path) -> str:
    """The id of a divergence by its first digits, of which four are enough where no other has them: the one id that a
    run of `report` stored. What is stored nowhere comes back as it is. Raises ReplayError.
    """
    if not id_.isalnum() or len(id_) < FEWEST_DIGITS:
        raise ReplayError(
            f"ID={id_!r}, but should be the eight digits that a report names, or at least the first {FEWEST_DIGITS}"
        )
    found: dict[str, Path] = {}
    for run in {*runs(report), report}:
        for path in (run / "programs").glob(f"{id_}*-*.json"):
            found.setdefault(path.name.partition("-")[0], path)
    if len(found) > 1:
        candidates = (f"\n  {whole} {read(path).row['fingerprint']}" for whole, path in sorted(found.items()))
        raise ReplayError(f"ID={id_!r} is short for several:{''.join(candidates)}")
    return next(iter(found), id_)


def find_run(id_: str, report: Path) -> Store:
    """The newest run that stored a Program of a divergence; raises ReplayError naming where it looked."""
    try:
        latest = resolve_run(report)
    except ReportError as error:
        raise ReplayError(str(error)) from None
    for run in (latest, *reversed(runs(report))):
        store = Store(run)
        if store.path(id_) is not None:
            return store
    raise ReplayError(
        f"ID={id_!r} names no stored Program under {report}{os.sep}; "
        "run its test again, or name the folder that has it with --report (a test that runs inline stores none)"
    )


def find(id_: str, report: Path, *, original: bool = False) -> Path:
    """The newest stored Program of a divergence; raises ReplayError as `find_run`."""
    path = find_run(id_, report).path(id_, original=original)
    assert path is not None, "a run is found by what it has stored"
    return path


def read(path: Path) -> Stored:
    """What `find` has found. Raises ReplayError for a file that cannot be read."""
    try:
        return _read(path)
    except ProgramError as error:
        raise ReplayError(str(error)) from None


def _read(path: Path) -> Stored:
    program, note = Program.load(path)
    return Stored(program, note["row"], Rules(**note["rules"]), note.get("shown"))


__all__ = ["KEPT_CASES", "ReplayError", "Store", "Stored", "find", "find_run", "read", "whole_id"]
