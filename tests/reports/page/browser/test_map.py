"""In a browser: the map of all ops, and the page that an op has of its own."""

from __future__ import annotations

import pytest

from support.pages import drawn

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>"
COLUMNS = "[...document.querySelectorAll('#map .op')].map(column => column.dataset.op)"
#: An op's shapes, from the top.
SHAPES = """op => [...document.querySelectorAll('#map .op')].find(column => column.dataset.op === op)
  .querySelectorAll('path').values().map(shape => shape.getAttribute('class')).toArray()"""


def column(page, op):
    """Return the column of an op."""
    return page.locator(f"#map .op[data-op={op}]")


def test_map(view, page_file):
    """Every op is a column, in its family and by name, with a shape for each phase that it has."""
    watched = view(page_file)
    page = watched.page
    assert page.locator("#map h2").inner_text() == "9 ops in 4 phases"
    assert page.locator("#map .family h3").all_inner_texts() == ["activation"]
    names = page.evaluate(COLUMNS)
    assert len(names) == 9
    assert names[1:] == ["add", "argmax", "cholesky", "lgamma", "matmul", "nonzero", "PReLU", "softmax"]
    assert page.evaluate(SHAPES, "PReLU") == ["crashed", "aligned"]
    # The phases in which most ops were checked come first.
    assert page.locator("#map .map-head .soft").inner_text() == (
        "from the top: eager forward, graph forward, eager backward, graph backward"
    )
    assert page.evaluate(SHAPES, "lgamma") == ["aligned", "aligned", "wrong"]
    assert page.evaluate(SHAPES, "nonzero") == ["not_checked"]
    assert page.locator("#map .legend span").all_inner_texts() == [
        "crashed", "wrong", "refuses", "known", "undecidable", "aligned", "not checked",
    ]  # fmt: skip
    assert watched.errors == []


def test_columns_end_with_their_family(view, write, index):
    """Below the last phase in which an op of a family was checked its columns have nothing, not even room."""
    first = index["phases"][0]
    for row in index["ops"]:
        row["home"] = "graphs" if row["op"] in ("add", "softmax") else "eager"
        row["cells"] = {name: cells for name, cells in row["cells"].items() if row["home"] == "graphs" or name == first}
    page = view(write(index)).page
    tall = {name: column(page, name).locator("svg").bounding_box()["height"] for name in ("add", "matmul", "lgamma")}
    assert tall["matmul"] == tall["lgamma"]
    assert round(tall["add"] / tall["matmul"]) == 4


def test_many_phases_share_a_row(view, write, index):
    """The last of five rows has the worst of all phases in which few ops were checked."""
    more = ["eager_update", "graph_update", "contract"]
    index["phases"] = [*index["phases"], *more]
    row = next(row for row in index["ops"] if row["op"] == "PReLU")
    row["cells"] |= {"eager_update": [0, 0, 0, 0, 0, 3, 0], "contract": [0, 2, 0, 0, 0, 0, 0]}
    page = view(write(index)).page
    assert page.locator("#map h2").inner_text() == "9 ops in 7 phases"
    told = page.locator("#map .map-head .soft").inner_text()
    assert told.endswith("graph backward, the worst of eager update, contract, graph update")
    assert page.evaluate(SHAPES, "PReLU") == ["crashed", "aligned", "wrong"]
    assert "contract wrong all 2" in column(page, "PReLU").get_attribute("aria-label")


def test_what_is_new_stands_above_a_great_map(view, write):
    """A line for each, which opens it; what is long is cut at the edge."""
    first = [("39a871f0", "crashed", "PReLU", "eager forward", f"{HOSTILE} {'long ' * 99}")]
    page = view(write(first=first)).page
    [line] = page.locator(".first li").all()
    assert line.inner_text().startswith(f"crashed PReLU eager forward {HOSTILE}")
    assert line.bounding_box()["height"] < 30
    line.locator("a").click()
    page.locator(".row[data-id='39a871f0'] .detail").wait_for()


def test_shapes_differ(view, page_file):
    """No two outcomes have one shape: they are told apart without their colours."""
    page = view(page_file).page
    drawn = page.evaluate("[...document.querySelectorAll('#map .legend path')].map(shape => shape.getAttribute('d'))")
    assert len(set(drawn)) == len(drawn) == 7


