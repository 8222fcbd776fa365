"""The modules of the page's script: each by itself, and what they work out where no browser is needed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from reports.page.script import Module
from reports.page.templating import script

MODULES = {path.name: path.read_text() for path in Path(str(files("reports.page") / "templates" / "report")).iterdir()}


@pytest.fixture(scope="module")
def node() -> str:
    """Give Node, which no user needs: without it the test is skipped."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs node on the PATH")
    return found


@pytest.fixture
def evaluate(node, tmp_path) -> Callable[[str, str], Any]:
    """Give a function which evaluates an expression of what one of the page's modules exports, outside of a browser."""
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "package.json").write_text('{"type": "module"}')

    def evaluated(name: str, expression: str) -> Any:
        names = ", ".join(Module.read(name, MODULES[name]).exports)
        code = f'import {{ {names} }} from "./{name}";\nconsole.log(JSON.stringify({expression}));\n'
        (tmp_path / "expression.js").write_text(code)
        answer = subprocess.run([node, tmp_path / "expression.js"], capture_output=True, text=True)  # noqa: S603 - ours
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)

    return evaluated


def test_every_module_is_used():
    """The page's modules are all needed by main.js, and nothing imports that."""
    sources = {name: [source for source, _ in Module.read(name, text).imports] for name, text in MODULES.items()}
    reached, new = set(), {"main.js"}
    while new:
        reached |= new
        new = {source for name in new for source in sources[name]} - reached
    assert reached == set(MODULES)
    assert "main.js" not in {source for found in sources.values() for source in found}


def test_every_export_is_used():
    """What a module exports is imported somewhere, or looked at by a test here."""
    modules = [Module.read(name, text) for name, text in MODULES.items()]
    imported = {(source, name) for module in modules for source, names in module.imports for name in names}
    tested = {("coverage.js", "percentOf"), ("heatmap.js", "Shades"), ("heatmap.js", "bounds")}
    tested |= {("histogram.js", "foldEmpty"), ("scatter.js", "wordsOf"), ("timeline.js", "merged")}
    tested |= {("editor.js", "placeOf")}
    assert {(module.name, name) for module in modules for name in module.exports} - imported == tested


def test_every_import_is_used():
    """What a module imports stands once more in it, at least."""
    modules = [Module.read(name, text) for name, text in MODULES.items()]
    idle = [
        (module.name, name)
        for module in modules
        for _, names in module.imports
        for name in names
        if len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", module.body)) < 2
    ]
    assert idle == []


def faults(node: str, path: Path) -> str:
    """Return what Node has against the syntax of a script (.cjs) or a module (.mjs)."""
    return subprocess.run([node, "--check", path], capture_output=True, text=True).stderr  # noqa: S603 - our own file


@pytest.mark.parametrize("name", sorted(MODULES))
def test_module_alone(node, tmp_path, name):
    """Each module is one for Node, too, before it is joined."""
    (tmp_path / "a.mjs").write_text(MODULES[name])
    assert faults(node, tmp_path / "a.mjs") == ""


def test_faults_are_seen(node, tmp_path):
    """The check by Node sees two functions of one name, which a classic script may have."""
    (tmp_path / "a.mjs").write_text("function a() {}\nfunction a() {}\n")
    assert "SyntaxError: Identifier 'a' has already been declared" in faults(node, tmp_path / "a.mjs")


def test_joined_script(node, tmp_path):
    """The modules joined are a script that imports nothing."""
    (tmp_path / "a.cjs").write_text(script("report"))
    assert faults(node, tmp_path / "a.cjs") == ""


def test_words(evaluate):
    """Numbers are parted in thousands and rounded to digits; what is no number stays a word."""
    assert evaluate("words.js", '[counted(1, "op"), counted(1200, "op"), spaced("eager_forward_x")]') == [
        "1 op", "1,200 ops", "eager forward x",
    ]  # fmt: skip
    assert evaluate("words.js", '[rounded(1 / 3, 3), rounded(0, 9), rounded("nan", 3), rounded(null, 3)]') == [
        "0.333", "0", "nan", "-",
    ]  # fmt: skip


def test_address(evaluate):
    """An address is read as it was written; a view that the page lacks is the one that is seen first."""
    hash = "#view=matrix&text=a+b&op=add&all=1&open=1%2C2"
    assert evaluate("address.js", f'writeHash(readHash("{hash}", VIEWS))') == hash
    assert evaluate("address.js", 'writeHash(readHash("#view=run&open=,1,", ["divergences"]))') == (
        "#view=divergences&open=1"
    )
    assert evaluate("address.js", 'writeHash(readHash("#view=runs", ["divergences", "run"], "run"))') == "#view=run"


