"""Text from elsewhere cannot steer the terminal."""

from __future__ import annotations

import pytest

from reports.words.literals import literal, literal_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[red]x[/red]", "[red]x[/red]"),
        ("\x1b[31m\x07\r\n", "\\x1b[31m\\x07\\r\\n"),
        ("a\u202eb\u2028\x9b", "a\\u202eb\\u2028\\x9b"),
        ("\ud800", "\\ud800"),
        ("\u4f60\u00e9", "\u4f60\u00e9"),
    ],
)
def test_literal(text, shown):
    """Control characters are escaped; letters of any script are not."""
    assert literal(text) == shown


def test_encoding():
    """What the terminal's encoding lacks is escaped."""
    assert literal("\u4f60\u00e9", "latin-1") == "\\u4f60\u00e9"
    assert literal("\u00e9", "ascii") == "\\xe9"


def test_lines():
    """Line ends part lines, and tabs are widened."""
    assert literal_lines("a\n\tb\r") == ["a", "    b\\r"]
