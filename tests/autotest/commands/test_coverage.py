"""`autotest coverage` tells what the tensors of each op have reached in a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autotest.cli import main
from reports import RecordWriter

LAID_OUT = {"cases": 5, "refused": 0, "pairs": 4, "covered": 3}
CELLS = {"float32 2 contiguous ordinary": [3, 2, 1, 0, 0, 0]}


def called(*arguments: object) -> tuple[int, str, str]:
    """Run the command and return its exit status, output and errors."""
    answer = CliRunner().invoke(main, ["coverage", *map(str, arguments)])
    return answer.exit_code, answer.stdout, answer.stderr


def made_run(folder: Path, *groups: object) -> Path:
    """A run with one test."""
    header = {"seed": 0, "target": "oneflow", "environment": {}, "command": "pytest", "commit": None, "path": None}
    with RecordWriter(folder, "main", **header) as writer:
        if groups:
            writer.reached("test_x.py::test_a", {"laid_out": LAID_OUT, "groups": [*groups]})
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose test calls relu and softmax."""
    return made_run(tmp_path / "run", {"ops": ["relu"], "cells": CELLS}, {"ops": ["softmax"], "cells": {}})


def test_one_op(run: Path) -> None:
    """An op that is asked for is told alone."""
    status, out, err = called("--report", run, "relu")
    assert (status, err) == (0, "")
    assert out.splitlines()[:3] == [
        "relu  in 1 test, 5 laid-out cases, 75.0 % of 4 pairs of corners",
        "  dtype   reached          float32",
        "          never            float16, bfloat16, float64, int8, uint8, int16,",
    ]
    assert "softmax" not in out


def test_all_ops(run: Path) -> None:
    """Without an op all of them are told, by name."""
    _, out, _ = called("--report", run)
    assert [line.partition("  ")[0] for line in out.splitlines() if line[:1] not in ("", " ")] == ["relu", "softmax"]


def test_never(run: Path) -> None:
    """What was never reached stands alone, of the ops for which tensors were drawn."""
    status, out, _ = called("--report", run, "--never")
    assert status == 0
    assert out.startswith("relu: dtype float16, bfloat16, float64, ")
    assert out.endswith("phase graph backward\n")
    assert "softmax" not in out


def test_json(run: Path) -> None:
    """For programs there is everything, of the ops that are asked for."""
    told = json.loads(called("--report", run, "--json", "softmax", "relu")[1])
    assert [*told["ops"]] == ["softmax", "relu"]
    assert told["ops"]["relu"]["cells"] == [["float32", "2", "contiguous", "ordinary", 3, 2, 1, 0, 0, 0]]


def test_mistakes(run: Path, tmp_path: Path) -> None:
    """What cannot be told is said in a sentence, with the way out, and status 2."""
    assert called("--report", run, "rel") == (
        2, "", f"OP='rel', but should be an op that the tests of {run} call; did you mean relu?\n",
    )  # fmt: skip
    assert called("--report", run, "quux") == (
        2, "", f"OP='quux', but should be an op that the tests of {run} call; without an OP all of them are told\n",
    )  # fmt: skip
    empty = made_run(tmp_path / "empty")
    assert called("--report", empty) == (
        2,
        "",
        f"{empty} tells nothing of what its ops were given: no test in it has ended that drew a case; run the tests "
        "first\n",
    )
    status, _, err = called("--report", tmp_path / "none")
    assert status == 2
    assert err.startswith("there is no report folder ")
    status, _, err = called("--report", run, "--never", "--json")
    assert status == 2
    assert err.endswith("Error: --never and --json are two forms of the same: give one of them\n")
