"""In a browser: the list of divergences, its filters, and what an opened divergence shows."""

from __future__ import annotations

import pytest

from support.pages import drawn

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>"

LISTED = "[...document.querySelectorAll('#view-divergences .row')].map(row => row.dataset.id)"
NEW = ["39a871f0", "4701a54b", "0badf00d", "5eed5eed", "57121c7e"]


def opened(watched, id):
    """Wait until a divergence shows its details and return its row."""
    row = watched.page.locator(f".row[data-id='{id}']")
    row.locator(".detail section").first.wait_for()
    return row


def test_file_without_network(view, page_file):
    """The page opens from a file without an error, and asks for nothing outside its folder."""
    watched = view(page_file, "#view=coverage")
    watched.page.locator("#view-coverage table").wait_for()
    watched.page.evaluate("location.hash = '#open=4701a54b'")
    opened(watched, "4701a54b")
    inside = page_file.parent.as_uri()
    assert [address for address in watched.addresses if not address.startswith((inside, "data:"))] == []
    assert watched.errors == []


def test_planted_console_error_is_seen(view, page_file):
    """The check on console errors sees an error of the page's script."""
    page_file.write_text(page_file.read_text().replace('"use strict";', "throw new Error('planted');"))
    assert view(page_file).errors == ["planted"]


def test_known_and_counted_hide_at_first(view, page_file):
    """Known and counted divergences are hidden until the reader asks, and their number is told."""
    page = view(page_file).page
    assert page.evaluate(LISTED) == NEW
    assert page.locator(".tally label").inner_text() == "show 1 known and 1 counted too, hidden now"
    page.locator("#all").check()
    assert page.evaluate(LISTED) == [*NEW, "d0d0d0d0", "c0c0c0c0"]
    assert page.locator(".tally label").inner_text() == "with 1 known and 1 counted"
    assert page.locator("[role=status]").first.inner_text() == "7 of 7 shown"


def test_nothing_new_in_words(view, write, divergence):
    """A run with known divergences alone says that nothing is new."""
    index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
    page = view(write({**index, "divergences": [divergence(level="known", tests=[0], families=[0])], "more": 0})).page
    assert page.locator(".say").all_inner_texts() == ["Nothing is new: no divergence makes this run red."]
    assert page.evaluate(LISTED) == []


def test_empty_run(view, write):
    """A run of nothing has one tab of lists, no filters and one sentence."""
    index = {"base": "report/", "target": "oneflow", "phases": [], "families": [], "tests": [], "ops": []}
    empty = {
        name: [] for name in ("bar", "levels", "figures", "changes", "facts", "failures", "notices", "slowest", "runs")
    }
    page = view(write({**index, "divergences": [], "more": 0}, graph=("", []), changes_note="", **empty)).page
    assert page.locator("[role=tab]:visible").all_inner_texts() == ["Divergences"]
    assert page.locator("#filters").is_hidden()
    assert page.locator("main").inner_text().split("\n")[-1] == "No divergence."
    assert page.locator("main h2").count() == 0


