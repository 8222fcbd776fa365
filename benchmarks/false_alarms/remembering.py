"""A copy of the suites in which every test remembers cases of another seed, as if they had diverged there."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from autotest.cases.case import case_test_name
from autotest.options import Inputs
from autotest.run.regressions import Draw, Memory, Recalled, bounded
from benchmarks.running import ROOT, RunError

#: The seed of the remembered cases; the run's own is 0.
SEED = 1


@contextlib.contextmanager
def remembering(paths: Sequence[str], inputs: str, cases: int) -> Iterator[Path]:
    """A folder for a run of `paths` on PyTorch, with the first cases of each test in its memory. Raises RunError."""
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as scratch:
        folder = Path(scratch)
        for name in sorted({Path(path).parts[0] for path in paths}):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "pytest.ini").write_text("[pytest]\n")
        memory = Memory(folder, "torch")
        for nodeid in collected(folder, paths):
            # Each as a fingerprint of its own: of one fingerprint only a few cases are kept.
            draws = [Draw(SEED, cast(Inputs, inputs), index, f"{index:08x}") for index in range(cases)]
            problem = memory.keep(f"{nodeid} {case_test_name(nodeid)}", Recalled(), bounded(draws))
            if problem is not None:
                raise RunError(problem)
        yield folder


def collected(folder: Path, paths: Sequence[str]) -> list[str]:
    """The ids of the tests in a folder. Raises RunError where pytest cannot collect them, or finds none."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *paths]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    ids = [line for line in done.stdout.splitlines() if "::" in line]
    if done.returncode or not ids:
        raise RunError(f"pytest collects nothing in {folder}, exit status {done.returncode}\n{done.stdout[-2000:]}")
    return ids
