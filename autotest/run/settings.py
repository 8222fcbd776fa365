"""From pytest's options to `RunOptions`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autotest.errors import UsageError
from autotest.options import OPTIONS, RunOptions
from autotest.options.targets import launch
from autotest.run.selection import selection
from autotest.workers.memory import memory_limit


def run_options(config: pytest.Config, worker: dict[str, Any] | None) -> RunOptions:
    """The run's options; in an xdist worker, folder and seed are the controller's. Raises UsageError."""
    rows = [option for option in OPTIONS.values() if option.pytest is not None]
    asked = {option.field or option.name: option.read(config.getoption(option.typed_for_pytest)) for option in rows}
    if worker is None:  # is its interpreter there, and does it take overrides?
        launch(asked["target"], asked["target_python"], overrides=asked["override"])
    if asked["override"] and asked["isolate"] == "never":
        raise UsageError(
            "isolate='never', but should be left out: kernels run in a process of their own [--override, --isolate]"
        )
    if asked["strict"] and not asked["drop_in"]:
        raise UsageError("strict=True, but should come with drop_in, whose files it is about [--strict, --drop-in]")
    asked["report"] = Path(config.invocation_params.dir) / asked["report"]
    if config.getoption("usepdb", False) or config.getoption("trace", False):
        asked["case_timeout"] = None
    # Processes that run tests side by side share the run's seconds evenly: none knows what the others find.
    for name in ("shrink_total", "blame_total"):
        asked[name] /= (worker or {}).get("workercount", 1)
    asked["memory_limit"] = memory_limit(asked["memory_limit"], (worker or {}).get("workercount", 1)) or 0
    about = _about(config, asked) if worker is None else _about_from(worker)
    return RunOptions(**{**asked, **about}, selection=selection(config), root=config.rootpath)


def _about(config: pytest.Config, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the process that a person started says of the run."""
    from reports import plan_run

    folder = plan_run(asked["report"], asked["seed"])
    return {"folder": folder, "command": typed_command(), "commit": commit(config.rootpath)}


def _about_from(worker: Mapping[str, Any]) -> dict[str, Any]:
    """What that process has told this one, a worker of xdist or a rank, of the run."""
    return {
        "worker": worker["workerid"],
        "seed": worker["autotest_seed"],
        "folder": Path(worker["autotest_folder"]),
        "command": worker["autotest_command"],
        "commit": worker["autotest_commit"],
        "width": worker.get("autotest_width"),
    }


def typed_command() -> str:
    """What a person typed, to be shown and repeated."""
    program = Path(sys.argv[0])
    # `python -m pytest` and `python -m autotest` run the file __main__.py of the package.
    started = ["python", "-m", program.parent.name] if program.name == "__main__.py" else [program.name]
    return shlex.join([*started, *sys.argv[1:]])


def commit(root: Path) -> str | None:
    """The checked-out commit of a Git repository, told to have changes where it has; None outside of one."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=, with changes", "--exclude=*"],  # noqa: S607 - the git on PATH
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None  # no git here: the report says nothing of a commit
    return described.stdout.strip() or None
