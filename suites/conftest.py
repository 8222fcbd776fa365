"""Makes `rows` and `forms` importable from the folders below: pytest puts a conftest's folder on the path."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """PyTorch warns of how an op is written, or that strides cost it time: that is no fault of a target."""
    config.addinivalue_line("filterwarnings", "ignore::UserWarning")
