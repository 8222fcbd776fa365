"""Paper: a rich console that prints into a string, whatever terminal and environment it runs in."""

from __future__ import annotations

import io

from rich.console import Console

NARROWEST = 40


class Paper:
    """Text of at most `width` columns (at least 40), drawn by rich on `console`; coloured only where asked for."""

    def __init__(self, width: int, color: bool = False) -> None:
        self._file = io.StringIO()
        # An empty environment: NO_COLOR, COLUMNS or TERM must not overrule the arguments.
        self.console = Console(
            file=self._file,
            width=max(width, NARROWEST),
            color_system="standard" if color else None,
            force_terminal=color,
            force_jupyter=False,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )

    def text(self) -> str:
        """Return what was printed, without blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self._file.getvalue().split("\n"))
