"""What the report of a great run costs: 100,000 cases, 5,000 of them divergent, each with a fingerprint of its own."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import cpu_seconds
from reports import RecordWriter, read_run, save_site, save_summary, summarize

CASES = 100_000
EVERY = 20  # so many cases, one of them divergent
TESTS = 1000
OPS = 700


def write(folder: Path) -> None:
    """Write the records of the run."""
    heat = {"shape": [8, 8], "rows": 8, "columns": 8, "cells": [[0.125] * 8] * 8, "note": ""}
    element = {
        "index": [0, 1],
        "reference": 1.5,
        "eager": 2.5,
        "graph": 1.5,
        "absolute": 1.0,
        "relative": 0.66,
        "ulp": 9.0,
    }
    evidence = {
        "program": "def program(torch, x):\n    t0 = torch.op(x)\n    return t0",
        "blamed_line": 2,
        "last_words": None,
        "facts": [["dtype", "float32", "float32", "float32"], ["shape", "(8, 8)", "(8, 8)", "(8, 8)"]],
        "words": ["64 of 64 elements differ beyond the tolerance"],
        "worst": [element] * 10,
        "heat": heat,
        "histogram": [[f"{2**i}", i] for i in range(20)],
    }
    graph = {"forward": "verified", "backward": "verified"}
    with RecordWriter(
        folder,
        "main",
        seed=0,
        target="oneflow",
        environment={"torch": "2.0", "oneflow": "0.9.0"},
        command="autotest run",
    ) as writer:
        for number in range(CASES):
            test = f"suites/test_family{number % TESTS % 20}.py::test_op{number % TESTS}"
            key, op = f"{test}#{number // TESTS}", f"op{number % OPS}"
            rows = [_row(test, key, op, number, evidence)] if number % EVERY == 0 else []
            writer.start(test, key, number // TESTS)
            verdict = "divergent" if rows else "aligned"
            writer.end(test, key, verdict, ops=[op], dtypes=["float32"], graph=graph, seconds=0.001, divergences=rows)
        for number in range(TESTS):
            writer.test(f"suites/test_family{number % 20}.py::test_op{number}", 1.0, "failed", 10)


def _row(test: str, key: str, op: str, number: int, evidence: dict[str, object]) -> dict[str, object]:
    fingerprint = f"oneflow/eager_forward/value/{op}/fact{number}"
    message = f"{op}: t0 differs in 64 of 64 elements: [0, 1] is 2.5, but should be 1.5 (rtol=0.0001, atol=1e-05)"
    return {
        "id": f"{number:08x}",
        "fingerprint": fingerprint,
        "target": "oneflow",
        "test": test,
        "op": op,
        "phase": "eager_forward",
        "kind": "value",
        "level": "wrong",
        "reason": None,
        "case_key": key,
        "message": message,
        "replay": f"autotest replay {number:08x}",
        "evidence": evidence,
    }


def render(folder: Path) -> None:
    """Sum a run up and draw it, and print CPU seconds, peak memory and the size of the page as JSON."""
    started = time.process_time()
    summary = summarize(read_run(folder))
    save_summary(folder, summary)
    page = save_site(folder, summary)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"render": seconds, "memory": peak, "page": page.stat().st_size / 1e6}))


def great_run() -> dict[str, float]:
    """Render a great run in a process of its own, and paint it; without Chromium that is left out."""
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as folder:
        run = Path(folder) / "runs" / "20260101-000000-0-1"
        write(run)
        command = [sys.executable, "-m", "benchmarks.rendering", str(run)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
        figures: dict[str, float] = json.loads(answer.stdout)
        painted = first_paint(Path(folder) / "index.html")
        if painted is not None:
            figures["first paint"] = painted
    figures["records"] = 100 * records_share()
    return figures


def first_paint(page: Path) -> float | None:
    """Milliseconds until Chromium first paints something of a page, the median of five; None without Chromium."""
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        times: list[float] = []
        for _ in range(5):
            tab = browser.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
            times.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            tab.close()
        browser.close()
    return median(times)


def records_share() -> float:
    """The share of a run's CPU that writing its records takes: they are written again and timed."""
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as folder:
        cases = str(Path(__file__).parent / "bench_cases.py")
        command = [sys.executable, "-m", "autotest", "run", f"{cases}::test_eager", "-n", "0"]
        # plain inputs: OneFlow keeps another sign of zero in relu, and looking for causes is not what is timed
        command += ["--inputs", "plain", "--cases", "2200"]
        spent = cpu_seconds([*command, "--report", folder])
        [lines] = [path.read_text().splitlines() for path in Path(folder).glob("runs/*/records-main.jsonl")]
        records = [json.loads(line) for line in lines]
        identity: dict[str, Any] = {"seed": 0, "target": "oneflow", "environment": {}, "command": ""}
        with RecordWriter(Path(folder) / "again", "main", **identity) as writer:
            started = time.process_time()
            for record in records:
                writer.write(record)
            return (time.process_time() - started) / spent


if __name__ == "__main__":
    render(Path(sys.argv[1]))
