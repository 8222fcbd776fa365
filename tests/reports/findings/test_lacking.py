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
    ("missing", "unmapped", "lines"),
    [
        (0, 0, []),
        (2, 0, ["2 ops that the target lacks"]),
        (0, 1, ["1 op that the target's table has no row for"]),
        (1, 2, ["1 op that the target lacks", "2 ops that the target's table has no row for"]),
    ],
)
def test_lacked(missing: int, unmapped: int, lines: list[str]) -> None:
    """What the target has not is told apart from what nobody knows."""
    assert lacked(missing, unmapped) == lines