def test_outcomes(evaluate):
    """A crash or a timeout that is new is called crashed, the worst outcome of a cell is its first count."""
    rows = '[["wrong", "crash"], ["wrong", "timeout"], ["wrong", "value"], ["known", "crash"]]'
    assert evaluate("outcomes.js", f"{rows}.map(([level, kind]) => outcomeOf({{ level, kind }}))") == [
        "crashed", "crashed", "wrong", "known",
    ]  # fmt: skip
    assert evaluate("outcomes.js", "[worstIn([0, 2, 0, 1, 0, 9, 0]), worstIn([0, 0, 0, 0, 0, 0, 3]), worstIn()]") == [
        1, 6, 6,
    ]  # fmt: skip


def test_matching(evaluate):
    """A whole name means that one alone, a part of it all that have it; of words, each must be there."""
    names = 'new Set(["add", "addmm"])'
    assert evaluate("matching.js", f'["add", "addmm"].filter(matchName("add", {names}))') == ["add"]
    assert evaluate("matching.js", f'["add", "addmm"].filter(matchName("AD", {names}))') == ["add", "addmm"]
    assert evaluate("matching.js", '["b a", "a", ""].map((text) => matchWords(" A  b")(() => text))') == [
        True, False, False,
    ]  # fmt: skip
    assert evaluate("matching.js", 'matchWords("")(() => { throw new Error("made without need"); })') is True


RUN = json.dumps(
    {
        "phases": ["eager_forward", "graph_forward"],
        "families": ["unary", "binary"],
        "tests": ["a/test_b.py::test_b", "test_a"],
        "places": ["aligned", "new crashed", "new wrong"],
        "ended": [["passed", 1.5, 12, [20, 0, 0]], ["failed", 2, 30, [38, 1, 2]]],
        "ops": [
            {"op": "sin", "families": [0], "tests": [0], "cells": {"eager_forward": [0, 0, 0, 0, 0, 20, 0]}},
            {"op": "add", "families": [1], "tests": [1]}
            | {"cells": {"eager_forward": [0, 0, 0, 0, 0, 20, 0], "graph_forward": [0, 1, 0, 0, 0, 19, 0]}},
        ],
        "divergences": [
            {"id": "1", "fingerprint": "f", "op": "add", "phase": "graph_forward", "kind": "crash", "level": "wrong"}
            | {"message": "Killed", "tests": [1], "families": [1]},
            {"id": "2", "fingerprint": "g", "op": "cos", "phase": "eager_forward", "kind": "value", "level": "counted"}
            | {"message": "differs", "tests": [0, 1], "families": [0], "cause": 0},
        ],
        "causes": [["gives wrong values, eager forward", "counted"]],
    }
)


def test_run(evaluate):
    """A run offers the names and choices that it has, in order, an op without a row of the matrix included."""
    shown = "({ op: [...run.names.op], test: [...run.names.test], ...run.choices })"
    assert evaluate("run.js", f"((run) => {shown})(new Run({RUN}))") == {
        "op": ["add", "cos", "sin"],
        "test": ["a/test_b.py::test_b", "test_a"],
        "family": ["binary", "unary"],
        "kind": ["crash", "value"],
        "phase": ["eager_forward", "graph_forward"],
        "cases": ["aligned", "new", "new crashed", "new wrong"],
        "level": ["new", "crashed", "wrong", "counted", "aligned"],
        "cause": ["gives wrong values, eager forward"],
    }
    counts = '["new", "new wrong", "aligned", "skipped"].map((segment) => run.casesOf(1, segment))'
    assert evaluate("run.js", f"((run) => [{counts}, run.segments, run.familyOf(0)])(new Run({RUN}))") == [
        [3, 2, 38, 0], ["aligned", "new"], "b",
    ]  # fmt: skip
    lengths = '["cos", "sin"].map((op) => run.divergencesOf(op).length)'
    assert evaluate("run.js", f"((run) => {lengths})(new Run({RUN}))") == [1, 0]


