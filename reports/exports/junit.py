"""JUnit: one test's counts as a property for pytest, and a whole run as a JUnit file."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone

from reports.errors import PlainError
from reports.findings.finding import findings, is_red
from reports.findings.lacking import not_checked
from reports.folders.repros import Repro
from reports.records.plain import encode
from reports.records.shape import ENDS, LEVELS
from reports.tallies.summary import Divergence, Evidence, Summary
from reports.words.literals import literal, literal_lines
from reports.words.quantities import counted

PROPERTY = "autotest"
SUITE = "op-autotest"


def junit_property(counts: Mapping[str, object]) -> tuple[str, str]:
    """Return the (name, value) pair to append to a pytest item's user_properties.

    The value is one line of ASCII JSON with sorted keys: XML can hold it, and pytest-xdist can send it,
    which it cannot do with a NumPy scalar. NumPy scalars become Python numbers; other values which are not
    plain data raise PlainError naming the part.
    """
    for name in counts:
        if not isinstance(name, str):
            raise PlainError(f"key={name!r}, but should be a str [junit_property]")
    return PROPERTY, encode({name: counts[name] for name in sorted(counts)}, "junit_property")


def junit_xml(summary: Summary) -> str:
    """Return a run as a JUnit file: a suite per test file, a case per test.

    A test with red divergences, or one that failed, is a failure; one that never ended is an error. Faults of the
    harness and damaged records are the error of a suite of their own. What XML cannot hold is shown as Python escapes.
    """
    root = ET.Element("testsuites", name=SUITE)
    rows: dict[str, list[Divergence]] = {}
    for row in summary.all_divergences:
        rows.setdefault(row.test, []).append(row)
    files: dict[str, list[str]] = {}
    for test in sorted({*summary.outcomes, *summary.open_tests, *rows}):
        files.setdefault(_file(test), []).append(test)
    for file, tests in files.items():
        suite = ET.SubElement(root, "testsuite", name=literal(file))
        shown_rows = [row for test in tests for row in rows.get(test, [])]
        _properties(suite, [*_run_properties(summary), *_suite_properties(shown_rows, summary)])
        for test in tests:
            suite.append(_case(test, rows.get(test, []), summary))
    sentences = [*summary.faults, *summary.damage]
    if sentences:
        suite = ET.SubElement(root, "testsuite", name=SUITE)
        case = ET.SubElement(suite, "testcase", classname=SUITE, name="run", time="0.000")
        _problem(case, "error", "faults of the harness or damaged records", sentences)
    for suite in root:
        _count(suite, suite)
        if summary.started is not None:
            started = datetime.fromtimestamp(summary.started, timezone.utc)
            suite.set("timestamp", started.isoformat(timespec="seconds"))
    _count(root, root)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _file(test: str) -> str:
    return test.partition("::")[0]


def _case(test: str, rows: Sequence[Divergence], summary: Summary) -> ET.Element:
    # A parameter may hold `::` too, so it is set aside before the names are parted.
    names, bracket, parameters = test.partition("[")
    file, *parts = names.split("::")
    name = (parts.pop() if parts else file) + bracket + parameters
    module = file.removesuffix(".py").replace("/", ".")
    case = ET.Element(
        "testcase",
        classname=literal(".".join([module, *parts])),
        name=literal(name),
        file=literal(file),
        time=f"{summary.seconds_by_test.get(test, 0.0):.3f}",
    )
    if test in summary.lines:
        case.set("line", str(summary.lines[test]))
    red = [row for row in rows if is_red(row.level)]
    outcome = summary.outcomes.get(test)
    error = [summary.errors[test]] if test in summary.errors else []
    if red:
        _problem(case, "failure", _message(red), [*_details(red, summary.evidence, summary.repros), *error])
    elif outcome == "failed":
        _problem(case, "failure", "failed without a divergence", error or ["The output of pytest tells why."])
    elif outcome == "skipped":
        ET.SubElement(case, "skipped")
    elif outcome is None:
        _problem(case, "error", "did not end", ["The run was interrupted, or its process died."])
    return case


def _problem(case: ET.Element, tag: str, message: str, sentences: Iterable[str]) -> None:
    problem = ET.SubElement(case, tag, message=literal(message))
    problem.text = "\n".join(line for sentence in sentences for line in literal_lines(sentence))


def _message(rows: Sequence[Divergence]) -> str:
    names = [finding.fingerprint for finding in findings(rows)]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _details(
    rows: Sequence[Divergence], evidence: Mapping[str, Evidence], repros: Mapping[str, Repro]
) -> Iterator[str]:
    """Each divergence with its message, its program and the command that shows it again."""
    for finding in findings(rows):
        yield f"{literal(finding.fingerprint)}  {counted(finding.cases, 'case')}"
        yield finding.first.message
        proof = evidence.get(finding.fingerprint)
        if proof is not None and proof.program is not None:
            for number, line in enumerate(proof.program.rstrip("\n").split("\n"), 1):
                yield f"{'>' if number == proof.blamed_line else ' '} {line}"
        yield literal(finding.first.replay)
        if finding.first.id in repros:
            yield literal(repros[finding.first.id].sentence)
        yield ""


def _count(element: ET.Element, inside: ET.Element) -> None:
    cases = list(inside.iter("testcase"))
    element.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")


def _properties(suite: ET.Element, properties: Iterable[tuple[str, object]]) -> None:
    holder = ET.SubElement(suite, "properties")
    for name, value in properties:
        ET.SubElement(holder, "property", name=literal(name), value=literal(str(value)))


def _run_properties(summary: Summary) -> Iterator[tuple[str, object]]:
    """What holds for the whole run; a JUnit file has no place for it but the suites."""
    yield "target", summary.target
    for name, version in summary.environment.items():
        yield f"version.{name}", version
    for name, fact in (("seed", summary.seed), ("commit", summary.commit), ("command", summary.command or None)):
        if fact is not None:
            yield name, fact
    if unseen := not_checked(summary.lacks):
        yield "not checked", unseen
    for name in ("cases", "aligned", "divergent", "undecidable", "skipped", *ENDS, "rejected"):
        yield f"run.{name}", getattr(summary, name)


def _suite_properties(rows: Sequence[Divergence], summary: Summary) -> Iterator[tuple[str, object]]:
    """Cases by level, and the largest errors among the elements that the records keep."""
    cases: Counter[str] = Counter()
    for row in rows:
        cases[row.level] += row.count
    for level in LEVELS:
        yield f"cases.{level}", cases[level]
    proofs = [summary.evidence[name] for name in {row.fingerprint for row in rows} if name in summary.evidence]
    yield from worst_errors(element for evidence in proofs for element in evidence.worst).items()


def worst_errors(elements: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return the worst absolute and relative error and the worst distance in ULP of some worst elements.

    One that is not finite is text, and what no element has is left out.
    """
    held = list(elements)
    largest: dict[str, object] = {}
    for name, field in (
        ("absolute", "worst_absolute_error"),
        ("relative", "worst_relative_error"),
        ("ulp", "worst_ulp"),
    ):
        errors = [error for error in (_error(element[name]) for element in held) if error is not None]
        if errors:
            # NaN is worse than any number.
            worst = max(errors, key=lambda error: (math.isnan(error), error))
            largest[field] = worst if math.isfinite(worst) else str(worst)
    return largest


def _error(value: object) -> float | None:
    """The error as a number, for records keep an infinity or NaN as text; None where there is none."""
    try:
        return float(value) if isinstance(value, (int, float, str)) else None
    except (ValueError, OverflowError):
        return None
