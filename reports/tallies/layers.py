"""Layers: how many cases were run once more as the functions that their layers call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.words.quantities import counted, share


@dataclass(frozen=True)
class Layers:
    """How many cases with layers had their functions judged, and why those of others were not: cases by reason."""

    verified: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def asked(self) -> int:
        """The cases whose layers were asked for as functions."""
        return self.verified + sum(self.reasons.values())

    @property
    def share(self) -> str:
        """How many of them were judged, in percent."""
        return share(self.verified, self.asked)

    @property
    def words(self) -> str:
        """Such as `9 of 10 cases with layers, as the functions that they call`."""
        return f"{self.verified:,} of {counted(self.asked, 'case')} with layers, as the functions that they call"

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return {"verified": self.verified, "skipped": dict(self.reasons)}


__all__ = ["Layers"]
