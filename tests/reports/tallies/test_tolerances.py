"""What ops need of the tolerance table, and which tests allow far more than that."""

from __future__ import annotations

import json

import pytest

from reports import markdown_text, render
from reports.records.shape import fault_of
from reports.tallies.tolerances import save_tolerances, tolerance_text


@pytest.fixture
def found():
    """Give a function which makes a tolerance record."""

    def make(**fields):
        base = {"type": "tolerance", "test": "t.py::test_a", "op": "sum", "dtype": "float32", "device": "cpu"}
        base |= {"phase": "eager_forward", "key": "t.py::test_a#3", "share": 0.25, "ulp": 12.0}
        base |= {"table": [1e-4, 1e-5], "own": None, "because": None, "reference": 0.125, "target": None, "time": 105.0}
        return {**base, **fields}

    return make


def test_greatest_error_of_a_place_is_kept(summed, case, ended, found):
    """Per op, dtype, device and phase, the largest error and the case that shows it, whatever the tests."""
    more = found(test="t.py::test_b", key="t.py::test_b#1", share=0.5, ulp=20.0)
    summary = summed(*case(), ended(), found(), more, found(dtype="float64", table=[1e-7, 1e-9], share=0.0, ulp=0.0))
    assert [(row.dtype, row.share, row.ulp, row.rtol, row.atol, row.case) for row in summary.tolerances] == [
        ("float32", 0.5, 20.0, 5e-5, 5e-6, "t.py::test_b#1"),
        ("float64", 0.0, 0.0, 0.0, 0.0, "t.py::test_a#3"),
    ]
    assert summary.loose == ()
    assert "Loose" not in render(summary)


def test_table_and_file(summed, case, ended, found, tmp_path):
    """The table has a line per place, the file the same as JSON."""
    rows = summed(*case(), ended(), found()).tolerances
    text = [line.split() for line in tolerance_text(rows, 120).splitlines()]
    assert text[1] == [
        *("sum", "float32", "cpu", "eager_forward", "0.25", "12", "2.5e-05", "2.5e-06", "0.12", "-", "t.py::test_a#3")
    ]
    kept = json.loads(save_tolerances(tmp_path, rows).read_text())
    assert kept == [
        {
            "op": "sum",
            "dtype": "float32",
            "device": "cpu",
            "phase": "eager_forward",
            "share": 0.25,
            "ulp": 12.0,
            "rtol": 2.5e-5,
            "atol": 2.5e-6,
            "reference": 0.125,
            "target": None,
            "case": "t.py::test_a#3",
        }
    ]


WOULD_DO = "rtol=0.0001, atol=1e-05 would do [largest error: t.py::test_a#3]"


@pytest.mark.parametrize(
    ("fields", "sentences"),
    [
        ({"own": [1e-1, 1e-1]}, [f"t.py::test_a: rtol=0.1, atol=0.1, but {WOULD_DO}"]),
        ({"own": [1e-1, 1e-1], "because": "t.py::test_a#3"}, [f"t.py::test_a: rtol=0.1, atol=0.1, but {WOULD_DO}"]),
        (
            {"own": [1e-3, 1e-4]},
            [
                "t.py::test_a: rtol=0.001, atol=0.0001 is wider than the table's rtol=0.0001, atol=1e-05, "
                f"but because=... should name the case that needs it [@autotest(...)]; {WOULD_DO}"
            ],
        ),
        ({"own": [1e-3, 1e-4], "because": "t.py::test_a#3"}, []),
        ({"own": [1e-1, 1e-2], "because": "t.py::test_a#3", "share": 20.0}, []),
        ({"own": [1e-5, 1e-6]}, []),
    ],
    ids=["far too loose", "a reason does not help", "no reason", "a reason", "needed", "tighter"],
)
def test_loose_tolerance_is_told(summed, case, ended, found, fields, sentences):
    """A hundred times what is needed is too loose; what is wider than the table needs a case that shows why."""
    summary = summed(*case(), ended(), found(**fields))
    assert list(summary.loose) == sentences
    assert summary.to_json()["loose"] == sentences
    for sentence in sentences:
        assert sentence in render(summary, 400)
        assert sentence in markdown_text(summary)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"share": -1}, "share=-1, but should be a number of at least 0"),
        ({"table": [1e-4]}, "table=[0.0001], but should be a pair of numbers"),
        ({"own": "loose"}, "own='loose', but should be a pair of numbers or null"),
    ],
)
def test_damaged_record(found, fields, fault):
    """A record that is none is damaged, with its sentence."""
    assert fault_of(found(**fields)) == fault
