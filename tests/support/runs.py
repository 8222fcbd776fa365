"""Runs of pytest inside pytest: the files they run, their command line and environment, and what they left behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.forks import TIMEOUT, forks, outer_environment

#: The modules of planted faults, which an inner run imports by their bare names: `AUTOTEST_FAULT=faults:wrong`.
SUPPORT = Path(__file__).parent
BODIES = SUPPORT / "bodies"
#: The real one; while a test runs, `sys.executable` may be a fork's.
INTERPRETER = sys.executable


def _written(files: Sequence[Path]) -> int:
    """When the last of these files was written to."""
    return max((path.stat().st_mtime_ns for path in files), default=0)


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
        """The records of one type, of all files, those of a later run behind those of an earlier one: of runs that
        begin in one second the names do not say which was first.
        """
        runs = (self.folder / "autotest-report" / "runs").iterdir()
        by_run = sorted((sorted(run.glob("records-*.jsonl")) for run in runs), key=_written)
        files = [path for of_run in by_run for path in of_run]
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
    return {**outer_environment(), "PYTHONPATH": str(SUPPORT), "PYTHONWARNINGS": "", **extra}


def command(*arguments: str, target: str | None = "torch") -> list[str]:
    """The command line of an inner pytest. Nothing is shrunk or remembered, and inputs are plain, unless it asks for
    that: what a run tells of its cases is the same then, however wild inputs become. Without a target it gets no option
    of ours.
    """
    start = [INTERPRETER, "-m", "pytest", "-W", "error"]
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


def run_python(path: Path, *arguments: str, forked: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a script in its folder and wait for it; one that looks at the memory of a process that it starts needs a real
    interpreter, for a fork has another process id.
    """
    if forked:
        return forks().run([str(path), *arguments], path.parent, environment({}))
    line = [INTERPRETER, str(path), *arguments]
    return subprocess.run(line, cwd=path.parent, env=environment({}), capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter


def run_autotest(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `autotest ARGUMENTS` in `folder` and wait for it."""
    return forks().run(["-m", "autotest", *arguments], folder, environment(env or {}))


def run_pytest(
    folder: Path,
    files: Mapping[str, str],
    *arguments: str,
    target: str | None = "torch",
    env: Mapping[str, str] | None = None,
    forked: bool = True,
    **options: Any,
) -> Outcome:
    """Run pytest on `files` in `folder` and wait for it, in a fork where neither imports nor the process matter."""
    folder.mkdir(parents=True, exist_ok=True)
    lay(folder, files)
    line = command(*arguments, target=target)
    variables = environment({"AUTOTEST_ONCE": str(folder), **(env or {})})
    if forked and target and not options:
        done = forks().run(line[1:], folder, variables, merged=True)
    else:  # what looks at imports, or sets up its process, is for a real interpreter
        done = subprocess.run(  # noqa: S603 - our own interpreter
            line,
            cwd=folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
            **options,
        )
    return Outcome(done.returncode, done.stdout, folder)
