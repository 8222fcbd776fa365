"""Shards: every test in exactly one, by its name alone; `autotest merge` joins their runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest.errors import UsageError
from autotest.options import OPTIONS, Shard
from support.runs import Outcome, environment, run_pytest

NAMES = [f"test_{family}.py::test_{op}[{i}]" for family in ("a", "b") for op in ("sin", "cos") for i in range(250)]
#: The shard of the first ten of them, of seven: never to change, since CI relies on it.
GOLDEN = [3, 2, 2, 5, 6, 4, 5, 5, 2, 7]
SharedRun = Callable[..., Outcome]
TESTS = """
import pytest
from autotest import autotest, random_tensor, torch

@pytest.mark.parametrize("op", ["sin", "cos", "square"])
@autotest(n=2)
def test_op(op):
    return getattr(torch, op)(random_tensor(ndim=1))

def test_plain():
    pass
"""


@pytest.mark.parametrize("count", [1, 2, 7])
def test_each_test_in_one_shard(count: int) -> None:
    """The shards share all tests out, each about as many."""
    held = [{name for name in NAMES if Shard(index, count).holds(name)} for index in range(1, count + 1)]
    assert sum(map(len, held)) == len(NAMES)
    assert set().union(*held) == set(NAMES)
    assert all(abs(len(names) - len(NAMES) / count) < 0.3 * len(NAMES) / count for names in held)


def test_shard_is_stable() -> None:
    """A name stays in its shard on every machine and in every version."""
    assert [next(i for i in range(1, 8) if Shard(i, 7).holds(name)) for name in NAMES[:10]] == GOLDEN


def test_tests_without_cases() -> None:
    """A test without @autotest belongs to shard 1 and to no other."""
    assert [Shard(index, 3).holds(None) for index in (1, 2, 3)] == [True, False, False]


@pytest.mark.parametrize(
    "text", ["0/2", "3/2", "1/0", "1", "/2", "1/", "a/b", "-1/2", "1/2/3", " 1/2", "1/2\n", "\u0661/2"]
)
def test_bad_shard(text: str) -> None:
    """What is no shard is told with its value, its form and its option."""
    with pytest.raises(UsageError) as caught:
        OPTIONS["shard"].read(text)
    assert str(caught.value) == (
        f"shard={text!r}, but should be i/n with i from 1 to n, such as 1/2 [--autotest-shard]"
    )


def test_shard_as_typed() -> None:
    """A shard reads as it was typed."""
    assert str(Shard.parse("2/3")) == "2/3"
    assert OPTIONS["shard"].read("2/3") == Shard(2, 3)


def merge(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run `autotest merge` in `folder`; its status and what it said."""
    command = [sys.executable, "-m", "autotest", "merge", *arguments]
    done = subprocess.run(  # noqa: S603 - our own interpreter
        command, cwd=folder, env=environment({}), capture_output=True, text=True, timeout=240, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def shards(shared_run: SharedRun) -> tuple[Outcome, Outcome]:
    """Both halves of a run; in the second, cos is at fault."""
    first, second = (
        shared_run(f"shard-{i}", {"test_parts.py": TESTS}, "-q", "--autotest-shard", f"{i}/2", env=env)
        for i, env in ((1, {}), (2, {"AUTOTEST_FAULT": "faults:wrong"}))
    )
    return first, second


def test_shards_share_the_tests(shards: tuple[Outcome, Outcome]) -> None:
    """Each shard runs its share; the test without @autotest runs in the first; both end with their own status."""
    first, second = shards
    assert first.outcomes() == {"test_op[sin]": "passed"}
    assert "2 passed, 2 deselected" in first.out
    assert second.outcomes() == {"test_op[cos]": "failed", "test_op[square]": "passed"}
    assert "1 failed, 1 passed, 2 deselected" in second.out
    assert (first.status, second.status) == (0, 1)


def test_merged_shards(shards: tuple[Outcome, Outcome], tmp_path: Path) -> None:
    """The merged run has the tests of both, their summary and matrix, and the worst status; it can be replayed from."""
    folders = [str(outcome.folder / "autotest-report") for outcome in shards]
    status, out, err = merge(tmp_path, *folders, "--report", "merged")
    assert (status, err) == (1, "")
    assert out.startswith("DIVERGENT: 1 divergence in 1 of 3 tests, torch ")
    assert re.search(r"^  cos  +wrong all\b", out, re.MULTILINE)
    assert "  2 ops aligned in every phase checked\n" in out
    summary = json.loads((tmp_path / "merged" / "summary.json").read_text())
    assert (summary["tests"], summary["cases"], summary["seed"]) == (3, 6, 0)
    assert [outcome.summary["selection"] for outcome in shards] == [". --shard 1/2", ". --shard 2/2"]
    assert summary["selection"] == "."
    assert {op: row["eager_forward"]["wrong"] for op, row in summary["matrix"].items()} == {
        "cos": 2,
        "sin": 0,
        "square": 0,
    }
    [divergence] = summary["divergences"]
    assert sorted(tmp_path.glob(f"merged/runs/*/programs/{divergence['id']}-2-main-1.json"))


def test_merging_what_does_not_belong_together(shards: tuple[Outcome, Outcome], tmp_path: Path) -> None:
    """One shard given twice ends with 2 and one sentence, and nothing is written."""
    folder = str(shards[0].folder / "autotest-report")
    status, out, err = merge(tmp_path, folder, folder)
    [run] = (shards[0].folder / "autotest-report" / "runs").iterdir()
    assert (status, out) == (2, "")
    assert err == (
        f"test='test_parts.py::test_op[sin]' ran in {run} and in {run}, but should be in one shard only [merge]; "
        "give every run another --shard I/N of one N, and every DIR once\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_killed_shard(shards: tuple[Outcome, Outcome], tmp_path: Path) -> None:
    """A shard whose run never ended is named, and the merged run is no success."""
    [run] = (shards[0].folder / "autotest-report" / "runs").iterdir()
    shutil.copytree(run, tmp_path / "killed")
    (tmp_path / "killed" / "exit-status").unlink()
    status, out, err = merge(tmp_path, "killed")
    assert status == 2
    assert out.startswith("aligned: 2 cases of 1 test")
    assert err == "killed never ended: its tests that did not run are not in this report\n"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_shard_without_a_test(tmp_path: Path, workers: str) -> None:
    """A shard that holds no test says so and exits with 5, with xdist and without."""
    outcome = run_pytest(tmp_path, {"test_parts.py": TESTS}, "-q", "-n", workers, "--autotest-shard", "11/97")
    assert outcome.status == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "\nshard 11/97 holds no test of those selected\n" in outcome.out


def test_bad_shard_ends_pytest(tmp_path: Path) -> None:
    """A shard that means nothing is a usage error of one sentence before any test."""
    outcome = run_pytest(tmp_path, {"test_parts.py": TESTS}, "--autotest-shard", "3/2")
    assert outcome.status == pytest.ExitCode.USAGE_ERROR
    assert outcome.out.strip() == (
        "ERROR: shard='3/2', but should be i/n with i from 1 to n, such as 1/2 [--autotest-shard]"
    )
