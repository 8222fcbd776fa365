"""`autotest run --suites`: the suites as they were installed, from any folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import click
import pytest

from autotest.commands.suites import HOME, suite_arguments
from support.runs import run_autotest


@pytest.mark.parametrize(
    ("paths", "named", "rest"),
    [
        ((), [""], []),
        (("-k", "matmul"), [""], ["-k", "matmul"]),
        (("test_scan.py::test_op", "global", "-x"), ["test_scan.py::test_op", "global"], ["-x"]),
    ],
)
def test_paths_are_those_of_the_suites(paths: tuple[str, ...], named: list[str], rest: list[str]) -> None:
    """PATHS are looked for in the suites, all of which run where there are none; settings and root follow."""
    settings = ["-c", f"{HOME}/pytest-suites.ini", "--rootdir", os.getcwd()]
    assert [*suite_arguments(paths)] == [*(str(HOME / name) for name in named), *settings, *rest]


def test_what_the_suites_do_not_have() -> None:
    """A path of another folder is refused with where it was looked for; so is an installation without suites."""
    with pytest.raises(click.UsageError) as refused:
        suite_arguments(("suites/test_scan.py::test_x", "-x"))
    assert refused.value.message == (
        f"PATHS='suites/test_scan.py::test_x': the suites in {HOME} have no suites/test_scan.py, but it should be a "
        "file, a folder, or the file of a node id there [--suites]"
    )
    with pytest.raises(click.UsageError) as refused:
        suite_arguments((), Path("nowhere"))
    assert refused.value.message == "--suites: nowhere is not there; install op-autotest again, whole"


@pytest.mark.slow
def test_suites_run_elsewhere(tmp_path: Path) -> None:
    """In a folder whose own settings would refuse any test, with a folder `suites` of its own: they run in a
    worker of xdist, know their ledger, and leave the report and what is remembered there.
    """
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "suites").mkdir()
    asked = ["test_unary.py::test_op[torch.lgamma]", "test_unary.py::test_op[torch.exp]", "-n", "1", "--cases", "3"]
    done = run_autotest(tmp_path, "run", "--suites", *asked, "--shrink", "0", "--inputs", "plain")
    assert done.returncode == 0, done.stdout
    headline = r"aligned: \d cases of 2 tests, oneflow \S+ against torch \S+; nothing new, 1 op is known to diverge"
    assert re.search(headline, " ".join(done.stdout.split())), done.stdout
    found = json.loads((tmp_path / "autotest-report" / "summary.json").read_text())
    assert {row["fingerprint"] for row in found["known"]} == {"oneflow/eager_backward/value/lgamma/float32"}
    assert found["path"] == str(tmp_path)
    records = [json.loads(line) for path in tmp_path.rglob("records-*.jsonl") for line in path.read_text().splitlines()]
    tests = {record["test"] for record in records if record["type"] == "test"}
    assert tests == {"test_unary.py::test_op[torch.lgamma]", "test_unary.py::test_op[torch.exp]"}
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".pytest_cache", "autotest-report", "pytest.ini", "suites"]
