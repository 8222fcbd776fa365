"""The page of a run: the data that its script draws, and its static top."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from reports.findings.finding import findings
from reports.findings.op_map import SHAPES, family
from reports.page import index as pages
from reports.page.index import detail_data, index_data, render_page
from reports.past.difference import compare_runs
from reports.past.history import Listed
from reports.past.saved import saved_of

HOSTILE = "</script><script>alert(1)</script>"
SLOW = "#view=run&test="
BOTH = {"forward": "verified", "backward": "verified"}


class Read(HTMLParser):
    """What a browser would see of a page: its elements, its text, and what its scripts hold."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.said = [], [], []
        self._in = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        self._in = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        """Leave an element."""
        self._in = None

    def handle_data(self, data):
        """Note a text."""
        if self._in == "script":
            self.scripts[-1] += data
        elif self._in != "style" and data.strip():
            self.said.append(" ".join(data.split()))

    @property
    def data(self):
        """The data of the page's script."""
        return json.loads(self.scripts[0])

    def after(self, words):
        """The text that follows a text."""
        return self.said[self.said.index(words) + 1]


def shown(summary, changes="none before", runs=(), base="report/"):
    """Render a summary's page and read it."""
    return Read(render_page(summary, base, changes, list(runs)))


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("suites/test_matmul.py::TestMatmul::test_mm[1]", "matmul"),
        ("test_x.py::test_a", "x"),
        ("a/b/conv.py::test_c", "conv"),
        ("suites/test_a.py::test_b[x/y.py::z]", "a"),
        ("", ""),
    ],
)
def test_family(test, name):
    """The family of a test is its file's name, without its folders, `test_` and `.py`."""
    assert family(test) == name


@pytest.fixture
def two_ops(summed, case, row, ended):
    """A run of two test files: relu is wrong in both, add is aligned, sub only refused."""
    tests = ("suites/test_b.py::test_1", "suites/test_a.py::test_2")
    wrong = [row(test=test, id="11111111", fingerprint="f/relu", message="line 1\nline 2") for test in tests]
    refused = row(test=tests[1], id="22222222", fingerprint="f/sub", op="sub", kind="missing", level="counted")
    return summed(
        *case(tests[0], 0, graph=BOTH, verdict="divergent", divergences=[wrong[0]]),
        *case(tests[0], 1, graph=BOTH, verdict="divergent", divergences=[wrong[0]]),
        *case(tests[1], 2, graph=BOTH, ops=["relu", "add"], verdict="divergent", divergences=[wrong[1]]),
        *case(tests[1], 3, ops=["sub"], verdict="divergent", divergences=[refused]),
        *(ended(test, outcome="failed") for test in tests),
    )


def test_index_data(two_ops):
    """Every key of the contract: ops worst first, divergences worst first, tests and families by number."""
    wrong, aligned, unchecked = [0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 1]
    phases = ["eager_forward", "eager_backward", "graph_forward", "graph_backward"]
    sub = {"eager_forward": [0, 0, 1, 0, 0, 0, 0], **dict.fromkeys(("eager_backward", *phases[2:]), unchecked)}
    identity = {"op": "relu", "phase": "eager_forward", "kind": "value", "level": "wrong"}
    assert index_data(two_ops, "runs/r/report/") == {
        "base": "runs/r/report/",
        "root": "/work",
        "target": "oneflow",
        "phases": phases,
        "shapes": dict(SHAPES),
        "families": ["a", "b"],
        "tests": ["suites/test_a.py::test_2", "suites/test_b.py::test_1"],
        "places": ["counted refuses", "new wrong"],
        "ended": [["failed", 1.0, 12, [1, 1]], ["failed", 1.0, 12, [0, 2]]],
        "ops": [
            {
                "op": "relu",
                "families": [0, 1],
                "home": "a",
                "tests": [0, 1],
                "cells": {
                    phase: [3 * count for count in (wrong if phase == "eager_forward" else unchecked)]
                    for phase in phases
                },
            },
            {"op": "sub", "families": [0], "home": "a", "tests": [0], "cells": sub},
            {"op": "add", "families": [0], "home": "a", "tests": [0], "cells": dict.fromkeys(phases, aligned)},
        ],
        "divergences": [
            {
                "id": "11111111",
                "fingerprint": "f/relu",
                **identity,
                "message": "line 1",
                "cases": 3,
                "tests": [0, 1],
                "families": [0, 1],
            },
            {
                "id": "22222222",
                "fingerprint": "f/sub",
                **identity,
                "op": "sub",
                "kind": "missing",
                "level": "counted",
                "message": "out[0]=2.0, but should be 1.0 [relu(float32)]",
                "cases": 1,
                "tests": [0],
                "families": [0],
            },
        ],
        "more": 0,
        "causes": [],
    }


