"""The difference of two runs as one HTML file that needs nothing beside it."""

from __future__ import annotations

from reports.page.templating import style, template
from reports.past.difference import RunDifference
from reports.words.literals import literal, literal_lines
from reports.words.quantities import counted

MOST_TESTS = 20
MOST_LINES = 40


def difference_html(difference: RunDifference) -> str:
    """Return the page: verdict, how the runs themselves differ, then what is new, changed, gone and not run.

    Text from tests, ops and exceptions is escaped, and what cannot be printed is shown as in the terminal.
    """
    verdict, _, headline = difference.headline.partition(": ")
    return template("difference.html.j2").render(
        css=style("report.css"),
        tone="bad" if difference.worse else "good",
        verdict=verdict,
        headline=headline,
        found=difference,
        counted=counted,
        literal=literal,
        literal_lines=literal_lines,
        most_tests=MOST_TESTS,
        most_lines=MOST_LINES,
    )
