"""`autotest trace -- python train.py`: the calls that a program makes of PyTorch, into a file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from autotest.commands.tracing.corpus import Corpus, read
from autotest.commands.tracing.expressions import UnspelledError, spelled
from autotest.errors import UsageError
from reports.words.quantities import counted

_INSIDE = Path(__file__).with_name("inside.py")
#: Of what is no expression, so many ops are named.
MOST_NAMED = 5


def trace(command: Sequence[str], output: Path, say: Callable[[str], None]) -> int:
    """Run a program of Python and add the calls that it makes to the corpus in `output`; its own exit status.

    Raises UsageError for a command that is none of Python's, for a script that is not there, and for a file that is no
    corpus or cannot be written.
    """
    python, program = traced_command(command)
    if program[0] not in ("-m", "-c") and not Path(program[0]).exists():
        raise UsageError(f"{program[0]} is not there, but should be the script that {python[0]} runs")
    if not os.access(output if output.exists() else output.parent, os.W_OK):
        raise UsageError(f"--output={output}, but should be a file that can be written, in a folder that is there")
    known = read([output]) if output.exists() else Corpus()
    before = len(known.calls())
    with tempfile.TemporaryDirectory(prefix="autotest-trace-") as folder:
        seen = Path(folder) / "calls.json"
        traced = [*python, str(_INSIDE), str(seen), *program]
        status = subprocess.run(traced, check=False).returncode  # noqa: S603 - the user's own program
        if not seen.exists():
            say(f"nothing was recorded: the program ended with {status} before it could be written")
            return status if status > 0 else 1
        calls = json.loads(seen.read_text())
    unspelled: Counter[tuple[str, str]] = Counter()
    for call in calls:
        try:
            known.add(spelled(call), call["count"])
        except UnspelledError as error:
            unspelled[call["path"], str(error)] += call["count"]
    try:
        output.write_text(known.text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output={output} cannot be written: {error.strerror}; name another file") from None
    made = sum(call["count"] for call in calls)
    new = len(known.calls()) - before
    say(f"{counted(made, 'call')}, {new:,} new to {output}")
    for (path, reason), count in unspelled.most_common(MOST_NAMED):
        say(f"  left out: {counted(count, 'call')} of {path}: {reason}")
    if len(unspelled) > MOST_NAMED:
        say(f"  and {counted(len(unspelled) - MOST_NAMED, 'op')} more")
    return status


def traced_command(command: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The interpreter of a command with its options, and what it runs; a script of Python's is run by the interpreter
    that it names.

    Raises UsageError.
    """
    first, *rest = command
    path = shutil.which(first)
    if path is None:
        raise UsageError(f"{first} is no program, but should be python, or a script of Python's")
    if re.fullmatch(r"python[\d.]*", Path(path).name):
        options = [path]
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
            taken = 2 if rest[0] in ("-W", "-X") else 1
            options += rest[:taken]
            del rest[:taken]
        if not rest or (rest[0] in ("-m", "-c") and len(rest) == 1):
            raise UsageError(f"{' '.join(command)} runs no program, but should, as python train.py or python -m train")
        return options, rest
    with open(path, "rb") as file:
        named = re.match(rb"#!\s*(\S*/python[\d.]*)\s*$", file.readline())
    if named is None:
        raise UsageError(f"{first} is no program of Python's, but should be: python train.py, or a script as pytest is")
    return [named[1].decode()], [path, *rest]


__all__ = ["trace"]
