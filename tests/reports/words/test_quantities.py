"""Counts, durations and shares read as people say them."""

from __future__ import annotations

import pytest

from reports.words.quantities import counted, duration, share


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (-1, "-1 cases"), (1234567, "1,234,567 cases")]
)
def test_counted(count, words):
    """Only one is singular, and thousands have commas."""
    assert counted(count, "case") == words


@pytest.mark.parametrize(("count", "words"), [(1, "1 fault of it"), (2, "2 faults of it")])
def test_plural_of_several_words(count, words):
    """A noun that does not end in its plural names it."""
    assert counted(count, "fault of it", "faults of it") == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0.00 s"),
        (0.004, "0.00 s"),
        (4.179, "4.18 s"),
        (59.99, "59.99 s"),
        (60.0, "1 min 00 s"),
        (127.9, "2 min 07 s"),
        (3599.9, "59 min 59 s"),
        (3600.0, "1 h 00 min"),
        (3840.0, "1 h 04 min"),
        (100_000.0, "27 h 46 min"),
    ],
)
def test_duration(seconds, words):
    """Seconds have hundredths, minutes their seconds, hours their minutes; what is begun is not counted."""
    assert duration(seconds) == words


def test_duration_just_below_a_minute():
    """What rounds to sixty seconds is a minute."""
    assert duration(59.996) == "1 min 00 s"


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 3, "0.0 %"), (1, 3, "33.3 %"), (2, 3, "66.6 %"), (1999, 2000, "99.9 %"), (3, 3, "100.0 %")],
)
def test_share(part, whole, words):
    """A share is rounded down: only all of them are 100 %."""
    assert share(part, whole) == words
