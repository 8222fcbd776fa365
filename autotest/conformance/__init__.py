"""What every target must do, as tests of pytest: `pytest --autotest-conformance NAME` runs them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

_FILE = """from autotest.conformance.suite import TestConformance, recorded, reference

__all__ = ["TestConformance", "recorded", "reference"]
"""


def collected(config: pytest.Config) -> str:
    """The path of a test file with the tests, which is there while pytest runs: beside the tests' own module a
    `conftest.py` of ours may lie, which is no business of whoever runs them.
    """
    folder = tempfile.TemporaryDirectory(prefix="autotest-")
    config.add_cleanup(folder.cleanup)
    path = Path(folder.name) / "test_conformance.py"
    path.write_text(_FILE)
    return str(path)


__all__ = ["collected"]
