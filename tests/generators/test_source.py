"""The seeded source: golden draws, records, bounds."""

from collections import Counter

import numpy as np
import pytest

from generators import Choice, ChoiceError, PhiloxSource, RangeError, case_key, words
from generators.source import _PhiloxKey

GOLDEN_DRAWS = [3, -6013258310538991105, False, -0.5117491059088284, 3, 2, 4128441124]
GOLDEN_BLOCKS = [4202895235059773906, 4805956285724486054, 1875964706181669637, 9876454218522503200]
GOLDEN_WORDS = [16086915834549238692, 5448529601018347655, 7749434361382612120]


def fixed(*raw: int) -> PhiloxSource:
    """A source that draws the given words."""
    source = PhiloxSource("")
    source._word = iter(raw).__next__
    return source


def test_the_stream_of_a_key_is_golden() -> None:
    """The draws of a key are the same on every machine and with every NumPy."""
    source = PhiloxSource(case_key(0, "test_matmul.py::TestMatmul::test_matmul", 3))
    drawn = [
        source.integer(1, 6),
        source.integer(-(2**63), 2**63),
        source.boolean(),
        source.floating(-1, 1),
        source.index(7),
        source.index(3, (0.2, 0.3, 0.5)),
        source.integer(0, 2**32),
    ]
    assert drawn == GOLDEN_DRAWS


def test_the_fortieth_word_is_golden() -> None:
    """Fetching words in blocks neither skips nor repeats one."""
    source = PhiloxSource("key")
    drawn = [source.integer(0, 2**64) for _ in range(70)]
    assert len(set(drawn)) == 70
    assert [drawn[0], drawn[31], drawn[32], drawn[69]] == GOLDEN_BLOCKS


def test_words_are_golden() -> None:
    """The bulk words of a key are Philox's, from its first."""
    assert words(7, 3).tolist() == GOLDEN_WORDS
    assert words(7, 3).dtype == np.uint64


@pytest.mark.parametrize("key", [0, 7, 2**64 + 5, 2**128 - 1])
def test_words_are_those_of_a_philox_with_that_key(key: int) -> None:
    """Handing over the key without collecting entropy changes no word."""
    assert words(key, 9).tolist() == np.random.Philox(key=key).random_raw(9).tolist()


def test_philox_gets_its_key_low_word_first() -> None:
    """A 128-bit key is handed over as two words."""
    assert _PhiloxKey(2**64 + 5).generate_state(2).tolist() == [5, 1]


def test_every_draw_is_recorded_as_plain_values() -> None:
    """Each draw leaves one choice, in order, without NumPy scalars."""
    source = PhiloxSource("key")
    drawn = [source.integer(1, 6), source.boolean(), source.floating(0, 1), source.index(3)]
    drawn.append(source.index(2, (0.5, 0.5)))
    integer, boolean, floating, index, weighted = drawn
    assert source.choices == [
        Choice("integer", integer, 1, 6),
        Choice("boolean", boolean),
        Choice("floating", floating, 0.0, 1.0),
        Choice("index", index, n=3),
        Choice("index", weighted, n=2),
    ]
    plain = (int, float, bool, str, type(None))
    assert all(type(part) in plain for choice in source.choices for part in choice)


def test_a_refused_draw_is_not_recorded() -> None:
    """A draw that raises leaves no choice behind."""
    source = PhiloxSource("key")
    with pytest.raises(RangeError):
        source.integer(5, 5)
    assert source.choices == []


def test_case_keys_tell_cases_apart() -> None:
    """Seed, test and index each change the key."""
    assert case_key(0, "t.py::T::test", 2) == "0/t.py::T::test/2"
    assert len({case_key(seed, test, index) for seed in (0, 1) for test in "ab" for index in (0, 1)}) == 8


def test_sources_of_different_keys_differ() -> None:
    """Two keys share no stream."""
    first, second = PhiloxSource("a"), PhiloxSource("b")
    assert [first.integer(0, 2**64) for _ in range(4)] != [second.integer(0, 2**64) for _ in range(4)]


