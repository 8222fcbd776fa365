"""Proof: whether what entries are about still shows, run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from autotest.compare.fingerprint import Fingerprint
from autotest.ledger.entries import Entry
from dual_object.replay.adapter import TargetInfo

#: What does not show in any of so many runs is gone: a target may fail in another way by chance.
_TRIALS = 3


def unproved(
    entries: Iterable[Entry],
    info: Callable[[], TargetInfo],
    seen: Iterable[str],
    run: Callable[[Entry], Set[str]],
    noun: str,
) -> list[str]:
    """A sentence for each of `entries` that no longer diverges.

    Args:
        entries: what is proved; only those that are strict about proof and apply to this target are.
        info: tells of the target; asked only where an entry is to be proved.
        seen: fingerprints that showed before, whose entries are proved by that.
        run: runs what an entry has stored once; the fingerprints that it shows.
        noun: what people call that which is run.
    """
    in_run = set(seen)
    sentences: list[str] = []
    for entry in entries:
        if entry.strict != "proof" or any(map(entry.shown_by, in_run)) or not entry.applies(info()):
            continue
        shown: set[str] = set()
        for _ in range(_TRIALS):
            shown |= run(entry)
            if any(entry.covers(Fingerprint.parse(one)) for one in shown):
                break
        else:
            sentences.append(
                f"{entry.fingerprint} is known to diverge, but no longer does: remove its entry from {entry.path}"
                + (f" (its {noun} now shows {', '.join(sorted(shown))})" if shown else "")
            )
    return sentences


__all__ = ["unproved"]
