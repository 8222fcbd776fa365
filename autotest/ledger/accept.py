"""`autotest accept`: divergences of the latest run become entries of a ledger, never without a reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from autotest.cases.case import case_test_name
from autotest.cases.store import FEWEST_DIGITS, Store
from autotest.errors import AutotestError
from autotest.ledger.entries import LedgerError, find, store, version_of
from autotest.options.ledger import FILE_NAME, SUITES
from dual_object.errors import ProgramError
from dual_object.program.program import Program
from reports import resolve_run

FIELDS = ("id", "fingerprint", "target", "test", "op", "phase", "kind", "level")


class AcceptError(AutotestError, ValueError):
    """A divergence cannot be accepted."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What `accept` did: entries written, and rows that could not be, each with its sentence."""

    written: tuple[str, ...]
    refused: tuple[str, ...]
    paths: tuple[Path, ...]


def accept(
    ids: Sequence[str], where: str | None, reason: str, report: Path, ledger: Path | None, strict: str = "proof"
) -> Accepted:
    """Write an entry for each divergence of the latest run that `ids` name or `where` matches.

    `where` is a list of `field=pattern` separated by blanks, such as `kind=dtype op=arg*`. Raises AcceptError,
    ReportError.
    """
    if not reason.strip():
        raise AcceptError("reason='', but should say why this is accepted [--reason]")
    run = resolve_run(report)
    try:
        summary = json.loads((run / "summary.json").read_text())
    except (OSError, ValueError) as error:
        raise AcceptError(f"{run} has no summary to accept from ({error}): finish a run first") from None
    patterns = _patterns(where)
    known = sorted({row["id"] for row in summary["divergences"]})
    whole = {_whole(id_, known, run) for id_ in ids}
    rows = [row for row in summary["divergences"] if row["id"] in whole or _matches(row, patterns)]
    if not rows:
        raise AcceptError(f"where={where!r} matches no new divergence of {run}")
    by_fingerprint: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_fingerprint.setdefault(row["fingerprint"], []).append(row)
    root = _root(summary.get("path"), rows[0]["test"])
    files: dict[Path, list[dict[str, Any]]] = {}
    refused: list[str] = []
    for fingerprint, group in sorted(by_fingerprint.items()):
        path = ledger or _ledger_for(group[0]["test"], root)
        try:
            entry = _entry(run, fingerprint, group, reason, strict, summary["environment"])
        except AcceptError as error:
            refused.append(str(error))
            continue
        files.setdefault(path, []).append(entry)
    for path, entries in files.items():
        _write(path, summary_target(rows), entries)
    written = tuple(entry["fingerprint"] for entries in files.values() for entry in entries)
    return Accepted(written, tuple(refused), tuple(files))


def summary_target(rows: Sequence[dict[str, Any]]) -> str:
    """The target that the rows are about."""
    return str(rows[0]["target"])


def _patterns(where: str | None) -> list[tuple[str, str]]:
    patterns = []
    for part in (where or "").split():
        name, separator, pattern = part.partition("=")
        if not separator or name not in FIELDS or not pattern:
            raise AcceptError(f"where={part!r}, but should be field=pattern with a field of {', '.join(FIELDS)}")
        patterns.append((name, pattern))
    return patterns


def _whole(id_: str, known: Sequence[str], run: Path) -> str:
    """The one of the `known` ids that begins so, shortened as elsewhere."""
    meant = [one for one in known if one.startswith(id_) and len(id_) >= FEWEST_DIGITS]
    if not meant:
        raise AcceptError(f"ID={id_!r} names no new divergence of {run}")
    if len(meant) > 1:
        raise AcceptError(f"ID={id_!r}, but should name one of {', '.join(meant)}")
    return meant[0]


def _matches(row: dict[str, Any], patterns: Sequence[tuple[str, str]]) -> bool:
    return bool(patterns) and all(fnmatchcase(str(row[name]), pattern) for name, pattern in patterns)


def _root(path: str | None, nodeid: str) -> Path:
    """The folder that node ids of a run begin in: pytest's root folder, which need not be where `accept` is typed. A
    report that was made on another machine is about the files here.
    """
    root = Path(path or ".")
    return (root if (root / nodeid.partition("::")[0]).is_file() else Path()).resolve()


def _ledger_for(nodeid: str, root: Path) -> Path:
    """The ledger nearest to a test, or the one to be made in the first folder of its path.

    Raises AcceptError for a test of suites that are not those of a checkout in `root`.
    """
    path = (root / nodeid.partition("::")[0]).resolve()
    if path.is_relative_to(SUITES) and root != SUITES.parent:
        raise AcceptError(
            f"{nodeid} belongs to the suites in {SUITES}, whose ledger comes with op-autotest: name a ledger of your "
            "own, and give it to your runs: autotest accept ... --ledger known_divergences.toml, then autotest run "
            "--suites --ledger known_divergences.toml"
        )
    ledger = find(path.parent, root)
    if ledger is not None:
        return ledger
    inside = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return (root / inside[0] if len(inside) > 1 else path.parent) / FILE_NAME


def _entry(
    run: Path, fingerprint: str, rows: Sequence[dict[str, Any]], reason: str, strict: str, environment: dict[str, str]
) -> dict[str, Any]:
    first = rows[0]
    try:
        program, note = _smallest_proof(run, first["id"])
        text, stored = f"{program}\n", store(program, note["rules"])
    except AcceptError:
        if strict == "proof":
            raise
        note, text, stored = {}, "no program is stored: the test runs inline\n", "{}"
    version = version_of(str(first["target"]), environment).partition("+")[0]
    return {
        "fingerprint": fingerprint,
        "reason": reason.strip(),
        "versions": f"=={version}",
        "device": "cpu",
        "strict": strict,
        "tests": sorted({case_test_name(row["test"]) for row in rows}),
        "message": note.get("message", first["message"]),
        "program": text,
        "stored": stored,
    }


def _smallest_proof(run: Path, id_: str) -> tuple[Program, dict[str, Any]]:
    """The stored proof with the fewest values."""
    try:
        proofs = list(Store(run).proofs(id_))
    except ProgramError as error:
        raise AcceptError(f"{id_}: {error}") from None
    if not proofs:
        raise AcceptError(
            f"{id_} has no stored Program (its test runs inline, or with other cases only): it cannot be proved; "
            "accept it with --strict seen"
        )
    return min(proofs, key=lambda proof: sum(x.data.size for x in proof[0].inputs))


def _write(path: Path, target: str, entries: Sequence[dict[str, Any]]) -> None:
    """Append entries to a ledger, keeping what people wrote there; raises LedgerError where it cannot be read."""
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except (OSError, ValueError) as error:
        raise LedgerError(f"{path} cannot be read as a ledger: {error}") from None
    section = document.get(target)
    if section is None:
        section = tomlkit.aot()
        document.append(target, section)
    assert isinstance(section, AoT)
    known = {table["fingerprint"] for table in section}
    for entry in entries:
        if entry["fingerprint"] not in known:
            section.append(_table(entry))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomlkit.dumps(document), encoding="utf-8")


def _table(entry: dict[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in entry.items():
        if key == "program":
            table.add(key, tomlkit.string(value, multiline=True))
        elif key == "stored":
            table.add(key, tomlkit.string(value, literal="'" not in value))
        else:
            table.add(key, value)
    table.add(tomlkit.nl())
    return table
