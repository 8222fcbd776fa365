"""The tally counts each case once, and tells what did not happen."""

from __future__ import annotations

import gc
import json
import tracemalloc
from dataclasses import replace

import pytest

from reports import VersionError, read_run, render, summarize


def test_verdicts_are_counted(summed, case, ended):
    """Each verdict has its count; rejected draws are no cases."""
    verdicts = ["aligned", "aligned", "divergent", "rejected", "skipped", "crashed", "timed_out", "out_of_memory"]
    records = [record for i, verdict in enumerate(verdicts) for record in case(index=i, verdict=verdict)]
    summary = summed(*records, ended())
    counts = (summary.aligned, summary.divergent, summary.rejected, summary.skipped)
    assert counts == (2, 1, 1, 1)
    assert (summary.crashed, summary.timed_out, summary.out_of_memory) == (1, 1, 1)
    assert (summary.cases, summary.tests) == (7, 1)
    assert summary.complete


def test_divergence_of_a_rejected_draw(summed, case, row, ended):
    """What the target did with a draw that PyTorch refuses is told, though the draw is no case."""
    summary = summed(*case(verdict="rejected", reason="x", divergences=[row(kind="crash")]), ended(outcome="failed"))
    assert [(r.kind, r.count) for r in summary.divergences] == [("crash", 1)]
    assert (summary.rejected, summary.cases, summary.failed) == (1, 0, ())


def test_reasons_are_counted(summed, case, ended):
    """Reasons are told commonest first, and a missing one is told too."""
    reasons = ["b", "a", "a", None]
    skipped = [r for i, reason in enumerate(reasons) for r in case(index=i, verdict="skipped", reason=reason)]
    rejected = case(index=9, verdict="rejected", reason="ValueError: x")
    summary = summed(*skipped, *rejected, ended())
    assert list(summary.skipped_reasons.items()) == [("a", 2), ("b", 1), ("no reason given", 1)]
    assert summary.rejected_reasons == {"ValueError: x": 1}


def test_reasons_are_bounded(summed, case):
    """Reasons that differ in each case do not grow without end."""
    records = [r for i in range(600) for r in case(index=i, verdict="skipped", reason=f"value {i}")]
    reasons = summed(*records).skipped_reasons
    assert len(reasons) == 501
    assert reasons["further reasons"] == 100


def test_graph_counts(summed, case, ended):
    """A graph check which was off is no part of the share; other reasons are counted."""
    graphs = [
        {"forward": "verified", "backward": "verified"},
        {"forward": "verified", "backward": "off"},
        {"forward": "off", "backward": "off"},
        {"forward": "no kernel", "backward": "no kernel"},
        None,
    ]
    graph = summed(*(r for i, g in enumerate(graphs) for r in case(index=i, graph=g)), ended()).graph
    assert (graph.verified, graph.backward_verified, graph.asked) == (2, 1, 3)
    assert graph.skipped == {"no kernel": 1}


def test_random_cases_are_counted(summed, case, ended):
    """Cases with values that depend on random numbers are counted."""
    graphs = [{"forward": "off", "backward": "off", "random": "tainted"}, {"forward": "off", "backward": "off"}, None]
    assert summed(*(r for i, g in enumerate(graphs) for r in case(index=i, graph=g)), ended()).random == 1


def test_rows_by_fingerprint_and_test(summed, case, row, evidence):
    """One row per fingerprint and test, with the first case's words and their count."""
    records = []
    for index, test in enumerate(["t::b", "t::b", "t::a"]):
        shown = evidence(program=f"program of {test}")
        divergence = row(test=test, id=f"{index}" * 8, evidence=shown)
        records += case(test, index, verdict="divergent", divergences=[divergence])
    summary = summed(*records)
    assert [(r.test, r.count, r.id, r.cases) for r in summary.divergences] == [
        ("t::a", 1, "22222222", ("t::a#2",)),
        ("t::b", 2, "00000000", ("t::b#0", "t::b#1")),
    ]
    assert summary.evidence[row()["fingerprint"]].program == "program of t::a"
    assert (summary.unexpected, summary.unexpected_tests) == (3, 2)


def test_known_divergences_stand_apart(summed, case, row, ended):
    """A case whose divergences are all known is expected; one more which is not makes it unexpected."""
    known, new = row(level="known"), row(fingerprint="f")
    expected = case(index=0, verdict="divergent", divergences=[known])
    mixed = case(index=1, verdict="divergent", divergences=[known, new])
    assert summed(*expected, ended()).unexpected == 0
    summary = summed(*expected, *mixed, ended())
    assert summary.unexpected == 1
    assert [r.count for r in summary.known] == [2]
    assert [r.fingerprint for r in summary.divergences] == ["f"]


