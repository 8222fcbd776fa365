"""In a browser: matrix, coverage and run, the keyboard, both colour schemes, narrow windows and paper."""

from __future__ import annotations

import pytest

from support.pages import drawn

pytestmark = pytest.mark.slow

LISTED = "[...document.querySelectorAll('#view-divergences .row')].map(row => row.dataset.id)"

#: The contrast of an element's text against what is painted below it, colours read back from a canvas.
CONTRAST = """selector => {
  const paint = colour => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([red, green, blue]) => [red, green, blue].map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((total, part, number) => total + part * [0.2126, 0.7152, 0.0722][number], 0);
  const node = document.querySelector(selector);
  let below = node;
  while (paint(getComputedStyle(below).backgroundColor)[3] === 0) below = below.parentElement;
  const [ink, ground] = [getComputedStyle(node).color, getComputedStyle(below).backgroundColor].map(paint).map(light);
  return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
}"""
WIDTH = "document.documentElement.scrollWidth"


def table(page, view):
    """Return the texts of a view's table rows."""
    return page.locator(f"#view-{view} tbody tr").all_inner_texts()


def test_matrix(view, page_file):
    """The matrix has a word and a share in each cell, the worst op first, and folds what is aligned."""
    page = view(page_file, "#view=matrix").page
    assert page.locator("#view-matrix thead th").all_inner_texts() == [
        "op", "eager forward", "eager backward", "graph forward", "graph backward",
    ]  # fmt: skip
    shown = table(page, "matrix")
    assert shown[0] == "PReLU\tcrashed 1 of 5\taligned 4\t-\t-"
    assert shown[1] == "lgamma\taligned 20\twrong all 20\taligned 20\t-"
    assert shown[3:] == [
        "cholesky\trefuses all 20\t-\t-\t-",
        "softmax\taligned 20\t-\tknown 2 of 20\t-",
        "argmax\tundecidable 1 of 20\t-\t-\t-",
    ]
    assert page.locator("[role=status]").first.inner_text() == "6 of 9 ops shown"
    page.get_by_role("button", name="Show 2 ops aligned in every phase checked, 1 op checked in no phase").click()
    assert table(page, "matrix")[6:] == [f"{op}\t" + "\t".join(["aligned 20"] * 4) for op in ("add", "matmul")] + [
        "nonzero\t-\t-\t-\t-"
    ]
    assert page.locator("td[title='5 cases not checked here']").count() == 1


def test_matrix_cell_filters_the_list(view, page_file):
    """A cell leads to its op's divergences in its phase, shown even where the list hides their level."""
    page = view(page_file, "#view=matrix").page
    page.get_by_role("button", name="known 2 of 20").click()
    drawn(page)
    assert page.locator("#view-divergences").is_visible()
    assert page.evaluate("location.hash") == "#view=divergences&op=softmax&phase=graph_forward&all=1"
    assert page.evaluate(LISTED) == ["d0d0d0d0"]
    page.go_back()
    drawn(page)
    page.locator("#view-matrix th a", has_text="lgamma").click()
    assert page.evaluate("location.hash") == "#view=op&op=lgamma"


def test_matrix_filters(view, page_file):
    """Phase keeps one column, outcome and kind keep the ops that have it."""
    page = view(page_file, "#view=matrix&phase=graph_forward&level=wrong").page
    assert [row.split("\t")[1] for row in table(page, "matrix")] == ["wrong 3 of 20"]
    page = view(page_file, "#view=matrix&level=aligned").page
    assert [row.split("\t")[0] for row in table(page, "matrix")][-2:] == ["add", "matmul"]
    page = view(page_file, "#view=matrix&kind=missing").page
    assert [row.split("\t")[0] for row in table(page, "matrix")] == ["cholesky"]
    page = view(page_file, "#view=matrix&op=nothing").page
    assert page.locator("#view-matrix").inner_text() == "No op matches the filters."


