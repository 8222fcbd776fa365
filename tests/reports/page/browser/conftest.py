"""A report in a folder, drawn by the real template from data by hand, and one browser for all tests of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reports.findings.op_map import SHAPES
from reports.page.site import graphs_script, plots_script
from reports.page.templating import script, script_call, script_data, style, template, vendored
from reports.past.history import Listed
from reports.words.quantities import duration

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Data = dict[str, Any]

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&`${1}`"
TESTS = [
    "suites/test_activation.py::test_prelu",
    "suites/test_unary.py::test_lgamma",
    f"suites/test_hostile.py::test_x[{HOSTILE}]",
    "suites/test_unary.py::test_cholesky",
    "suites/test_activation.py::test_add",
]
PHASES = ["eager_forward", "eager_backward", "graph_forward", "graph_backward"]
PLACES = [
    "aligned", "undecidable", "known wrong", "counted refuses", "stricter wrong", "new crashed", "new wrong", "skipped",
]  # fmt: skip
PROGRAM = "def program(torch, x):\n    t0 = torch.lgamma(x)\n    return t0\n"
HEAT = [[0.1, 0.0, "nan", 2.5e-05, 0.5], [0.0, 0.0, 1.25, 0.003, "inf"], [0.98, 0.25, 0.0, None, 0.75]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one headless Chromium, which is not downloaded: without it, or its driver, the test is skipped.

    Chromium without its windows takes a third of the CPU that the whole one takes.
    """
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium-headless-shell or chromium on the PATH")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


class Watched:
    """A page, with what its browser had to say meanwhile: console errors, dialogs, addresses asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        self.addresses: list[str] = []
        page.on("console", lambda message: message.type in ("error", "warning") and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.addresses.append(request.url))

    def violations(self) -> dict[str, list[str]]:
        """Return what axe finds, by its rule the elements that break it."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
        found = axe.Axe().run(self.page).response["violations"]
        return {rule["id"]: [node["html"][:160] for node in rule["nodes"]] for rule in found}


