"""The timeline: which process was at which test when."""

from __future__ import annotations

import pytest

from reports import read_run, summarize
from reports.tallies import timeline as timelines
from reports.tallies.timeline import Bar


@pytest.fixture
def timeline(lay, header):
    """Give a function which lays the records of each worker and returns the timeline of their run."""

    def make(**workers):
        for worker, records in workers.items():
            folder = lay(header(worker=worker), *records, worker=worker)
        return summarize(read_run(folder)).timeline

    return make


def at(record, time):
    """The record, written at that time."""
    return {**record, "time": time}


def test_a_lane_for_each_worker(timeline, case, ended):
    """A test is a bar that ends where its record was written; times begin with the first of all workers."""
    made = timeline(gw0=[at(ended("t.py::a", 4.0), 110.0)], gw1=[at(ended("t.py::b", 3.0), 120.0)])
    assert [lane.worker for lane in made.lanes] == ["gw0", "gw1"]
    assert [lane.tests for lane in made.lanes] == [(Bar("t.py::a", 6.0, 4.0),), (Bar("t.py::b", 17.0, 3.0),)]
    assert made.seconds == 20.0


def test_what_happened_meanwhile(timeline, case, ended):
    """A target that ended, a divergence that was shrunk and one that was judged are marks."""
    start, end = case(verdict="crashed")
    shrunk = {"program": None, "note": "no", "values": [], "runs": 3, "seconds": 2.0, "blamed_line": None}
    shrinking = {"type": "shrunk", "test": "t", "fingerprint": "f", "shrunk": shrunk, "time": 106.0}
    blame = {"verdict": "target", "reason": "so", "worst": None}
    judging = {"type": "blame", "test": "t", "fingerprint": "f", "blame": blame, "time": 107.0}
    made = timeline(main=[start, at(end, 103.0), shrinking, judging, at(ended(seconds=8.0), 109.0)])
    assert made.lanes[0].marks == (Bar("crashed", 3.0, 0.0), Bar("shrunk", 4.0, 2.0), Bar("judged", 7.0, 0.0))
    assert (made.lanes[0].open, made.more) == (None, 0)


def test_what_never_ended(timeline, case):
    """A test that never ended goes on to its worker's last record."""
    start, end = case("t.py::a")
    made = timeline(main=[at(start, 101.0), at(end, 105.0)])
    assert (made.lanes[0].tests, made.lanes[0].open) == ((), Bar("t.py::a", 1.0, 4.0))


def test_idle_worker_has_no_lane(timeline, ended):
    """A process that ran no test is left out."""
    assert [lane.worker for lane in timeline(gw0=[ended()], gw1=[]).lanes] == ["gw0"]


def test_marks_are_bounded(timeline, case, ended, monkeypatch):
    """Beyond the bound marks are counted alone."""
    monkeypatch.setattr(timelines, "MOST_MARKS", 2)
    records = [record for index in range(5) for record in case(index=index, verdict="timed_out")]
    made = timeline(main=[*records, ended()])
    assert (len(made.lanes[0].marks), made.more) == (2, 3)


def test_for_the_page(timeline, case, ended):
    """The page has rounded seconds, and null where every test ended."""
    assert timeline(main=[at(ended("t.py::a", 1.23456), 103.0)]).to_page() == {
        "seconds": 3.0,
        "more": 0,
        "lanes": [{"worker": "main", "tests": [["t.py::a", 1.77, 1.23]], "marks": [], "open": None}],
    }
