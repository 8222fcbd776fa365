"""In a browser: the page of two runs leads to the pages of both, and shows their programs beside each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports import (
    RecordWriter,
    compare_runs,
    difference_html,
    load_saved,
    read_run,
    save_site,
    save_summary,
    summarize,
)

pytestmark = pytest.mark.slow

TEST = "test_x.py::test_a"
FINGERPRINT = "oneflow/eager_forward/value/relu/float32"


@pytest.fixture
def two(
    tmp_path: Path, row: Callable[..., Any], evidence: Callable[..., Any], case: Callable[..., Any], ended: Any
) -> Path:
    """Write two runs, of which the second shows the divergence in another program, and their difference."""
    saved = []
    for name, program in (("first", "t0 = torch.relu(x)"), ("second", "t0 = torch.relu(x, inplace=True)")):
        folder = tmp_path / name / "runs" / "20260101-000000-0-1"
        shown = evidence(program=f"def program(torch, x):\n    {program}\n    return t0", inputs=["x = torch.zeros(3)"])
        level = "known" if name == "first" else "wrong"
        found = row(fingerprint=FINGERPRINT, level=level, test=TEST, case_key=f"{TEST}#0", evidence=shown)
        with RecordWriter(folder, "main", seed=0, target="oneflow", environment={}, command="autotest run") as writer:
            writer.start(TEST, f"{TEST}#0", 0)
            graph = {"forward": "verified", "backward": "off"}
            writer.end(
                TEST, f"{TEST}#0", "divergent", ops=["relu"], dtypes=[], graph=graph, seconds=0.1, divergences=[found]
            )
            writer.test(TEST, 1.0, "failed", 3)
        summary = summarize(read_run(folder))
        save_summary(folder, summary)
        save_site(folder, summary)
        saved.append(load_saved(folder))
    page = tmp_path / "two.html"
    page.write_text(difference_html(compare_runs(*saved), page), encoding="utf-8")
    return page


@pytest.mark.parametrize("width", [390, 1400])
def test_programs_beside_each_other(view: Callable[..., Any], two: Path, width: int) -> None:
    """Unfolded, they stand side by side, or below each other where there is no room, and nothing leaves the page."""
    watched = view(two, width=width)
    page = watched.page
    assert page.locator("figure").first.is_hidden()
    page.locator("summary").click()
    before, after = (figure.bounding_box() for figure in page.locator("figure").all())
    assert (before["y"] == after["y"]) == (width == 1400)
    assert page.locator("mark.line").all_inner_texts() == [
        "-    t0 = torch.relu(x)",
        "+    t0 = torch.relu(x, inplace=True)",
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.errors == []


def test_a_fingerprint_opens_the_divergence_of_its_run(view: Callable[..., Any], two: Path) -> None:
    """It is a link to the page of the run that shows it, where the divergence is open."""
    watched = view(two)
    page = watched.page
    page.locator("a", has_text=FINGERPRINT).click()
    page.locator(".row .detail .program").first.wait_for()
    assert "second/runs/20260101-000000-0-1/index.html" in page.url
    assert "torch.relu(x, inplace=True)" in page.locator(".detail .program").first.inner_text()
    assert watched.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way(view: Callable[..., Any], two: Path, scheme: str) -> None:
    """Names, roles, contrast and structure, with the programs unfolded."""
    watched = view(two, color_scheme=scheme)
    watched.page.locator("summary").click()
    assert watched.violations() == {}
