"""Coverage counts checked cases by op, dtype and phase, and names what nobody called."""

from __future__ import annotations

import pytest

BOTH = {"forward": "verified", "backward": "verified"}
OFF = {"forward": "off", "backward": "off"}
PHASES = ["eager_forward", "eager_backward", "graph_forward", "graph_backward"]


@pytest.fixture
def covered(summed, case):
    """Give a function which counts cases, each given as its fields, into the content of coverage.js."""

    def count(*cases, surfaces=()):
        records = [r for i, fields in enumerate(cases) for r in case(index=i, **{"graph": BOTH, **fields})]
        return summed(*({"type": "surface", **surface} for surface in surfaces), *records).coverage.to_json()

    return count


def test_dtypes_and_phases(covered):
    """A case counts once per op and dtype in each phase that was compared, however often it called the op."""
    two = {"ops": ["relu", "add", "relu", "relu"], "dtypes": ["float32", "int64", "float32", "float64"]}
    assert covered(two, {"graph": OFF}) == {
        "phases": PHASES,
        "ops": [
            ["add", {"int64": [1, 1, 1, 1]}],
            ["relu", {"float32": [2, 2, 1, 1], "float64": [1, 1, 1, 1]}],
        ],
        "registry": None,
        "untested": None,
    }


def test_phases_that_nothing_was_checked_in(covered):
    """A phase in which no case was compared is no column."""
    integer = {"forward": "off", "backward": "nothing to differentiate"}
    assert covered({"graph": integer})["phases"] == ["eager_forward"]


def test_divergent_cases_are_checked(covered, row):
    """A wrong result is one that was checked; what it leaves in doubt is not."""
    found = covered({"verdict": "divergent", "divergences": [row()]})
    assert found["phases"] == ["eager_forward"]
    assert found["ops"] == [["relu", {"float32": [1]}]]


def test_skipped_cases_are_called_but_not_checked(covered):
    """An op that was only skipped counts nowhere, yet it is not one that nobody called."""
    names = {"registry": [], "touched": [], "names": ["relu", "cholesky"]}
    found = covered({"verdict": "skipped"}, surfaces=[names])
    assert (found["phases"], found["ops"]) == ([], [["relu", {"float32": []}]])
    assert found["untested"] == ["cholesky"]


def test_op_without_a_tensor(covered):
    """An op that was given no tensor stands under `none`."""
    assert covered({"dtypes": [""], "graph": OFF})["ops"] == [["relu", {"none": [1, 1]}]]


def test_surfaces_are_joined(covered):
    """What each worker's target registers, touched and shares is one set, sorted."""
    surfaces = [
        {"registry": ["relu", "add"], "touched": ["relu"], "names": ["relu", "sub"]},
        {"registry": ["add", "relu"], "touched": ["add"], "names": ["mul", "sub"]},
    ]
    found = covered({}, surfaces=surfaces)
    assert found["registry"] == {"names": ["add", "relu"], "touched": ["add", "relu"]}
    assert found["untested"] == ["mul", "sub"]


def test_all_ops_tested(covered):
    """Nothing untested is an empty list; a target that told no names is null."""
    names = {"registry": [], "touched": [], "names": ["relu"]}
    assert covered({}, surfaces=[names])["untested"] == []
    assert covered({}, surfaces=[{**names, "names": []}])["untested"] is None


def test_target_without_a_registry(covered):
    """A target that does not tell its op types has no registry, whatever it touched."""
    assert covered({}, surfaces=[{"registry": [], "touched": ["relu"], "names": []}])["registry"] is None


def test_empty_run(covered):
    """A run without a case covers nothing."""
    assert covered() == {"phases": [], "ops": [], "registry": None, "untested": None}


def test_rejected_draws_cover_nothing(covered):
    """A draw that the reference refused checked no op."""
    assert covered({"verdict": "rejected", "ops": [], "dtypes": []})["ops"] == []
