"""The `autotest` command, or where `autotest` is somebody else's, what says so."""

from __future__ import annotations

import importlib
import sys

from op_autotest.names import displaced


def main() -> None:
    """Run the command; exit with 2, as for any wrong usage, where it cannot be found."""
    sentence = displaced("autotest")
    if sentence is not None:
        sys.stderr.write(f"Error: {sentence}\n")
        sys.exit(2)
    try:
        importlib.import_module("autotest.cli").main()
    except KeyboardInterrupt:  # while the command itself is read
        sys.stderr.write("interrupted\n")
        sys.exit(2)