def test_integers_reject_the_words_that_would_favour_some() -> None:
    """A word whose low product falls below 2**64 mod span is dropped, and the next one is taken."""
    # 3 * 0 = 0 has low half 0, below 2**64 mod 3 = 1; the word after it is good.
    assert fixed(0, 2**63).integer(0, 3) == 1
    assert fixed(2**63).integer(0, 3) == 1


def test_integers_reach_both_ends() -> None:
    """The least word gives `low`, the greatest gives `high - 1`."""
    assert fixed(0).integer(-4, 4) == -4
    assert fixed(2**64 - 1).integer(-4, 4) == 3
    assert fixed(2**64 - 1).integer(0, 2**64) == 2**64 - 1


def test_integers_are_uniform() -> None:
    """Every value of a small range comes up within four standard deviations of its share."""
    source = PhiloxSource("uniform")
    counts = Counter(source.integer(1, 6) for _ in range(10_000))
    assert sorted(counts) == [1, 2, 3, 4, 5]
    assert all(abs(count - 2000) < 160 for count in counts.values())


def test_floats_are_half_open() -> None:
    """The greatest word stays below `high`, even where the sum rounds up to it."""
    assert fixed(0).floating(1, 2) == 1.0
    assert 1 < fixed(2**64 - 1).floating(1, 2) < 2
    assert fixed(2**64 - 1).floating(1.0, np.nextafter(1.0, 2.0)) == 1.0


def test_floats_of_the_widest_range_are_finite() -> None:
    """A range wider than the largest float does not overflow."""
    huge = 1.7e308
    assert fixed(2**63).floating(-huge, huge) == 0.0
    assert -huge <= fixed(0).floating(-huge, huge) < fixed(2**64 - 1).floating(-huge, huge) < huge


def test_booleans_are_fair() -> None:
    """Heads and tails come up within four standard deviations of half."""
    source = PhiloxSource("coin")
    assert abs(sum(source.boolean() for _ in range(10_000)) - 5000) < 200


def test_weights_steer_the_index() -> None:
    """An index comes up in proportion to its weight, and one without weight never."""
    source = PhiloxSource("weights")
    counts = Counter(source.index(3, (1, 0, 3)) for _ in range(10_000))
    assert sorted(counts) == [0, 2]
    assert abs(counts[0] - 2500) < 175


def test_rounding_never_picks_an_index_without_weight() -> None:
    """What rounding leaves after the last weight goes to the last index that has one."""
    greatest = 2**64 - 1
    assert fixed(greatest).index(4, (0.1, 0.2, 0.7, 0.0)) == 2
    assert fixed(0).index(3, (0.0, 0.5, 0.5)) == 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda source: source.integer(5, 5),
            "integer(5, 5): the range [5, 5) is empty, but low should be less than high",
        ),
        (
            lambda source: source.integer(0, 2**64 + 1),
            "high - low=18446744073709551617, but should be at most 2**64 [integer(0, 18446744073709551617)]",
        ),
        (
            lambda source: source.floating(2.5, 1),
            "floating(2.5, 1): the range [2.5, 1) is empty, but low should be less than high",
        ),
        (
            lambda source: source.floating(0, float("inf")),
            "high=inf, but should be finite [floating(0, inf)]",
        ),
        (
            lambda source: source.floating(float("nan"), 1),
            "low=nan, but should be finite [floating(nan, 1)]",
        ),
    ],
)
def test_a_source_refuses_ranges_it_cannot_draw_from(draw, message: str) -> None:
    """Empty, too wide and infinite ranges are named in the error."""
    with pytest.raises(RangeError) as caught:
        draw(PhiloxSource("key"))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("n", "weights", "message"),
    [
        (0, None, "n=0, but should be at least 1 [index(0)]"),
        (2, (1,), "weights=(1,), but should be 2 non-negative numbers, not all 0 [index(2)]"),
        (2, (0, 0), "weights=(0, 0), but should be 2 non-negative numbers, not all 0 [index(2)]"),
        (2, (2, -1), "weights=(2, -1), but should be 2 non-negative numbers, not all 0 [index(2)]"),
    ],
)
def test_a_source_refuses_what_are_no_weights(n: int, weights, message: str) -> None:
    """Weights must be non-negative, not all zero, and as many as there are indices."""
    with pytest.raises(ChoiceError) as caught:
        PhiloxSource("key").index(n, weights)
    assert str(caught.value) == message
