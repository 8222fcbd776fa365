"""Contracts in a ledger: how the question behind a divergence is stored, for `autotest accept` and for proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from autotest.judge.contracts import Question
from autotest.ledger.entries import Entry, LedgerError
from autotest.ledger.proof import unproved
from autotest.options.ledger import SUITES
from autotest.workers.supervisor import Supervisor
from dual_object.replay.adapter import TargetInfo

_FIELDS = ("name", "test", "sentence", "of", "alone", "arguments")


def keep(run: Path, id_: str, question: Question, source: str) -> None:
    """Keep the question behind a divergence in the folder of its run."""
    folder = run / "contracts"
    folder.mkdir(parents=True, exist_ok=True)
    contract = {"file": question.file.name, **{field: getattr(question, field) for field in _FIELDS}}
    kept = {"source": source, "contract": contract}
    (folder / f"{id_}.json").write_text(json.dumps(kept), encoding="utf-8")


def kept(run: Path, id_: str) -> tuple[str, str] | None:
    """What an entry has of the contract behind a divergence of a run: the source of its function, for people, and what
    is stored of it; None for a divergence of another phase.
    """
    path = run / "contracts" / f"{id_}.json"
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found["source"], json.dumps({"contract": found["contract"]}, separators=(",", ":"))


def stale_contracts(
    target: Callable[[], Supervisor], info: Callable[[], TargetInfo], entries: Iterable[Entry], seen: Iterable[str] = ()
) -> list[str]:
    """A sentence for each of `entries`, all of them of contracts, whose divergence is gone.

    Args:
        target: answers the questions; asked for only where an entry is to be proved.
        info: tells of the target.
        entries: what is proved; only those that are strict about proof and apply to this target are.
        seen: fingerprints that showed in this run, whose entries are proved by that.

    Raises LedgerError for an entry whose test cannot be found.
    """

    def run(entry: Entry) -> set[str]:
        question = _question(entry)
        answer = question.ask(target())
        return set() if answer.outcome in ("kept", "skipped") else {"/".join(question.identity(entry.target, answer))}

    return unproved(entries, info, seen, run, "contract")


def _question(entry: Entry) -> Question:
    """What an entry's test asks. Raises LedgerError where that cannot be read, or no file here holds the test."""
    try:
        stored = json.loads(entry.stored)["contract"]
        file, fields = str(stored["file"]), {field: stored[field] for field in _FIELDS}
    except (ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"{entry.path}: the stored contract of {entry.fingerprint} cannot be read "
            f"({type(error).__name__}: {error}); remove the entry and accept it again"
        ) from error
    found = next((path for folder in (entry.path.absolute().parent, SUITES) for path in folder.rglob(file)), None)
    if found is None:
        raise LedgerError(f"{entry.path}: no file here is called {file}, whose contract {entry.fingerprint} is about")
    return Question(found, **fields)


__all__ = ["keep", "kept", "stale_contracts"]
