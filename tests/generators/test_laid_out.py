"""The source of laid-out cases: what is a factor, and which level stands for what."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from generators import Factor, LaidOutSource, RangeError, array, drawing, oneof, random, random_bool, random_size
from generators.fills import CORNERS
from generators.mixes import LAID_OUT
from generators.source import Source


def levels(draw: Callable[[Source], object]) -> list[object]:
    """What the first decision of `draw` is at each of its levels."""
    source = LaidOutSource("key", {})
    draw(source)
    [factor, *_] = source.taken
    _, count = source.taken[factor]
    return [draw(LaidOutSource("key", {factor: level})) for level in range(count)]


def test_a_few_integers_are_levels_from_the_middle_outwards() -> None:
    """Each of a few is one; the middle is the ordinary one."""
    assert levels(lambda source: source.integer(-3, 3)) == [-1, -2, 0, -3, 1, 2]
    assert levels(lambda source: source.integer(0, 2)) == [0, 1]


def test_of_many_integers_the_ends_are_levels() -> None:
    """A drawn one is the ordinary one; then come both ends, 0 and 1."""
    drawn, *others = levels(lambda source: source.integer(-50, 100))
    assert others == [-50, 99, 0, 1]
    assert drawn not in others
    assert levels(lambda source: source.integer(1, 100))[1:] == [1, 99]


@pytest.mark.parametrize("ends", [(0, 1 << 32), (5, 6)])
def test_seeds_and_what_is_settled_are_no_factors(ends: tuple[int, int]) -> None:
    """A seed has too many values to lay out, and one value alone is no decision."""
    source = LaidOutSource("key", {})
    assert ends[0] <= source.integer(*ends) < ends[1]
    assert source.taken == {}
    assert len(source.choices) == 1


def test_floats_have_their_ends_as_levels() -> None:
    """A drawn one, the least, the greatest, and 0 and 1 where they are inside."""
    drawn, *others = levels(lambda source: source.floating(-2.0, 3.0))
    assert others == [-2.0, math.nextafter(3.0, -2.0), 0.0, 1.0]
    assert drawn not in others
    assert levels(lambda source: source.floating(0.0, 0.5))[1:] == [0.0, math.nextafter(0.5, 0.0)]


def test_alternatives_are_levels_the_heaviest_first() -> None:
    """One without a weight is never drawn, so it is no level; sixteen are the most that are listed."""
    assert levels(lambda source: source.index(4, (0.1, 0.0, 0.6, 0.3))) == [2, 3, 0]
    assert levels(lambda source: source.index(3)) == [0, 1, 2]
    assert levels(lambda source: source.boolean()) == [False, True]
    many = LaidOutSource("key", {})
    assert many.index(17) in range(17)
    assert many.taken == {}


def test_ranges_without_a_value_are_refused_as_ever() -> None:
    """Bad ranges are those of any source."""
    source = LaidOutSource("key", {})
    with pytest.raises(RangeError) as empty:
        source.integer(3, 3)
    assert str(empty.value) == "integer(3, 3): the range [3, 3) is empty, but low should be less than high"
    with pytest.raises(RangeError) as endless:
        source.floating(0, math.inf)
    assert str(endless.value) == "high=inf, but should be finite [floating(0, inf)]"


def test_a_factor_is_told_by_its_kind_range_and_turn() -> None:
    """A decision of another kind in between does not change which level is whose."""
    second = Factor("integer", (0, 3), 1)
    source = LaidOutSource("key", {second: 2})
    assert [source.integer(0, 3), source.boolean(), source.integer(0, 3)] == [1, False, 2]
    assert source.taken[second] == (2, 3)
    assert list(source.taken) == [Factor("integer", (0, 3), 0), Factor("boolean", (), 0), second]


def test_a_level_beyond_the_last_is_the_last() -> None:
    """A factor may have fewer levels in another case."""
    source = LaidOutSource("key", {Factor("boolean", (), 0): 5})
    assert source.boolean()
    assert source.taken == {Factor("boolean", (), 0): (1, 2)}


def test_choices_are_those_of_any_source() -> None:
    """A shrinker plays them back."""
    source = LaidOutSource("key", {})
    source.integer(0, 3)
    source.boolean()
    source.floating(0.0, 2.0)
    source.index(2)
    assert [(choice.kind, choice.low, choice.high, choice.n) for choice in source.choices] == [
        ("integer", 0, 3, None),
        ("boolean", None, None, None),
        ("floating", 0.0, 2.0, None),
        ("index", None, None, 2),
    ]


def test_generators_are_laid_out_without_knowing_it() -> None:
    """Any generator asks its source; so do arrays, for fills, layouts and sizes."""
    source = LaidOutSource("key", {})
    with drawing(source, LAID_OUT):
        random(1, 4).to(int).value()
        random_bool().value()
        oneof("a", "b").value()
        array(ndim=1, dim0=None, mix=LAID_OUT).value()
    assert [count for _, count in source.taken.values()] == [3, 2, 2, 6, 1 + len(CORNERS) + 5, 6]


def test_a_size_is_also_none_one_and_long() -> None:
    """Whatever the range; in a drawn case it keeps to it."""

    def draw(source: Source) -> object:
        with drawing(source, LAID_OUT):
            return random_size(2, 5).value()

    ordinary, *others = levels(draw)
    assert ordinary in range(2, 5)
    assert others == [1, 0, 33, 129, 1025]
    source = LaidOutSource("key", {})
    with drawing(source):
        assert random_size(2, 5).value() in range(2, 5)
    assert [*source.taken] == [Factor("integer", (2, 5), 0)]


def test_only_one_dimension_of_a_case_is_long() -> None:
    """Two of 1025 would fill the memory with what a third multiplies."""
    first, second = (Factor("corner", (6,), turn) for turn in range(2))
    source = LaidOutSource("key", {first: 5, second: 5})
    with drawing(source, LAID_OUT):
        assert random_size(2, 5).value() == 1025
        assert random_size(2, 5).value() in range(2, 5)


@pytest.mark.parametrize(
    ("knobs", "fills"),
    [
        ({}, ("uniform", *CORNERS, "ties", "halves", "zeros", "far", "lowest")),
        ({"distinct": True}, ("distinct", *CORNERS)),
        ({"dtype": "int64"}, ("uniform", "ends", "ties", "zeros")),
        ({"dtype": "int64", "high": 100, "distinct": True}, ("distinct", "ends")),
        ({"dtype": "int64", "ranged": False}, ("uniform", *CORNERS, "ties", "halves", "zeros", "far", "lowest")),
    ],
)
def test_integers_of_a_given_range_never_leave_it(knobs: dict[str, Any], fills: tuple[str, ...]) -> None:
    """They are indices and sizes, of which some ops trust their caller; floats have every corner."""

    def draw(source: Source) -> str:
        with drawing(source, LAID_OUT):
            return array(shape=(4,), mix=LAID_OUT, **knobs).value().fill

    assert tuple(levels(draw)) == fills
