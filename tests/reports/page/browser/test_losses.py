"""In a browser: the curves of a training's losses in an opened divergence."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>"
MARK = "\u25bc first apart: step"


@pytest.fixture
def drawn(view, write, divergence):
    """Give a function which draws losses in a window of some width, and returns the watched page and the section."""

    def draw(width=1280, **losses):
        index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
        row = divergence(tests=[0], families=[0])
        evidence = {"program": "def program(torch, x):", "blamed_line": 1, "facts": [], "words": [], "worst": []}
        evidence |= {"heat": None, "histogram": None, "last_words": None}
        detail = {name: row[name] for name in ("id", "fingerprint", "op", "phase", "kind", "level", "message", "cases")}
        detail |= {"target": "oneflow", "stages": [], "reason": None, "tests": [], "replay": "autotest replay 4701a54b"}
        detail |= {"evidence": {**evidence, "losses": {"eager": None, "graph": None, "words": [], **losses}}}
        path = write({**index, "divergences": [row], "more": 0}, details=[detail])
        watched = view(path, "#open=4701a54b", width=width)
        section = watched.page.locator(".detail section", has=watched.page.locator("h4", has_text="Losses"))
        section.wait_for()
        return watched, section

    return draw


def places(section, side):
    """Return where the markers of a side are: x and y."""
    moves = section.locator(f".plot .{side} .marker").evaluate_all(
        "all => all.map(one => one.getAttribute('transform'))"
    )
    return [tuple(map(float, re.findall(r"[\d.]+", move))) for move in moves]


def dashes(section, side):
    """Return how the line of a side is broken, in the plot and in the legend."""
    lines = section.locator(f".{side} .line")
    return set(lines.evaluate_all("all => all.map(one => getComputedStyle(one).strokeDasharray)"))


def test_three_curves(drawn):
    """Each side has a line, markers and an entry of its own, equal losses one place, and the step that parts a mark."""
    losses = {"reference": [0.5, 0.25, 0.5], "eager": [0.5, 0.25, 0.75], "graph": [0.5, 0.25, 0.5]}
    watched, section = drawn(**losses, parting={"step": 3, "words": f"at step 3, in the forward: {HOSTILE}"})
    assert section.locator("p").inner_text() == f"First apart at step 3, in the forward: {HOSTILE}"
    assert section.locator(".legend span").all_inner_texts() == ["reference", "oneflow eager", "oneflow graph"]
    assert [dashes(section, side) for side in losses] == [{"none"}, {"9px, 5px"}, {"2px, 4px"}]
    shapes = section.locator(".legend .marker").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert len(set(shapes)) == 3
    reference, eager, graph = (places(section, side) for side in losses)
    assert reference == graph
    assert eager[:2] == reference[:2]
    assert (eager[2][0], eager[2][1] < reference[2][1] < reference[1][1]) == (reference[2][0], True)
    [mark] = section.locator("path.parting").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert mark.startswith(f"M{reference[2][0]:g} ")
    assert section.locator("text.parting").text_content() == f"{MARK} 3"
    assert section.locator(".plot .eager title").all_text_contents()[2] == "step 3, oneflow eager: 0.75"
    section.locator("summary").click()
    assert section.locator("tr").all_inner_texts() == [
        "step\treference\toneflow eager\toneflow graph",
        "1\t0.5\t0.5\t0.5",
        "2\t0.25\t0.25\t0.25",
        "> 3\t0.5\t0.75\t0.5",
    ]
    assert (watched.errors, watched.dialogs) == ([], [])


def test_losses_that_are_no_numbers(drawn):
    """What is not finite stands above the plot, what is missing nowhere; the line has a gap and the words say so."""
    told = ["eager: a loss that is not finite in 2 of 4 steps, first in step 2", f"graph: {HOSTILE}"]
    losses = {"reference": [0.5, 0.4, 0.3, 0.2], "eager": [0.5, "nan", "-inf", 0.3], "graph": [0.5, 0.4, None, None]}
    watched, section = drawn(**losses, parting=None, words=told)
    assert section.locator("li").all_inner_texts() == [
        told[0].replace("eager", "oneflow eager"),
        f"oneflow graph: {HOSTILE}",
    ]
    assert section.locator(".parting").count() == 0
    eager, reference = places(section, "eager"), places(section, "reference")
    assert eager[1][1] == eager[2][1] < reference[0][1]
    assert len(places(section, "graph")) == 2
    line = section.locator(".plot .eager .line").get_attribute("d")
    assert (line.count("M"), line.count("L")) == (2, 0)
    assert section.locator(".plot text").all_text_contents()[4] == "not finite"
    section.locator("summary").click()
    assert section.locator("tbody tr").all_inner_texts()[2] == "3\t0.3\t-inf\t-"
    assert (watched.errors, watched.dialogs) == ([], [])


def test_no_number_at_all(drawn):
    """Losses of which none is a number are drawn, and a side without any has no curve."""
    watched, section = drawn(reference=["nan", "nan"], parting={"step": 1, "words": "before step 1: optim.Adam"})
    assert section.locator(".legend span").all_inner_texts() == ["reference"]
    assert section.locator("text.parting").text_content() == f"{MARK} 1"
    assert len(places(section, "reference")) == 2
    assert watched.errors == []


def test_huge_losses(drawn):
    """Losses that explode are on a logarithmic axis, which says so; the others are still told apart."""
    watched, section = drawn(reference=[0.5, 0.25, 0.75], eager=[0.5, 3e9, 1e30], parting=None)
    assert section.locator("figcaption").inner_text() == "Loss by step, on a logarithmic axis"
    (_, first), (_, second), (_, third) = places(section, "reference")
    assert third < first < second
    assert watched.errors == []


@pytest.mark.parametrize(("width", "every"), [(360, 50), (800, 10), (1600, 10)])
@pytest.mark.parametrize("step", [1, 100, 200])
def test_width(drawn, width, every, step):
    """The plot fits its window, with a number at few of many steps and a mark that stays inside."""
    losses = [1 / (number + 1) for number in range(200)]
    parting = {"step": step, "words": f"at step {step}, in the forward: loss"}
    watched, section = drawn(width, reference=losses, eager=losses, parting=parting)
    box = section.locator(".scroll").first
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    inside = "text => { const [a, b] = [text, text.ownerSVGElement].map(node => node.getBoundingClientRect());"
    inside += " return a.left >= b.left && a.right <= b.right + 1; }"
    assert all(text.evaluate(inside) for text in section.locator(".plot text").all())
    numbers = [text for text in section.locator(".plot text").all_text_contents() if text.isdigit() and int(text) > 9]
    assert numbers == [str(number) for number in range(every, 201, every)]
    assert watched.errors == []
