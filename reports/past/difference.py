"""The difference of two runs: what is new, what is gone, and what is no longer the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports.findings.finding import Finding, brief, findings, is_red, rank
from reports.past.saved import Saved
from reports.words.quantities import counted

MOST_TESTS = 3
MOST_CHARACTERS = 200
UNKNOWN = "-"
SILENT = "did not run, or failed without a divergence"


class Fact(NamedTuple):
    """Something that is not the same of both runs, with its words in each; `-` where it is not known."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Change:
    """A fingerprint that only one run has, or that the runs have otherwise. At least one side is there.

    `words` say what is otherwise, or how sure that is. `worse` is whether it speaks against the second run: a red
    divergence that is new, or an old one that is worse than it was.
    """

    before: Finding | None
    after: Finding | None
    words: tuple[str, ...] = ()
    worse: bool = False

    @property
    def finding(self) -> Finding:
        """The later side that is there."""
        finding = self.after or self.before
        assert finding is not None, "a change has at least one side"
        return finding


@dataclass(frozen=True)
class RunDifference:
    """Two runs held against each other by fingerprint, each list the worst first.

    `new` are in the second run only, `gone` in the first only; `not_run` are in the first only too, but no test that
    showed them ran in the second. `same` counts those that both have alike. `facts` tell how the runs themselves
    differ, and whether one of them did not finish.
    """

    before: Saved
    after: Saved
    facts: tuple[Fact, ...]
    new: tuple[Change, ...]
    gone: tuple[Change, ...]
    changed: tuple[Change, ...]
    not_run: tuple[Change, ...]
    same: int

    @property
    def worse(self) -> int:
        """How many divergences speak against the second run."""
        return sum(change.worse for change in (*self.new, *self.changed))

    @property
    def headline(self) -> str:
        """The verdict in one line, starting with WORSE, not worse or the same."""
        lists = {"new": self.new, "changed": self.changed, "gone": self.gone, "not run": self.not_run}
        counts = ", ".join(f"{len(changes):,} {name}" for name, changes in lists.items() if changes)
        if self.worse:
            return f"WORSE by {counted(self.worse, 'divergence')}: {counts}; {self.same:,} the same"
        if counts:
            return f"not worse: {counts}; {self.same:,} the same"
        return f"the same: {counted(self.same, 'divergence')}"


def compare_runs(before: Saved, after: Saved) -> RunDifference:
    """Return what the second run has otherwise than the first.

    Runs of two targets are compared by what follows the target in their fingerprints; where one of them lists several
    executors, by whole fingerprints.
    """
    one_each = all(_of_its_target(run) for run in (before, after))
    old, new = (_by_key(run, f"{run.target}/" if one_each else "") for run in (before, after))
    gone = [_gone(finding, after) for key, finding in old.items() if key not in new]
    pairs = [_changed(old[key], finding, before, after) for key, finding in new.items() if key in old]
    changed = tuple(change for change in pairs if change.words)
    return RunDifference(
        before=before,
        after=after,
        facts=tuple(_facts(before, after)),
        new=tuple(_new(finding, before) for key, finding in new.items() if key not in old),
        gone=tuple(change for change, ran in gone if ran),
        changed=changed,
        not_run=tuple(change for change, ran in gone if not ran),
        same=len(pairs) - len(changed),
    )


def _by_key(run: Saved, target: str) -> dict[str, Finding]:
    return {finding.fingerprint.removeprefix(target): finding for finding in findings(run.rows)}


def _of_its_target(run: Saved) -> bool:
    """Whether all that a run shows is of its target, and not of an executor that its target lists."""
    return all(row.fingerprint.startswith(f"{run.target}/") for row in run.rows)


def _facts(before: Saved, after: Saved) -> Iterator[Fact]:
    versions = [
        (name, before.environment.get(name), after.environment.get(name))
        for name in sorted({*before.environment, *after.environment})
    ]
    for name, old, new in (
        ("target", before.target, after.target),
        *versions,
        ("seed", before.seed, after.seed),
        ("inputs", before.inputs, after.inputs),
        ("commit", before.commit, after.commit),
        # Another number of cases or another choice of tests explains more than any version does.
        ("command", before.command, after.command),
    ):
        if old != new:
            yield Fact(name, UNKNOWN if old is None else str(old), UNKNOWN if new is None else str(new))
    if not (before.complete and after.complete):
        yield Fact("finished", "yes" if before.complete else "no", "yes" if after.complete else "no")


