"""Repros: each divergence as a script that needs nothing of ours, and as an issue for the target's tracker."""

from __future__ import annotations

from autotest.repro.obstacles import obstacle
from autotest.repro.script import Script, script
from autotest.repro.unscripted import Unscripted

__all__ = ["Script", "Unscripted", "obstacle", "script"]
