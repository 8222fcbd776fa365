"""In a browser: the plots of a divergence's elements."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

#: How many pixels of a plot have about a colour.
PIXELS = """([number, colour]) => {
  const canvas = document.querySelectorAll(".uplot canvas")[number];
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const probe = document.body.appendChild(document.createElement("span"));
  probe.style.color = `var(${colour})`;
  const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 200 && wanted.every((part, place) => Math.abs(data[at + place] - part) < 6)) found += 1;
  }
  return found;
}"""
ELEMENTS = [
    [-2.0, 0.5, 0.5, 0.01, 0.0],
    [0.0, 1.0, 1.0, 0.02, 0.0],
    [1.0, 2.0, 2.5, 0.03, 2097152.0],
    [4.0, 2.0, "nan", 0.03, "inf"],
    [5e6, 3.0, 1.0, 0.04, 1e7],
]


@pytest.fixture
def drawn(view, write, divergence):
    """Give a function which opens the page of a divergence with a sample of elements."""

    def drawn(elements=ELEMENTS, of=5, along="x", **options):
        row = divergence(tests=[0], families=[0])
        sample = {"along": along, "of": of, "elements": elements}
        evidence = {"program": None, "blamed_line": None, "last_words": None, "facts": [], "words": [], "worst": []}
        evidence |= {"heat": None, "histogram": None, "sample": sample}
        detail = {**row, "target": "oneflow", "stages": [], "reason": None, "replay": "r", "evidence": evidence}
        detail |= {"tests": [{"test": "t", "cases": ["t#0"], "count": 20}], "repro": None}
        index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
        path = write({**index, "divergences": [row], "more": 0}, [detail])
        watched = view(path, "#open=4701a54b", **options)
        watched.page.locator(".plots > *").first.wait_for()
        return watched

    return drawn


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_plots(drawn, scheme):
    """Both sides are points of their own colours, in either colour scheme; the axes say what they are."""
    watched = drawn(color_scheme=scheme)
    page = watched.page
    assert page.locator(".u-title").all_inner_texts() == [
        "Both sides over the value of x", "Error in ULP over the magnitude of x",
    ]  # fmt: skip
    assert page.locator(".plots figure").first.get_attribute("aria-label") == (
        "Both sides over the value of x; its numbers are in the table below"
    )
    assert page.locator(".u-legend").first.locator(".u-label").all_inner_texts() == [
        "x", "allowed from", "to", "reference", "oneflow",
    ]  # fmt: skip
    # Reading a canvas back, as no page does, is warned of.
    assert watched.errors == []
    assert page.evaluate(PIXELS, [0, "--soft"]) > 20
    assert page.evaluate(PIXELS, [0, "--wrong"]) > 20
    assert page.evaluate(PIXELS, [1, "--wrong"]) > 20


def test_colours_follow_the_button(drawn):
    """What is drawn takes the colours that the button chooses."""
    page = drawn(color_scheme="dark").page
    page.locator("#theme").click()
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    page.wait_for_timeout(200)
    assert page.evaluate(PIXELS, [0, "--wrong"]) > 20


def test_numbers_and_words(drawn):
    """What no plot can show stands in words, and all of it in a table; a share of the elements is said to be one."""
    page = drawn(of=1000).page
    words = page.locator(".plots ~ p").all_inner_texts()
    assert words == [
        "5 of 1,000 elements: the worst, and others evenly",
        "Not drawn: 1 element where the reference is a number, oneflow is NaN, at 4.",
    ]
    page.locator(".plots ~ details summary").click()
    rows = page.locator(".plots ~ details tr").all_inner_texts()
    assert rows[0] == "x\treference\toneflow\tallowed\tULP"
    assert rows[3:5] == ["1\t2\t2.5\t0.03\t2097152", "4\t2\tnan\t0.03\tinf"]


def test_reference_in_place_of_an_input(drawn):
    """Where no input has the shape of what differs, the reference's own values are the axis."""
    page = drawn(along="").page
    assert page.locator(".u-title").first.inner_text() == "Both sides over the value of the reference"


def test_missing_library(drawn):
    """Without its file a sentence says which one is missing, and the table is there."""
    watched = drawn()
    page_file = Path(watched.page.url.removeprefix("file://").partition("#")[0])
    (page_file.parent / "report" / "plots.js").unlink()
    watched.page.reload()
    watched.page.locator(".plots .failure").wait_for()
    assert watched.page.locator(".plots").inner_text() == (
        "report/plots.js is missing: keep the folder report/ beside this page."
    )
    assert watched.page.locator(".plots ~ details tr").count() == 6


@pytest.mark.parametrize("width", [320, 400, 1400])
def test_width(drawn, width):
    """At any width the page does not scroll sideways."""
    page = drawn(width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
