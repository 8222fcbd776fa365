"""What a target is written against: the adapter Protocol, what it is asked, and what it answers."""

from dual_object.replay.adapter import (
    Adapter,
    GraphError,
    GraphRefusal,
    GraphRequest,
    Surface,
    TargetInfo,
)
from dual_object.replay.unfilled import unfilled

__all__ = ["Adapter", "GraphError", "GraphRefusal", "GraphRequest", "Surface", "TargetInfo", "unfilled"]
