"""The page of a run: what the HTML report shows, as plain data for its template and its script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from reports.findings.causes import causes
from reports.findings.finding import NOTES, Finding, findings, levels
from reports.findings.lacking import not_checked
from reports.findings.op_map import SHAPES, family, home
from reports.findings.verdict import broken, frameworks, headline
from reports.folders.repros import texts
from reports.page.templating import script, script_data, style, template, vendored
from reports.past.course import Course
from reports.past.difference import Change, RunDifference
from reports.past.history import Listed
from reports.records.kinds import DEADLY
from reports.tallies.captures import executor_name
from reports.tallies.inference import HEADING
from reports.tallies.matrix import OUTCOMES
from reports.tallies.segments import SEGMENTS
from reports.tallies.summary import Divergence, Evidence, Summary
from reports.words.quantities import counted, duration, share

MOST_MESSAGE = 300
#: So many new divergences stand above the map of more ops than these.
MOST_FIRST, MOST_OPS = 3, 160
#: In per cent of the bar, so that a segment of one case can be seen and clicked.
LEAST_WIDTH = 0.6
#: index.html stays small enough to open at once: what is beyond is in summary.json, and the page says so.
MOST_DIVERGENCES = 6000
#: One case of a divergence is enough to replay it; these are for those who look for a pattern.
MOST_CASES = 50
TONES = {"DIVERGENT": "bad", "FAILED": "bad", "aligned": "good"}


def index_data(summary: Summary, base: str, past: Course | None = None) -> dict[str, object]:
    """Return what the script of index.html draws; `base` is the path from the page to its detail files, `past` the
    course of its selection.
    """
    every = findings(summary.all_divergences)
    listed = every[:MOST_DIVERGENCES]
    shared = causes(listed)
    cause_of = {finding.fingerprint: number for number, cause in enumerate(shared) for finding in cause.findings}
    tests = sorted(
        {test for row in summary.matrix.tests.values() for test in row}
        | {test for finding in listed for test in finding.tests}
        | summary.segments.tests.keys()
        | summary.outcomes.keys()
    )
    places = summary.segments.places
    families = sorted({family(test) for test in tests})
    number = {test: position for position, test in enumerate(tests)}
    kin = {test: families.index(family(test)) for test in tests}
    return {
        "base": base,
        "root": summary.path,
        "target": summary.target,
        "phases": summary.matrix.phases(summary.matrix.cells),
        "shapes": dict(SHAPES),
        "families": families,
        "tests": tests,
        "places": [f"{name} {way}".rstrip() for name, way in places],
        "ended": [_ended(test, summary, places) for test in tests],
        "ops": [
            {
                "op": op,
                "families": sorted({kin[test] for test in summary.matrix.tests[op]}),
                "home": home(summary.matrix, op),
                "tests": [number[test] for test in summary.matrix.tests[op]],
                "cells": {
                    phase: [getattr(cell, outcome) for outcome in OUTCOMES]
                    for phase, cell in summary.matrix.cells[op].items()
                },
            }
            for op in summary.matrix.ranked
        ],
        "divergences": [
            {
                **_identity(finding),
                "message": _row(finding).message.partition("\n")[0][:MOST_MESSAGE],
                "cases": finding.cases,
                "tests": [number[test] for test in finding.tests],
                "families": sorted({kin[test] for test in finding.tests}),
                **_largest(summary.evidence.get(finding.fingerprint)),
                **({"cause": cause_of[finding.fingerprint]} if finding.fingerprint in cause_of else {}),
            }
            for finding in listed
        ],
        "more": len(every) - len(listed),
        **({"course": {"runs": past.runs, "ops": dict(past.ops)}} if past and len(past.runs) > 1 else {}),
        "causes": [[cause.title, cause.level] for cause in shared],
    }


def _largest(evidence: Evidence | None) -> dict[str, object]:
    """The dtype of the tensor that diverges and the largest error in ULP of its kept elements, where both are known."""
    if evidence is None:
        return {}
    apart = [ulp for element in evidence.worst if isinstance(ulp := element["ulp"], (int, float))]
    dtypes = [reference for name, reference, *_ in evidence.facts if name == "dtype" and reference]
    return {"dtype": dtypes[0], "ulp": max(apart)} if apart and dtypes else {}


def _ended(test: str, summary: Summary, places: Sequence[tuple[str, str]]) -> list[object]:
    """How a test ended, in how many seconds, the first line of its function, and its cases in each place."""
    seconds = summary.seconds_by_test.get(test)
    cases = summary.segments.tests.get(test, {})
    return [
        summary.outcomes.get(test),
        None if seconds is None else round(seconds, 2),
        summary.lines.get(test),
        [cases.get(place, 0) for place in places],
    ]


def detail_data(finding: Finding, summary: Summary, past: Course | None = None) -> dict[str, object]:
    """Return what the script shows of one divergence when it is opened."""
    evidence = summary.evidence.get(finding.fingerprint)
    row = _row(finding)
    repro = summary.repros.get(row.id)
    return {
        **_identity(finding),
        "target": row.target,
        "message": row.message,
        "reason": row.reason,
        "stages": [[executor_name(name), outcome] for name, outcome in row.stages.items()],
        "cases": finding.cases,
        "tests": [
            {"test": divergence.test, "cases": list(divergence.cases[:MOST_CASES]), "count": divergence.count}
            for divergence in finding.rows
            if isinstance(divergence, Divergence)
        ],
        "seen": past.words(finding.fingerprint) if past else "",
        "replay": row.replay,
        "repro": None if repro is None else texts(repro),
        "evidence": None if evidence is None else evidence.to_json(),
    }


def _row(finding: Finding) -> Divergence:
    row = finding.first
    assert isinstance(row, Divergence), "a page is made of a summary's own rows"
    return row


def _identity(finding: Finding) -> dict[str, object]:
    row = _row(finding)
    return {name: getattr(row, name) for name in ("id", "fingerprint", "op", "phase", "kind", "level")}


def render_page(
    summary: Summary,
    base: str,
    changes: RunDifference | str,
    runs: Sequence[Listed],
    past: Course | None = None,
) -> str:
    """Return index.html.

    `changes` is the difference from the run before, or a sentence why there is none; `runs` are the kept runs, newest
    first.
    """
    verdict, _, words = headline(summary).partition(": ")
    return template("index.html.j2").render(
        css=style("report.css") + vendored("uplot/uPlot.min.css"),
        js=script("report"),
        data=script_data(index_data(summary, base, past)),
        title=f"op-autotest: {summary.target}",
        tone=TONES.get(verdict, "unsure"),
        verdict=verdict,
        headline=words,
        broken=broken(summary),
        cases=counted(summary.cases, "case"),
        bar=_bar(summary),
        levels=_levels(summary),
        figures=_figures(summary),
        changes=[] if isinstance(changes, str) else _changes(changes),
        changes_note=changes if isinstance(changes, str) else _compared(changes),
        first=_first(summary),
        # Where tests failed and nothing diverged, the list of divergences is empty, and why they failed stands there.
        first_view="run" if summary.failed and not summary.divergences else "divergences",
        facts=_facts(summary),
        brief=_brief(summary),
        graph=_graph(summary),
        captures=[
            (f"{count:,}", reason)
            for captures in summary.captures
            for reason, count in captures.besides(summary.graph.skipped).items()
        ],
        notices=_notices(summary),
        failed_title=summary.failed_title,
        failures=[(test, summary.errors.get(test, ""), summary.traces.get(test)) for test in summary.failed],
        slowest=[(duration(slow.seconds), slow.test) for slow in summary.slowest],
        runs=runs,
        strip=_strip(runs),
        duration=duration,
    )


def _first(summary: Summary) -> list[tuple[str, str, str, str, str]]:
    """The worst divergences that make the run red, where the map of its ops fills a screen before their list: id,
    outcome, op, phase, and the first line of the message.
    """
    if len(summary.matrix.ranked) <= MOST_OPS:
        return []
    rows = [_row(finding) for finding in findings(summary.divergences)[:MOST_FIRST]]
    return [
        (
            row.id,
            "crashed" if row.kind in DEADLY else row.level,
            row.op,
            row.phase.replace("_", " "),
            row.message.partition("\n")[0][:MOST_MESSAGE],
        )
        for row in rows
    ]


def _bar(summary: Summary) -> list[dict[str, object]]:
    """The segments of all cases, from left to right, with the share of the bar that each is drawn in.

    A segment has its number, where it stands and how wide it is in per cent, the list that it opens, and likewise the
    ways in which its cases diverge. One without cases is left out, but for what is new.
    """
    cases = {name: count for name in SEGMENTS if (count := summary.segments.cases.get(name, 0)) or name == "new"}
    # What is one case of many is seen, too: the others give way to it.
    wide = {name: max(LEAST_WIDTH, 100 * count / summary.cases) for name, count in cases.items() if count}
    left = 0.0
    rows: list[dict[str, object]] = []
    for name, count in cases.items():
        width = 100 * wide.get(name, 0.0) / (sum(wide.values()) or 1)
        ways = summary.segments.ways.get(name, {}) if count else {}
        rows.append(
            {
                "name": name,
                "count": f"{count:,}",
                "href": f"#view=tests&cases={name}",
                "left": f"{left:.3f}",
                "width": f"{width:.3f}",
                "ways": [
                    (way if len(ways) == 1 else f"{number:,} {way}", f"#view=tests&cases={name}+{way}")
                    for way, number in ways.items()
                ],
            }
        )
        left += width
    return rows


def _strip(runs: Sequence[Listed]) -> list[dict[str, object]]:
    """The runs of this selection, oldest first, each with words and two bars: its new and its known divergences, in per
    cent of the most that a run has of either. Nothing where there is one run alone.
    """
    alike = [run for run in reversed(runs) if run.alike]
    if len(alike) < 2:
        return []
    most = max(1, *(count or 0 for run in alike for count in (run.new, run.known)))

    def tall(count: int | None) -> str:
        return f"{100 * (count or 0) / most:.1f}"

    return [
        {
            "href": run.href,
            "words": f"{run.name}: {counted(run.cases or 0, 'case')}, {run.new or 0:,} new, {run.known or 0:,} known"
            f", {duration(run.seconds or 0.0)}",
            "bars": [("new", tall(run.new)), ("known", tall(run.known))],
        }
        for run in alike
    ]


def _levels(summary: Summary) -> list[tuple[str, str, str, str]]:
    """Level, number of divergences, note, and the list that it opens."""
    counts = levels(summary.all_divergences)
    return [
        (level, f"{count:,}", NOTES.get(level, ""), f"#view=divergences&level={level}")
        for level, count in counts.items()
        if count or level == "new"
    ]


def _figures(summary: Summary) -> list[tuple[str, str, str, str | None]]:
    """Label, number and note of what else is counted, and the list that it opens; None where there is none."""
    graph = summary.graph
    rows: list[tuple[str, str, str, str | None]] = [
        ("tests", f"{summary.tests:,}", f"in {duration(summary.seconds)}", "#view=tests")
    ]
    if summary.rejected:
        rows.append(("rejected draws", f"{summary.rejected:,}", "", "#view=run"))
    if graph.asked:
        note = f"{graph.verified:,} of {graph.asked:,} cases, {graph.backward_verified:,} backward too"
        rows.append(("graph verified", share(graph.verified, graph.asked), note, "#view=run"))
    rows += [("captured", captures.share, captures.words, "#view=run") for captures in summary.captures]
    if summary.configurations.asked:
        rows.append(("configurations", summary.configurations.share, summary.configurations.words, None))
    if summary.lowered.asked:
        rows.append(("lowered", summary.lowered.share, summary.lowered.words, None))
    return rows


def _changes(changes: RunDifference) -> list[tuple[str, list[tuple[str, str, str | None]]]]:
    def rows(some: Sequence[Change]) -> list[tuple[str, str, str | None]]:
        return [
            (
                change.finding.fingerprint,
                "; ".join(change.words) or change.finding.words,
                None if change.after is None else change.after.first.id,
            )
            for change in some
        ]

    return [("new", rows(changes.new)), ("changed", rows(changes.changed)), ("gone", rows(changes.gone))]


def _compared(changes: RunDifference) -> str:
    facts = [f"{fact.name} {fact.before} → {fact.after}" for fact in changes.facts if fact.name != "command"]
    other = f"; {', '.join(facts)}" if facts else ""
    return f"Against the run before, {changes.before.folder.name}: {changes.headline}{other}"


def _facts(summary: Summary) -> list[tuple[str, str, bool]]:
    versions = {name: version for name, version in summary.environment.items() if name not in (summary.target, "torch")}
    target, _, reference = frameworks(summary).partition(" against ")
    rows: list[tuple[str, str | None, bool]] = [
        ("target", target, False),
        ("reference", reference, False),
        ("commit", summary.commit, False),
        ("path", summary.path, False),
        ("what ran", summary.selection, False),
        ("device", ", ".join(summary.devices), False),
        ("not checked", not_checked(summary.lacks), False),
        ("seed", None if summary.seed is None else str(summary.seed), False),
        ("inputs", summary.inputs, False),
        ("started", _moment(summary.started), False),
        ("took", duration(summary.seconds), False),
        ("shape inference", summary.inference.words if summary.inference.told else None, False),
        *((name, version, False) for name, version in versions.items()),
        ("records", str(summary.folder), True),
        ("command to repeat", _command(summary), True),
    ]
    return [(name, value, copyable) for name, value, copyable in rows if value]


def _brief(summary: Summary) -> str:
    """What tells a run apart from another one of the same tests, in one line."""
    parts = [
        summary.selection,
        None if summary.seed is None else f"seed {summary.seed}",
        None if summary.inputs is None else f"{summary.inputs} inputs",
        _moment(summary.started),
    ]
    return ", ".join(part for part in parts if part)


def _command(summary: Summary) -> str:
    """The command as it was typed; a random seed is told, so that the same cases are drawn again."""
    return re.sub(r"(?<!\S)(--(?:autotest-)?seed[ =])random(?!\S)", rf"\g<1>{summary.seed}", summary.command)


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def _graph(summary: Summary) -> tuple[str, list[tuple[str, str]]]:
    graph = summary.graph
    if not graph.asked:
        return ("Switched off for every case." if graph.off else "", [])
    text = (
        f"{share(graph.verified, graph.asked)} of the cases that ask for a graph were verified in one "
        f"({graph.verified:,} of {graph.asked:,}), {graph.backward_verified:,} backward too."
    )
    return text, [(f"{count:,}", reason) for reason, count in graph.skipped.items()]


def _notices(summary: Summary) -> list[tuple[str, Sequence[str]]]:
    rows: list[tuple[str, Sequence[str]]] = [
        ("Interrupted while running", summary.running),
        ("Tests that did not end", () if summary.running else summary.open_tests),
        ("Faults of the harness", summary.faults),
        ("Damaged records", summary.damage),
        ("Remembered cases", _remembered(summary)),
        (HEADING, ["\n".join([row.title, *row.lines]) for row in summary.inference.disagreements]),
        ("Undecidable cases, by op", [str(doubts) for doubts in summary.doubts]),
        ("Skipped cases", _reasons(summary.skipped_reasons)),
        ("Rejected draws", _reasons(summary.rejected_reasons)),
    ]
    return [(heading, sentences) for heading, sentences in rows if sentences]


def _remembered(summary: Summary) -> list[str]:
    noun = "remembered case now aligns" if summary.confirmed == 1 else "remembered cases now align"
    return [*([f"{summary.confirmed:,} {noun}"] if summary.confirmed else []), *summary.forgotten]


def _reasons(reasons: Mapping[str, int]) -> list[str]:
    return [f"{count:,} x {reason}" for reason, count in reasons.items()]
