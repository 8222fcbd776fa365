"""Calls that PyTorch refuses: the target has to refuse them too, with an exception of a related class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refused(call: Callable[[], Any]) -> None:
    """Make a call that PyTorch is to refuse; raises AssertionError where it does not, and what is no refusal of its
    own.
    """
    try:
        call()
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("builtins", "torch"):
            raise
    else:
        raise AssertionError("PyTorch accepts a call that is here as one which it refuses")
