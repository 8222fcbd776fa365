"""Records by hand: each fixture gives a function, so that a test states only the fields it is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports import Summary, read_run, summarize

Record = dict[str, Any]


@pytest.fixture
def header() -> Callable[..., Record]:
    """Give a function which makes the first record of a file."""

    def make(**fields: Any) -> Record:
        environment = {"torch": "2.14.1", "oneflow": "0.9.0"}
        base = {"type": "run", "version": 2, "worker": "main", "seed": 7, "target": "oneflow", "time": 100.0}
        facts = {"environment": environment, "command": "pytest", "commit": "0123456789ab", "path": "/work"}
        return {**base, **facts, **fields}

    return make


@pytest.fixture
def row() -> Callable[..., Record]:
    """Give a function which makes a divergence of a case."""

    def make(**fields: Any) -> Record:
        base = {
            "id": "0a1b2c3d",
            "fingerprint": "oneflow/eager_forward/value/relu/float32",
            "target": "oneflow",
            "test": "test_x.py::test_a",
            "op": "relu",
            "phase": "eager_forward",
            "kind": "value",
            "level": "wrong",
            "case_key": "test_x.py::test_a#0",
            "message": "out[0]=2.0, but should be 1.0 [relu(float32)]",
            "replay": "autotest replay 0a1b2c3d",
            "reason": None,
            "evidence": None,
        }
        return {**base, **fields}

    return make


@pytest.fixture
def evidence() -> Callable[..., Record]:
    """Give a function which makes the evidence of a divergence."""

    def make(**fields: Any) -> Record:
        empty: Record = {"inputs": [], "facts": [], "words": [], "worst": [], "heat": None, "histogram": None}
        return {"program": "def program(torch, x):", "blamed_line": 1, "last_words": None, **empty, **fields}

    return make


@pytest.fixture
def element() -> Callable[..., Record]:
    """Give a function which makes one of the worst elements."""

    def make(**fields: Any) -> Record:
        base = {"index": [0], "reference": 1.0, "eager": 2.0, "graph": None, "absolute": 1.0, "relative": 1.0, "ulp": 9}
        return {**base, **fields}

    return make


@pytest.fixture
def case() -> Callable[..., list[Record]]:
    """Give a function which makes the start and end records of a case, whose divergences are of its key."""

    def make(test: str = "test_x.py::test_a", index: int = 0, **fields: Any) -> list[Record]:
        key = f"{test}#{index}"
        end = {"type": "end", "key": key, "test": test, "verdict": "aligned", "reason": None}
        end = {**end, "ops": ["relu"], "dtypes": ["float32"]}
        graph = {"forward": "verified", "backward": "off"}
        rows = [{**row, "case_key": key} for row in fields.pop("divergences", [])]
        return [
            {"type": "start", "test": test, "key": key, "index": index, "time": 101.0},
            {**end, "graph": graph, "seconds": 0.5, "divergences": rows, "time": 102.0, **fields},
        ]

    return make


@pytest.fixture
def ended() -> Callable[..., Record]:
    """Give a function which makes the record of a test's end."""

    def make(test: str = "test_x.py::test_a", seconds: float = 1.0, outcome: str = "passed") -> Record:
        return {"type": "test", "test": test, "seconds": seconds, "outcome": outcome, "line": 12, "time": 110.0}

    return make


@pytest.fixture
def lay(tmp_path: Path) -> Callable[..., Path]:
    """Give a function which writes records into one worker's file and returns the run folder."""

    def write(*records: Record | bytes, worker: str = "main") -> Path:
        lines = [r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in records]
        (tmp_path / f"records-{worker}.jsonl").write_bytes(b"".join(lines))
        return tmp_path

    return write


@pytest.fixture
def summed(lay: Callable[..., Path], header: Callable[..., Record]) -> Callable[..., Summary]:
    """Give a function which summarises one worker's records, the first line added."""

    def make(*records: Record | bytes) -> Summary:
        return summarize(read_run(lay(header(), *records)))

    return make
