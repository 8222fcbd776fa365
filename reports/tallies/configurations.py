"""Configurations: under which of them the static graphs of a run's cases were verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.words.quantities import counted, share

#: So many configurations that have verified as many cases are told by their names; more are counted.
MOST_NAMES = 3


@dataclass(frozen=True)
class Configurations:
    """How many graphs were asked for and verified under each configuration, by its name, and why others were not."""

    asked: Mapping[str, int] = field(default_factory=dict)
    verified: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def share(self) -> str:
        """How many of all of them were verified, in percent."""
        return share(sum(self.verified.values()), sum(self.asked.values()))

    @property
    def words(self) -> str:
        """Cases by configuration, such as `9 of 10 cases under 12 configurations, 7 of 10 cases under amp`."""
        groups: dict[tuple[int, int], list[str]] = {}
        for name, asked in self.asked.items():
            groups.setdefault((self.verified.get(name, 0), asked), []).append(name)
        return ", ".join(
            f"{verified:,} of {counted(asked, 'case')} under "
            + (", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} configurations")
            for (verified, asked), names in groups.items()
        )

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data, by configuration."""
        names = {name: {"verified": self.verified.get(name, 0), "cases": asked} for name, asked in self.asked.items()}
        return {**names, "skipped": dict(self.reasons)}


__all__ = ["Configurations"]
