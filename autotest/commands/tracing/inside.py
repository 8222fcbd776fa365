"""A Python program whose calls of PyTorch are counted: `python inside.py OUTPUT (SCRIPT | -m MODULE | -c CODE) [ARGS]`.

It is run by the program's own interpreter, which need not have this project, as Python itself would run it.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_HOME = str(Path(__file__).resolve().parents[3])
#: What a traceback need not show: how we run the program, and how we see its calls.
_OURS = (__file__, runpy.__file__, "<frozen runpy>", str(Path(_HOME, "dual_object")))


class Ours:
    """Finds the packages that are needed, whatever lies beside them."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where one of them is; what lies in it is found by its own path."""
        return PathFinder.find_spec(name, [_HOME]) if name in ("dual_object", "generators") else None


def main() -> None:
    """Run the program; write what it called, however it ends."""
    output, *program = sys.argv[1:]
    del sys.path[0]  # the folder of this file
    sys.meta_path.insert(0, Ours)
    try:
        from dual_object.adapters.torch.traced import Calls
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "torch"):
            raise
        sys.exit(f"{sys.executable} has no {error.name}, but should be the Python of a program that uses PyTorch")
    calls = Calls()
    try:
        with calls:
            _run(program)
    except Exception as error:
        _print(error)
        sys.exit(1)
    finally:
        Path(output).write_text(json.dumps(calls.seen()))


def _print(error: Exception) -> None:
    """As Python does for an exception that nobody catches, of the program's own lines."""
    shown = traceback.TracebackException.from_exception(error)
    shown.stack = traceback.StackSummary.from_list(
        [frame for frame in shown.stack if not frame.filename.startswith(_OURS)]
    )
    sys.stderr.write("".join(shown.format()))


def _run(program: list[str]) -> None:
    """As `python` does: what it finds first, and what it calls itself."""
    first, *rest = program
    if first == "-m":
        sys.argv[:] = rest
        sys.path.insert(0, str(Path.cwd()))
        if find_spec(rest[0].partition(".")[0]) is None:
            sys.exit(f"{sys.executable}: No module named {rest[0]}")
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - the user's own
    else:
        sys.argv[:] = program
        sys.path.insert(0, str(Path(first).resolve().parent))
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    main()
