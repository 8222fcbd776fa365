"""`autotest bisect ID`: a stored Program, run under several versions of its target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autotest.cases.store import ReplayError
from autotest.commands.bisecting.search import Change, Outcome, changes, halve
from autotest.commands.bisecting.versions import Version
from autotest.commands.replaying.stored import shown, stored_program
from autotest.errors import EnvironmentFault
from autotest.exits import CANNOT_RUN, CHANGED, UNCHANGED


def bisect(
    id_: str,
    report: Path,
    versions: Sequence[Version],
    timeout: float | None,
    memory: int | None,
    say: Callable[[str], None],
    *,
    every: bool,
) -> int:
    """Say what the stored Program of divergence `id_` comes to under these versions, in their order, and between which
    of them that changed: of all, or of as many as it takes to find one change. The exit status.

    Raises ReplayError where nothing of that name is stored.
    """
    stored_program(id_, report)
    width = max(len(version.name) for version in versions)
    outcomes: dict[int, Outcome] = {}

    def ask(place: int) -> Outcome:
        version = versions[place]
        outcomes[place] = _outcome(id_, report, version, timeout, memory)
        say(f"{version.name:<{width}}  {outcomes[place]}")
        return outcomes[place]

    if every:
        found: Sequence[Change] = changes([ask(place) for place in range(len(versions))])
    else:
        one = halve(len(versions), ask)
        found = [] if one is None else [one]
    for change in found:
        say(_told(change, versions, outcomes))
    if found:
        return CHANGED
    words = sorted({outcome.word for outcome in outcomes.values() if outcome.word is not None})
    if not words:
        say("none of these versions can run it")
        return CANNOT_RUN
    more = "" if every or len(outcomes) == len(versions) else "; those between were not asked [--every]"
    say(f"no change: {words[0]} in all that ran{more}")
    return UNCHANGED


def _outcome(id_: str, report: Path, version: Version, timeout: float | None, memory: int | None) -> Outcome:
    try:
        python = version.python()
    except EnvironmentFault as error:
        return Outcome(None, str(error))
    try:
        now = shown(id_, report, None, timeout, python=python, memory=memory)
    except ReplayError as error:
        return Outcome(None, str(error))
    number = now.info.environment.get(now.info.name, "")
    if now.in_phase and not now.stands:
        return Outcome("stands as something else", now.in_phase[0]["fingerprint"])
    # An interpreter's path does not tell it.
    detail = "" if number in version.name else f"{now.info.name} {number}"
    return Outcome("stands" if now.in_phase else "gone", detail)


def _told(change: Change, versions: Sequence[Version], outcomes: Mapping[int, Outcome]) -> str:
    """Where it changed, and what is not known because it cannot run."""
    (before, was), (after, became) = (
        (versions[place].name, outcomes[place].word) for place in (change.before, change.after)
    )
    unknown = [versions[place].name for place in range(change.before + 1, change.after)]
    rest = f"; in which is not known, since these cannot run: {', '.join(unknown)}" if unknown else ""
    return f"changed between {before} ({was}) and {after} ({became}){rest}"


__all__ = ["bisect"]
