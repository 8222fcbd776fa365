"""The drop-in: files that import OneFlow's own AutoTest harness run on this one, unmodified.

`finder` answers for the package of OneFlow's harness, `vocabulary` is what it gives instead. `levels` tells what
that harness would have failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def asked(config: pytest.Config) -> bool:
    """Whether this run was given `--autotest-drop-in`; before pytest has read its conftest.py files, too."""
    return bool(config.known_args_namespace.autotest_drop_in)
