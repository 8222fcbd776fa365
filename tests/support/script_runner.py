"""Run scripts one after the other, each in a fork of a process that has imported PyTorch and no target.

A fork of a process that had imported the target would hang in it; a process for each would import PyTorch each time.
"""

import os
import sys
import tempfile
import traceback

import torch  # noqa: F401 - imported once, for all


def run(path: str) -> None:
    """Run one script and print its exit status and its output, marked off."""
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        child = os.fork()
        if child == 0:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            status = 99
            try:
                with open(path) as file:
                    exec(compile(file.read(), path, "exec"), {"__name__": "__main__", "__file__": path})  # noqa: S102
            except SystemExit as end:
                status = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(status)
        _, ended = os.waitpid(child, 0)
        log.seek(0)
        sys.stdout.write(f"== {path} {os.waitstatus_to_exitcode(ended)}\n{log.read()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    for script in sys.argv[1:]:
        run(script)
