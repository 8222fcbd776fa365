"""`autotest check EXPRESSION...`: tests from the shell, written into a file and run as any other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.commands.run import run_pytest
from autotest.errors import UsageError
from autotest.expressions import parse, test_file

#: Where test files lie that nobody asked for by name, each in a folder of its own; Git and pytest pass it by.
FOLDER = Path(".autotest") / "check"
#: The file's settings, so that none of the folder's above count.
_SETTINGS = "[pytest]\n"


def check(expressions: Sequence[str], cases: int | None, write: Path | None, options: Mapping[str, Any]) -> int:
    """Run one test for each expression; `write` is the file that is to keep them. Returns the status of a run.

    Raises ExpressionError, and UsageError for a file that cannot be written.
    """
    text = test_file([parse(expression) for expression in expressions], cases)
    path = _place(text) if write is None else write
    if write is not None and (path.suffix != ".py" or path.exists()):
        reason = "is there already, but should be a new file" if path.exists() else "should end in .py"
        raise UsageError(f"--write={path} {reason} [--write]")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if write is None:
            ignored = FOLDER.parent / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n")
            (path.parent / "pytest.ini").write_text(_SETTINGS)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another file with --write") from error
    # What PyTorch ends is a worker of pytest's, not this command.
    return run_pytest([str(path), "-q", "--no-header", "-p", "no:cacheprovider"], "1", options)


def _place(text: str) -> Path:
    """The file of a test that nobody named: the same text has the same one, so that what diverged is remembered."""
    return FOLDER / hashlib.sha256(text.encode()).hexdigest()[:8] / "test_check.py"
