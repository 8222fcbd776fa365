"""The search asks few versions, and what it tells is so."""

from __future__ import annotations

from math import ceil, log2

from hypothesis import given
from hypothesis import strategies as st

from autotest.commands.bisecting.search import Change, Outcome, changes, halve

WORDS = ["stands", "gone", None]


def row(*words: str | None) -> list[Outcome]:
    """What came of versions."""
    return [Outcome(word) for word in words]


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_what_is_found_is_a_change(words: list[str | None]) -> None:
    """Both sides of it ran and differ, and nothing between them can run; it is found where the ends that run differ."""
    asked: list[int] = []

    def ask(place: int) -> Outcome:
        asked.append(place)
        return Outcome(words[place])

    found = halve(len(words), ask)
    assert len(asked) == len(set(asked))
    ran = [place for place, word in enumerate(words) if word is not None]
    if not ran or words[ran[0]] == words[ran[-1]]:
        assert found is None
    else:
        assert found in changes(row(*words))


def test_few_are_asked() -> None:
    """Two, and the logarithm of those between."""
    asked: list[int] = []

    def ask(place: int) -> Outcome:
        asked.append(place)
        return Outcome("gone" if place < 700 else "stands")

    assert halve(1000, ask) == Change(699, 700)
    assert len(asked) <= 2 + ceil(log2(999))
    assert asked[:3] == [0, 999, 499]


def test_every_change() -> None:
    """What cannot run lies within one."""
    outcomes = row("gone", "gone", None, "stands", "gone", None)
    assert changes(outcomes) == [Change(1, 3), Change(3, 4)]


def test_words() -> None:
    """As they are printed."""
    assert [str(one) for one in (Outcome("gone"), Outcome("gone", "toy 2"), Outcome(None, "no such file"))] == [
        "gone",
        "gone: toy 2",
        "cannot run: no such file",
    ]
