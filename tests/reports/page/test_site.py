"""The HTML report on disk: which files there are, what each page refers to, and what they are compared with."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from reports import RecordError, read_run, save_site, save_status, save_summary, summarize

HOSTILE = "</script><script>alert(1)</script>"
FIRST, SECOND, THIRD = (f"2026010{day}-120000-7-1" for day in (1, 2, 3))


@pytest.fixture
def made(tmp_path, header, case, row, ended):
    """Give a function which writes a run of one case with these divergences, and returns its folder."""

    def make(name, *rows, report=tmp_path / "report", saved=True, records=None, **fields):
        folder = report / "runs" / name
        folder.mkdir(parents=True)
        divergences = [row(**given) for given in rows]
        told = [*case(verdict="divergent" if rows else "aligned", divergences=divergences), ended()]
        lines = [header(**fields), *(told if records is None else records)]
        (folder / "records-main.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if saved:
            save_summary(folder, summarize(read_run(folder)))
        return folder

    return make


def saved(folder):
    """Save the report of a run."""
    return save_site(folder, summarize(read_run(folder)))


def data_of(page):
    """The data of a page's script."""
    [text] = re.findall('<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(text)


def detail_of(path, function="autotest.detail"):
    """What a data file hands to the page's script."""
    text = path.read_text()
    assert text.startswith(f"{function}(")
    assert text.endswith(");\n")
    return json.loads(text[len(function) + 1 : -3])


def words_of(page):
    """The words that a page says of its changes."""
    [text] = re.findall(r'<h2 id="changes-title">What changed</h2>\s*<span class="soft">(.*?)</span>', page.read_text())
    return text


def files_of(folder):
    """The files below a folder, records apart."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if "records-" not in name and not name.endswith("summary.json")}


def test_files_of_the_latest_run(made):
    """A run has its own page and data files; index.html above is the same page with another base."""
    run = made(FIRST, {"id": "11111111", "fingerprint": "f1"}, {"id": "22222222", "fingerprint": "f2"})
    report = run.parent.parent
    assert saved(run) == report / "index.html"
    assert files_of(report) == {
        "index.html",
        f"runs/{FIRST}/index.html",
        f"runs/{FIRST}/report/coverage.js",
        f"runs/{FIRST}/report/timeline.js",
        f"runs/{FIRST}/report/plots.js",
        f"runs/{FIRST}/report/graphs.js",
        f"runs/{FIRST}/report/divergences/11111111.js",
        f"runs/{FIRST}/report/divergences/22222222.js",
    }
    above, own = data_of(report / "index.html"), data_of(run / "index.html")
    assert (above["base"], own["base"]) == (f"runs/{FIRST}/report/", "report/")
    assert {**above, "base": ""} == {**own, "base": ""}
    for page in (report / "index.html", run / "index.html"):
        for listed in data_of(page)["divergences"]:
            path = page.parent / data_of(page)["base"] / "divergences" / f"{listed['id']}.js"
            assert detail_of(path)["fingerprint"] == listed["fingerprint"]
    coverage = detail_of(run / "report" / "coverage.js", "autotest.coverage")
    summary = summarize(read_run(run))
    assert coverage == {**summary.coverage.to_json(), "space": summary.space.to_page()}


def test_data_files_of_an_earlier_report_go(made):
    """A report that is written anew keeps no divergence of its last writing."""
    run = made(FIRST, {"id": "11111111"})
    (run / "report" / "divergences").mkdir(parents=True)
    (run / "report" / "divergences" / "99999999.js").write_text("old")
    saved(run)
    assert [path.name for path in (run / "report" / "divergences").iterdir()] == ["11111111.js"]


def test_older_run_leaves_the_latest_page(made):
    """The report of an older run is its own page: index.html stays the latest run's."""
    old, new = made(FIRST, {"id": "11111111"}), made(SECOND)
    report = old.parent.parent
    assert saved(new) == report / "index.html"
    before = (report / "index.html").read_bytes()
    assert saved(old) == old / "index.html"
    assert (report / "index.html").read_bytes() == before
    assert data_of(old / "index.html")["divergences"][0]["id"] == "11111111"


def test_run_outside_of_a_report(made, tmp_path):
    """A run folder that was copied elsewhere has its page and writes nothing around it."""
    run = made(FIRST, report=tmp_path / "there").rename(tmp_path / "copy")
    before = files_of(tmp_path)
    assert saved(run) == run / "index.html"
    assert files_of(tmp_path) - before == {
        "copy/index.html",
        "copy/report/coverage.js",
        "copy/report/plots.js",
        "copy/report/graphs.js",
        "copy/report/timeline.js",
    }
    assert words_of(run / "index.html") == "Kept outside a report folder: there is no run before."
    assert data_of(run / "index.html")["base"] == "report/"


def test_first_run(made):
    """The first run has nothing to be compared with."""
    assert words_of(saved(made(FIRST))) == "No earlier run on this target is kept here to compare with."
    of = "No earlier run of suites -k relu on this target is kept here to compare with."
    assert words_of(saved(made(SECOND, selection="suites -k relu"))) == of


def test_run_before_is_compared(made):
    """What is new and gone against the run just before is told, not against an older one or a later one."""
    made(FIRST, {"fingerprint": "f/older"})
    made(SECOND, {"fingerprint": "f/old", "id": "11111111"})
    run = made(THIRD, {"fingerprint": "f/new", "id": "22222222"})
    page = saved(run)
    assert words_of(page) == (f"Against the run before, {SECOND}: WORSE by 1 divergence: 1 new, 1 gone; 0 the same")
    text = page.read_text()
    assert '<a href="#open=22222222"><code>f/new</code></a>' in text
    assert "<code>f/old</code>" in text
    assert "f/older" not in text
    assert words_of(saved(run.parent / SECOND)).startswith(f"Against the run before, {FIRST}: ")


def test_run_before_of_another_target(made):
    """Runs of other targets in between are passed over."""
    made(FIRST, {"fingerprint": "oneflow/a"})
    made(SECOND, target="torch")
    assert words_of(saved(made(THIRD, {"fingerprint": "oneflow/a"}))) == (
        f"Against the run before, {FIRST}: the same: 1 divergence"
    )


def test_run_before_of_another_selection(made, ended):
    """Runs of other tests in between are passed over, and what this one did not come to is no difference."""
    rows = {"fingerprint": "oneflow/a"}, {"fingerprint": "oneflow/b", "test": "test_x.py::test_b"}
    made(FIRST, *rows, selection="suites")
    made(SECOND, selection="suites -k relu")
    run = made(THIRD, rows[0], selection="suites")
    assert words_of(saved(run)) == f"Against the run before, {FIRST}: the same: 1 divergence"
    assert "oneflow/b" not in (run / "index.html").read_text()


def test_no_earlier_run_of_the_target(made):
    """Where all runs before were of another target, nothing is compared."""
    made(FIRST, target="torch")
    assert words_of(saved(made(SECOND))) == "No earlier run on this target is kept here to compare with."


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (
            lambda path: path.unlink(),
            "folder=&#39;{run}&#39;, but should be a run folder with a summary.json [load_saved]; "
            "write it anew with: autotest report {run}",
        ),
        (
            lambda path: path.write_text("{"),
            "{run}/summary.json cannot be read as a summary: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1); write it anew with: autotest report {run}",
        ),
        (
            lambda path: path.write_text("[]"),
            "summary=[], but should be an object [{run}/summary.json]; write it anew with: autotest report {run}",
        ),
    ],
)
def test_unreadable_run_before(made, spoil, problem):
    """A run before that cannot be read is told in one sentence, and the report is written all the same."""
    old = made(FIRST)
    spoil(old / "summary.json")
    assert words_of(saved(made(SECOND))) == f"Not compared with the run before: {problem.format(run=old)}"


