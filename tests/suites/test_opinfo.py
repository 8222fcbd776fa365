"""The OpInfo suite, on PyTorch against itself with planted faults."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.forks import forks
from support.runs import environment

ROOT = Path(__file__).parents[2]
SUITE = "suites/opinfo/test_opinfo.py"
ENTRIES = ("cumsum", "diff", "exp", "cat", "float", "mT", "__rsub__", "nn.functional.dropout", "empty", "chalf")


class Outcome:
    """What the inner run left behind."""

    def __init__(self, status: int, out: str, report: Path) -> None:
        self.status = status
        self.out = out
        self.summary: dict[str, Any] = json.loads((report / "summary.json").read_text())
        lines = [line for path in report.glob("runs/*/records-*.jsonl") for line in path.read_text().splitlines()]
        records = [json.loads(line) for line in lines]
        self.outcomes = {_entry(record): record["outcome"] for record in records if record["type"] == "test"}
        self.verdicts = Counter((_entry(record), record["verdict"]) for record in records if record["type"] == "end")


def _entry(record: dict[str, Any]) -> str:
    return str(record["test"]).partition("[")[2].removesuffix("]")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run of a handful of entries with `torch.cumsum` wrong and `torch.diff` missing."""
    report = tmp_path_factory.mktemp("opinfo")
    asked = ["-m", "pytest", "-rs", "--autotest-target", "torch", "--autotest-report", str(report)]
    asked += ["--autotest-shrink", "0", "--autotest-blame-total", "0", "--autotest-repro-total", "0"]
    asked += [f"{SUITE}::test_entry[{entry}]" for entry in ENTRIES]
    variables = environment({"AUTOTEST_FAULT": "opinfo_faults:planted", "COLUMNS": "200"})
    done = forks().run(asked, ROOT, variables, merged=True)
    return Outcome(done.returncode, done.stdout, report)


def test_planted_fault_turns_its_entry_red(outcome: Outcome) -> None:
    """A wrong result is a divergence of its own entry, in every case, and of no other."""
    assert outcome.status == 1
    assert outcome.outcomes == {
        "cumsum": "failed",
        "diff": "passed",
        "exp": "passed",
        "cat": "passed",
        "float": "passed",
        "mT": "passed",
        "__rsub__": "passed",
        "nn.functional.dropout": "passed",
        "empty": "skipped",
        "chalf": "skipped",
    }
    assert {row["fingerprint"] for row in outcome.summary["divergences"]} == {
        "torch/eager_forward/value/cumsum/float32"
    }
    assert outcome.verdicts["cumsum", "divergent"] == 3


def test_missing_entry_is_counted(outcome: Outcome) -> None:
    """An op that the target lacks is counted in each of its cases, and its test stays green."""
    [row] = outcome.summary["counted"]
    assert row["fingerprint"] == "torch/eager_forward/missing/diff/float32"
    assert row["message"] == "diff: diff raised MissingOp: torch has no 'diff'"
    assert outcome.verdicts["diff", "divergent"] == 3


def test_other_entries_are_aligned(outcome: Outcome) -> None:
    """Functions, methods, attributes and reflected operators are compared in every case."""
    for entry in ("exp", "cat", "float", "mT", "__rsub__"):
        assert outcome.verdicts[entry, "aligned"] == 3


def test_skips_say_why(outcome: Outcome) -> None:
    """What cannot be compared is skipped with its reason."""
    skips = re.findall(r"^SKIPPED \[1\] suites/opinfo/test_opinfo\.py:\d+: (.*)$", outcome.out, re.MULTILINE)
    assert sorted(skips) == ["its result is complex32, which NumPy lacks", "its values are whatever memory held"]