def test_hint(view, page_file):
    """What the pointer or the keyboard is on is told with its numbers, within the window."""
    page = view(page_file, width=400).page
    column(page, "lgamma").hover()
    hint = page.locator("#map .hint")
    assert hint.inner_text().split("\n") == [
        "lgamma activation", "eager forward\taligned 20", "eager backward\twrong all 20", "graph forward\taligned 20",
    ]  # fmt: skip
    box = hint.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 400
    page.mouse.move(5, 5)
    assert hint.is_hidden()
    column(page, "nonzero").focus()
    assert hint.inner_text().split("\n") == ["nonzero activation", "", "checked in no phase"]


def test_map_by_keyboard(view, page_file):
    """One op is in the order of the tab key, arrows go to the next ones, Enter opens an op."""
    page = view(page_file).page
    assert page.locator("#map .op[tabindex='0']").count() == 1
    page.locator("#map .op[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.op") == "argmax"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == (
        "add: eager forward aligned 20, eager backward aligned 20, graph forward aligned 20, graph backward aligned 20"
    )
    assert page.locator("#map .op[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    page.locator("#view-op h2").first.wait_for()
    assert page.evaluate("location.hash") == "#view=op&op=add"
    assert page.locator("#map").is_hidden()


def test_filters_make_pale(view, page_file):
    """What the filters of the list leave out is pale in the map."""
    page = view(page_file, "#kind=crash").page
    pale = "[...document.querySelectorAll('#map .op:not(.pale)')].map(column => column.dataset.op)"
    assert page.evaluate(pale) == ["PReLU"]
    page.get_by_role("button", name="Clear filters").click()
    drawn(page)
    assert page.locator("#map .pale").count() == 0


def test_op(view, page_file):
    """A click opens the op's page: its phases, divergences by cause, errors, dtypes and tests with their source."""
    watched = view(page_file)
    page = watched.page
    column(page, "lgamma").click()
    shown = page.locator("#view-op")
    shown.locator("h2", has_text="Cases by dtype").or_(shown.locator("h2", has_text="1 test")).first.wait_for()
    assert shown.locator("h2").all_inner_texts() == [
        "lgamma", "1 divergence", "Largest error in ULP, by dtype", "1 test",
    ]  # fmt: skip
    assert shown.locator("h3").all_inner_texts() == ["value, eager backward 1"]
    phases = [row.split("\t") for row in shown.locator("table").first.locator("tbody tr").all_inner_texts()]
    assert phases[1] == ["eager backward", "wrong all 20", "-", "20", "-", "-", "-", "-", "-"]
    assert shown.locator("tbody").nth(1).inner_text() == "float32\t1,064,000,000\t4701a54b"
    assert shown.locator("tbody").last.inner_text().split("\t")[:3] == [
        "suites/test_activation.py::test_prelu", "suites/test_activation.py:12", "failed",
    ]  # fmt: skip
    shown.get_by_role("link", name="4701a54b").click()
    page.locator(".row[data-id='4701a54b'] .program").wait_for()
    assert watched.errors == []


def test_op_with_dtypes(view, page_file):
    """The dtypes that an op was checked with come from the file of coverage, which is read once."""
    watched = view(page_file, "#view=op&op=matmul")
    page = watched.page
    page.locator("#view-op h2", has_text="Cases by dtype and phase").wait_for()
    assert page.locator("#view-op h2").all_inner_texts() == [
        "matmul", "Divergences", "Cases by dtype and phase", "1 test",
    ]  # fmt: skip
    assert page.locator("#view-op table").nth(1).locator("tbody tr").all_inner_texts() == [
        "float32\t20\t20\t20\t5", "float64\t3\t3\t-\t-",
    ]  # fmt: skip
    page.get_by_role("link", name="All ops").click()
    drawn(page)
    assert page.locator("#map").is_visible()
    assert watched.errors == []


def test_unknown_op(view, page_file):
    """An op that the run does not have is said to be none of it."""
    page = view(page_file, "#view=op&op=nothing").page
    assert page.locator("#view-op .say").inner_text() == "This run has no op nothing."