def test_matrix_is_sorted(view, page_file):
    """A click on the head of a column sorts by it, the next one the other way round, the third as the worst come."""
    page = view(page_file, "#view=matrix").page
    names = "[...document.querySelectorAll('#view-matrix tbody th')].map(name => name.innerText)"
    worst = page.evaluate(names)
    column = page.locator("#view-matrix thead th").nth(1)
    column.get_by_role("button").click()
    assert column.get_attribute("aria-sort") == "descending"
    assert page.evaluate(names)[:4] == ["PReLU", "cholesky", "argmax", "lgamma"]
    page.locator("#view-matrix thead button").nth(1).click()
    assert page.locator("#view-matrix thead th").nth(1).get_attribute("aria-sort") == "ascending"
    assert page.evaluate(names)[-1] == "PReLU"
    page.locator("#view-matrix thead button").nth(1).click()
    assert page.evaluate(names) == worst
    page.locator("#view-matrix thead button").first.click()
    assert page.evaluate(names)[1:] == ["argmax", "cholesky", "lgamma", "PReLU", "softmax"]
    assert page.evaluate("document.activeElement.dataset.sort") == "op"


def test_tests(view, page_file):
    """The tests stand with their cases by segment, those that failed first, and lead to their divergences."""
    page = view(page_file, "#view=tests").page
    assert page.locator("#view-tests thead th").all_inner_texts() == [
        "test", "ended", "aligned", "undecidable", "known", "counted", "stricter", "new", "skipped", "took",
    ]  # fmt: skip
    assert [row.split("\t")[1:] for row in table(page, "tests")] == [
        ["failed", "20", "1", "-", "4", "-", "3", "-", "3.05 s"],
        ["failed", "4", "-", "1", "-", "-", "1", "-", "4.21 s"],
        ["did not end", "17", "-", "-", "-", "-", "3", "-", "-"],
        ["skipped", "-", "-", "-", "-", "-", "-", "4", "0.1 s"],
        ["passed", "9", "-", "1", "-", "2", "-", "-", "13 s"],
    ]
    page.locator("#view-tests thead button", has_text="took").click()
    assert table(page, "tests")[0].split("\t")[-1] == "13 s"
    page.locator("#view-tests a", has_text="test_prelu").click()
    drawn(page)
    assert page.evaluate(LISTED) == ["39a871f0", "d0d0d0d0"]


def test_tests_on_a_phone(view, page_file):
    """Each has a line for its name and one for its numbers, of which each says what it is of; 0 is not said."""
    page = view(page_file, "#view=tests", width=390).page
    rows = page.locator("#view-tests tbody tr")
    for row in rows.all():
        name, whole = row.locator("th").bounding_box(), row.bounding_box()
        assert name["width"] > 0.9 * whole["width"]
        assert whole["height"] < 90
    said = "[...document.querySelectorAll('#view-tests tbody tr:first-child td')].filter((one) => one.offsetParent)"
    words = f"{said}.map((one) => [getComputedStyle(one, '::before').content, one.innerText])"
    assert page.evaluate(words) == [
        ["none", "failed"],
        *([f'"{name} "', count] for name, count in (("aligned", "20"), ("undecidable", "1"), ("counted", "4"))),
        *([f'"{name} "', count] for name, count in (("new", "3"), ("took", "3.05 s"))),
    ]


def test_tests_of_a_segment(view, page_file):
    """A segment, or one of its ways, keeps the tests that have cases in it, and the line above says how many."""
    page = view(page_file, "#view=tests&cases=new").page
    told = page.locator("#filters [role=status]")
    assert told.inner_text() == "7 new cases of 3 tests shown"
    page.locator("#filter-cases").select_option("new crashed")
    assert told.inner_text() == "1 new crashed case of 1 test shown"
    assert [row.split("\t") for row in table(page, "tests")] == [
        ["suites/test_activation.py::test_prelu", "failed", "1", "4.21 s"]
    ]
    page.locator("#filter-family").select_option("unary")
    assert page.locator("#view-tests").inner_text() == "No test matches the filters."


