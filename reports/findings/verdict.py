"""The headline: the verdict on a run, in one line of words."""

from __future__ import annotations

from collections import Counter

from reports.tallies.summary import Summary
from reports.words.quantities import counted

#: The red cases of one test are a finding, not a pattern.
FEWEST_RED = 3


def headline(summary: Summary) -> str:
    """Return the verdict, starting with UNFINISHED, DIVERGENT, FAILED, aligned or nothing compared."""
    if not summary.complete:
        return f"UNFINISHED: {_unfinished(summary)}; so far {_so_far(summary)}"
    if summary.divergences or summary.unexpected:
        return f"DIVERGENT: {_divergent(summary)}, {frameworks(summary)}"
    if summary.failed or summary.faults:
        return f"FAILED: {_failed(summary)}, {frameworks(summary)}"
    if summary.aligned:
        return f"aligned: {_aligned(summary)}, {frameworks(summary)}{_known(summary)}"
    return f"nothing compared: {_nothing(summary)}, {frameworks(summary)}{_known(summary)}"


def broken(summary: Summary) -> str | None:
    """Return what to say before all else where more than half of the cases are red: one cause is likelier than many."""
    red = summary.unexpected
    if 2 * red <= summary.cases or summary.unexpected_tests < FEWEST_RED:
        return None
    words: Counter[str] = Counter()
    for row in summary.divergences:
        words[_cause(row.message)] += row.count
    lead = f"the target looks broken: {red:,} of {counted(summary.cases, 'case')} are red"
    if not words:
        return lead
    [(message, count)] = words.most_common(1)
    return f"{lead}; the commonest message ({counted(count, 'time')}) is {message}"


def _cause(message: str) -> str:
    """What a message says whichever op it is about: the exception it tells of, or all but the op."""
    line = message.partition("\n")[0]
    _, raised, error = line.partition(" raised ")
    return error if raised else line.partition(": ")[2] or line


def frameworks(summary: Summary) -> str:
    """Return the target and the reference with their versions, as far as these are known."""
    target = f"{summary.target} {summary.environment.get(summary.target, '')}".rstrip()
    reference = f"torch {summary.environment.get('torch', '')}".rstrip()
    return f"{target} against {reference}"


def _unfinished(summary: Summary) -> str:
    parts = list(summary.stops)
    if summary.running:
        verb = "was" if len(summary.running) == 1 else "were"
        parts.append(f"{counted(len(summary.running), 'case')} {verb} still running")
    elif summary.open_tests:
        parts.append(f"{counted(len(summary.open_tests), 'test')} did not end")
    if summary.damage:
        parts.append("some records are damaged")
    return " and ".join(parts)


def _so_far(summary: Summary) -> str:
    if summary.divergences or summary.unexpected:
        return _divergent(summary)
    if summary.failed or summary.faults:
        return _failed(summary)
    return f"{counted(summary.aligned, 'case')} of {counted(summary.tests, 'test')} aligned"


def _divergent(summary: Summary) -> str:
    where = f"in {summary.unexpected_tests:,} of {counted(summary.tests, 'test')}"
    where += f", {len(summary.failed):,} failed otherwise" if summary.failed else ""
    if summary.divergences:
        return f"{counted(len({row.fingerprint for row in summary.divergences}), 'divergence')} {where}"
    ways = {
        "crashed": summary.crashed,
        "timed-out": summary.timed_out,
        "out-of-memory": summary.out_of_memory,
        "divergent": summary.divergent,
    }
    kinds = " or ".join(way for way, count in ways.items() if count)
    return f"{counted(summary.unexpected, f'{kinds} case')} {where}"


def _failed(summary: Summary) -> str:
    parts = []
    if summary.failed:
        parts.append(f"{len(summary.failed):,} of {counted(summary.tests, 'test')} failed without a divergence")
    if summary.faults:
        parts.append(counted(summary.fault_count, "fault of the harness", "faults of the harness"))
    return " and ".join(parts)


def _aligned(summary: Summary) -> str:
    return f"{counted(summary.aligned, 'case')} of {counted(summary.tests, 'test')}"


def _known(summary: Summary) -> str:
    if not summary.known:
        return ""
    ops = len({row.op for row in summary.known})
    return f"; nothing new, {counted(ops, 'op is', 'ops are')} known to diverge"


def _nothing(summary: Summary) -> str:
    if summary.skipped:
        return f"no case aligned, {summary.skipped:,} of {counted(summary.cases, 'case')} skipped"
    if summary.cases:
        return "no case aligned"
    if summary.rejected:
        return f"no case ran, {counted(summary.rejected, 'draw')} rejected"
    return f"no case ran in {counted(summary.tests, 'test')}" if summary.tests else "no test ran"