@pytest.fixture
def view(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Give a function which opens a file, with a hash, in a new page; keywords are options of the browser's context."""
    contexts = []

    def opened(path: Path, hash: str = "", *, width: int = 1280, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_default_timeout(5000)
        watched = Watched(context.new_page())
        watched.page.goto(path.as_uri() + hash)
        return watched

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Give a function which writes a report's folder and returns its page; keywords replace parts of the sample."""

    def written(
        index: Data | None = None, details: list[Data] | None = None, coverage: Data | None = None, **top: Any
    ) -> Path:
        index = sample_index() if index is None else index
        index = {
            "root": "/home/me/a project",
            "places": [],
            "causes": [],
            "ended": [["passed", 1.0, 12, []] for _ in index["tests"]],
            **index,
        }
        details = [sample_detail(row) for row in index["divergences"]] if details is None else details
        return write_report(tmp_path / "run", index, details, sample_coverage() if coverage is None else coverage, top)

    return written


@pytest.fixture
def divergence() -> Callable[..., Data]:
    """Give a function which makes one divergence of the index."""
    return sample_divergence


@pytest.fixture
def index() -> Data:
    """Give the index of the sample report, to be changed."""
    return sample_index()


@pytest.fixture
def page_file(write: Callable[..., Path]) -> Path:
    """Give the sample report's page."""
    return write()


def write_report(folder: Path, index: Data, details: list[Data], coverage: Data, top: Data) -> Path:
    """Write a report's page and the files beside it; return the page."""
    beside = folder / "report" / "divergences"
    beside.mkdir(parents=True)
    for detail in details:
        (beside / f"{detail['id']}.js").write_text(script_call("autotest.detail", detail))
    (folder / "report" / "plots.js").write_text(plots_script())
    (folder / "report" / "graphs.js").write_text(graphs_script())
    marks = [["crashed", 2, 0], ["shrunk", 1.9, 0.5], ["timed_out", 4, 0]]
    timeline = {"seconds": 9.0, "more": 1, "lanes": [
        {"worker": "gw0", "tests": [["suites/test_activation.py::test_prelu", 0.5, 4.21], ["t.py::test_a", 5, 0.001],
                                    ["t.py::test_b", 5.001, 0.001]], "marks": marks,
         "open": ["t.py::test_c", 6, 2.5]},
    ]}  # fmt: skip
    (folder / "report" / "timeline.js").write_text(script_call("autotest.timeline", timeline))
    (folder / "report" / "coverage.js").write_text(script_call("autotest.coverage", coverage))
    static = {
        **sample_top(),
        **top,
        "css": style("report.css") + vendored("uplot/uPlot.min.css"),
        "js": script("report"),
    }
    path = folder / "index.html"
    path.write_text(template("index.html.j2").render(data=script_data(index), **static))
    return path


def sample_top() -> Data:
    """Return the variables of the page's static parts."""
    return {
        "title": "op-autotest: oneflow 0.9.0 against torch 2.14.1",
        "tone": "bad",
        "captures": [],
        "verdict": "DIVERGENT",
        "headline": "4 divergences in 3 of 5 tests, oneflow 0.9.0 against torch 2.14.1",
        "broken": None,
        "cases": "70 cases",
        "bar": [
            sample_segment("aligned", 50, 0, 70),
            sample_segment("undecidable", 1, 70, 1),
            sample_segment("known", 2, 71, 2, {"wrong": 2}),
            sample_segment("counted", 4, 73, 4, {"refuses": 4}),
            sample_segment("stricter", 2, 77, 2, {"wrong": 2}),
            sample_segment("new", 7, 79, 7, {"crashed": 1, "wrong": 6}),
            sample_segment("skipped", 4, 86, 14),
        ],
        "levels": [
            (level, number, "", f"#view=divergences&level={level}")
            for level, number in (("known", "1"), ("counted", "1"), ("stricter", "1"), ("new", "4"))
        ],
        "figures": [
            ("tests", "5", "in 2 min 13 s", "#view=tests"),
            ("rejected draws", "31", "", "#view=run"),
            ("graph verified", "97.5 %", "1,209 of 1,240 cases", "#view=run"),
            ("configurations", "100 %", "of 3 cases", None),
        ],
        "brief": "suites, seed 0",
        "changes_note": "Compared with run 20261119-101500-0-4711 of oneflow 0.9.0, seed 0.",
        "changes": [
            ("New", [("oneflow/eager_backward/value/lgamma/float32", "in 20 cases of 1 test", "4701a54b")]),
            (
                "Gone",
                [
                    (f"oneflow/eager_forward/value/op_{number}/float32", "ran again, aligned now", None)
                    for number in range(9)
                ],
            ),
            ("Changed", [("oneflow/graph_forward/value/softmax/float32", "3 -> 20 cases", "d0d0d0d0")]),
        ],
        "facts": [
            ("target", "oneflow 0.9.0", False),
            ("reference", "torch 2.14.1+cu130", False),
            ("commit", "fb47303c1d2e3f40516273849506172839405162", True),
            ("path", "/work/main/autotest-report/runs/20261120-121747-0-23308", True),
            ("device", "cpu", False),
            ("seed", "0", True),
            ("started", "2026-11-20 12:17:47 UTC", False),
            ("took", "2 min 13 s", False),
            ("command to repeat", "autotest run suites/test_matmul.py suites/test_unary.py --seed 0 -n 2", True),
        ],
        "graph": ("97.5 %: 1,209 of 1,240 cases, 310 backward too.", [(19, "its eager run failed"), (12, HOSTILE)]),
        "first": [],
        "first_view": "divergences",
        "failed_title": "Failed without a divergence",
        "failures": [
            ("suites/test_unary.py::test_broken", "AssertionError: 1 is not 2", f">   assert 1 == 2, '{HOSTILE}'"),
            ("suites/test_unary.py::test_silent", "", None),
        ],
        "notices": [
            ("Skipped cases, by reason", ["12 x no float16 kernel"]),
        ],
        "slowest": [("4.21 s", "suites/test_activation.py::test_prelu"), ("3.05 s", f"suites/test_x.py::{HOSTILE}")],
        "strip": [],
        "duration": duration,
        "runs": [
            Listed("20261120-121747-0-23308", None, "", "suites on oneflow", 812, 4),
            Listed(
                "20261119-101500-0-4711",
                "../20261119-101500-0-4711/index.html",
                "aligned",
                "suites/test_matmul.py -k einsum on oneflow",
                1,
                0,
            ),
        ],
    }


def sample_segment(name: str, count: int, left: float, width: float, ways: dict[str, int] | None = None) -> Data:
    """Return one part of the bar of all cases."""
    href = f"#view=tests&cases={name}"
    told = [(f"{number} {way}", f"{href}+{way}") for way, number in (ways or {}).items()]
    return {"name": name, "count": str(count), "href": href, "left": str(left), "width": str(width), "ways": told}


def sample_divergence(**fields: Any) -> Data:
    """Return one divergence of the index."""
    base = {"id": "4701a54b", "op": "lgamma", "phase": "eager_backward", "kind": "value", "level": "wrong"}
    base |= {
        "message": "lgamma: gradient of x differs in 12 of 12 elements: [2, 2] is 0.0, but should be 0.9858187 "
        "(rtol=0.0001, atol=1e-05)",
        "cases": 20,
        "tests": [1],
        "families": [1],
    }
    made = {**base, **fields}
    place = f"oneflow/{made['phase']}/{made['kind']}/{made['op']}/float32"
    return {"fingerprint": place, **made}


def sample_index() -> Data:
    """Return an index with every level, a crash and hostile names."""
    divergences = [
        sample_divergence(
            id="39a871f0", op="PReLU", phase="eager_forward", kind="crash", cases=1, tests=[0], families=[0],
            message="PReLU: the target killed by SIGABRT: shape.cpp:30] Check failed: index < tp()->NumAxes()",
        ),
        sample_divergence(dtype="float32", ulp=1064000000),
        sample_divergence(
            id="0badf00d", op=HOSTILE, phase="graph_forward", kind="exception", cases=3, tests=[2], families=[2],
            message=f"{HOSTILE}: RuntimeError: {HOSTILE}",
        ),
        sample_divergence(
            id="5eed5eed", op="cholesky", phase="eager_forward", kind="missing", level="refuses", cases=20, tests=[3],
            families=[1], message="cholesky: the target has no such function",
        ),
        sample_divergence(
            id="57121c7e", op="add", phase="eager_forward", kind="dtype", level="stricter", cases=2, tests=[4],
            families=[0], message="add: out.dtype=float64, but should be float32 [add(float32, int64)]",
        ),
        sample_divergence(
            id="d0d0d0d0", op="softmax", phase="graph_forward", kind="value", level="known", cases=2, tests=[0, 4],
            families=[0], message="softmax: out differs in 3 of 12 elements",
        ),
        sample_divergence(
            id="c0c0c0c0", op="erfinv", phase="eager_forward", kind="missing", level="counted", cases=4, tests=[1],
            families=[1], message="erfinv: the target has no such function",
        ),
    ]  # fmt: skip
    ops = [
        ("PReLU", {"eager_forward": [1, 0, 0, 0, 0, 4, 0], "eager_backward": [0, 0, 0, 0, 0, 4, 1]}),
        ("lgamma", {"eager_forward": [0, 0, 0, 0, 0, 20, 0], "eager_backward": [0, 20, 0, 0, 0, 0, 0],
                    "graph_forward": [0, 0, 0, 0, 0, 20, 0]}),
        (HOSTILE, {"graph_forward": [0, 3, 0, 0, 0, 17, 0]}),
        ("cholesky", {"eager_forward": [0, 0, 20, 0, 0, 0, 0]}),
        ("softmax", {"eager_forward": [0, 0, 0, 0, 0, 20, 0], "graph_forward": [0, 0, 0, 2, 0, 18, 0]}),
        ("argmax", {"eager_forward": [0, 0, 0, 0, 1, 19, 0]}),
        ("add", {phase: [0, 0, 0, 0, 0, 20, 0] for phase in PHASES}),
        ("matmul", {phase: [0, 0, 0, 0, 0, 20, 0] for phase in PHASES}),
        ("nonzero", {"eager_forward": [0, 0, 0, 0, 0, 0, 5]}),
    ]  # fmt: skip
    return {
        "base": "report/",
        "target": "oneflow",
        "phases": PHASES,
        "shapes": dict(SHAPES),
        "families": ["activation", "unary", "hostile"],
        "tests": TESTS,
        "places": [
            "aligned",
            "undecidable",
            "known wrong",
            "counted refuses",
            "stricter wrong",
            "new crashed",
            "new wrong",
            "skipped",
        ],
        "ended": [
            ["failed", 4.21, 12, [4, 0, 1, 0, 0, 1, 0, 0]],
            ["failed", 3.05, 40, [20, 1, 0, 4, 0, 0, 3, 0]],
            [None, None, None, [17, 0, 0, 0, 0, 0, 3, 0]],
            ["skipped", 0.1, 7, [0, 0, 0, 0, 0, 0, 0, 4]],
            ["passed", 12.5, 9, [9, 0, 1, 0, 2, 0, 0, 0]],
        ],
        "ops": [{"op": op, "families": [0], "home": "activation", "tests": [0], "cells": cells} for op, cells in ops],
        "divergences": divergences,
        "more": 0,
        "causes": [],
    }


def sample_detail(row: Data) -> Data:
    """Return the detail of a divergence of the index: a crash has last words, one of values has all the rest."""
    names = [TESTS[number] for number in row["tests"]]
    detail = {name: row[name] for name in ("id", "fingerprint", "op", "phase", "kind", "level", "message", "cases")}
    detail |= {
        "target": "oneflow",
        "stages": [],
        "reason": "oneflow 0.9.0 rounds in float16" if row["level"] == "known" else None,
        "tests": [{"test": name, "cases": [f"{name}#0", f"{name}#1"], "count": row["cases"]} for name in names],
        "replay": f"autotest replay {row['id']}",
        "evidence": None,
    }
    program = PROGRAM.replace("lgamma", row["op"])
    evidence = {"program": program, "blamed_line": 2, "facts": [], "words": [], "worst": []}
    evidence |= {"heat": None, "histogram": None, "last_words": None}
    if row["kind"] == "crash":
        evidence |= {"last_words": "F20261120 shape.cpp:30] Check failed: index < tp()->NumAxes()\n*** " + HOSTILE}
    if row["kind"] == "exception":
        evidence |= {"words": [HOSTILE], "facts": [[HOSTILE, HOSTILE, "raised", None]]}
    if row["kind"] == "value":
        evidence |= {
            "facts": [["dtype", "float32", "float32", None], ["shape", "[3, 5]", "[3, 5]", None],
                      ["strides", "[5, 1]", "[1, 3]", None]],
            "words": ["12 of 12 elements differ", "1 is NaN where the reference is finite"],
            "worst": [
                {"index": [0, 2], "reference": 0.9858186841011047, "eager": "nan", "graph": None,
                 "absolute": "nan", "relative": "nan", "ulp": None},
                {"index": [2, 0], "reference": 0.98, "eager": 0.0, "graph": None,
                 "absolute": 0.98, "relative": 1.0, "ulp": 1064000000},
            ],
            "heat": {"shape": [3, 5], "rows": 3, "columns": 5, "cells": HEAT, "note": ""},
            "histogram": [["0", 3], ["1", 2], ["2-3", 5], ["4-7", 0], ["8-15", 1], ["over 1e9", 2], ["not finite", 2]],
        }  # fmt: skip
    return {**detail, "evidence": None if row["kind"] == "missing" else evidence}


def sample_coverage() -> Data:
    """Return the data of the coverage view."""
    return {
        "phases": PHASES,
        "ops": [
            ["add", {"float32": [20, 20, 20, 5], "int64": [7, 0, 7, 0]}],
            [HOSTILE, {"float32": [1, 0, 0, 0]}],
            ["matmul", {"float32": [20, 20, 20, 5], "float64": [3, 3, 0, 0]}],
        ],
        "registry": {"names": ["abs", "add_n", "conv2d", HOSTILE], "touched": ["add_n"]},
        "untested": ["cholesky_inverse", HOSTILE],
        "space": {"axes": {}, "counts": [], "ops": []},
    }