def test_coverage_is_lazy(view, page_file):
    """The coverage file is read when its view is opened, and the text filters its tables and names."""
    watched = view(page_file)
    assert [address for address in watched.addresses if address.endswith("coverage.js")] == []
    watched.page.locator("#tab-coverage").click()
    watched.page.locator("#view-coverage table").wait_for()
    assert table(watched.page, "coverage")[:2] == ["add\tfloat32\t20\t20\t20\t5", "int64\t7\t-\t7\t-"]
    words = watched.page.locator("#view-coverage p").all_inner_texts()
    assert words[0] == "1 of 4 op types registered in oneflow ran in this run: 25 %."
    assert watched.page.locator("#view-coverage summary").all_inner_texts() == ["3 names", "2 names"]
    watched.page.locator("#filter-text").fill("float64")
    watched.page.wait_for_function("location.hash.includes('text=')")
    assert table(watched.page, "coverage") == ["matmul\tfloat64\t3\t3\t-\t-"]


def test_argument_space(view, write):
    """An op tells how many levels of each axis it has reached, and opens to its cells."""
    axes = {"dtype": ["float32", "bool"], "rank": ["0", "2"], "layout": ["contiguous"], "values": ["ordinary", "nan"]}
    counts = ["eager_forward", "eager_backward", "graph_forward", "graph_backward", "refused", "unsupported"]
    cells = [[0, 1, 0, [0], 7, 5, 2, 0, 0, 0], [0, 1, 0, [0, 1], 1, 0, 0, 0, 0, 0], [1, 0, 0, [0], 0, 0, 0, 0, 3, 0]]
    laid_out = {"cases": 41, "refused": 1, "pairs": 1000, "covered": 999}
    none = {"cases": 0, "refused": 0, "pairs": 0, "covered": 0}
    space = {"axes": axes, "counts": counts, "ops": [["relu", 2, laid_out, cells], ["arange", 1, none, []]]}
    coverage = {"phases": [], "ops": [], "registry": None, "untested": None, "space": space}
    watched = view(write(coverage=coverage), "#view=coverage", width=640)
    page = watched.page
    page.locator("#view-coverage table").first.wait_for()
    assert table(page, "coverage") == [
        "relu\t2\t1 of 1\t1 of 1\t1 of 1\t2 of 2\t3 of 4\t41\t999 of 1,000",
        "arange\t1\t-\t-\t-\t-\t-\t0\t-",
    ]
    assert page.locator("#view-coverage td[title='never: graph backward']").inner_text() == "3 of 4"
    assert page.locator("#view-coverage td[title='PyTorch refuses: bool']").inner_text() == "1 of 1"
    page.locator("#view-coverage button", has_text="relu").click()
    assert page.locator("#view-coverage .cells h4").all_inner_texts() == [
        "dtype by rank", "dtype by layout", "dtype by values",
    ]  # fmt: skip
    maps = [row.split("\t") for row in page.locator("#view-coverage .cells tbody tr").all_inner_texts()]
    assert maps == [
        ["float32", "-", "8"], ["bool", "refused", "-"],
        ["float32", "8"], ["bool", "refused"],
        ["float32", "8", "1"], ["bool", "refused", "-"],
    ]  # fmt: skip
    assert page.locator("#view-coverage .cells span[title]").first.get_attribute("title") == (
        "8 tensors: eager forward 8, eager backward 5, graph forward 2, graph backward 0"
    )
    assert page.evaluate(WIDTH) <= 640
    page.locator("#view-coverage button", has_text="relu").click()
    assert page.locator("#view-coverage .cells").count() == 0
    assert watched.errors == []


def test_coverage_file_missing(view, page_file):
    """Without its file the coverage view names the file."""
    (page_file.parent / "report" / "coverage.js").unlink()
    page = view(page_file, "#view=coverage").page
    failure = page.locator(".failure")
    failure.wait_for()
    assert failure.inner_text() == "report/coverage.js is missing: keep the folder report/ beside this page."