def test_each_filter_filters(view, page_file):
    """Every field narrows the list, by itself, and the count follows."""
    expected = {
        "text": ("TP()->numaxes", ["39a871f0"]),
        "op": ("lgam", ["4701a54b"]),
        "family": ("unary", ["4701a54b", "5eed5eed"]),
        "kind": ("exception", ["0badf00d"]),
        "phase": ("eager_backward", ["4701a54b"]),
        "level": ("refuses", ["5eed5eed"]),
        "test": ("suites/test_activation.py::test_add", ["57121c7e"]),
    }
    page = view(page_file).page
    for name, (value, ids) in expected.items():
        field = page.locator(f"#filter-{name}")
        if field.evaluate("node => node.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
        page.wait_for_function(f"location.hash.includes('{name}=')")
        assert page.evaluate(LISTED) == ids, name
        assert page.locator("[role=status]").first.inner_text() == f"{len(ids)} of 7 shown"
        page.get_by_role("button", name="Clear filters").click()
        drawn(page)
        assert page.evaluate(LISTED) == NEW


def test_whole_name_means_itself(view, write, divergence):
    """An op's whole name does not also match longer names, a part of it does."""
    rows = [divergence(id=f"0000000{number}", op=op) for number, op in enumerate(["add", "addmm", "padding"])]
    index = {"base": "report/", "target": "oneflow", "phases": ["eager_backward"], "families": ["f", "g"]}
    path = write({**index, "tests": ["t", "u"], "ops": [], "divergences": rows, "more": 0})
    assert view(path, "#op=add").page.evaluate(LISTED) == ["00000000"]
    assert view(path, "#op=ad").page.evaluate(LISTED) == ["00000000", "00000001", "00000002"]


def test_blank_while_typing_stays(view, page_file):
    """A blank typed at the end of a word stays, so that a second word can follow after a pause."""
    page = view(page_file).page
    page.locator("#filter-text").press_sequentially("lgamma ")
    page.wait_for_function("location.hash.includes('text=lgamma')")
    page.locator("#filter-text").press_sequentially("gradient")
    page.wait_for_function("location.hash.includes('gradient')")
    assert page.locator("#filter-text").input_value() == "lgamma gradient"
    assert page.evaluate(LISTED) == ["4701a54b"]


def test_what_is_new_may_be_accepted(view, page_file):
    """The command stands there to be copied; what is known has none."""
    page = view(page_file, "#open=39a871f0,d0d0d0d0&all=1").page
    page.locator(".row[data-id='d0d0d0d0'] .detail section").first.wait_for()
    commands = page.locator("button[aria-label='Copy accept command']")
    commands.first.wait_for()
    assert [one.get_attribute("data-copy") for one in commands.all()] == ['autotest accept 39a871f0 --reason "..."']


def test_both_sides_of_a_small_tensor(view, write, index):
    """Both are shown, what differs is marked, and eager and graph take turns; the side that diverges comes first."""
    texts = {"reference": [["1.0", "2.0"]], "eager": [["1.0", "2.5"]], "graph": [["1.5", HOSTILE]]}
    evidence = {"facts": [], "words": [], "worst": [], "whole": {"shape": [2], "wrong": [[0, 1]], **texts}}
    details = []
    for divergence in index["divergences"][:3]:
        own = {name: divergence[name] for name in ("id", "fingerprint", "phase", "kind", "level", "message")}
        details.append({**own, "target": "oneflow", "replay": "", "tests": [], "repro": None, "evidence": evidence})
    page = view(write(index, details), "#open=39a871f0").page
    section = page.locator(".detail section", has_text="Both sides")
    section.wait_for()
    assert section.locator("figcaption").all_inner_texts() == ["reference", "oneflow eager"]
    assert section.locator("td").all_inner_texts() == ["1.0", "2.0", "1.0", "2.5"]
    assert section.locator("td.wrong").all_inner_texts() == ["2.0", "2.5"]
    section.locator("button", has_text="graph").click()
    assert section.locator("figcaption").all_inner_texts() == ["reference", "oneflow graph"]
    assert section.locator("td").all_inner_texts()[2:] == ["1.5", HOSTILE]
    assert section.locator("button[aria-pressed=true]").all_inner_texts() == ["graph"]
    page.goto(f"{page.url.partition('#')[0]}#open=0badf00d")
    page.locator(".row[data-id='0badf00d'] figcaption", has_text="oneflow graph").wait_for()


def test_nothing_to_filter(view, write, index):
    """Without a divergence there are no filters above the list; other views have theirs."""
    page = view(write({**index, "divergences": [], "more": 0, "causes": []})).page
    assert page.locator("#filters").is_hidden()
    page.get_by_role("tab", name="Tests").click()
    drawn(page)
    assert page.locator("#filters").is_visible()


def test_no_match_in_words(view, page_file):
    """Filters that nothing matches say so."""
    page = view(page_file, "#text=nowhere").page
    assert page.locator("#view-divergences").inner_text() == "No divergence matches the filters."


def test_address_reproduces_the_view(view, page_file):
    """The address of a view opens the same view, filters and opened divergence in a new page."""
    first = view(page_file)
    first.page.locator("#filter-family").select_option("unary")
    first.page.locator(".row[data-id='4701a54b'] button").first.click()
    opened(first, "4701a54b")
    hash = first.page.evaluate("location.hash")
    assert hash == "#view=divergences&family=unary&open=4701a54b"
    second = view(page_file, hash)
    opened(second, "4701a54b")
    assert second.page.evaluate(LISTED) == first.page.evaluate(LISTED) == ["4701a54b", "5eed5eed"]
    assert second.page.locator("#filter-family").input_value() == "unary"


def test_back_and_forward(view, page_file):
    """Back takes the last choice away, forward makes it again."""
    page = view(page_file).page
    page.locator("#filter-kind").select_option("crash")
    page.locator("#tab-matrix").click()
    page.go_back()
    drawn(page)
    assert page.locator("#view-divergences").is_visible()
    assert page.evaluate(LISTED) == ["39a871f0"]
    page.go_back()
    drawn(page)
    assert page.evaluate(LISTED) == NEW
    page.go_forward()
    drawn(page)
    assert page.locator("#filter-kind").input_value() == "crash"
    assert page.evaluate(LISTED) == ["39a871f0"]


def test_link_to_a_hidden_divergence(view, page_file):
    """A link from the changes opens a divergence that the list hides, and closing it leaves it in the list."""
    watched = view(page_file)
    watched.page.locator(".changes summary").first.click()
    watched.page.locator(".changes a", has_text="softmax").click()
    row = opened(watched, "d0d0d0d0")
    assert row.locator("h4", has_text="Known, because").count() == 1
    assert row.locator(".detail").is_visible()
    row.locator("h3 button").click()
    assert row.locator("h3 button").get_attribute("aria-expanded") == "false"


def test_unknown_divergence_in_words(view, page_file):
    """A link to a divergence that the run does not have says so."""
    page = view(page_file, "#open=ffffffff").page
    assert page.locator(".say").all_inner_texts() == ["This page has no divergence ffffffff."]


def test_details_of_a_value(view, page_file):
    """An opened divergence of values shows its program, facts, words, elements, plots, tests and replay command."""
    watched = view(page_file, "#open=4701a54b")
    row = opened(watched, "4701a54b")
    assert row.locator("h4").all_inner_texts() == [
        "Fingerprint", "Replay", "Accept", "Program", "In words", "Facts", "Worst elements", "Where it differs",
        "Errors in ULP", "Tests",
    ]  # fmt: skip
    assert row.locator(".program").inner_text() == (
        " def program(torch, x):\n>    t0 = torch.lgamma(x)\n     return t0"
    )
    assert row.locator("mark.blamed").count() == 1
    facts = row.locator("section", has=watched.page.locator("h4", has_text="Facts"))
    assert facts.locator("tr").all_inner_texts()[-1] == "strides\t[5, 1]\t≠ [1, 3]"
    worst = row.locator("section", has=watched.page.locator("h4", has_text="Worst elements"))
    assert worst.locator("tr").all_inner_texts() == [
        "index\treference\toneflow\tabsolute\trelative\tULP",
        "[0, 2]\t0.985818684\tnan\tnan\tnan\t-",
        "[2, 0]\t0.98\t0\t0.98\t1\t1,064,000,000",
    ]


def test_heat_map_equals_the_numbers(view, page_file):
    """Every cell of the heat map is titled by its number, coloured by its size, and in the table below."""
    watched = view(page_file, "#open=4701a54b")
    row = opened(watched, "4701a54b")
    cells = row.locator("svg .cell").evaluate_all("nodes => nodes.map(node => [node.textContent, node.classList[1]])")
    numbers = [["0.1", "0", "nan", "0.000025", "0.5"], ["0", "0", "1.25", "0.003", "inf"]]
    numbers.append(["0.98", "0.25", "0", "not compared", "0.75"])
    titles = [f"row {y}, column {x}: {text}" for y, line in enumerate(numbers) for x, text in enumerate(line)]
    assert [title for title, _ in cells] == titles
    # 0.000025 to 1.25 in six even steps of the logarithm: to 0.000152, 0.000921, 0.00559, 0.0339, 0.206, 1.25.
    shades = ["heat-5", "heat-0", "odd", "heat-1", "heat-6", "heat-0", "heat-0", "heat-6", "heat-3", "odd"]
    shades += ["heat-6", "heat-6", "heat-0", "none", "heat-6"]
    assert [shade for _, shade in cells] == shades
    legend = row.locator(".legend > span").all_inner_texts()
    steps = [f"to {bound}" for bound in ("0.000152", "0.000921", "0.00559", "0.0339", "0.206", "1.25")]
    assert legend == ["0", *steps, "not finite: nan, inf", "not compared"]
    row.locator("section", has_text="Where it differs").locator("summary").click()
    table = row.locator("section", has_text="Where it differs").locator("tbody tr").all_inner_texts()
    expected = ["\t".join([str(y), *line]).replace("not compared", "-") for y, line in enumerate(numbers)]
    assert table == expected


def test_histogram_equals_the_numbers(view, page_file):
    """Every bar of the histogram is as long as its count says, and what is not finite is hatched."""
    row = opened(view(page_file, "#open=4701a54b"), "4701a54b")
    widths = row.locator("svg .bar").evaluate_all("nodes => nodes.map(node => Number(node.getAttribute('width')))")
    assert widths == [3 * 48, 2 * 48, 5 * 48, 0, 48, 2 * 48, 2 * 48]
    assert row.locator("svg .bar.odd").count() == 1
    assert row.locator("svg g title").all_text_contents()[:3] == ["0: 3 elements", "1: 2 elements", "2-3: 5 elements"]


def test_empty_bins_fold(view, write, divergence):
    """Three or more empty bins in a row are one line of the histogram; its table has them all."""
    index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
    row = divergence(tests=[0], families=[0])
    bins = [["0", 0], ["1", 0], ["2-3", 4], ["4-7", 0], ["8-15", 0], ["16-31", 0], ["32-63", 1], ["64-127", 0]]
    evidence = {"program": None, "blamed_line": None, "facts": [], "words": [], "worst": [], "heat": None}
    detail = {name: row[name] for name in ("id", "fingerprint", "op", "phase", "kind", "level", "message", "cases")}
    detail |= {"reason": None, "tests": [], "replay": "autotest replay 4701a54b"}
    detail |= {"evidence": {**evidence, "histogram": bins, "last_words": None}}
    path = write({**index, "divergences": [row], "more": 0}, details=[detail])
    shown = opened(view(path, "#open=4701a54b"), "4701a54b")
    assert shown.locator("svg.plot text").all_text_contents() == [
        "0", "0", "1", "0", "2-3", "4", "3 empty bins", "32-63", "1", "64-127", "0",
    ]  # fmt: skip
    assert shown.locator("tbody tr").count() == 8


@pytest.mark.parametrize("found", [True, False])
def test_shrunk_program(view, write, divergence, found):
    """The simplest program found stands before the original, with its inputs and its size; else why there is none."""
    index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
    shrunk = {
        "program": "def program(torch, x):\n    t0 = torch.sin(x)" if found else None,
        "blamed_line": 2,
        "values": ["x = torch.tensor(0.0)"],
        "calls": 1,
        "elements": 1,
        "note": "no <b>seconds</b> left",
        "check": "autotest check 'torch.sin(tensor(0.0))'",
    }
    row = divergence(tests=[0], families=[0])
    evidence = {"program": "def program(torch, x):", "blamed_line": 1, "facts": [], "words": [], "worst": []}
    detail = {name: row[name] for name in ("id", "fingerprint", "op", "phase", "kind", "level", "message", "cases")}
    detail |= {"reason": None, "tests": [], "replay": "autotest replay 4701a54b"}
    detail |= {"evidence": {**evidence, "heat": None, "histogram": None, "last_words": None, "shrunk": shrunk}}
    path = write({**index, "divergences": [row], "more": 0}, details=[detail])
    watched = view(path, "#open=4701a54b")
    shown = opened(watched, "4701a54b")
    shown.locator(".program").first.wait_for()
    section = shown.locator("section", has_text="Shrunk to 1 call, 1 element" if found else "Not shrunk")
    assert section.locator("p").inner_text() == "no <b>seconds</b> left"
    assert watched.errors == []
    assert section.locator(".program").all_inner_texts() == (
        [" x = torch.tensor(0.0)\n def program(torch, x):\n>    t0 = torch.sin(x)"] if found else []
    )
    if found:
        copied = "x = torch.tensor(0.0)\n\ndef program(torch, x):\n    t0 = torch.sin(x)"
        buttons = section.locator("button").all()
        assert [button.get_attribute("data-copy") for button in buttons] == [copied, shrunk["check"]]
        assert section.locator("code").inner_text() == shrunk["check"]


def test_blame(view, write, divergence):
    """Which side is wrong, and the element that shows it: both values with their distances, and the exact one."""
    index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
    worst = {"index": [0, 2], "exact": 2.5, "reference": 2.5, "target": 4.0, "reference_ulp": 0.25, "target_ulp": 6e6}
    row = divergence(tests=[0], families=[0])
    evidence = {"program": "def program(torch, x):", "blamed_line": 1, "facts": [], "words": [], "worst": []}
    detail = {name: row[name] for name in ("id", "fingerprint", "op", "phase", "kind", "level", "message", "cases")}
    detail |= {"reason": None, "tests": [], "replay": "autotest replay 4701a54b"}
    blame = {"verdict": "target", "reason": "6.0e+06 ULP <b>off</b>", "worst": worst}
    detail |= {"evidence": {**evidence, "heat": None, "histogram": None, "last_words": None, "blame": blame}}
    watched = view(write({**index, "divergences": [row], "more": 0}, details=[detail]), "#open=4701a54b")
    section = opened(watched, "4701a54b").locator("section", has_text="Blame")
    section.wait_for()
    assert section.locator("p").inner_text() == "target: 6.0e+06 ULP <b>off</b>"
    assert section.locator("tr").all_inner_texts() == [
        "side at [0, 2]\tvalue\tULP off",
        "reference\t2.5\t0.25",
        "target\t4\t6,000,000",
        "exact, in float64\t2.5\t-",
    ]
    assert watched.errors == []


@pytest.mark.parametrize("judged", [True, False])
def test_stages(view, write, divergence, judged):
    """How each stage did stands with the blame, and alone where nobody has judged; facts bear the stage's name."""
    index = {"base": "report/", "target": "torch:eager,torch:fx", "phases": [], "families": ["f"], "tests": ["t"]}
    row = divergence(tests=[0], families=[0])
    evidence = {"program": "def program(torch, x):", "blamed_line": 1, "words": [], "worst": [], "heat": None}
    evidence |= {"facts": [["dtype", "float32", "float32", "float64"]], "histogram": None, "last_words": None}
    evidence |= {"blame": {"verdict": "target", "reason": "it is", "worst": None} if judged else None}
    detail = {name: row[name] for name in ("id", "fingerprint", "op", "phase", "kind", "level", "message", "cases")}
    detail |= {"target": "torch:fx", "stages": [["eager", "right"], ["fx", "<b>wrong</b>"]], "evidence": evidence}
    detail |= {"reason": None, "tests": [], "replay": "autotest replay 4701a54b"}
    watched = view(write({**index, "ops": [], "divergences": [row], "more": 0}, details=[detail]), "#open=4701a54b")
    shown = opened(watched, "4701a54b")
    section = shown.locator("section", has_text="Blame")
    section.wait_for()
    assert section.locator("p").all_inner_texts() == ["target: it is"] * judged
    assert section.locator("tr").all_inner_texts() == ["stage\tin the first case", "eager\tright", "fx\t<b>wrong</b>"]
    facts = shown.locator("section", has_text="Facts")
    assert facts.locator("tr").first.inner_text() == "fact\treference\ttorch:fx\ttorch:fx graph"
    assert watched.errors == []


def test_last_words_of_a_crash(view, page_file):
    """An opened crash shows the target's own last words."""
    row = opened(view(page_file, "#open=39a871f0"), "39a871f0")
    words = row.locator("section", has_text="Last words of the target").locator("pre").inner_text()
    assert words.startswith("F20261120 shape.cpp:30] Check failed: index < tp()->NumAxes()\n*** <script>")


def test_every_test_and_case(view, page_file):
    """An opened divergence names its tests and cases, and tells how many are left out."""
    row = opened(view(page_file, "#open=4701a54b"), "4701a54b")
    row.locator("section", has_text="Tests").locator("summary").click()
    name = "suites/test_unary.py::test_lgamma"
    assert row.locator("section", has_text="Tests").locator("li li").all_inner_texts() == [
        f"{name}#0", f"{name}#1", "and 18 more cases",
    ]  # fmt: skip


def test_missing_detail_file(view, page_file):
    """Without its file a divergence names the file, keeps its message, and the others open; later it is tried again."""
    file = page_file.parent / "report" / "divergences" / "4701a54b.js"
    text = file.read_text()
    file.unlink()
    watched = view(page_file, "#open=4701a54b")
    row = opened(watched, "4701a54b")
    assert row.locator(".failure").inner_text() == (
        "report/divergences/4701a54b.js is missing: keep the folder report/ beside this page."
    )
    assert row.locator(".whole").inner_text().startswith("lgamma: gradient of x differs")
    watched.page.locator(".row[data-id='39a871f0'] button").first.click()
    assert opened(watched, "39a871f0").locator(".failure").count() == 0
    file.write_text(text)
    row.locator("h3 button").click()
    row.locator("h3 button").click()
    row.locator(".program").wait_for()


def test_damaged_detail_file(view, page_file):
    """A file that is there but delivers nothing is called damaged."""
    (page_file.parent / "report" / "divergences" / "4701a54b.js").write_text("autotest.det")
    row = opened(view(page_file, "#open=4701a54b"), "4701a54b")
    assert row.locator(".failure").inner_text() == "report/divergences/4701a54b.js is damaged: write the report again."


def test_hostile_text_stays_text(view, page_file):
    """Markup in names, messages, facts and last words is shown as text, in every view, and nothing of it runs."""
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&`${1}`"
    watched = view(page_file, "#open=0badf00d")
    row = opened(watched, "0badf00d")
    assert row.locator(".place code").inner_text() == hostile
    assert row.locator("section", has_text="In words").locator("li").inner_text() == hostile
    watched.page.evaluate("location.hash = '#open=39a871f0'")
    opened(watched, "39a871f0")
    watched.page.evaluate("location.hash = '#view=matrix'")
    drawn(watched.page)
    assert hostile in watched.page.locator("#view-matrix tbody th").all_inner_texts()
    watched.page.evaluate("location.hash = '#view=coverage'")
    watched.page.locator("#view-coverage table").wait_for()
    assert hostile in watched.page.locator("#view-coverage tbody th").all_inner_texts()
    watched.page.evaluate("location.hash = '#view=run'")
    drawn(watched.page)
    assert hostile in watched.page.locator("#view-run td.words").all_inner_texts()
    assert watched.dialogs == []
    assert watched.page.locator("img, script[src]").count() == 0
    assert watched.errors == []


def test_markup_that_runs_is_seen(view, page_file):
    """The check on hostile text sees a script that puts names into the page as markup."""
    safe = 'const code = (text) => el("code", {}, text);'
    unsafe = 'const code = (text) => Object.assign(el("code"), { innerHTML: text });'
    text = page_file.read_text()
    assert safe in text
    page_file.write_text(text.replace(safe, unsafe))
    watched = view(page_file)
    watched.page.wait_for_function("document.querySelector('img') !== null")
    watched.page.wait_for_timeout(100)
    assert watched.dialogs != []


def test_hostile_address_stays_text(view, page_file):
    """Markup in the address does not run and shows as text."""
    hash = "#text=%3Cimg src%3Dx onerror%3Dalert(1)%3E&kind=%3Cb%3E&open=%3Cimg%3E,../x&view=%3Ci%3E"
    watched = view(page_file, hash)
    assert watched.page.locator(".say").all_inner_texts() == [
        "No divergence matches the filters.", "This page has no divergence <img>, ../x.",
    ]  # fmt: skip
    assert watched.page.locator("#filter-kind").input_value() == "<b>"
    assert watched.dialogs == []


def test_thousands_of_divergences(view, write, divergence):
    """Of 5,000 divergences 200 are drawn, more on demand, and one far below is reached by its address."""
    rows = [
        divergence(id=f"{number:08x}", op=f"op{number}", tests=[0], families=[int(number >= 300)])
        for number in range(5000)
    ]
    index = {"base": "report/", "target": "oneflow", "phases": ["eager_backward"], "families": ["f", "g"]}
    index |= {"tests": ["t"]}
    path = write({**index, "ops": [], "divergences": rows, "more": 7}, details=[])
    page = view(path).page
    assert page.locator(".row").count() == 200
    assert page.locator(".say").all_inner_texts() == ["7 more divergences left out of this page: see summary.json."]
    page.locator("#filter-family").select_option("f")
    assert page.locator("button.more").inner_text() == "Show 100 more of 100"
    page.locator("#filter-family").select_option("")
    page.get_by_role("button", name="Show 200 more of 4,800").click()
    assert page.locator(".row").count() == 400
    took = page.evaluate(
        "() => { const start = performance.now(); const all = document.getElementById('filter-phase');"
        " all.value = 'eager_backward'; all.dispatchEvent(new Event('change')); document.body.offsetHeight;"
        " return performance.now() - start; }"
    )
    assert took < 2000
    far = view(path, f"#open={4321:08x}").page
    assert far.locator(".row").count() == 201
    assert far.locator(f".row[data-id='{4321:08x}']").evaluate("row => row.getBoundingClientRect().top < innerHeight")


def test_copy_button(view, page_file):
    """A copy button copies the replay command and says so."""
    watched = view(page_file, "#open=4701a54b", permissions=["clipboard-read", "clipboard-write"])
    button = opened(watched, "4701a54b").get_by_role("button", name="Copy replay command")
    button.click()
    watched.page.wait_for_function("document.querySelector('.pair [data-copy^=autotest]').textContent === 'Copied'")
    assert watched.page.evaluate("navigator.clipboard.readText()") == "autotest replay 4701a54b"


def test_copy_button_without_a_clipboard(view, page_file):
    """Where a page has no clipboard of its own, as by plain http, the copy button copies a selection."""
    watched = view(page_file, "#open=4701a54b", permissions=["clipboard-read", "clipboard-write"])
    watched.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    opened(watched, "4701a54b").get_by_role("button", name="Copy fingerprint").click()
    watched.page.wait_for_function("document.querySelector('.pair [data-copy^=oneflow]').textContent === 'Copied'")
    assert watched.page.evaluate("navigator.clipboard.readText()") == "oneflow/eager_backward/value/lgamma/float32"