def _new(finding: Finding, before: Saved) -> Change:
    words = () if before.ran & set(finding.tests) else (f"before, {_whose(finding)} {SILENT}",)
    return Change(None, finding, words, is_red(finding.level))


def _gone(finding: Finding, after: Saved) -> tuple[Change, bool]:
    """Return the change and whether any test that showed it ran: only then is its absence a finding."""
    silent = [test for test in finding.tests if test not in after.ran]
    if not silent:
        return Change(finding, None), True
    if len(silent) == len(finding.tests):
        return Change(finding, None, (f"{_whose(finding)} {SILENT}",)), False
    words = f"{len(silent)} of its {counted(len(finding.tests), 'test')} {SILENT}"
    return Change(finding, None, (words,)), True


def _whose(finding: Finding) -> str:
    return "its test" if len(finding.tests) == 1 else "its tests"


def _changed(old: Finding, new: Finding, before: Saved, after: Saved) -> Change:
    pair = _Pair(old, new, before, after)
    remarks = [*pair.levels(), *pair.cases(), *pair.tests(), *pair.message()]
    return Change(old, new, tuple(words for words, _ in remarks), any(worse for _, worse in remarks))


class _Pair:
    """One fingerprint in both runs. Each method yields words for what is otherwise, and whether that is worse."""

    def __init__(self, old: Finding, new: Finding, before: Saved, after: Saved) -> None:
        self._old = old
        self._new = new
        self._before = before
        self._after = after
        self._old_levels = _levels(old)
        self._new_levels = _levels(new)

    def levels(self) -> Iterator[tuple[str, bool]]:
        both = [test for test in self._new_levels if test in self._old_levels]
        moves: dict[tuple[str, str], list[str]] = {}
        for test in both:
            moves.setdefault((self._old_levels[test], self._new_levels[test]), []).append(test)
        if not both:
            moves[self._old.level, self._new.level] = both
        for (was, now), tests in moves.items():
            if was != now:
                where = "" if len(tests) == len(both) else f" in {_names(tests)}"
                yield f"{was} -> {now}{where}", is_red(now) and rank(now) < rank(was)

    def cases(self) -> Iterator[tuple[str, bool]]:
        """Only tests that ran in both runs are counted: a choice of tests is no change of a divergence."""
        old, new = (
            sum(row.count for row in side.rows if row.test in self._before.ran and row.test in self._after.ran)
            for side in (self._old, self._new)
        )
        if old != new:
            # Another seed draws other cases: more of them is then no worse.
            more = new > old and self._before.seed == self._after.seed
            yield f"{old:,} -> {counted(new, 'case')}", more and is_red(self._new.level)

    def tests(self) -> Iterator[tuple[str, bool]]:
        also = [test for test in self._new_levels if test not in self._old_levels]
        ran = [test for test in also if test in self._before.ran]
        if ran:
            yield f"also in {_names(ran)}", any(is_red(self._new_levels[test]) for test in ran)
        unknown = [test for test in also if test not in self._before.ran]
        if unknown:
            yield f"also in {_names(unknown)}, which before {SILENT}", False
        gone = [test for test in self._old_levels if test not in self._new_levels and test in self._after.ran]
        if gone:
            yield f"no longer in {_names(gone)}", False

    def message(self) -> Iterator[tuple[str, bool]]:
        """At one seed the same case is the same: what it says may be compared, its first difference is told."""
        if (self._before.seed, self._before.target) != (self._after.seed, self._after.target):
            return
        said = {(row.test, row.case_key): row.message for row in self._old.rows}
        for row in self._new.rows:
            if said.get((row.test, row.case_key), row.message) != row.message:
                yield f"now says: {brief(row.message, MOST_CHARACTERS)}", False
                return


def _levels(finding: Finding) -> dict[str, str]:
    """The worst level of each test; rows stand worst first."""
    levels: dict[str, str] = {}
    for row in finding.rows:
        levels.setdefault(row.test, row.level)
    return levels


def _names(tests: Sequence[str]) -> str:
    names = list(tests[:MOST_TESTS])
    if len(tests) > MOST_TESTS:
        names.append(counted(len(tests) - MOST_TESTS, "more test"))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
