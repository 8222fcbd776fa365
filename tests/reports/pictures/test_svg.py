"""A run as one picture, and the map of all ops that it has in common with the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from reports.findings.op_map import SHAPES, families, home
from reports.page.index import index_data
from reports.pictures.svg import MARGIN, WIDTH, svg_picture
from reports.tallies.matrix import OUTCOMES, Cell, Matrix
from reports.tallies.segments import Segments
from reports.tallies.summary import Summary

SVG = "{http://www.w3.org/2000/svg}"
ALIGNED, WRONG = Cell(aligned=3), Cell(aligned=1, wrong=2)
#: `abs` is of the family that most of its tests are of, `sum` of the first of two.
MATRIX = Matrix(
    {
        "sum": {"eager_forward": WRONG, "graph_forward": Cell(not_checked=3)},
        "abs": {"eager_forward": ALIGNED},
        "sort": {"eager_forward": Cell(crashed=1, aligned=9), "graph_forward": ALIGNED},
    },
    {
        "sum": ("suites/test_view.py::test_b", "suites/test_reduction.py::test_a"),
        "abs": ("suites/test_unary.py::test_a", "suites/test_reduction.py::test_a", "suites/test_unary.py::test_b"),
        "sort": ("suites/test_reduction.py::test_c",),
    },
)


@pytest.fixture
def summary(summed: Callable[..., Summary]) -> Summary:
    """A run of three ops and two hundred cases."""
    segments = Segments({"aligned": 150, "known": 0, "new": 40, "skipped": 10}, {"new": {"wrong": 40}})
    return replace(summed(), matrix=MATRIX, segments=segments, aligned=150, divergent=40, skipped=10)


def test_every_outcome_has_a_shape() -> None:
    """The worst first, as everywhere."""
    assert tuple(SHAPES) == OUTCOMES
    assert len({*SHAPES.values()}) == len(OUTCOMES)


def test_families() -> None:
    """Each op is at home in one, and both are in the order of their names."""
    assert [home(MATRIX, op) for op in ("sum", "abs", "sort", "nowhere")] == ["reduction", "unary", "reduction", ""]
    assert families(MATRIX) == {"reduction": ["sort", "sum"], "unary": ["abs"]}


def test_the_page_has_the_same_map(summary: Summary) -> None:
    """Its script draws these shapes, each op where it is at home."""
    data = index_data(summary, "details")
    assert data["shapes"] == dict(SHAPES)
    ops = data["ops"]
    assert isinstance(ops, list)
    assert {row["op"]: row["home"] for row in ops} == {"sum": "reduction", "abs": "unary", "sort": "reduction"}


def test_each_op_has_a_shape_for_each_phase(summary: Summary) -> None:
    """It says the worst outcome, and that nothing was checked, but where that is so of a whole line."""
    root = ElementTree.fromstring(svg_picture(summary))  # noqa: S314 - our own
    drawn = {
        group.findtext(f"{SVG}text"): Counter(use.get("href") for use in group.iter(f"{SVG}use"))
        for group in root.iter(f"{SVG}g")
    }
    assert drawn == {
        "reduction": {"#crashed": 1, "#aligned": 1, "#wrong": 1, "#not_checked": 1},
        "unary": {"#aligned": 1},
    }
    assert {f"#{path.get('id')}" for path in root.iter(f"{SVG}path")} == {f"#{name}" for name in OUTCOMES}


def test_bar_and_words(summary: Summary) -> None:
    """Segments share the bar as they share the cases; what has none is not told."""
    root = ElementTree.fromstring(svg_picture(summary))  # noqa: S314 - our own
    page, *bar = root.iter(f"{SVG}rect")
    assert page.get("class") == "page"
    room = WIDTH - 2 * MARGIN
    assert [(part.get("class"), round(float(part.get("width") or 0) / room, 6)) for part in bar] == [
        ("aligned", 0.75),
        ("new", 0.2),
        ("skipped", 0.05),
    ]
    [legend] = [text for text in root.iter(f"{SVG}text") if text.find(f"{SVG}tspan") is not None]
    assert "".join(legend.itertext()) == "■ 150 aligned■ 40 new■ 10 skipped"
    verdict, sentence = list(root.iter(f"{SVG}text"))[:2]
    assert root.get("aria-label") == f"{verdict.text}: {sentence.text}"


def test_many_ops_take_several_lines(summary: Summary) -> None:
    """Nothing is drawn beyond the edge, whatever its family is called, and the picture ends below it."""
    cells = {f"op{number:03}": {"eager_forward": ALIGNED, "graph_forward": ALIGNED} for number in range(300)}
    tests = {op: (f"test_{'many' if number < 200 else f'family{number}'}.py::t",) for number, op in enumerate(cells)}
    crowd = replace(summary, matrix=Matrix(cells, tests))
    root = ElementTree.fromstring(svg_picture(crowd))  # noqa: S314 - our own
    places = []
    for group in root.iter(f"{SVG}g"):
        left, top = map(int, (group.get("transform") or "").removeprefix("translate(").rstrip(")").split())
        places += [(left + int(use.get("x") or 0), top + int(use.get("y") or 0)) for use in group.iter(f"{SVG}use")]
    assert len({*places}) == len(places) == 600
    assert max(x for x, _ in places) <= WIDTH - MARGIN
    assert max(y for _, y in places) < int(root.get("height") or 0) - MARGIN


def test_what_a_target_is_called_is_no_markup(summary: Summary) -> None:
    """Nothing that a record says can end a text."""
    text = svg_picture(replace(summary, target="</text><script>"))
    assert "<script" not in text
    assert "</text><script>" in "".join(ElementTree.fromstring(text).itertext())  # noqa: S314 - our own


def test_nothing_was_run(summed: Callable[..., Summary]) -> None:
    """Then it is words alone."""
    root = ElementTree.fromstring(svg_picture(summed()))  # noqa: S314 - our own
    assert not [*root.iter(f"{SVG}use")]
    assert next(root.iter(f"{SVG}text")).text == "nothing compared"
