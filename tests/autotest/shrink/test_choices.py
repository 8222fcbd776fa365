"""Hypothesis as a shrinker, and what is said where it is another."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from hypothesis.internal.conjecture.engine import ConjectureRunner

from autotest.shrink.choices import UnavailableError, check_available, minimise
from generators import PhiloxSource, RangeError
from generators.source import Choice, Source


def _draw(source: Source) -> tuple[list[int], float, int]:
    """A list as long as a first draw says, a float and one of four."""
    length = source.integer(0, 9)
    numbers = [source.integer(-(1 << 63), 1 << 63) for _ in range(length)]
    return numbers, source.floating(-1e300, 1e300), source.index(4, (0.0, 0.0, 0.0, 1.0))


def test_choices_of_a_search_shrink() -> None:
    """Draws of the NumPy source, length and 64-bit integers included, end at the least that stands."""

    def stands(source: Source) -> bool:
        numbers, real, kind = _draw(source)
        return len(numbers) > 2 and numbers[-1] > 1000 and real > 7 and kind > 0

    for key in (f"case {number}" for number in range(100)):
        drawn = PhiloxSource(key)
        if stands(drawn):
            break
    found = minimise(drawn.choices, stands)
    assert [choice.value for choice in found] == [3, 0, 0, 1001, 8.0, 1]
    assert found[0] == Choice("integer", 3, 0, 9)
    assert found[-2:] == [Choice("floating", 8.0, -1e300, 1e300), Choice("index", 1, n=4)]


def test_what_does_not_stand_again_is_not_shrunk() -> None:
    """Where the given choices do not stand, nothing is searched."""
    runs: list[Source] = []

    def stands(source: Source) -> bool:
        runs.append(source)
        source.boolean()
        return False

    assert minimise([Choice("boolean", True)], stands) == []
    assert len(runs) == 1


def test_judge_ends_the_search() -> None:
    """What the judge raises is passed on."""

    def stands(source: Source) -> bool:
        if source.integer(0, 100) < 50:
            raise TimeoutError("spent")
        return True

    with pytest.raises(TimeoutError, match="spent"):
        minimise([Choice("integer", 77, 0, 100)], stands)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda source: source.integer(3, 3), "low=3, but should be below high=3 [integer(3, 3)]"),
        (lambda source: source.floating(2.0, 1.0), "low=2.0, but should be below high=1.0 [floating(2.0, 1.0)]"),
        (lambda source: source.index(0), "low=0, but should be below high=0 [index(0, 0)]"),
    ],
)
def test_empty_range(draw, message) -> None:  # type: ignore[no-untyped-def]
    """A range that a simpler draw has made empty is refused, as in a search."""

    def stands(source: Source) -> bool:
        with pytest.raises(RangeError) as caught:
            draw(source)
        assert str(caught.value) == message
        return True

    minimise([], stands)


@pytest.fixture
def other_hypothesis(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """A Hypothesis whose private names do something else; the check of it is made anew, before and after."""
    check_available.cache_clear()
    yield monkeypatch
    check_available.cache_clear()


def test_another_hypothesis_with_other_names(other_hypothesis: pytest.MonkeyPatch) -> None:
    """A version without the names that are used is told of in one sentence."""
    other_hypothesis.delattr(ConjectureRunner, "cached_test_function")
    with pytest.raises(UnavailableError) as caught:
        minimise([], lambda source: True)
    assert str(caught.value) == (
        f"Hypothesis {version('hypothesis')} shrinks a known example to "
        "AttributeError: 'ConjectureRunner' object has no attribute 'cached_test_function', "
        "but should to [10, True, 2.0, 1]; install the version that constraints.txt names"
    )


def test_another_hypothesis_that_does_not_shrink(other_hypothesis: pytest.MonkeyPatch) -> None:
    """A version that takes the calls and shrinks nothing is noticed as well."""
    other_hypothesis.setattr(ConjectureRunner, "shrink_interesting_test_cases", lambda runner: None)
    with pytest.raises(UnavailableError, match=r"to \[777, True, 3\.7, 2\], but should to \[10, True, 2\.0, 1\]"):
        check_available()
