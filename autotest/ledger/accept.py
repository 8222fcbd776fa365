"""`autotest accept`: divergences of the latest run become entries of a ledger, never without a reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

from autotest.cases.case import case_test_name
from autotest.cases.store import FEWEST_DIGITS, Store
from autotest.compare.fingerprint import UNSTEADY, Fingerprint
from autotest.expressions import UNNAMED
from autotest.ledger import contracts
from autotest.ledger.draft import AcceptError, Draft
from autotest.ledger.entries import find, store, version_of
from autotest.options.ledger import FILE_NAME, SUITES
from dual_object.errors import ProgramError
from dual_object.program.program import Program
from dual_object.replay.adapter import TargetInfo
from reports import resolve_run, runs

#: So many ids are told where one was not found.
_LISTED = 5
FIELDS = ("id", "fingerprint", "target", "test", "op", "phase", "kind", "level")


@dataclass(frozen=True, slots=True)
class Accepted:
    """What `accept` did: entries written, rows that could not be, each with its sentence, and a sentence for each entry
    that was there, or differs from one that was in the dtype or in what it needs alone.
    """

    written: tuple[str, ...]
    refused: tuple[str, ...]
    paths: tuple[Path, ...]
    offers: tuple[str, ...] = ()


def accept(
    ids: Sequence[str],
    where: str | None,
    reason: str,
    report: Path,
    ledger: Path | None,
    strict: str | None = None,
    *,
    wider: bool = False,
) -> Accepted:
    """Write an entry for each divergence of the latest run that `ids` name or `where` matches; `wider`: make the entry
    that differs in the dtype or in what it needs alone cover it. Where `ids` are those of an older run, it is that.

    Without `strict`, an entry must be proved, but for one of what does not come back in each run: that is only seen.
    `where` is a list of `field=pattern` separated by blanks, such as `kind=dtype op=arg*`. Raises AcceptError,
    ReportError.
    """
    if not reason.strip():
        raise AcceptError("reason='', but should say why this is accepted [--reason]")
    latest = resolve_run(report)
    summary, run = _summary(latest), latest
    others = ""
    if ids and not _names_all(summary, ids):
        summary, run = next(_older(report, ids), (summary, latest))
        if len(runs(report)) > 1:
            others = f"; no older run has {'it' if len(ids) == 1 else 'all of these IDs'}"
    older = () if run == latest else (f"{', '.join(ids)}: of the older run {run.name}",)
    root_of, whole = summary.get("path"), Accepted((), (), (), older)
    chosen = sorted(_chosen(run, summary["divergences"], ids, where, others).items())
    # A fingerprint begins with its target: of several, each has its draft of a ledger once the one before is written.
    for target, groups in groupby(chosen, key=lambda item: item[0].partition("/")[0]):
        info = TargetInfo(target, summary["environment"], tuple(summary["devices"]), ())
        drafts: dict[Path, Draft] = {}
        refused: list[str] = []
        for fingerprint, group in groups:
            test = group[0]["test"]
            path = ledger or _ledger_for(test, _root(root_of, test), target)
            if path not in drafts:
                drafts[path] = Draft(path, info)
            draft = drafts[path]
            try:
                if wider:
                    draft.widen(fingerprint, [row["test"] for row in group], reason)
                else:
                    draft.add(_entry(run, fingerprint, group, reason, strict, summary["environment"]))
            except AcceptError as error:
                refused.append(str(error))
        whole = _and(whole, list(drafts.values()), refused)
    return whole


def _summary(run: Path) -> dict[str, Any]:
    try:
        summary: dict[str, Any] = json.loads((run / "summary.json").read_text())
    except OSError as error:
        raise AcceptError(f"{run} has no summary to accept from ({error}): finish a run first") from None
    except ValueError as error:
        raise AcceptError(
            f"{run}/summary.json is damaged ({error}), but `autotest report {run}` writes it anew"
        ) from None
    return summary


def _older(report: Path, ids: Sequence[str]) -> Iterator[tuple[dict[str, Any], Path]]:
    """The kept runs that have all these ids, newest first, each with its summary."""
    for run in reversed(runs(report)):
        with suppress(AcceptError):  # one that was killed has none
            summary = _summary(run)
            if _names_all(summary, ids):
                yield summary, run


def _names_all(summary: dict[str, Any], ids: Sequence[str]) -> bool:
    known = {row["id"] for row in summary["divergences"]}
    return all(_meant(id_, known) for id_ in ids)


def _and(done: Accepted, drafts: Sequence[Draft], refused: Sequence[str]) -> Accepted:
    """Write those of these drafts that have got something, and tell of them besides what is done."""
    changed = [draft for draft in drafts if draft.written]
    for draft in changed:
        draft.save()
    written = (fingerprint for draft in changed for fingerprint in draft.written)
    paths = dict.fromkeys((*done.paths, *(draft.path for draft in changed)))
    offers = (offer for draft in drafts for offer in draft.offers)
    return Accepted((*done.written, *written), (*done.refused, *refused), (*paths,), (*done.offers, *offers))


def _chosen(
    run: Path, divergences: Sequence[dict[str, Any]], ids: Sequence[str], where: str | None, others: str
) -> dict[str, list[dict[str, Any]]]:
    """The rows that are named or matched, by fingerprint; `others`: what to say of other runs."""
    patterns = _patterns(where)
    known = sorted({row["id"] for row in divergences})
    whole = {_whole(id_, known, run, others) for id_ in ids}
    rows = [row for row in divergences if row["id"] in whole or _matches(row, patterns)]
    if not rows:
        if where is None:
            raise AcceptError(f"no ID is given, but should be: those of new divergences of {run}, or --where")
        raise AcceptError(f"where={where!r} matches no new divergence of {run}")
    by_fingerprint: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_fingerprint.setdefault(row["fingerprint"], []).append(row)
    return by_fingerprint


def _patterns(where: str | None) -> list[tuple[str, str]]:
    patterns = []
    for part in (where or "").split():
        name, separator, pattern = part.partition("=")
        if not separator or name not in FIELDS or not pattern:
            raise AcceptError(f"where={part!r}, but should be field=pattern with a field of {', '.join(FIELDS)}")
        patterns.append((name, pattern))
    return patterns


def _meant(id_: str, known: Iterable[str]) -> list[str]:
    """Those of the `known` ids that begin so, where enough digits are given."""
    return [one for one in known if one.startswith(id_) and len(id_) >= FEWEST_DIGITS]


def _whole(id_: str, known: Sequence[str], run: Path, others: str = "") -> str:
    """The one of the `known` ids that begins so, shortened as elsewhere."""
    meant = _meant(id_, known)
    if not meant:
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        has = f"{', '.join(known[:_LISTED])}{more}" if known else "none"
        raise AcceptError(f"ID={id_!r} names no new divergence of {run}, which has {has}{others}")
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


def _ledger_for(nodeid: str, root: Path, target: str) -> Path:
    """The target's ledger nearest to a test, or the one to be made in the first folder of its path; of an expression
    that was checked, the one of the folder where that was typed.

    Raises AcceptError for a test of suites that are not those of a checkout in `root`.
    """
    if root.parts[-3:-1] == UNNAMED.parts:
        typed_in = root.parents[2]
        return find(typed_in, typed_in, [target]) or typed_in / FILE_NAME
    path = (root / nodeid.partition("::")[0]).resolve()
    if path.is_relative_to(SUITES) and root != SUITES.parent:
        raise AcceptError(
            f"{nodeid} belongs to the suites in {SUITES}, whose ledger comes with op-autotest: name a ledger of your "
            "own, and give it to your runs: autotest accept ... --ledger known_divergences.toml, then autotest run "
            "--suites --ledger known_divergences.toml"
        )
    ledger = find(path.parent, root, [target])
    if ledger is not None:
        return ledger
    inside = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return (root / inside[0] if len(inside) > 1 else path.parent) / FILE_NAME


def _entry(
    run: Path,
    fingerprint: str,
    rows: Sequence[dict[str, Any]],
    reason: str,
    strict: str | None,
    environment: dict[str, str],
) -> dict[str, Any]:
    first = rows[0]
    if strict is None:
        strict = "seen" if UNSTEADY in Fingerprint.parse(fingerprint).needs else "proof"
    note: dict[str, Any] = {}
    contract = contracts.kept(run, first["id"])
    if contract is not None:
        text, stored = contract
    else:
        try:
            program, note = _smallest_proof(run, first["id"])
            text, stored = f"{program}\n", store(program, note["rules"])
        except AcceptError:
            if strict == "proof":
                raise
            text, stored = "no program is stored: the test runs inline\n", "{}"
    version = version_of(fingerprint.partition("/")[0], environment).partition("+")[0]
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