def test_largest_error(summed, case, row, evidence, element):
    """A divergence of numbers has its dtype and the largest error of its elements; infinite ones and others none."""
    rows = [element(ulp=9), element(ulp=1064000000), element(ulp="inf"), element(ulp=None)]
    shown = evidence(worst=rows, facts=[["shape", "(2,)", "(2,)", None], ["dtype", "float32", "float32", None]])
    for told, found in (
        (shown, ("float32", 1064000000)),
        ({**shown, "worst": rows[2:]}, None),
        ({**shown, "facts": []}, None),
    ):
        [listed] = index_data(summed(*case(verdict="divergent", divergences=[row(evidence=told)])), "")["divergences"]
        assert ((listed["dtype"], listed["ulp"]) if "ulp" in listed else None) == found


def test_long_message_of_the_index(summed, case, row):
    """The list has a message's first line, at most 300 characters; the detail file has all of it."""
    message = "x" * 301 + "\nmore"
    summary = summed(*case(verdict="divergent", divergences=[row(message=message)]))
    [listed] = index_data(summary, "")["divergences"]
    assert listed["message"] == "x" * 300
    assert detail_data(findings(summary.all_divergences)[0], summary)["message"] == message


def test_cut_list_tells_more(summed, case, row, monkeypatch):
    """A list that is cut keeps the worst and says how many are left out."""
    monkeypatch.setattr(pages, "MOST_DIVERGENCES", 2)
    rows = [row(fingerprint=f"f{i}", level=level) for i, level in enumerate(("known", "wrong", "counted", "refuses"))]
    summary = summed(*case(verdict="divergent", divergences=rows))
    data = index_data(summary, "")
    assert ([d["level"] for d in data["divergences"]], data["more"]) == (["wrong", "refuses"], 2)
    assert index_data(summed(*case(verdict="divergent", divergences=rows[:2])), "")["more"] == 0


def test_divergence_of_a_test_without_ops(summed, case, row):
    """A test that no op names is there as soon as a divergence names it."""
    died = row(test="test_z.py::test_q", op="program", kind="crash")
    records = case("test_z.py::test_q", ops=[], verdict="crashed", divergences=[died])
    data = index_data(summed(*records), "")
    assert (data["tests"], data["families"]) == (["test_z.py::test_q"], ["z"])
    assert data["divergences"][0]["tests"] == data["divergences"][0]["families"] == [0]


def test_detail_data(summed, case, row, evidence):
    """Every key of the contract: who it is, the tests with their cases, the evidence as recorded."""
    divergence = {"message": "a\nb", "level": "known", "reason": "why", "evidence": evidence(words=["w"])}
    records = [
        *case("t::b", 0, verdict="divergent", divergences=[row(test="t::b", **divergence)]),
        *case("t::a", 0, verdict="divergent", divergences=[row(test="t::a", **divergence)]),
        *case("t::a", 1, verdict="divergent", divergences=[row(test="t::a", **divergence)]),
    ]
    summary = summed(*records)
    [finding] = findings(summary.all_divergences)
    assert json.loads(json.dumps(detail_data(finding, summary))) == {
        "id": "0a1b2c3d",
        "fingerprint": "oneflow/eager_forward/value/relu/float32",
        "op": "relu",
        "phase": "eager_forward",
        "kind": "value",
        "level": "known",
        "target": "oneflow",
        "message": "a\nb",
        "reason": "why",
        "stages": [],
        "cases": 3,
        "tests": [
            {"test": "t::a", "cases": ["t::a#0", "t::a#1"], "count": 2},
            {"test": "t::b", "cases": ["t::b#0"], "count": 1},
        ],
        "seen": "",
        "replay": "autotest replay 0a1b2c3d",
        "repro": None,
        "evidence": {
            **evidence(words=["w"]),
            "shrunk": None,
            "blame": None,
            "losses": None,
            "sample": None,
            "whole": None,
            "graph": None,
        },
    }