def test_unreadable_run_between(made):
    """Behind a run that cannot be read, the next one of this target is compared."""
    made(FIRST)
    (made(SECOND) / "summary.json").write_text("{")
    assert words_of(saved(made(THIRD))) == f"Against the run before, {FIRST}: the same: 0 divergences"


def test_kept_runs_are_listed(made):
    """The newest comes first, each with how it ended; links lead from either page to the other runs' pages."""
    runs = [made(name) for name in (FIRST, SECOND, THIRD)]
    save_status(runs[0], 1)
    save_status(runs[1], 0)
    pages = [saved(run) for run in runs]
    listed = r'<tr>\s*<td>(?:<a href="(.*?)">|<b aria-current="page">)(\d{8}-.*?)</(?:a|b)></td>\s*<td>(.*?)</td>'
    assert re.findall(listed, pages[2].read_text()) == [
        ("", THIRD, "this page"),
        (f"runs/{SECOND}/index.html", SECOND, "aligned"),
        (f"runs/{FIRST}/index.html", FIRST, "red"),
    ]
    assert re.findall(listed, pages[1].read_text()) == [
        (f"../{THIRD}/index.html", THIRD, "not ended"),
        ("", SECOND, "this page"),
        (f"../{FIRST}/index.html", FIRST, "red"),
    ]
    for page in (pages[2], *(run / "index.html" for run in runs)):
        for href, _, _ in re.findall(listed, page.read_text()):
            assert (page.parent / href).is_file() or not href


