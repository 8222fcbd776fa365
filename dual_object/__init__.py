"""Dual execution: the dual object, the recorded Program, its replay, and the targets.

A body calls ops through a `DualNamespace`; each call runs on the reference at once and is recorded into a `Program`,
which `Replay` runs on
a target through the target's `Adapter`.
"""

from dual_object.adapter import Adapter, TargetInfo, load
from dual_object.dual import DualNamespace, DualObject, GetDualObject, dual
from dual_object.observation import Observation
from dual_object.program import Call, Input, Program
from dual_object.recording import Recording, current_recording
from dual_object.replay import Replay

__all__ = [
    "Adapter",
    "Call",
    "DualNamespace",
    "DualObject",
    "GetDualObject",
    "Input",
    "Observation",
    "Program",
    "Recording",
    "Replay",
    "TargetInfo",
    "current_recording",
    "dual",
    "load",
]