def test_run(view, page_file):
    """The run view has notices, why cases were not in a graph, and the slowest tests."""
    page = view(page_file, "#view=run").page
    assert page.locator("#tab-run").inner_text() == "Run 2 notices"
    assert page.locator("#view-run h2").all_inner_texts() == [
        "Failed without a divergence", "Skipped cases, by reason", "Static graph", "Where the time went",
        "Slowest tests",
    ]  # fmt: skip
    assert page.locator("#filters").is_hidden()
    assert page.locator("#view-run .notes").first.locator("li").all_inner_texts() == [
        "suites/test_unary.py::test_broken: AssertionError: 1 is not 2\ntraceback", "suites/test_unary.py::test_silent",
    ]  # fmt: skip
    page.get_by_text("traceback").click()
    assert page.locator("#view-run pre").inner_text().startswith(">   assert 1 == 2, '<script>alert(1)</script>")


def test_tests_open_in_an_editor(view, page_file):
    """By the pattern that a reader gives, which the page keeps; a script is no pattern."""
    watched = view(page_file, "#view=tests")
    page, field = watched.page, watched.page.locator("#editor")
    assert page.locator("#view-tests .link").count() == 0
    for pattern, valid, first in (
        ("vscode://file{path}:{line}", True, "vscode://file/home/me/a%20project/suites/test_unary.py:40"),
        ("https://host/{file}#L{line}", True, "https://host/suites/test_unary.py#L40"),
        ("javascript:alert(1)//{path}", False, None),
        ("{path}", False, None),
    ):
        field.fill(pattern)
        field.blur()
        assert field.evaluate("(field) => field.validity.valid") == valid
        assert (field.get_attribute("aria-invalid") == "true") != valid
        links = page.locator("#view-tests th .link")
        assert (links.first.get_attribute("href") if valid else links.count() or None) == first
    field.fill("vscode://file{path}:{line}")
    field.blur()
    page.reload()
    assert field.input_value() == "vscode://file{path}:{line}"
    page.goto(f"{page.url.partition('#')[0]}#view=op&op=lgamma")
    page.locator("#view-op .link").first.wait_for()
    page.goto(f"{page.url.partition('#')[0]}#open=4701a54b")
    page.locator(".detail li .link").first.wait_for()
    assert watched.errors == []


def test_kept_runs(view, page_file):
    """The kept runs have a view of their own: how each ended, its new divergences, tests, and what ran."""
    watched = view(page_file)
    page = watched.page
    page.locator("#tab-runs").click()
    assert page.locator("#tab-runs").inner_text() == "Kept runs 2"
    assert [row.split("\t") for row in page.locator("#view-runs tbody tr").all_inner_texts()] == [
        ["20261120-121747-0-23308", "this page", "4", "", "", "", "812", "suites on oneflow"],
        ["20261119-101500-0-4711", "aligned", "0", "", "", "", "1", "suites/test_matmul.py -k einsum on oneflow"],
    ]
    assert page.locator("#filters").is_hidden()
    assert page.locator("#view-runs a").get_attribute("href") == "../20261119-101500-0-4711/index.html"
    assert page.evaluate("location.hash") == "#view=runs"
    assert watched.errors == []


def test_without_script(view, page_file):
    """Without JavaScript the static parts are there and a sentence says where the rest is."""
    page = view(page_file, java_script_enabled=False).page
    assert page.locator("h1").inner_text().startswith("DIVERGENT")
    assert page.locator("#view-run").is_visible()
    assert page.locator("button:visible").count() == 0
    assert " ".join(page.locator("noscript p").inner_text().split()) == (
        "The lists below need JavaScript. "
        "summary.json in this folder and the command autotest report have the same facts."
    )


