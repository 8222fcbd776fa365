"""summary.json has exactly its documented keys, and the worst kinds come first."""

from __future__ import annotations

import pytest

from reports.records.kinds import severity
from reports.records.shape import LEVELS
from reports.tallies.summary import Evidence


def test_keys(summed, case, ended, row, evidence):
    """The keys of summary.json and of its rows are the documented ones."""
    rows = {level: row(level=level, reason=f"why {level}") for level in LEVELS}
    end = case(
        verdict="divergent", divergences=[*rows.values(), row(kind="dtype", fingerprint="f", evidence=evidence())]
    )
    target = {"type": "target", "environment": {}, "devices": ["cpu"]}
    told = summed(target, *end, ended(outcome="failed")).to_json()
    assert set(told) == {
        *("cases", "aligned", "divergent", "rejected", "skipped", "crashed", "timed_out"),
        *("out_of_memory", "tests", "seconds"),
        *(
            "seed",
            "inputs",
            "random",
            "graph",
            "target",
            "devices",
            "lacks",
            "environment",
            "command",
            "commit",
            "path",
        ),
        "selection",
        "started",
        *(
            "divergences",
            "known",
            "counted",
            "stricter",
            "programs",
            "outcomes",
            "errors",
            "complete",
            "running",
            "stops",
            "faults",
        ),
        *("skipped_reasons", "rejected_reasons", "remembered", "slowest", "matrix", "undecidable", "doubts", "loose"),
        *("segments", "laid_out", "undecidable_reasons"),
    }
    assert told["graph"] == {"verified": 1, "backward_verified": 0, "skipped": {}}
    other = row(kind="dtype", fingerprint="f")
    for made in (*rows.values(), other):
        del made["evidence"]  # the report has it; summary.json stays small
    red = [rows["wrong"], rows["refuses"], other]
    assert told["divergences"] == [{**made, "count": 1, "blame": None} for made in red]
    for level in ("known", "counted", "stricter"):
        assert told[level] == [{**rows[level], "count": 1}]
    assert told["outcomes"] == {"test_x.py::test_a": "failed"}
    facts = [told[name] for name in ("target", "devices", "command", "commit", "path", "started")]
    assert facts == ["oneflow", ["cpu"], "pytest", "0123456789ab", "/work", 100.0]
    assert told["slowest"] == [{"test": "test_x.py::test_a", "seconds": 1.0}]


def test_losses(summed, case, row, evidence):
    """A new divergence of a training has its losses in its row, one of anything else has no such key."""
    losses = {
        "reference": [0.5],
        "eager": ["nan"],
        "graph": None,
        "words": ["eager: a loss that is not finite in every step"],
    }
    losses["parting"] = {"step": 1, "words": "at step 1, in the forward: loss"}
    rows = [
        row(fingerprint="a", evidence=evidence(losses=losses)),
        row(fingerprint="b", evidence=evidence(losses=None)),
    ]
    told = summed(*case(verdict="divergent", divergences=rows)).to_json()["divergences"]
    assert [one.get("losses", "no key") for one in told] == [losses, "no key"]


def test_severity_orders_kinds():
    """Crashes come first, an unknown kind before refusals, refusals last."""
    kinds = ["unsupported", "missing", "new_kind", "dtype", "value", "timeout", "crash"]
    assert sorted(kinds, key=severity) == kinds[::-1]


@pytest.mark.parametrize(
    ("parts", "listing"),
    [
        ({"program": None}, None),
        ({"program": "t0 = x\n"}, "t0 = x"),
        ({"program": "t0 = x", "inputs": ("x = 1", "y = 2")}, "x = 1\ny = 2\n\nt0 = x"),
        ({"program": "t0 = x", "inputs": ("x = 1",), "shrunk": {"program": "x", "values": ["x = 0"]}}, "x = 0\n\nx"),
        ({"program": "t0 = x", "inputs": ("x = 1",), "shrunk": {"program": None, "values": []}}, "x = 1\n\nt0 = x"),
    ],
    ids=["none", "alone", "with inputs", "shrunk", "not shrunk"],
)
def test_simplest_program(parts, listing):
    """A listing is the shrunk program where there is one, below its inputs."""
    assert Evidence(**parts).listing == listing