def test_status_that_is_none(made):
    """A run whose exit status cannot be read is listed without words."""
    (made(FIRST) / "exit-status").write_text("fine\n")
    text = saved(made(SECOND)).read_text()
    assert f'<a href="runs/{FIRST}/index.html">{FIRST}</a></td>\n          <td></td>' in text


def test_unwritable_data_folder(made):
    """A folder whose place is taken by a file is told with the system's reason and the knob."""
    run = made(FIRST)
    (run / "report").write_text("")
    with pytest.raises(RecordError) as caught:
        saved(run)
    assert str(caught.value) == (
        f"{run}/report cannot be written: Not a directory; choose another folder with --report"
    )


def test_unwritable_page(made):
    """A page whose place is taken by a folder is told too, with its own path."""
    run = made(FIRST)
    (run / "index.html").mkdir()
    with pytest.raises(RecordError) as caught:
        saved(run)
    assert str(caught.value) == (
        f"{run}/index.html cannot be written: Is a directory; choose another folder with --report"
    )
    assert files_of(run) == {"report/coverage.js", "report/graphs.js", "report/plots.js", "report/timeline.js"}


def test_empty_run(made):
    """A run of nothing has a page and no detail file."""
    run = made(FIRST, records=[])
    page = saved(run)
    assert data_of(page)["divergences"] == data_of(page)["ops"] == []
    assert list((run / "report" / "divergences").iterdir()) == []


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.names = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.names.append(tag)


def test_hostile_text_is_inert(made, case, row, ended, evidence, element):
    """Markup in any text ends no script, neither in a page nor in a data file, and comes out as it was typed."""
    facts = [[HOSTILE, HOSTILE, HOSTILE, HOSTILE]]
    shown = evidence(
        program=HOSTILE,
        last_words=HOSTILE,
        facts=facts,
        words=[HOSTILE],
        worst=[element(reference=HOSTILE)],
        heat={"shape": [1], "rows": 1, "columns": 1, "cells": [[HOSTILE]], "note": HOSTILE},
        histogram=[[HOSTILE, 1]],
        whole={"shape": [], "reference": [[HOSTILE]], "eager": [["1.0"]], "graph": None, "wrong": [[1]]},
        sample={"along": HOSTILE, "of": 1, "elements": [["nan", 1.0, "inf", None, None]]},
        graph={"nodes": [["call", HOSTILE, HOSTILE, "wrong"]], "edges": [[0, 0, HOSTILE, HOSTILE]]},
        losses={"reference": [1.0], "eager": None, "parting": {"step": 1, "words": HOSTILE}, "words": [HOSTILE]},
    )
    names = ("test", "fingerprint", "op", "message", "reason", "replay")
    divergence = row(**dict.fromkeys(names, HOSTILE), evidence=shown)
    made(FIRST)
    run = made(
        SECOND,
        records=[
            *case(HOSTILE, verdict="divergent", divergences=[divergence], ops=[HOSTILE], dtypes=[HOSTILE]),
            {"type": "surface", "registry": [HOSTILE], "touched": [HOSTILE], "names": [f"{HOSTILE}2"]},
            ended(HOSTILE, outcome="failed"),
        ],
    )
    page = saved(run)
    for path in (page, run / "index.html"):
        assert Tags(path.read_text()).names.count("script") == 2
        assert data_of(path)["divergences"][0]["op"] == HOSTILE
    detail = run / "report" / "divergences" / f"{divergence['id']}.js"
    coverage = run / "report" / "coverage.js"
    for path in (detail, coverage):
        assert not set("<>&") & set(path.read_text())
    told = detail_of(detail)
    assert told["evidence"] == {**shown, "shrunk": None, "blame": None}
    assert {told[name] for name in ("fingerprint", "op", "message", "reason", "replay")} == {HOSTILE}
    assert told["tests"] == [{"test": HOSTILE, "cases": [f"{HOSTILE}#0"], "count": 1}]
    assert detail_of(coverage, "autotest.coverage")["registry"] == {"names": [HOSTILE], "touched": [HOSTILE]}
