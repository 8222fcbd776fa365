"""How far a campaign is, by its log alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from autotest.campaign.log import Log, function_of
from autotest.errors import UsageError
from reports.words.quantities import counted, duration

#: So many functions that found most are listed.
LISTED = 10


def line(log: Log, seconds: float) -> str:
    """How far it is, in one line."""
    cases = sum(sum(done.cases.values()) for done in log.done.values())
    found = {id_ for done in log.done.values() for rows in done.found.values() for id_ in rows}
    rate = 60 * cases / seconds if seconds else 0.0
    return (
        f"{cases:,} cases in {counted(len(log.done), 'round')} and {duration(seconds)}, {rate:,.0f} a minute, "
        f"{counted(len(found), 'divergence')}"
    )


def status(folder: Path) -> str:
    """What the log of a campaign's folder tells. Raises UsageError where there is none."""
    log = Log(folder)
    if log.begun is None:
        raise UsageError(f"there is no campaign in {folder}, but should be: name the folder that it was given [FOLDER]")
    verdicts: Counter[str] = Counter()
    first: dict[str, tuple[str, int]] = {}
    visits: Counter[str] = Counter()
    finds: Counter[str] = Counter()
    for number, done in sorted(log.done.items()):
        verdicts.update(done.cases)
        for test, rows in done.found.items():
            for id_, fingerprint in rows.items():
                if id_ not in first:
                    first[id_] = fingerprint, number
                    finds[function_of(test)] += 1
        for test in done.costs:
            visits[function_of(test)] += 1
    open_ = len(log.rounds) - len(log.done)
    cpu = sum(done.cpu for done in log.done.values())
    faults = sum(done.faults for done in log.done.values())
    lines = [
        line(log, log.seconds),
        f"{counted(open_, 'round')} under way or to run again, {duration(cpu)} of computing, "
        f"{counted(faults, 'fault')} of the harness",
        ", ".join(f"{count:,} {verdict}" for verdict, count in verdicts.most_common()),
    ]
    if finds:
        lines += ["", "found by"]
        lines += [f"{count:6,}  {function} in {counted(visits[function], 'visit')}"
                  for function, count in finds.most_common(LISTED)]  # fmt: skip
        newest = sorted(first.values(), key=lambda item: -item[1])[:LISTED]
        lines += ["", "newest", *(f"  round {number}  {fingerprint}" for fingerprint, number in newest)]
    ends = {key: how for avoided in log.avoided.values() for key, how in avoided.items()}
    if ends:
        lines += ["", "left out", *(f"  {key}: {how}" for key, how in ends.items())]
    return "\n".join(lines)


__all__ = ["line", "status"]
