"""Quantities in words: counts with their nouns, durations, shares."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 case, 2 cases."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Return seconds as people say them: 4.18 s, 2 min 07 s, 1 h 04 min."""
    if round(seconds, 2) < 60:
        return f"{seconds:.2f} s"
    whole = max(60, int(seconds))
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes} min {whole % 60:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def share(part: int, whole: int) -> str:
    """Return the share of a part in a whole that is not 0, as 98.7 %."""
    # Rounded down: 100.0 % means all of them.
    return f"{part * 1000 // whole / 10:.1f} %"