def test_keyboard(view, page_file):
    """Slash, j, k, arrows, Enter and Escape do what the help line says."""
    page = view(page_file).page
    focused = "document.activeElement.closest('.row')?.dataset.id ?? document.activeElement.id"
    page.keyboard.press("j")
    assert page.evaluate(focused) == "39a871f0"
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "0badf00d"
    page.keyboard.press("k")
    assert page.evaluate(focused) == "4701a54b"
    page.keyboard.press("Enter")
    page.locator(".row[data-id='4701a54b'] .program").wait_for()
    assert page.evaluate(focused) == "4701a54b"
    page.keyboard.press("Escape")
    assert page.locator(".row[data-id='4701a54b'] .detail").is_hidden()
    assert page.evaluate(focused) == "4701a54b"
    page.keyboard.press("/")
    assert page.evaluate(focused) == "filter-text"
    page.keyboard.type("j/k")
    page.wait_for_function("location.hash.includes('text=')")
    assert page.locator("#filter-text").input_value() == "j/k"
    page.keyboard.press("Escape")
    assert page.locator("#filter-text").input_value() == ""
    page.locator("#filter-kind").select_option("crash")
    page.keyboard.press("Escape")
    assert page.evaluate("location.hash") == "#view=divergences"


def test_tabs_by_keyboard(view, page_file):
    """Arrows move between the tabs, and one of them is in the tab order."""
    page = view(page_file).page
    page.locator("#tab-divergences").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#view-matrix").is_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#view-runs").is_visible()
    assert page.evaluate("document.activeElement.id") == "tab-runs"
    assert page.locator("[role=tab][tabindex='0']").count() == 1