def test_detail_without_evidence(summed, case, row):
    """A divergence whose evidence nobody kept has none."""
    summary = summed(*case(verdict="divergent", divergences=[row()]))
    assert detail_data(findings(summary.all_divergences)[0], summary)["evidence"] is None


def test_cut_cases_tell_their_count(summed, case, row, monkeypatch):
    """A test with many cases names the first and counts all."""
    monkeypatch.setattr(pages, "MOST_CASES", 2)
    records = [r for i in range(5) for r in case(index=i, verdict="divergent", divergences=[row()])]
    summary = summed(*records)
    [told] = detail_data(findings(summary.all_divergences)[0], summary)["tests"]
    keys = [f"test_x.py::test_a#{i}" for i in range(2)]
    assert told == {"test": "test_x.py::test_a", "cases": keys, "count": 5}


def test_page_is_one_file(two_ops):
    """Nothing of a page lies elsewhere: no link, script, style or picture is fetched."""
    read = shown(two_ops)
    assert [attrs for tag, attrs in read.tags if tag in ("img", "iframe", "object", "embed")] == []
    assert [attrs.get("src") for tag, attrs in read.tags if tag == "script"] == [None, None]
    assert [attrs["href"] for tag, attrs in read.tags if tag == "link"] == ["data:,"]
    assert read.data == json.loads(json.dumps(index_data(two_ops, "report/")))


def test_verdict_and_tone(summed, case, row, ended):
    """The verdict is a word, the headline the rest, and the tone follows the verdict."""
    runs = {
        "bad": [*case(verdict="divergent", divergences=[row()]), ended(outcome="failed")],
        "good": [*case(), ended()],
        "unsure": [case()[0]],
    }
    words = {"bad": "DIVERGENT", "good": "aligned", "unsure": "UNFINISHED"}
    for tone, records in runs.items():
        read = shown(summed(*records))
        assert ("body", {"class": f"tone-{tone}"}) in read.tags
        assert words[tone] in read.said
    assert read.after("UNFINISHED") == "1 case was still running; so far 0 cases of 1 test aligned"


@pytest.mark.parametrize(("ops", "there"), [(160, 0), (161, 3)])
def test_first_divergences_above_a_great_map(summed, case, row, ops, there):
    """The worst first, with the first line of its message; below a small map their list is on the screen anyway."""
    records = []
    for number in range(ops):
        fields = {"id": f"{number:08}", "fingerprint": f"f/{number}", "op": f"op{number}", "message": "no\nmore"}
        wrong = row(**fields, kind="crash" if number == 7 else "value")
        records += case(index=number, ops=[f"op{number}"], verdict="divergent", divergences=[wrong])
    read = shown(summed(*records))
    opened = [attrs["href"] for tag, attrs in read.tags if tag == "a" and attrs["href"].startswith("#open=")]
    assert len(opened) == there
    if there:
        assert opened[0] == "#open=00000007"
        place = read.said.index("crashed")
        assert read.said[place : place + 4] == ["crashed", "op7", "eager forward", "no"]


def test_failed_run_is_bad(summed, ended):
    """A failed test without a divergence makes the page as red as a divergence does."""
    read = shown(summed(ended(outcome="failed")))
    assert ("body", {"class": "tone-bad"}) in read.tags
    assert read.after("Failed without a divergence") == "test_x.py::test_a"
    assert ("main", {"data-first": "run"}) in read.tags


