"""`autotest check EXPRESSION...`: tests from the shell, written into a file and run as any other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.commands.run import run_pytest
from autotest.errors import UsageError
from autotest.expressions import UNNAMED, parse, test_file
from autotest.ledger.entries import find

#: The file's settings, so that none of the folder's above count.
_SETTINGS = "[pytest]\n"


def check(expressions: Sequence[str], cases: int | None, write: Path | None, options: Mapping[str, Any]) -> int:
    """Run one test for each expression; `write` is the file that is to keep them. Returns the status of a run. What the
    ledger in this folder has is known, as it would be of a test file here.

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
            ignored = UNNAMED.parent / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n")
            (path.parent / "pytest.ini").write_text(_SETTINGS)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another file with --write") from error
    known = find(Path(), Path(), options["target"].split(",")) if write is None and not options["ledger"] else None
    if known is not None:
        options = {**options, "ledger": (str(known),)}
    # What PyTorch ends is a worker of pytest's, not this command.
    return run_pytest([str(path), "-q", "--no-header", "-p", "no:cacheprovider"], "1", options)


def _place(text: str) -> Path:
    """The file of a test that nobody named: the same text has the same one, so that what diverged is remembered."""
    return UNNAMED / hashlib.sha256(text.encode()).hexdigest()[:8] / "test_check.py"
