"""One test's counts are one string that XML and pytest-xdist can carry, and a run is one JUnit file."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy
import pytest

from reports import PlainError, junit_property, worst_errors
from reports.exports.junit import junit_xml


def test_one_string():
    """Keys are sorted, NumPy scalars are numbers, other scripts are escaped."""
    pair = junit_property({"skipped": {"no \u00e9": numpy.int64(2)}, "aligned": 3})
    assert pair == ("autotest", '{"aligned":3,"skipped":{"no \\u00e9":2}}')


def test_what_is_not_plain_is_refused():
    """An array or a key which is no string is named."""
    with pytest.raises(PlainError) as caught:
        junit_property({"aligned": numpy.zeros(2)})
    assert str(caught.value) == (
        "value['aligned']=<numpy.ndarray>, but should be plain data: None, bool, int, finite float, str, "
        "list or dict with str keys [junit_property]"
    )
    with pytest.raises(PlainError) as caught:
        junit_property({1: 2})
    assert str(caught.value) == "key=1, but should be a str [junit_property]"


def parsed(summary):
    """Return the root of a summary's JUnit file."""
    return ET.fromstring(junit_xml(summary))  # noqa: S314 - our own file


def properties(suite):
    """Return a suite's properties by name."""
    return {one.get("name"): one.get("value") for one in suite.iter("property")}


