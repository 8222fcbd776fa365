"""Configurations of graphs: how they are counted and told."""

from __future__ import annotations

import pytest

from reports.tallies.configurations import Configurations

NONE = Configurations({"all": 3}, {}, {"all: torch offers none": 3})
SOME = Configurations(
    dict.fromkeys("abcd", 10) | {"amp": 10}, dict.fromkeys("abcd", 9) | {"amp": 7}, {"amp: refused": 2}
)


@pytest.mark.parametrize(
    ("configurations", "share", "words"),
    [
        (Configurations({"a": 1}, {"a": 1}), "100.0 %", "1 of 1 case under a"),
        (Configurations({"a": 2, "b": 2}, {"a": 2, "b": 2}), "100.0 %", "2 of 2 cases under a, b"),
        (SOME, "86.0 %", "9 of 10 cases under 4 configurations, 7 of 10 cases under amp"),
        (NONE, "0.0 %", "0 of 3 cases under all"),
    ],
)
def test_words(configurations: Configurations, share: str, words: str) -> None:
    """Those that have verified as many cases are told together: three by name, more by their number."""
    assert (configurations.share, configurations.words) == (share, words)


def test_json() -> None:
    """summary.json has the counts of each, and the reasons."""
    assert NONE.to_json() == {"all": {"verified": 0, "cases": 3}, "skipped": {"all: torch offers none": 3}}
