"""A record with a wrong field is refused by name."""

from __future__ import annotations

import pytest

from reports.shape import fault_of


def test_good_records(header, case, ended, row):
    """Records as the writers make them have no fault."""
    start, end = case(divergences=[row()])
    assert [fault_of(record) for record in (header(), start, end, ended())] == [None] * 4


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"verdict": "fine"},
            "verdict='fine', but should be one of aligned, divergent, rejected, skipped, crashed, timed_out",
        ),
        ({"verdict": ["aligned"]}, None),
        ({"seconds": 1e999}, "seconds=inf, but should be a finite number"),
        ({"seconds": True}, "seconds=True, but should be a finite number"),
        ({"ops": [1]}, "ops=[1], but should be a list of strings"),
        (
            {"graph": {"forward": "off"}},
            "graph={'forward': 'off'}, but should be null or an object with the strings forward and backward",
        ),
        ({"divergences": [3]}, "divergences[0]=3, but should be an object"),
        ({"type": "begin"}, "type='begin', but should be one of run, target, start, end, test, fault"),
        ({"type": []}, "type=[], but should be one of run, target, start, end, test, fault"),
        (
            {"test": ["x" * 99]},
            f"test=['{'x' * 55}..., but should be a string",
        ),
    ],
)
def test_wrong_field_is_named(case, change, fault):
    """The sentence names the field, its value and what it should be."""
    found = fault_of({**case()[1], **change})
    if fault is None:
        assert found is not None
    else:
        assert found == fault


def test_wrong_field_of_a_row(case, row):
    """A fault inside a divergence names its place."""
    record = case(divergences=[row(), row(kind=None)])[1]
    assert fault_of(record) == "divergences[1].kind=None, but should be a string"