def test_divergences_are_seen_first(summed, case, row, ended):
    """Where there are any, or nothing failed, the page opens on their list."""
    diverged = [*case(verdict="divergent", divergences=[row()]), ended("test_x.py::test_b", outcome="failed")]
    for records in (diverged, [*case(), ended()]):
        assert ("main", {"data-first": "divergences"}) in shown(summed(*records)).tags


def links(read):
    """Return where each link of a page leads, but for those of the slowest tests."""
    return [attrs["href"] for tag, attrs in read.tags if tag == "a" and not attrs["href"].startswith(SLOW)]


def test_slowest_link_to_the_timeline(summed, ended):
    """The slowest tests lead to where the time went, each by its name."""
    read = shown(summed(ended("t.py::a", 2.0), ended("t.py::b[x&y]", 3.0)))
    slow = [attrs["href"] for tag, attrs in read.tags if tag == "a" and attrs["href"].startswith(SLOW)]
    assert slow == [f"{SLOW}t.py%3A%3Ab%5Bx%26y%5D", f"{SLOW}t.py%3A%3Aa"]
    assert "timeline" in [attrs.get("id") for _, attrs in read.tags]


def test_counts(two_ops, summed):
    """All cases are one bar of segments, divergences are counted by fingerprint; each number is a link to its list."""
    read = shown(two_ops)
    assert "4 cases" in read.said
    told = read.said[read.said.index("3 new") + 1 :]
    assert told[: told.index("divergences")] == ["1", "counted", "refuses", "3", "new", "wrong"]
    told = told[told.index("divergences") :]
    assert told[: told.index("What changed")] == [
        "divergences", "1", "counted", "1", "new", "tests", "2", "in 10.00 s",
        "graph verified", "100.0 %", "4 of 4 cases, 3 backward too",
    ]  # fmt: skip
    assert list(dict.fromkeys(links(read))) == [
        "#view=tests", "#view=tests&cases=counted", "#view=tests&cases=new", "#view=tests&cases=counted+refuses",
        "#view=tests&cases=new+wrong", "#view=divergences&level=counted", "#view=divergences&level=new", "#view=run",
    ]  # fmt: skip
    assert "graph verified" not in shown(summed()).said


def test_bar(summed, case, ended):
    """The bar is as wide as all cases; what is one case of a thousand is wide enough to be seen, and clicked."""
    records = [r for i in range(999) for r in case(index=i)]
    read = shown(summed(*records, *case(index=999, verdict="skipped"), ended()))
    drawn = [attrs for tag, attrs in read.tags if tag == "rect" and "x" in attrs]
    assert [(part["class"], part["x"], part["width"]) for part in drawn] == [
        ("segment aligned", "0.000%", "99.403%"), ("segment skipped", "99.403%", "0.597%"),
    ]  # fmt: skip


def test_stricter_count(summed, case, row, ended):
    """What is stricter is a segment and a level of its own, and only where there is some."""
    records = [r for i in range(2) for r in case(index=i, verdict="divergent", divergences=[row(level="stricter")])]
    read = shown(summed(*records, ended()))
    assert "#view=tests&cases=stricter+wrong" in links(read)
    assert [attrs["title"] for tag, attrs in read.tags if "title" in attrs] == ["seen by these checks only, not red"]
    assert "stricter" not in shown(summed(*case(), ended())).said


def test_crash_only(summed, case, row, ended):
    """A run whose only case killed the target is a page with one crash and no aligned op."""
    died = row(kind="crash")
    summary = summed(*case(verdict="crashed", divergences=[died]), ended(outcome="failed"))
    read = shown(summary)
    assert (read.after("new"), "aligned" in read.said) == ("crashed", False)
    assert read.data["ops"][0]["cells"]["eager_forward"] == [1, 0, 0, 0, 0, 0, 0]
    assert read.data["phases"] == ["eager_forward"]


