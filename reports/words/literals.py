"""Literal text: what tests, ops and exceptions say, made safe to print."""

from __future__ import annotations

from pathlib import Path

TAB = "    "


def literal(text: str, encoding: str = "utf-8") -> str:
    r"""Return `text` on one line, with what cannot be printed in `encoding` shown as Python escapes.

    Line ends, terminal control sequences, bidirectional marks and lone surrogates become \n, \x1b, \u202e
    and so on.
    """
    if text.isascii() and text.isprintable():
        return text
    printable = "".join(c if c.isprintable() else _escape(c) for c in text)
    return printable.encode(encoding, "backslashreplace").decode(encoding)


def literal_lines(text: str, encoding: str = "utf-8") -> list[str]:
    """Return the lines of `text`, each literal, with tabs widened."""
    return [literal(line.expandtabs(len(TAB)), encoding) for line in text.split("\n")]


def literal_path(path: Path, encoding: str = "utf-8") -> str:
    """Return a path as people type it: below the working directory, from there."""
    here = Path.cwd()
    return literal(str(path.relative_to(here) if path.is_relative_to(here) else path), encoding)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
