"""Dual execution: the dual object, the recorded Program, its replay, and the targets.

A body calls ops through a `DualNamespace`; each call runs on the reference at once and is recorded into a `Program`,
which `Replay` runs on a target through the target's `Adapter`.
"""

from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.record.dual import DualObject
from dual_object.record.namespace import DualNamespace, GetDualObject, dual
from dual_object.record.recording import Recording, current_recording
from dual_object.replay.adapter import Adapter, TargetInfo, load
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

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
