"""The course of a selection: its kept runs, and which of them showed what."""

from __future__ import annotations

import json

import pytest

from reports import read_run, save_site, save_summary, summarize
from reports.past.course import Course, course
from reports.past.history import history

AT = "oneflow/eager_forward/value"


@pytest.fixture
def made(tmp_path, header, case, row, ended):
    """Give a function which makes the run of a minute, and returns its folder and its summary."""

    def make(minute, *ids, selection="suites"):
        folder = tmp_path / "runs" / f"20260102-12{minute:02d}00-0-1"
        folder.mkdir(parents=True)
        rows = [row(id=id_, op="relu", fingerprint=f"{AT}/relu/{id_}") for id_ in ids]
        lines = [
            header(selection=selection),
            *case(verdict="divergent" if ids else "aligned", divergences=rows),
            ended(),
        ]
        (folder / "records-main.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        summary = summarize(read_run(folder))
        save_summary(folder, summary)
        return folder, summary

    return make


def test_first_and_last(made, tmp_path):
    """Runs of another selection and later ones say nothing; each divergence is told with the runs that showed it."""
    made(1, "aaaaaaaa")
    made(2, "bbbbbbbb", selection="t.py")
    made(3, "aaaaaaaa", "bbbbbbbb")
    folder, summary = made(4, "bbbbbbbb", "cccccccc")
    made(5, "aaaaaaaa")
    told = course(history(tmp_path), folder, summary)
    assert told.runs == ("20260102-120100-0-1", "20260102-120300-0-1", "20260102-120400-0-1")
    assert told.ops == {"relu": (1, 2, 2)}
    assert [told.words(f"{AT}/relu/{letter * 8}") for letter in "abcd"] == [
        "first in 20260102-120100-0-1, last in 20260102-120300-0-1; in 2 of 3 kept runs of this selection",
        "first in 20260102-120300-0-1, last in this run; in 2 of 3 kept runs of this selection",
        "in this run alone; in 1 of 3 kept runs of this selection",
        "",
    ]


def test_one_run_has_no_course(made, tmp_path):
    """Where there is no other run, nothing is said."""
    folder, summary = made(1, "aaaaaaaa")
    assert course(history(tmp_path), folder, summary).words(f"{AT}/relu/aaaaaaaa") == ""
    assert Course().words("x") == ""


def test_strip_of_runs(made, tmp_path):
    """The page has the runs of its selection as a strip, each with its numbers in words; one alone has none."""
    folder, summary = made(1, "aaaaaaaa", "bbbbbbbb")
    assert 'class="strip"' not in save_site(folder, summary).read_text()
    made(2, "aaaaaaaa", selection="t.py")
    folder, summary = made(3, "aaaaaaaa")
    page = save_site(folder, summary).read_text()
    assert "20260102-120100-0-1: 1 case, 2 new, 0 known, 10.00 s" in page
    assert "20260102-120300-0-1: 1 case, 1 new, 0 known, 10.00 s" in page
    assert "20260102-120200-0-1: " not in page
    assert 'height="100.0%"' in page
    assert 'height="50.0%"' in page
    detail = (folder / "report" / "divergences" / "aaaaaaaa.js").read_text()
    assert "first in 20260102-120100-0-1, last in this run; in 2 of 2 kept runs of this selection" in detail
    assert '"course":{"runs":["20260102-120100-0-1","20260102-120300-0-1"],"ops":{"relu":[2,1]}}' in page
