"""Lines of Python no longer than people read."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 110


def wrapped(lines: Sequence[str]) -> list[str]:
    """Lines of at most some hundred characters: longer ones are broken after commas within brackets."""
    short: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        held = ""
        for piece in _pieces(line) if len(line) > WIDTH else [line]:
            if held and len(held) + len(piece) > WIDTH:
                short.append(held.rstrip())
                held = f"{indent}    "
            held += piece
        short.append(held)
    return short


def _pieces(line: str) -> list[str]:
    """The line cut after each comma and blank that no string holds; the first comma may follow a bracket only."""
    pieces, start, quote = [""], 0, ""
    depth = 0
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == " " and depth and line[position - 1] == ",":
            pieces.append(line[start : position + 1])
            start = position + 1
    return [piece for piece in [*pieces, line[start:]] if piece]