def test_whole_file(summed, case, row, ended, evidence):
    """A run with one divergence: every line of the file."""
    shown = evidence(program="def program(torch, x):\n    return torch.relu(x)\n", blamed_line=2)
    records = [
        *case("test_x.py::test_a", verdict="divergent", divergences=[row(evidence=shown)]),
        ended(outcome="failed", seconds=1.5),
    ]
    assert (
        junit_xml(summed(*records))
        == """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="op-autotest" tests="1" failures="1" errors="0" skipped="0" time="1.500">
  <testsuite name="test_x.py" tests="1" failures="1" errors="0" skipped="0" time="1.500" \
timestamp="1970-01-01T00:01:40+00:00">
    <properties>
      <property name="target" value="oneflow" />
      <property name="version.oneflow" value="0.9.0" />
      <property name="version.torch" value="2.14.1" />
      <property name="seed" value="7" />
      <property name="commit" value="0123456789ab" />
      <property name="command" value="pytest" />
      <property name="run.cases" value="1" />
      <property name="run.aligned" value="0" />
      <property name="run.divergent" value="1" />
      <property name="run.undecidable" value="0" />
      <property name="run.skipped" value="0" />
      <property name="run.crashed" value="0" />
      <property name="run.timed_out" value="0" />
      <property name="run.out_of_memory" value="0" />
      <property name="run.rejected" value="0" />
      <property name="cases.wrong" value="1" />
      <property name="cases.refuses" value="0" />
      <property name="cases.stricter" value="0" />
      <property name="cases.counted" value="0" />
      <property name="cases.known" value="0" />
    </properties>
    <testcase classname="test_x" name="test_a" file="test_x.py" time="1.500" line="12">
      <failure message="oneflow/eager_forward/value/relu/float32">oneflow/eager_forward/value/relu/float32  1 case
out[0]=2.0, but should be 1.0 [relu(float32)]
  def program(torch, x):
&gt;     return torch.relu(x)
autotest replay 0a1b2c3d
</failure>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_outcomes(summed, case, row, ended):
    """Passed, failed, skipped and unended tests each have their element; known divergences fail nothing."""
    known = row(test="t::known", level="known")
    records = [
        *case("t::known", verdict="divergent", divergences=[known]),
        *case("t::open"),
        ended("t::known"),
        ended("t::failed", outcome="failed"),
        ended("t::skipped", outcome="skipped"),
    ]
    root = parsed(summed(*records))
    told = {
        one.get("name"): [(part.tag, part.get("message"), part.text) for part in one] for one in root.iter("testcase")
    }
    assert told == {
        "known": [],
        "open": [("error", "did not end", "The run was interrupted, or its process died.")],
        "failed": [("failure", "failed without a divergence", "The output of pytest tells why.")],
        "skipped": [("skipped", None, None)],
    }
    counts = {"name": "op-autotest", "tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "3.000"}
    assert root.attrib == counts


def test_suites_and_names(summed, ended):
    """A suite is a file; classes belong to the class name, and a parameter may hold anything."""
    tests = [
        "suites/a/test_x.py::TestA::test_b[p::q.py]",
        "suites/a/test_x.py::test_c",
        "suites/test_y.py::test_d",
        "z",
    ]
    suites = parsed(summed(*(ended(test) for test in tests))).findall("testsuite")
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [
        ("suites/a/test_x.py", "2"),
        ("suites/test_y.py", "1"),
        ("z", "1"),
    ]
    cases = [(one.get("classname"), one.get("name"), one.get("file")) for suite in suites for one in suite[1:]]
    assert cases == [
        ("suites.a.test_x.TestA", "test_b[p::q.py]", "suites/a/test_x.py"),
        ("suites.a.test_x", "test_c", "suites/a/test_x.py"),
        ("suites.test_y", "test_d", "suites/test_y.py"),
        ("z", "z", "z"),
    ]


def test_several_divergences(summed, case, row, ended):
    """A test has one failure, with all its red divergences, the worst first."""
    rows = [row(fingerprint="f/value"), row(fingerprint="f/crash", kind="crash"), row(fingerprint="f/k", level="known")]
    failure = parsed(summed(*case(verdict="divergent", divergences=rows), ended(outcome="failed"))).find(".//failure")
    assert failure.get("message") == "f/crash and 1 more"
    message = "out[0]=2.0, but should be 1.0 [relu(float32)]\nautotest replay 0a1b2c3d\n"
    assert failure.text == f"f/crash  1 case\n{message}\nf/value  1 case\n{message}"


def test_levels_and_worst_errors(summed, case, row, ended, evidence, element):
    """A suite counts its own cases by level, and tells the largest errors; NaN is worse than any."""
    worst = [element(absolute=0.5, relative="inf"), element(absolute=2, relative=0.25), element(absolute=None)]
    other = [element(absolute="nan", relative="(1+2j)")]
    records = [
        *case("a.py::t", 0, verdict="divergent", divergences=[row(test="a.py::t", evidence=evidence(worst=worst))]),
        *case("a.py::t", 1, verdict="divergent", divergences=[row(test="a.py::t", fingerprint="k", level="known")]),
        *case("a.py::t", 2, verdict="divergent", divergences=[row(test="a.py::t", fingerprint="k", level="known")]),
        *case(
            "b.py::t",
            verdict="divergent",
            divergences=[row(test="b.py::t", fingerprint="g", evidence=evidence(worst=[*worst, *other]))],
        ),
        *(ended(f"{name}.py::t") for name in "abc"),
    ]
    a, b, c = (properties(suite) for suite in parsed(summed(*records)).findall("testsuite"))
    assert [told["cases.wrong"] + told["cases.known"] for told in (a, b, c)] == ["12", "10", "00"]
    assert (a["worst_absolute_error"], a["worst_relative_error"]) == ("2.0", "inf")
    assert (b["worst_absolute_error"], b["worst_relative_error"]) == ("nan", "inf")
    assert not {"worst_absolute_error", "worst_relative_error"} & c.keys()


def test_faults_are_an_error(summed, case, ended):
    """Faults of the harness and damaged records make a suite of their own, so that no such file is green."""
    fault = {"type": "fault", "test": "t::a", "message": "m"}
    suite = parsed(summed(*case(), ended(), fault, b"x\n")).findall("testsuite")[-1]
    assert (suite.get("name"), suite.get("tests"), suite.get("errors")) == ("op-autotest", "1", "1")
    error = suite.find("testcase/error")
    assert error.get("message") == "faults of the harness or damaged records"
    assert error.text == ("t::a: m\nrecords-main.jsonl:6 is not a record (Expecting value at column 1); it is left out")


def test_empty_run(summed):
    """A run of nothing is a file without suites."""
    root = parsed(summed())
    assert len(root) == 0
    assert root.get("tests") == "0"


def test_hostile_text(summed, case, row, ended, header, evidence):
    """Markup stays text, and what XML cannot hold is an escape, in every place where a name may stand."""
    name = "<a>&\"']]>\x00\x1b\ud800\ufffe\r\n\u4f60"
    shown = "<a>&\"']]>\\x00\\x1b\\ud800\\ufffe\\r\\n\u4f60"
    divergence = row(test=name, fingerprint=name, message=name, replay=name, evidence=evidence(program=name))
    records = [
        {**header(), "target": name, "environment": {name: name}, "command": name, "commit": name},
        *case(name, verdict="divergent", divergences=[divergence]),
        ended(name, outcome="failed"),
        ended(f"{name}::{name}[{name}]"),
        {"type": "fault", "test": None, "message": name},
    ]
    root = parsed(summed(*records))
    suite = root.find("testsuite")
    assert suite.get("name") == shown
    told = properties(suite)
    assert told[f"version.{shown}"] == shown
    assert [one.get("name") for one in suite.iter("testcase")] == [shown, f"{shown}[{shown}]"]
    assert suite.find(".//failure").get("message") == shown
    lines = [shown.removesuffix("\\n\u4f60"), "\u4f60"]
    program = [f"> {lines[0]}", f"  {lines[1]}"]
    assert suite.find(".//failure").text.split("\n") == [f"{shown}  1 case", *lines, *program, shown, ""]
    assert root.find(".//error").text.split("\n") == lines


def test_worst_errors(element):
    """The greatest of each kind is told; one that is not finite as text, NaN before any number; none is left out."""
    near = element(absolute=0.5, relative="inf", ulp=7)
    assert worst_errors([near, element(absolute="nan", relative=2.0, ulp=9.0)]) == {
        "worst_absolute_error": "nan",
        "worst_relative_error": "inf",
        "worst_ulp": 9.0,
    }
    assert worst_errors([element(absolute=None, relative=None, ulp=None)]) == {}