def test_crash_without_a_row_is_unexpected(summed, case, ended):
    """A crash which left no divergence still counts against the run."""
    assert summed(*case(verdict="crashed"), ended()).unexpected == 1
    assert summed(*case(verdict="out_of_memory"), ended()).unexpected == 1


def test_killed_run_names_its_case(summed, case):
    """A case which started and never ended is running, and the run is not complete."""
    summary = summed(*case(index=0), case(index=1)[0])
    assert summary.running == ("test_x.py::test_a#1",)
    assert summary.open_tests == ("test_x.py::test_a",)
    assert not summary.complete


def test_case_run_again(summed, case, ended):
    """A case started twice and ended once is not running."""
    start, end = case()
    assert summed(start, start, end, ended()).running == ()


def test_same_key_in_two_workers(lay, header, case):
    """A case running in one worker is not ended by its namesake in another."""
    start, end = case()
    lay(header(worker="gw0"), start, worker="gw0")
    folder = lay(header(worker="gw1"), start, end, worker="gw1")
    assert summarize(read_run(folder)).running == ("test_x.py::test_a#0",)


@pytest.mark.parametrize(
    ("of", "told", "running"), [("gw0", "controller", 0), ("3-gw0", "3-controller", 0), ("gw1", "controller", 1)]
)
def test_process_that_ended(lay, header, case, ended, of, told, running):
    """Nothing of a test is running in the process that ended in it, whichever shard that is of; in others it is."""
    lay(header(worker=of), case()[0], worker=of)
    folder = lay(header(worker=told), {**ended(outcome="failed"), "process": "gw0"}, worker=told)
    summary = summarize(read_run(folder))
    assert (len(summary.running), summary.complete) == (running, not running)
    assert summary.outcomes == {"test_x.py::test_a": "failed"}


def test_workers_do_not_matter(lay, header, case, row, ended, evidence, tmp_path):
    """The same tests in one or two workers give the same summary, but for where the time went."""
    tests = []
    for test in ("t::b", "t::a"):
        divergence = row(test=test, evidence=evidence(program=test))
        tests.append([*case(test, verdict="divergent", divergences=[divergence]), ended(test)])
    one = summarize(read_run(lay(header(), *tests[0], *tests[1])))
    (tmp_path / "records-main.jsonl").unlink()
    lay(header(), *tests[1], worker="gw0")
    two = summarize(read_run(lay(header(), *tests[0], worker="gw1")))
    assert one == replace(two, timeline=one.timeline)


def test_environment_and_time(summed, case, ended):
    """What the target tells is merged in, and the run lasts from its first record to its last."""
    target = {"type": "target", "environment": {"oneflow": "0.9.1", "cuda": "no"}, "devices": []}
    summary = summed(target, *case(), ended())
    assert summary.environment == {"cuda": "no", "oneflow": "0.9.0", "torch": "2.14.1"}
    assert (summary.seconds, summary.seed, summary.target) == (10.0, 7, "oneflow")


def test_failed_without_a_divergence(summed, case, ended, row):
    """A failed test is named unless a divergence or crash tells why."""
    records = [
        *case("t::a", verdict="divergent", divergences=[row(test="t::a")]),
        *case("t::b", verdict="crashed"),
        *(ended(f"t::{name}", outcome="failed") for name in "abc"),
    ]
    assert summed(*records).failed == ("t::c",)


def test_faults_are_bounded(summed):
    """The first hundred faults are told, and the rest counted."""
    faults = [{"type": "fault", "test": "t::a", "message": f"m{i}"} for i in range(103)]
    summary = summed({"type": "fault", "test": None, "message": "first"}, *faults)
    assert summary.faults[:2] == ("first", "t::a: m0")
    assert summary.faults[-1] == "and 4 more"
    assert summary.fault_count == 104


def test_damage_is_told(summed):
    """A damaged line makes the run incomplete and stands among the faults of summary.json."""
    summary = summed(b"x\n")
    assert not summary.complete
    sentence = "records-main.jsonl:2 is not a record (Expecting value at column 1); it is left out"
    assert summary.to_json()["faults"] == [sentence]