def test_crash_without_a_divergence(summed, case, ended):
    """A death that nobody could blame leaves a red page without a divergence to list."""
    read = shown(summed(*case(verdict="crashed"), ended(outcome="failed")))
    assert read.after("DIVERGENT") == "1 crashed case in 1 of 1 test, oneflow 0.9.0 against torch 2.14.1"
    assert read.data["divergences"] == []


def test_empty_run(summed):
    """A run of nothing is a page that says so, with empty data."""
    read = shown(summed())
    assert read.after("nothing compared") == "no test ran, oneflow 0.9.0 against torch 2.14.1"
    data = read.data
    for name in ("phases", "families", "tests", "ops", "divergences"):
        assert data[name] == []
    assert not {("button", "tab-run"), ("button", "tab-runs")} & {(tag, attrs.get("id")) for tag, attrs in read.tags}


def test_facts(summed, case, ended):
    """Versions, commit, path, devices, seed, start and command are told; what is unknown is left out."""
    target = {"type": "target", "environment": {"cuda": "none"}, "devices": ["cpu", "cuda:0"]}
    summary = summed(target, *case(), ended())
    read = shown(summary)
    for name, value in {
        "target": "oneflow 0.9.0",
        "reference": "torch 2.14.1",
        "commit": "0123456789ab",
        "path": "/work",
        "device": "cpu, cuda:0",
        "seed": "7",
        "started": "1970-01-01 00:01:40 UTC",
        "took": "10.00 s",
        "cuda": "none",
        "records": str(summary.folder),
        "command to repeat": "pytest",
    }.items():
        assert read.after(name) == value, name
    copied = [attrs["data-copy"] for tag, attrs in read.tags if "data-copy" in attrs]
    assert copied == [str(summary.folder), "pytest"]


def test_unknown_facts_are_left_out(lay, header):
    """A run outside of a repository and of a device has no rows for them."""
    from reports import read_run, summarize

    read = shown(summarize(read_run(lay(header(commit=None, path=None)))))
    assert not {"commit", "path", "device"} & set(read.said)


def test_torch_against_itself(lay, header):
    """Where the target is the reference, both have their version."""
    from reports import read_run, summarize

    read = shown(summarize(read_run(lay(header(target="torch", environment={"torch": "2.14.1"})))))
    assert (read.after("target"), read.after("reference")) == ("torch 2.14.1", "torch 2.14.1")


@pytest.mark.parametrize(
    ("typed", "repeated"),
    [
        ("autotest run suites --seed random", "autotest run suites --seed 7"),
        ("autotest run suites --seed=random -n 2", "autotest run suites --seed=7 -n 2"),
        ("pytest --autotest-seed random suites", "pytest --autotest-seed 7 suites"),
        ("pytest --autotest-seed=random", "pytest --autotest-seed=7"),
        ("pytest --autotest-seed randomly", "pytest --autotest-seed randomly"),
        ("pytest --seed 3", "pytest --seed 3"),
    ],
)
def test_random_seed_is_told(lay, header, typed, repeated):
    """The command to repeat draws the same cases: a random seed stands there as the number that was drawn."""
    from reports import read_run, summarize

    assert shown(summarize(read_run(lay(header(command=typed))))).after("command to repeat") == repeated


def test_notices(summed, case, ended):
    """What was interrupted, damaged or at fault is told, with the reasons of what did not run."""
    fault = {"type": "fault", "test": None, "message": "broken"}
    skipped = case(index=1, verdict="skipped", reason="no kernel", graph=None)
    rejected = case(index=2, verdict="rejected", reason="ValueError: x", graph=None)
    graph = case(index=3, graph={"forward": "no float16 kernel", "backward": "off"})
    read = shown(summed(*skipped, *rejected, *graph, case(index=4)[0], fault, b"x\n"))
    assert read.after("Interrupted while running") == "test_x.py::test_a#4"
    assert read.after("Faults of the harness") == "broken"
    assert read.after("Skipped cases") == "1 x no kernel"
    assert read.after("Rejected draws") == "1 x ValueError: x"
    assert read.after("Damaged records").startswith("records-main.jsonl:10 is not a record (")
    assert read.after("Static graph") == (
        "0.0 % of the cases that ask for a graph were verified in one (0 of 1), 0 backward too."
    )
    assert "no float16 kernel" in read.said
    assert "Tests that did not end" not in read.said


