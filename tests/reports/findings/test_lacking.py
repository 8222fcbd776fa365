"""What a target lacks, as a reader is told it."""

from __future__ import annotations

from typing import get_args

import pytest

from dual_object.replay.adapter import Aspect
from reports.findings.lacking import ASPECTS, lacked, not_checked


def test_every_aspect_has_words() -> None:
    """The reports know the aspects that adapters name, each by words of its own."""
    assert set(ASPECTS) == set(get_args(Aspect))
    assert len(set(ASPECTS.values())) == len(ASPECTS)


def test_not_checked() -> None:
    """In the order given; what a newer version names is told as it is."""
    assert not_checked(()) == ""
    assert not_checked(("layout", "modules", "colour")) == "no strides, no states of modules, no colour"


@pytest.mark.parametrize(
    ("counts", "lines"),
    [
        ((0, 0, 0), []),
        ((2, 0, 0), ["2 ops that the target lacks"]),
        ((0, 1, 0), ["1 op that the target's table has no row for"]),
        ((0, 0, 1), ["1 op that the target does not support in each call"]),
        ((1, 2, 0), ["1 op that the target lacks", "2 ops that the target's table has no row for"]),
    ],
)
def test_lacked(counts: tuple[int, int, int], lines: list[str]) -> None:
    """What the target has not is told apart from what nobody knows, and from what it has in part."""
    assert lacked(*counts) == lines
