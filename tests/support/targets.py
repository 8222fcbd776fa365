"""Targets that have an environment of their own: how each is started here, if at all."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from autotest.workers.launch import Launch

_ROOT = Path(__file__).resolve().parents[2]


def launched(target: str) -> Launch:
    """A target in `.venv-TARGET`, where `make TARGET` has built that, or in this environment, where it is installed.

    Skips what asks for it where it is neither.
    """
    python = _ROOT / f".venv-{target}" / "bin" / "python"
    if python.exists():
        return Launch(target, python=str(python))
    if importlib.util.find_spec(target) is None:
        pytest.skip(f"{target} is not installed: make {target}")
    return Launch(target)