def test_open_tests_where_nothing_runs(summed, case):
    """A test that never ended is told where no case of it is running."""
    assert shown(summed(*case())).after("Tests that did not end") == "test_x.py::test_a"


def test_graph_switched_off(summed, case, ended):
    """A run without graphs says so."""
    read = shown(summed(*case(graph={"forward": "off", "backward": "off"}), ended()))
    assert read.after("Static graph") == "Switched off for every case."


def test_changes(summed, case, row, ended):
    """What is new, changed and gone against the run before is listed, linked where the page can open it."""

    def run(*rows):
        return summed(*case(verdict="divergent", divergences=rows), ended(outcome="failed"))

    kept = row(fingerprint="f/kept", level="known", id="33333333")
    before = run(row(fingerprint="f/gone", id="11111111"), kept)
    after = run(row(fingerprint="f/new", id="22222222"), {**kept, "level": "wrong"})
    read = shown(after, compare_runs(saved_of(before), saved_of(after)))
    for heading, fingerprint in (("new", "f/new"), ("changed", "f/kept"), ("gone", "f/gone")):
        assert heading in read.said
        assert fingerprint in read.said
    assert links(read)[-2:] == ["#open=22222222", "#open=33333333"]
    assert read.after("What changed") == (
        f"Against the run before, {before.folder.name}: WORSE by 2 divergences: 1 new, 1 changed, 1 gone; 0 the same"
    )


def test_no_changes_are_explained(summed):
    """Without a run before, a sentence says why nothing is compared."""
    assert shown(summed(), "none is kept").after("What changed") == "none is kept"


def test_kept_runs(summed):
    """Kept runs are links, this one is not."""
    runs = [
        Listed("20260102-1", None, "", "suites on oneflow", 7, 3),
        Listed("20260101-1", "../20260101-1/index.html", "red", "", None, None),
    ]
    read = shown(summed(), runs=runs)
    assert links(read)[-1] == "../20260101-1/index.html"
    told = read.said[read.said.index("20260102-1") :]
    assert told[:7] == ["20260102-1", "this page", "3", "7", "suites on oneflow", "20260101-1", "red"]
    assert read.after("Kept runs") == "2"


def test_hostile_text_is_inert(summed, case, row, ended, evidence, lay, header):
    """Markup in every name, reason and message adds no element and ends no script, and is shown as it was typed."""
    from reports import read_run, summarize

    test = f"test_x.py::{HOSTILE}"
    divergence = row(
        test=test, fingerprint=HOSTILE, op=HOSTILE, kind=HOSTILE, phase=HOSTILE, message=HOSTILE, reason=HOSTILE
    )
    graph = {"forward": HOSTILE, "backward": "off"}
    plain, hostile = (
        summarize(read_run(lay(header(command=words, commit=words, path=words), *records)))
        for words, records in (
            ("x", [*case("x", verdict="divergent", divergences=[row(test="x")]), ended("x", outcome="failed")]),
            (
                HOSTILE,
                [
                    {"type": "target", "environment": {HOSTILE: HOSTILE}, "devices": [HOSTILE]},
                    *case(test, verdict="divergent", divergences=[divergence], graph=graph, ops=[HOSTILE]),
                    *case(test, 1, verdict="skipped", reason=HOSTILE),
                    {"type": "fault", "test": HOSTILE, "message": HOSTILE},
                    ended(test, outcome="failed"),
                ],
            ),
        )
    )
    changes = compare_runs(saved_of(plain), saved_of(hostile))
    text = render_page(hostile, "report/", changes, [Listed(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 1)])
    read = Read(text)
    assert [tag for tag, _ in read.tags].count("script") == 2
    assert "<script>alert" not in text
    assert re.findall("</script>", text) == ["</script>"] * 2
    assert read.data["divergences"][0]["message"] == HOSTILE
    assert HOSTILE in read.said
