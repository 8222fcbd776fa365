"""`autotest ledger document`: a ledger as the page that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from autotest.compare.kinds import PHASES
from autotest.judge.contracts import DOCUMENTED
from autotest.ledger.entries import Entry, LedgerError, others, read


def document(path: Path, target: str) -> str:
    """Markdown: a table of kinds, then a chapter on the target's own documentation, with a row per sentence that does
    not hold, a section per op with a line per known divergence, and a chapter of such on trainings.

    `target` may be a pattern, such as `torch:*`: then each line names its target. Raises LedgerError where the ledger
    has entries that cannot be used.
    """
    several = "*" in target
    targets = [name for name in others(path, "") if fnmatchcase(name, target)] if several else [target]
    ledger = read(path, *targets)
    if ledger.problems:
        raise LedgerError("\n".join(ledger.problems))
    entries = [*ledger.entries.values()]
    entries.sort(key=lambda entry: (entry.of_training, _op(entry).lower(), entry.fingerprint))
    versions = ", ".join(sorted({entry.versions.removeprefix("==") for entry in entries}))
    contracts = [entry for entry in entries if entry.contract]
    programs = [entry for entry in entries if not entry.contract]
    ops = len({_op(entry) for entry in programs})
    sentences = f", {len(contracts)} of sentences of its documentation" if contracts else ""
    asked = f" --target '{target}'" if several else ""
    lines = [
        f"# {target} {versions}: known divergences from PyTorch",
        "",
        f"Written by `autotest ledger document {path}{asked}`; {len(programs)} divergences of {ops} ops{sentences}.",
        "",
        "| kind | divergences |",
        "|---|---|",
        *(f"| {kind} | {count} |" for kind, count in Counter(entry.kind for entry in entries).most_common()),
    ]
    lines += _chapter(contracts)
    section = (False, "")
    for entry in programs:
        training, op = entry.of_training, _op(entry)
        if training and not section[0]:
            lines += ["", "## Training"]
        if (training, op) != section:
            section = (training, op)
            lines += ["", f"{'###' if training else '##'} {op}", ""]
        facts = entry.fingerprint.split("/")[4]
        message = " ".join(entry.message.split())
        where = f"{entry.target}, {_phase(entry)}" if several else _phase(entry)
        lines.append(f"- **{entry.kind}**, {where}, {facts}: `{entry.line}` {_escaped(message)}")
    return "\n".join(lines) + "\n"


def _chapter(contracts: Sequence[Entry]) -> list[str]:
    """The sentences of the documentation that do not hold: what each is about, what happens instead, and why."""
    if not contracts:
        return []
    rows = []
    for entry in contracts:
        sentence, _, happens = entry.message.removeprefix(f"{_op(entry)}: ").partition(DOCUMENTED)
        words = " ".join(happens.split())
        rows.append(
            f"| `{_op(entry)}` | {_escaped(sentence)} | {entry.kind} | {_escaped(words)} | {_escaped(entry.reason)} |"
        )
    return [
        "",
        "## Its own documentation",
        "",
        "| about | documented | kind | what happens | why it is known |",
        "|---|---|---|---|---|",
        *rows,
    ]


def _op(entry: Entry) -> str:
    return entry.fingerprint.split("/")[3]


def _phase(entry: Entry) -> str:
    phase = entry.fingerprint.split("/")[1]
    return PHASES[phase].short if phase in PHASES else phase  # of a general entry it may be a pattern


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    for character in "\\`*_<>[]|#":
        text = text.replace(character, f"\\{character}")
    return text