@pytest.mark.parametrize(
    ("filters", "ids", "ops"),
    [
        ({}, ["1", "2"], ["sin", "add"]),
        ({"text": "KILLED"}, ["1"], []),
        ({"text": "graph forward"}, ["1"], []),
        ({"op": "add"}, ["1"], ["add"]),
        ({"family": "unary"}, ["2"], ["sin"]),
        ({"kind": "crash"}, ["1"], ["add"]),
        ({"kind": "crash", "phase": "eager_forward"}, [], []),
        ({"phase": "eager_forward"}, ["2"], ["sin", "add"]),
        ({"phase": "graph_forward"}, ["1"], ["add"]),
        ({"level": "new"}, ["1"], ["add"]),
        ({"level": "crashed"}, ["1"], ["add"]),
        ({"level": "aligned"}, [], ["sin", "add"]),
        ({"test": "test_a"}, ["1", "2"], ["add"]),
        ({"cause": "gives wrong values, eager forward"}, ["2"], []),
    ],
)
def test_filters(evaluate, filters, ids, ops):
    """Each filter keeps the divergences and the ops that have what it asks for."""
    chosen = {
        **dict.fromkeys(["text", "op", "family", "kind", "phase", "level", "test", "cases", "cause"], ""),
        **filters,
    }
    kept = (
        f"((run, filters) => [run.divergences.filter(matchDivergence(run, filters)).map(({{ id }}) => id), "
        f"run.ops.filter(matchOp(run, filters)).map(({{ op }}) => op)])"
        f'(new (await import("./run.js")).Run({RUN}), {json.dumps(chosen)})'
    )
    assert evaluate("matching.js", kept) == [ids, ops]


def test_shades(evaluate):
    """Shades are even steps, of the logarithm beyond two decades; one value alone is the darkest."""
    assert evaluate("heatmap.js", "bounds([1, 7])") == [2, 3, 4, 5, 6, 7]
    assert evaluate("heatmap.js", "bounds([1, 1e6])") == pytest.approx([10, 100, 1e3, 1e4, 1e5, 1e6])
    cells = '[0, 3, "nan", null]'
    assert evaluate("heatmap.js", f"{cells}.map((cell) => new Shades({cells}).of(cell))") == [
        "heat-0", "heat-6", "odd", "none",
    ]  # fmt: skip
    assert evaluate("heatmap.js", f"new Shades({cells})") == {
        "bounds": [3], "words": ["nan"], "hasZero": True, "hasNull": True,
    }  # fmt: skip


def test_empty_bins(evaluate):
    """Three empty bins in a row become one line, two do not."""
    bins = '[["0", 0], ["1", 0], ["2", 4], ["3", 0], ["4", 0], ["5", 0]]'
    assert evaluate("histogram.js", f"foldEmpty({bins})") == [["0", 0], ["1", 0], ["2", 4], ["3 empty bins", None]]


@pytest.mark.parametrize(
    ("numbers", "ticks", "places"),
    [
        ([0.43, 0.1], ["0.1", "0.2", "0.3", "0.4", "0.5"], [0.825, 0]),
        ([0.5, -0.2], ["-0.2", "0", "0.2", "0.4", "0.6"], [0.875, 0]),
        ([1000, 3000], ["1000", "1500", "2000", "2500", "3000"], [0, 1]),
        ([1e-20, 2e-20], ["1e-20", "1.2e-20", "1.4e-20", "1.6e-20", "1.8e-20", "2e-20"], [0, 1]),
        ([2.5, 2.5], ["2.2", "2.4", "2.6", "2.8"], [0.5, 0.5]),
        ([0, 0], ["-1", "-0.5", "0", "0.5", "1"], [0.5, 0.5]),
        ([], ["0", "0.2", "0.4", "0.6", "0.8", "1"], []),
        ([1e308, -1e308], ["-1e+308", "-5e+307", "0", "5e+307", "1e+308"], [1, 0]),
    ],
)
def test_axis(evaluate, numbers, ticks, places):
    """An axis is written in even steps around all numbers, be they one, none, or the greatest that there are."""
    assert evaluate("axis.js", f"new Axis({numbers}).ticks.map(([name]) => name)") == ticks
    rounded = f"{numbers}.map((number) => Number(new Axis({numbers}).place(number).toFixed(6)))"
    assert evaluate("axis.js", rounded) == places
    assert evaluate("axis.js", f"new Axis({numbers}).isLogarithmic") is False


def test_axis_of_near_numbers(evaluate):
    """Numbers that share their first digits are told apart."""
    assert evaluate("axis.js", "new Axis([0.4312345, 0.4312349]).ticks.map(([name]) => name)") == [
        "0.4312345", "0.4312346", "0.4312347", "0.4312348", "0.4312349",
    ]  # fmt: skip


