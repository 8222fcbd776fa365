"""The argument space of ops, in words for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from reports.tallies.argument_space import AXES, STATES, ArgumentSpace, LaidOut, OpSpace
from reports.words.literals import literal
from reports.words.quantities import counted, share

#: What is said of a level.
WORDS = {"reached": "reached", "unsupported": "unsupported", "refused": "PyTorch refuses", "never": "never"}
_FIRST, _SECOND = 8, 17


def space_text(space: ArgumentSpace, width: int = 80, encoding: str = "utf-8") -> str:
    """Return, for each op, the levels of each axis by what has become of them, in lines of at most `width` columns (44
    or more: a name is never broken).
    """
    return "\n\n".join("\n".join(_op(literal(op, encoding), found, width)) for op, found in space.ops.items())


def never_text(space: ArgumentSpace, width: int = 80, encoding: str = "utf-8") -> str:
    """Return what each op has never reached: `relu: dtype int8, uint8; rank 5`. Ops that reached everything have no
    line.
    """
    lines = []
    for op, found in space.ops.items():
        parts = []
        for axis in (*AXES, "phase"):
            missing = _in_state(found, axis, "never")
            if found.cells and missing:
                parts.append(f"{axis} {', '.join(missing)}")
        if parts:
            lines += _wrapped(f"{literal(op, encoding)}: {'; '.join(parts)}", width, 4)
    return "\n".join(lines) or "no op has a level that was never tried"


def pairs_words(laid_out: LaidOut) -> str:
    """Return which share of the pairs of corners the laid-out cases cover; nothing where no pairs were wanted."""
    if not laid_out.pairs:
        return ""
    return f"{share(laid_out.covered, laid_out.pairs)} of {counted(laid_out.pairs, 'pair')} of corners"


def spared_words(laid_out: LaidOut) -> str:
    """Return how many laid-out cases the target was spared; nothing where there are none."""
    return f"{laid_out.spared:,} left out, known to end the target" if laid_out.spared else ""


def _op(op: str, found: OpSpace, width: int) -> Iterator[str]:
    laid_out = found.laid_out
    words = [f"in {counted(found.tests, 'test')}"]
    if laid_out.cases:
        words.append(f"{counted(laid_out.cases, 'laid-out case')}")
    if laid_out.refused:
        words.append(f"{counted(laid_out.refused, 'corner')} that PyTorch refuses")
    words += filter(None, [spared_words(laid_out), pairs_words(laid_out)])
    yield from _wrapped(f"{op}  {', '.join(words)}", width, 2)
    if not found.cells:
        yield "  no tensor was drawn for it"
        return
    for axis in (*AXES, "phase"):
        name = axis
        for state in STATES:
            levels = _in_state(found, axis, state)
            if levels:
                lead = f"  {name:<{_FIRST}}{WORDS[state]:<{_SECOND}}"
                yield from _wrapped(lead + ", ".join(levels), width, len(lead))
                name = ""


def _in_state(found: OpSpace, axis: str, state: str) -> list[str]:
    return [
        level.replace("_", " ") if axis == "phase" else level
        for level, now in found.levels(axis).items()
        if now == state
    ]


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
