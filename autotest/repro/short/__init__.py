"""The short script of a divergence: what a person would write into an issue, and what it was seen to print."""

from __future__ import annotations

from autotest.repro.short.text import short_text
from autotest.repro.short.trial import Told, tell

__all__ = ["Told", "short_text", "tell"]
