"""Runs of pytest inside pytest, each made once and shared by all tests (and xdist workers) that look at it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autotest.options import RunOptions
from autotest.run.session import Session, current_session

HERE = Path(__file__).parent
BODIES = HERE / "bodies"
TIMEOUT = 240
# Test files of the inner runs: each is copied to where it runs.
collect_ignore = ["bodies"]


@dataclass(frozen=True)
class Outcome:
    """What an inner run left behind."""

    status: int
    out: str
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        """The content of summary.json."""
        found: dict[str, Any] = json.loads((self.folder / "autotest-report" / "summary.json").read_text())
        return found

    def records(self, kind: str = "end") -> list[dict[str, Any]]:
        """The records of one type, of all files."""
        files = sorted((self.folder / "autotest-report" / "runs").glob("*/records-*.jsonl"))
        found = [json.loads(line) for path in files for line in path.read_text().splitlines()]
        return [record for record in found if record["type"] == kind]

    def ends(self, test: str) -> list[dict[str, Any]]:
        """The end records of one test, by its bare name."""
        return [record for record in self.records() if record["test"].rpartition("::")[2] == test]

    def verdicts(self, test: str) -> Counter[str]:
        """How the cases of one test ended."""
        return Counter(record["verdict"] for record in self.ends(test))

    def rows(self, test: str) -> set[tuple[str, str, str]]:
        """Phase, kind and blamed op of every divergence of one test."""
        return {(row["phase"], row["kind"], row["op"]) for end in self.ends(test) for row in end["divergences"]}

    def messages(self, test: str) -> set[str]:
        """The messages of one test's divergences."""
        return {row["message"] for end in self.ends(test) for row in end["divergences"]}

    def outcomes(self) -> dict[str, str]:
        """How each test ended, by its bare name."""
        return {record["test"].rpartition("::")[2]: record["outcome"] for record in self.records("test")}

    def counts(self) -> dict[str, int]:
        """The counts of the summary."""
        names = ("tests", "cases", "aligned", "divergent", "rejected", "crashed", "timed_out")
        return {name: self.summary[name] for name in names}


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Our environment without what the outer pytest put there, with the faults importable."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "AUTOTEST_"))}
    return {**clean, "PYTHONPATH": str(HERE), "PYTHONWARNINGS": "", **extra}


def command(*arguments: str, target: str | None = "torch") -> list[str]:
    """The command line of an inner pytest. Nothing is shrunk or remembered, and inputs are plain, unless it asks for
    that: what a run tells of its cases is the same then, however wild inputs become. Without a target it gets no option
    of ours.
    """
    start = [sys.executable, "-m", "pytest", "-W", "error"]
    if target is None:
        return [*start, *arguments]

    def given(option: str) -> bool:
        return any(argument.startswith(option) for argument in arguments)

    quick = [] if given("--autotest-shrink") else ["--autotest-shrink=0", "--autotest-no-memory"]
    # Most look at no repro: they are written, but not run, which takes seconds for each.
    quick += ["--autotest-repro-total", "0"]
    quick += [] if given("--autotest-blame-total") else ["--autotest-blame-total", "0"]
    quick += [] if given("--autotest-inputs") else ["--autotest-inputs", "plain"]
    return [*start, *quick, "--autotest-target", target, *arguments]


def lay(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of an inner run: name to text, or name to the name of a file in `bodies`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.endswith(".py") and "\n" not in text:
            shutil.copy(BODIES / text, path)
        else:
            path.write_text(text)


def run_pytest(
    folder: Path,
    files: Mapping[str, str],
    *arguments: str,
    target: str | None = "torch",
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> Outcome:
    """Run pytest on `files` in `folder` and wait for it."""
    folder.mkdir(parents=True, exist_ok=True)
    lay(folder, files)
    done = subprocess.run(  # noqa: S603 - our own interpreter
        command(*arguments, target=target),
        cwd=folder,
        env=environment({"AUTOTEST_ONCE": str(folder), **(env or {})}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
        **options,
    )
    return Outcome(done.returncode, done.stdout, folder)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    """Give a function like `run_pytest`, whose first argument names a run that is made once per session."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "inner"
    root.mkdir(exist_ok=True)

    def run(name: str, files: Mapping[str, str], *arguments: str, **options: Any) -> Outcome:
        done = root / f"{name}.json"
        with _locked(root / f"{name}.lock"):
            if not done.exists():
                made = run_pytest(root / name, files, *arguments, **options)
                done.write_text(json.dumps([made.status, made.out]))
            status, out = json.loads(done.read_text())
        return Outcome(status, out, root / name)

    return run


@pytest.fixture(scope="session")
def torch_session() -> Iterator[Session]:
    """A session against the torch target that keeps no records; its worker stays warm for all tests."""
    session = Session(RunOptions(target="torch", case_timeout=60.0, inputs="plain", shrink=0, blame_total=0))
    yield session
    session.close()


@pytest.fixture
def session(torch_session: Session) -> Iterator[Session]:
    """The warm session as the current one, so that an @autotest function can simply be called."""
    token = current_session.set(torch_session)
    torch_session.counts.clear()
    torch_session.inline_tests.clear()
    yield torch_session
    current_session.reset(token)
