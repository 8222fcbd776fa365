"""Members of an adapter that are still to be written."""

from __future__ import annotations

from dual_object.adapter import unfilled
from dual_object.replay.unfilled import unfilled_members


class Skeleton:
    """Two members are marked, one of them by a property."""

    @property
    @unfilled
    def kind(self) -> type:
        """A class.

        No more of this is told.
        """
        raise NotImplementedError

    @unfilled
    def read(self) -> int:
        """A number."""
        raise NotImplementedError

    def written(self) -> int:
        """Not marked."""
        return 1


class Half(Skeleton):
    """One of them is written here, another is marked."""

    kind = int

    @unfilled
    def more(self) -> None:  # noqa: D102 - it may have none
        raise NotImplementedError


def test_unfilled_members() -> None:
    """Each is told with its first sentence; what a class has written is told no more, and nothing is called."""
    assert unfilled_members(Skeleton()) == {"kind": "A class.", "read": "A number."}
    assert unfilled_members(Half()) == {"read": "A number.", "more": ""}
    assert unfilled_members(object()) == {}
