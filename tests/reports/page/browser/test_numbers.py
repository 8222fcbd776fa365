"""In a browser: every number of the page's top is the length of the list that it opens, in a run that is summed up."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports import save_site, summarize
from reports.records.kinds import KINDS
from reports.records.run import read_run
from support.pages import drawn

pytestmark = pytest.mark.slow

GRAPH = {"forward": "verified", "backward": "off"}


@pytest.fixture
def mixed(lay: Any, header: Any, case: Any, row: Any, ended: Any) -> Path:
    """Give the page of a run that has cases in every segment and way, in several tests, some fingerprints in many."""
    tests = [f"suites/test_{family}.py::test_{number}" for family in ("unary", "matmul") for number in range(3)]
    records: list[Any] = []
    index = 0

    def add(test: str, op: str, verdict: str, *rows: Any) -> None:
        nonlocal index
        records.extend(case(test, index, ops=[op], verdict=verdict, graph=GRAPH, divergences=list(rows)))
        index += 1

    for number, test in enumerate(tests):
        for _ in range(number + 1):
            add(test, f"op{number}", "aligned")
        add(test, f"op{number}", "skipped")
        for level in ("known", "wrong", "refuses", "counted", "stricter")[: number + 1]:
            for kind in ("value", "crash", "missing")[: 1 + number % 3]:
                place = f"oneflow/eager_forward/{kind}/op{number % 2}"
                found = row(
                    test=test, op=f"op{number % 2}", kind=kind, level=level, fingerprint=place,
                    id=f"{number % 2}{KINDS.index(kind) if kind in KINDS else 9:07}",
                )  # fmt: skip
                add(test, f"op{number % 2}", "divergent", found)
        records.append(ended(test, outcome="failed"))
    add(tests[0], "op0", "undecidable")
    folder = lay(header(), *records)
    return save_site(folder, summarize(read_run(folder)))


def length(page: Any) -> int:
    """Return how many things the list says that it shows: cases of tests, tests, or rows."""
    told = page.locator("#filters [role=status]").inner_text()
    said = int(re.match(r"[\d,]+", told).group().replace(",", ""))
    if "view=tests" not in page.url:
        assert page.locator("#view-divergences .row").count() == said
        return said
    rows = [line.split("\t") for line in page.locator("#view-tests tbody tr").all_inner_texts()]
    # One column of numbers between how the test ended and how long it took.
    summed = sum(int(cells[2].replace("-", "0")) for cells in rows) if "cases=" in page.url else len(rows)
    assert summed == said
    return said


def test_every_number_is_a_list(view: Callable[..., Any], mixed: Path) -> None:
    """Each segment, each way, each level and the tests: a click opens as many as the number said."""
    watched = view(mixed)
    page = watched.page
    found = {}
    for number, link in enumerate(
        page.locator(".legend-of-cases a, .figures .level, .figures a[href='#view=tests']").all()
    ):
        words = link.inner_text()
        link.click()
        drawn(page)
        match = re.match(r"\d+", words)
        if match:
            found[f"{number} {words}"] = (int(match.group()), length(page))
    assert len(found) > 15
    assert {words: pair for words, pair in found.items() if pair[0] != pair[1]} == {}
    assert watched.errors == []


def test_segments_add_up(view: Callable[..., Any], mixed: Path) -> None:
    """The numbers of the bar are together those of its title, and a part of the bar opens what its number opens."""
    page = view(mixed).page
    numbers = [int(text) for text in page.locator(".legend-of-cases b").all_inner_texts()]
    assert f"{sum(numbers)} cases" == page.locator("#cases-title").inner_text()
    parts = "[...document.querySelectorAll('.segments a')].map(link => link.getAttribute('href'))"
    named = "[...document.querySelectorAll('.legend-of-cases a:first-child')].map(link => link.getAttribute('href'))"
    assert page.evaluate(parts) == page.evaluate(named)
    page.locator(".segments a").last.click()
    drawn(page)
    assert page.locator("#filters [role=status]").inner_text() == "6 skipped cases of 6 tests shown"


def test_cards_of_causes(mixed: Path, view: Callable[..., Any]) -> None:
    """A card's number is that of the ops of the list that it opens, with and without other filters."""
    for hash in ("", "#view=divergences&text=crash"):
        page = view(mixed, hash).page
        cards = page.locator(".cause")
        told = [card.inner_text() for card in cards.all()]
        assert told
        for number, words in enumerate(told):
            ops, divergences = (int(found) for found in re.match(r"(\d+) ops? \w+, (\d+) div", words).groups())
            page.evaluate(f"location.hash = {hash!r} || '#view=divergences'")
            cards.nth(number).locator("a").first.click()
            drawn(page)
            assert length(page) == divergences
            assert len({*page.locator(".row .place code").all_inner_texts()}) == ops
            assert cards.count() == 0
