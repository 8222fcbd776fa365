"""Planted faults: `AUTOTEST_FAULT=module:function` changes a target, so that one can see the harness notice it."""

from __future__ import annotations

import os

from dual_object.replay.adapter import Adapter


def plant(adapter: Adapter) -> None:
    """Call the function that `AUTOTEST_FAULT` names, if it names one, with a target's adapter before its first case.

    The function may change anything, the framework itself included. Raises what it raises.
    """
    fault = os.environ.get("AUTOTEST_FAULT")
    if fault:
        from dual_object.replay.replay import import_function

        import_function(fault)(adapter)
