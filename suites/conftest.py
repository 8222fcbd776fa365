"""What the suites share: their modules, and what is no fault of a target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# The files of a suite import what lies beside them (`rows`, `nets`, `entries`), and a replay finds a custom op by the
# name of its module (`ddp_gradients:on_all_ranks`): pytest puts folders on the path only in some of its import modes.
sys.path[:0] = [str(HERE / name) for name in (".", "contract", "global", "models", "opinfo")]


def pytest_configure(config: pytest.Config) -> None:
    """PyTorch warns of how an op is written, or that strides cost it time: that is no fault of a target."""
    config.addinivalue_line("filterwarnings", "ignore::UserWarning")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """A file of suites that lie elsewhere is called as it is from their folder: pytest leaves the name out of what is
    named by its file, and `test_op[neg]` of two files would be one.
    """
    if module_path.is_relative_to(parent.config.rootpath):
        return None
    nodeid = module_path.relative_to(HERE).as_posix()
    return pytest.Module.from_parent(parent, path=module_path, nodeid=nodeid)
