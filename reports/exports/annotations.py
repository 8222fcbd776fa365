"""What a run tells GitHub: an annotation per divergence, and the summary of the step."""

from __future__ import annotations

from pathlib import Path

from reports.errors import RecordError
from reports.exports.markdown import MOST_BYTES, markdown_text
from reports.findings.finding import Finding, findings
from reports.tallies.summary import Summary
from reports.words.literals import literal, literal_lines
from reports.words.quantities import counted

# GitHub shows that many errors of a step and drops the others unsaid.
MOST_ERRORS = 10
MOST_LINES = 12
MOST_CHARACTERS = 4000


def github_annotations(summary: Summary) -> list[str]:
    """Return workflow commands to print, one to a line: an error at the test of each red divergence, the worst first.

    Where there are more than GitHub shows, a notice tells how many. A run without a red divergence gives none.
    """
    red = findings(summary.divergences)
    commands = [_error(finding, summary) for finding in red[:MOST_ERRORS]]
    if len(red) > MOST_ERRORS:
        more = counted(len(red) - MOST_ERRORS, "more divergence")
        commands.append(f"::notice title=op-autotest::{_data(f'{more}, see the summary of this step')}")
    return commands


def append_step_summary(path: Path, summary: Summary) -> None:
    """Append the summary as Markdown to the file that GITHUB_STEP_SUMMARY names.

    What other runs wrote there counts against the limit too. Raises RecordError where the file cannot be written.
    """
    try:
        held = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * bool(held) + markdown_text(summary, MOST_BYTES - held))
    except OSError as error:
        refusal = RecordError(f"{path} cannot be written: {error.strerror}; unset GITHUB_STEP_SUMMARY or mend its path")
        refusal.errno = error.errno
        raise refusal from error


def _error(finding: Finding, summary: Summary) -> str:
    test = finding.first.test
    properties = {"file": test.partition("::")[0], "title": finding.fingerprint}
    if test in summary.lines:
        properties = {"file": properties["file"], "line": str(summary.lines[test]), "title": finding.fingerprint}
    lines = literal_lines(finding.first.message)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"and {counted(len(lines) - MOST_LINES, 'more line')}, see summary.json"]
    text = "\n".join(lines)
    excerpt = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
    where = f"{counted(finding.cases, 'case')} of {counted(len(finding.tests), 'test')}"
    message = "\n".join([excerpt, where, literal(finding.first.replay)])
    named = ",".join(f"{name}={_property(literal(value))}" for name, value in properties.items())
    return f"::error {named}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
