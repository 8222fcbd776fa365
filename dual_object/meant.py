"""Which of the known names somebody meant who typed another one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: How alike two names should be to be told, of 1.
_ALIKE = 0.7


def meant(name: str, known: Iterable[str]) -> str | None:
    """The name that is spelt most alike, None where none is near."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=_ALIKE)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean relu?` to end a sentence with, or nothing."""
    near = meant(name, known)
    return f"; did you mean {near}?" if near else ""


__all__ = ["did_you_mean", "meant"]