def test_programs_among_the_notices(view, write):
    """What has several lines is a program, in letters of one width; a sentence is not."""
    page = view(
        write(failures=[], notices=[("The reference", ["def program(torch, x):\n    return x", "one line"])]),
        "#view=run",
    ).page
    lines = page.locator("#view-run .notes li")
    program, sentence = (lines.nth(at).evaluate("item => getComputedStyle(item).fontFamily") for at in (0, 1))
    assert ("monospace" in program, "monospace" in sentence) == (True, False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(view, page_file, scheme):
    """Text of each colour has a contrast of at least 4.5 to its ground in both colour schemes."""
    watched = view(page_file, "#all=1&open=4701a54b", color_scheme=scheme)
    watched.page.locator(".program").wait_for()
    for summary in watched.page.locator(".brief > details > summary").all():
        summary.click()
    below = {}
    for selector in (
        ".verdict", ".headline", ".title", ".legend-of-cases a", ".legend-of-cases .new b", ".legend-of-cases .way",
        ".figures .label", ".figures a", ".figures .new b", ".changes a", ".changes .soft", ".facts dt",
        ".tabs button:last-child",
        ".row.crashed b", ".row.wrong b", ".row.refuses b", ".row.stricter b", ".row.known b", ".row.counted b",
        ".row.wrong .place .soft", ".detail h4", ".detail .fails", ".program .blamed", ".program .blamed .mark",
        ".copy", "summary", "footer .soft",
    ):  # fmt: skip
        contrast = watched.page.evaluate(CONTRAST, selector)
        if contrast < 4.5:
            below[selector] = contrast
    watched.page.evaluate("location.hash = '#view=matrix'")
    for selector in (
        "td.crashed b",
        "td.wrong b",
        "td.refuses b",
        "td.known b",
        "td.undecidable b",
        "td.aligned b",
        "td.wrong span",
    ):
        contrast = watched.page.evaluate(CONTRAST, selector)
        if contrast < 4.5:
            below[selector] = contrast
    assert below == {}


def test_contrast_check_sees_a_fault(view, page_file):
    """The contrast check sees a colour that is too pale."""
    page = view(page_file).page
    page.add_style_tag(content=".verdict { color: #d08a86 !important }")
    assert page.evaluate(CONTRAST, ".verdict") < 4.5


def test_colours_follow_the_system_and_the_button(view, page_file):
    """Dark follows the system, the button overrules it, and a reload keeps the choice."""
    page = view(page_file, color_scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator("#theme").click()
    light = page.evaluate(ground)
    assert page.locator("#theme").inner_text() == "Colours: light"
    assert dark != light
    for _ in range(10):  # the browser writes its storage in its own time: on a loaded machine, a reload may come first
        page.reload()
        if page.evaluate(ground) == light:
            break
    assert page.evaluate(ground) == light
    page.locator("#theme").click()
    assert page.evaluate(ground) == dark
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Colours: system"


def test_page_without_storage(view, page_file):
    """A browser that refuses storage shows the page all the same, and the colour button works."""
    watched = view(page_file)
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused') }})"
    watched.page.add_init_script(refuse)
    watched.page.reload()
    watched.page.locator("#theme").click()
    assert watched.page.locator("#theme").inner_text() == "Colours: light"
    assert watched.page.evaluate(LISTED) != []
    assert watched.errors == []


@pytest.mark.parametrize(
    "chosen", ["all=1&open=4701a54b,39a871f0,0badf00d", "view=matrix", "view=tests", "view=coverage", "view=run"]
)
def test_no_sideways_scroll(view, page_file, chosen):
    """No view scrolls the page sideways at any width: what is wide scrolls in its own box."""
    page = view(page_file, f"#{chosen}").page
    if "open" in chosen:
        for id in ("4701a54b", "39a871f0", "0badf00d"):
            page.locator(f".row[data-id='{id}'] .program").wait_for()
    if "coverage" in chosen:
        page.locator("#view-coverage table").wait_for()
    for summary in page.locator("summary:visible").all():
        summary.click()
    for width in (320, 400, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDTH) <= width


def test_sideways_scroll_is_seen(view, page_file):
    """The check on the page's width sees something that is too wide."""
    page = view(page_file, width=400).page
    page.add_style_tag(content=".bar { min-width: 500px }")
    assert page.evaluate(WIDTH) > 400


def test_paper(view, page_file):
    """On paper there are no tabs, filters or buttons, and the colours are light."""
    page = view(page_file, "#open=4701a54b", color_scheme="dark").page
    page.locator(".program").wait_for()
    page.emulate_media(media="print")
    assert page.locator(".tabs, #filters, .copy, footer").locator("visible=true").count() == 0
    assert page.locator(".program").is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_one_name_for_the_data_files(view, page_file):
    """The script adds one name to the window, with a function for each kind of data file."""
    page = view(page_file).page
    assert page.evaluate("Object.keys(autotest)") == ["detail", "plots", "graphs", "coverage", "timeline"]
    assert page.evaluate("Object.isFrozen(autotest)")


def test_where_the_time_went(view, page_file):
    """A slow test leads to its bar, short ones are one bar, what happened is marked, and a bar leads to its test."""
    watched = view(page_file, "#view=run")
    page = watched.page
    page.locator(".lane .test").first.wait_for()
    titles = page.locator(".lane title").all_text_contents()
    assert titles == [
        "suites/test_activation.py::test_prelu: 4.21 s",
        "2 short tests: 0 s",
        "t.py::test_c: did not end",
        # What ended is drawn over what took its time.
        "shrinking, at 1.9 s",
        "the target was killed, and started again, at 2 s",
        "the target did not answer, and was started again, at 4 s",
    ]
    assert page.locator("#timeline .marks li").all_inner_texts() == [
        "the target was killed, and started again",
        "the target did not answer, and was started again",
        "shrinking",
    ]
    colours = page.locator("#timeline .key rect").evaluate_all("all => all.map((one) => getComputedStyle(one).fill)")
    assert len({*colours}) == 3
    assert page.locator("#timeline > p").all_inner_texts()[-1] == "1 more mark left out."
    assert page.locator(".lane .wanted").count() == 0
    page.locator("#view-run table a", has_text="test_prelu").click()
    drawn(page)
    assert page.locator(".lane .wanted title").text_content() == titles[0]
    page.locator(".lane a").first.click()
    page.locator("#view-tests tbody tr").first.wait_for()  # the browser tells of a link's address a moment later
    assert page.locator("#view-tests tbody tr").count() == 1
    assert watched.errors == []


def test_view_that_is_seen_first(view, write):
    """A page without a view in its address opens on the one that it says; links to others go there."""
    page = view(write(first_view="run")).page
    assert page.locator("#view-run").is_visible()
    assert page.locator("[role=tab][aria-selected=true]").inner_text().startswith("Run")
    page.locator("#tab-divergences").click()
    drawn(page)
    assert page.locator("#view-divergences").is_visible()
    assert page.url.endswith("#view=divergences")