def test_slowest_first(summed, ended):
    """Ten tests at most, the slowest first, a tie by name."""
    summary = summed(*(ended(f"t::{i:02}", seconds=float(i // 2)) for i in range(14)))
    assert [slow.test for slow in summary.slowest[:3]] == ["t::12", "t::13", "t::10"]
    assert len(summary.slowest) == 10


def test_version_in_the_middle(lay, header):
    """A second header of another version is refused too."""
    with pytest.raises(VersionError):
        summarize(read_run(lay(header(), {"type": "run", "version": 9})))


def test_memory_does_not_grow_with_cases(lay, header, case):
    """Ten times the cases take no more memory."""

    def peak(cases):
        run = read_run(lay(header(), *(r for i in range(cases) for r in case(index=i))))
        gc.collect()  # what earlier tests left would be freed at some moment of its own
        tracemalloc.start()
        summarize(run)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return taken

    peak(30)  # what is made once does not count
    # Other threads of the process are counted, too; one number kept of each case would be 75 KB.
    assert peak(3000) < peak(300) + 70_000


def test_one_case_counts_once(summed, case, row):
    """A case that shows a fingerprint in two of its calls, or that was run again, is one case."""
    twice = case(verdict="divergent", divergences=[row(), row(message="again")])
    [found] = summed(*twice, *twice, *case(index=1, verdict="divergent", divergences=[row()])).divergences
    assert found.cases == ("test_x.py::test_a#0", "test_x.py::test_a#1")
    assert found.count == 2


def test_levels_stand_apart(summed, case, row, ended):
    """Each level has its own rows, though fingerprint and test are the same; only two levels are red."""
    levels = ("wrong", "refuses", "stricter", "counted", "known")
    records = []
    for index, level in enumerate(levels):
        records += case(index=index, verdict="divergent", divergences=[row(level=level, reason=f"why {level}")])
    summary = summed(*records, ended(outcome="failed"))
    assert sorted(r.level for r in summary.divergences) == ["refuses", "wrong"]
    for level in levels[2:]:
        [found] = getattr(summary, level)
        assert (found.level, found.reason, found.count) == (level, f"why {level}", 1)
    assert (summary.unexpected, summary.unexpected_tests) == (2, 1)
    assert {r.level for r in summary.all_divergences} == set(levels)
    assert len(summary.all_divergences) == 5


@pytest.mark.parametrize("level", ["stricter", "counted", "known"])
def test_levels_that_are_not_red(summed, case, row, ended, level):
    """What is known, counted or stricter leaves its case expected."""
    summary = summed(*case(verdict="divergent", divergences=[row(level=level)]), ended())
    assert (summary.divergences, summary.unexpected, summary.unexpected_tests) == ((), 0, 0)


def test_failed_beside_a_known_divergence(summed, case, row, ended):
    """What is known explains no failure: a test that failed for another reason is named."""
    summary = summed(*case(verdict="divergent", divergences=[row(level="known")]), ended(outcome="failed"))
    assert summary.failed == ("test_x.py::test_a",)


def test_evidence_of_a_red_case_first(summed, case, row, evidence):
    """A red case's evidence is shown before any other's, then that of the first test; none is passed over."""
    told = {"t::a": "known", "t::c": "wrong", "t::b": "wrong", "t::0": "counted"}
    records = case("t::b", 9, verdict="divergent", divergences=[row(test="t::b")])
    for index, (test, level) in enumerate(told.items()):
        shown = evidence(program=f"{level} in {test}")
        records += case(test, index, verdict="divergent", divergences=[row(test=test, level=level, evidence=shown)])
    summary = summed(*records)
    assert {name: shown.program for name, shown in summary.evidence.items()} == {row()["fingerprint"]: "wrong in t::b"}


def test_evidence_is_kept_whole(summed, case, row, evidence, element):
    """Evidence comes out of the tally as it went in."""
    heat = {"shape": [1], "rows": 1, "columns": 1, "cells": [["not finite"]], "note": "n"}
    facts = [["dtype", "float32", None, "float64"]]
    shown = evidence(last_words="F", facts=facts, words=["w"], worst=[element()], heat=heat, histogram=[["0", 3]])
    shown["losses"] = {"reference": [0.5, "nan"], "eager": [0.5, None], "graph": None, "parting": None, "words": ["w"]}
    shown["whole"] = {"shape": [], "reference": [["1.0"]], "eager": [["nan"]], "graph": None, "wrong": [[1]]}
    shown["sample"] = {"along": "x", "of": 9, "elements": [[0.5, 1.0, "nan", 0.1, None]]}
    shown["graph"] = {"nodes": [["input", "x", "", ""], ["call", "relu", "t0 = relu(x)", "wrong"]], "edges": []}
    [found] = summed(*case(verdict="divergent", divergences=[row(evidence=shown)])).evidence.values()
    assert json.loads(json.dumps(found.to_json())) == {**shown, "shrunk": None, "blame": None}


def test_facts_of_the_run(lay, header, case, ended):
    """Command, commit and path are of the first worker that knows, devices of all, lines and outcomes of each test."""
    devices = [{"type": "target", "environment": {}, "devices": told} for told in (["cpu"], ["cuda:0", "cpu"])]
    lay(header(commit=None, path="/a"), devices[0], *case("t::a"), ended("t::a"), worker="gw0")
    folder = lay(
        header(command="other", commit="c", path="/b", time=99.0),
        devices[1],
        ended("t::b", outcome="skipped", seconds=2.0),
        {**ended("t::c", outcome="failed"), "line": None},
        worker="gw1",
    )
    lay(header(commit="d", path="/c", selection="suites --shard 1/2"), worker="gw2")
    assert summarize(read_run(folder)).selection == "suites --shard 1/2"
    lay(header(commit="d", path="/c", selection="suites --shard 2/2"), worker="gw2")
    lay(header(commit="d", path="/c", selection="suites --shard 1/2"), worker="gw3")
    summary = summarize(read_run(folder))
    assert (summary.command, summary.commit, summary.path, summary.started) == ("pytest", "c", "/a", 99.0)
    assert summary.selection == "suites"  # of which two shards are shares
    assert summary.devices == ("cpu", "cuda:0")
    assert summary.outcomes == {"t::a": "passed", "t::b": "skipped", "t::c": "failed"}
    assert summary.lines == {"t::a": 12, "t::b": 12}
    assert summary.seconds_by_test == {"t::a": 1.0, "t::b": 2.0, "t::c": 1.0}


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        (("failed", "passed"), "failed"),
        (("passed", "failed"), "failed"),
        (("skipped", "passed"), "passed"),
        (("passed", "skipped"), "passed"),
        (("skipped",), "skipped"),
    ],
)
def test_outcome_of_a_test_run_again(summed, ended, outcomes, worst):
    """A test that was run more than once keeps its worst outcome, and its time adds up."""
    summary = summed(*(ended(outcome=outcome) for outcome in outcomes))
    assert summary.outcomes == {"test_x.py::test_a": worst}
    assert summary.seconds_by_test == {"test_x.py::test_a": float(len(outcomes))}


def test_shrunk_program_joins_its_evidence(summed, case, row, evidence):
    """Of several results for one fingerprint a program comes before a reason, then the first test's."""
    rows = case(verdict="divergent", divergences=[row(fingerprint="f", evidence=evidence())])
    plain = {"values": [], "blamed_line": None, "calls": 1, "elements": 1, "seconds": 0.0, "runs": 1, "note": None}
    records = [
        {"type": "shrunk", "test": test, "fingerprint": name, "shrunk": {**plain, "program": program, "note": program}}
        for test, name, program in (("c", "f", "late"), ("b", "f", "early"), ("a", "other", "p"))
    ]
    records.append(
        {"type": "shrunk", "test": "a", "fingerprint": "f", "shrunk": {**plain, "program": None, "note": "spent"}}
    )
    for order in (records, records[::-1]):
        assert summed(*rows, *order).evidence["f"].shrunk["program"] == "early"
    assert summed(*rows, records[-1]).evidence["f"].shrunk["note"] == "spent"
    assert summed(*rows).evidence["f"].shrunk is None


def test_blame_joins_its_evidence(summed, case, row, evidence):
    """Of several verdicts on one fingerprint a judged one comes first, then the first test's; summary.json has it."""
    rows = case(verdict="divergent", divergences=[row(fingerprint="f", evidence=evidence())])
    records = [
        {
            "type": "blame",
            "test": test,
            "fingerprint": name,
            "blame": {"verdict": verdict, "reason": test, "worst": None},
        }
        for test, name, verdict in (
            ("a", "f", "not judged"),
            ("c", "f", "target"),
            ("b", "f", "reference"),
            ("a", "g", "target"),
        )
    ]
    for order in (records, records[::-1]):
        summary = summed(*rows, *order)
        assert summary.evidence["f"].blame == {"verdict": "reference", "reason": "b", "worst": None}
        assert summary.to_json()["divergences"][0]["blame"] == summary.evidence["f"].blame
    assert summed(*rows, records[0]).evidence["f"].blame["reason"] == "a"


def test_remembered_cases_are_counted(summed):
    """What aligns again is summed up, what is wrong with the store listed."""
    told = {"type": "remembered", "test": "t", "aligned": 2, "problems": []}
    summary = summed(told, {**told, "aligned": 1, "problems": ["the store is damaged"]})
    assert (summary.confirmed, summary.forgotten) == (3, ("the store is damaged",))
    text = render(summary, width=100, color=False, encoding="utf-8", page=None)
    assert "confirmed" in text
    assert "remembered cases now align" in text
    assert "the store is damaged" in text