def test_axis_of_huge_numbers(evaluate):
    """Beside huge numbers the others keep their places: the axis is logarithmic, and on both sides of zero."""
    assert evaluate("axis.js", "new Axis([1e30, 1, 0.5, 0.7]).ticks.map(([name]) => name)") == [
        "1", "1e6", "1e12", "1e18", "1e24", "1e30",
    ]  # fmt: skip
    mixed = "new Axis([-1e30, 1e20, 0.5, 0.7, 0.4])"
    assert evaluate("axis.js", f"[{mixed}.isLogarithmic, ...{mixed}.ticks.map(([name]) => name)]") == [
        True, "-1e30", "-1e19", "-1e8", "0", "1e8", "1e19",
    ]  # fmt: skip
    places = evaluate("axis.js", f"[-1e30, 0, 0.5, 1e8, 1e20].map((number) => {mixed}.place(number))")
    assert places == sorted(places)
    assert (places[0], places[-1], places[2] - places[1] < 0.02 < places[3] - places[2]) == (0, 1, True)


def test_words_of_elements(evaluate):
    """What no plot can show is told in words that fit: both sides, and at which inputs."""
    elements = json.dumps(
        [[1.0, 2.0, 3.0, 0.1, 5.0]]
        + [[float(x), 2.0, "nan", 0.1, "inf"] for x in range(5)]
        + [["inf", "inf", "-inf", None, "inf"], ["nan", 1.0, 1.0, 0.1, 0.0]]
    )
    assert evaluate("scatter.js", f"wordsOf({elements}, 'oneflow')") == [
        "Not drawn: 5 elements where the reference is a number, oneflow is NaN, at 0, 1, 2, 3 and others.",
        "Not drawn: 1 element where the reference is inf, oneflow is -inf, at inf.",
        "Not drawn: 1 element where the reference is a number, oneflow is a number, at nan.",
    ]


def test_cell_words(evaluate):
    """A cell of the matrix says its worst outcome and share, and in its title all counts."""
    assert evaluate("matrix.js", "cellWords([0, 3, 0, 0, 0, 17, 2])") == {
        "outcome": "wrong", "share": "3 of 20", "title": "3 wrong, 17 aligned, 2 not checked",
    }  # fmt: skip
    assert evaluate("matrix.js", "cellWords([0, 0, 20, 0, 0, 0, 0]).share") == "all 20"
    assert evaluate("matrix.js", "cellWords([0, 0, 0, 0, 0, 20, 0]).share") == "20"
    assert evaluate("matrix.js", "cellWords([0, 0, 0, 0, 0, 0, 1])") == {
        "outcome": None, "share": None, "title": "1 case not checked here",
    }  # fmt: skip
    assert evaluate("matrix.js", "cellWords()") == {"outcome": None, "share": None, "title": None}


def test_percent_is_rounded_down(evaluate):
    """All but one of ten thousand is not 100 %."""
    assert evaluate("coverage.js", "[percentOf(9999, 10000), percentOf(2, 2), percentOf(0, 0)]") == [99.9, 100, 0]


def test_where_a_test_is_opened(evaluate):
    """Files stand below the folder of the run, or where they say; what is in a name is no part of the link's form."""
    place = 'placeOf("x://{path}?{file}:{line}", "/root", "a b.py", 7)'
    assert evaluate("editor.js", place) == "x:///root/a%20b.py?a%20b.py:7"
    assert evaluate("editor.js", 'placeOf("x:{path}", "/root", "/else/{line}.py", 7)') == "x:/else/%7Bline%7D.py"
    wrong = [*(f'placeOf("{pattern}", "/root", "a.py", 7)' for pattern in ("", "{path}", "DATA:{path}", "blob:{file}"))]
    assert evaluate("editor.js", f"[{', '.join(wrong)}]") == [None] * 4


def test_short_tests_are_one_bar(evaluate):
    """Tests too short to be seen are drawn together as far as one bar may be, the one that is looked for alone."""
    tests = '[["b", 1.2, 0.1], ["a", 1, 0.1], ["c", 3, 5], ["d", 8, 0.1], ["e", 8.1, 0.1], ["f", 20, 0.1]]'
    bars = f'merged({tests}, 1, "e").map(({{ names, start }}) => [names.join(" "), start])'
    assert evaluate("timeline.js", bars) == [["a b", 1], ["c", 3], ["d", 8], ["e", 8.1], ["f", 20]]
    many = "Array.from({ length: 5000 }, (_, number) => [String(number), number * 0.02, 0.02])"
    drawn, names = evaluate(
        "timeline.js",
        f'((bars) => [bars.length, bars.flatMap(({{ names }}) => names).length])(merged({many}, 0.1, ""))',
    )
    assert drawn <= 1000
    assert names == 5000
