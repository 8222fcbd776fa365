"""Consensus: a verdict that several processes of one run have to share. A process alone agrees with itself."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.compare.difference import Difference
from autotest.compare.divergence import Row


class Consensus:
    """The consensus of a process that is the only one of its run; `autotest.ranks.peers` has that of several ranks."""

    @property
    def alone(self) -> bool:
        """Whether no other process takes part: each may then look closer at what it likes."""
        return True

    def starts(self, test: str, key: str) -> None:
        """Tell the others which case begins."""

    def ends(self) -> None:
        """Tell the others that the case has ended."""

    def agree(self, place: str, differences: Sequence[Difference]) -> list[Difference]:
        """The differences that any process has seen at `place`, in one order for all."""
        return list(differences)

    def merge(self, place: str, rows: Sequence[tuple[Row, tuple[int, ...]]]) -> list[Row]:
        """The rows of one case from all processes, each fingerprint once; `rows` come with the ranks that saw them."""
        return [row for row, _ in rows]


__all__ = ["Consensus"]
