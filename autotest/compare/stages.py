"""How the stages of a target did in a case that diverges: which has introduced the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Stages:
    """The executors that a target lists, by their names as targets, in a case that diverges.

    Attributes:
        first: the first of them that shows the difference; `also`: the later ones that show the same.
        outcomes: what came of each: `right`, `wrong`, `refused it`, and the like; empty where no graph is concerned.
    """

    first: str
    also: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)


__all__ = ["Stages"]
