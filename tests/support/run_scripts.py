"""Run scripts of divergences one after the other, as `python run_scripts.py FAULT SCRIPT...`, started by `scripts.py`.

`FAULT` names a function of planted faults, such as `training_faults:parts`, which is given OneFlow first; it may be
empty. A line of JSON tells how each script ended.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
from types import SimpleNamespace


def status_of(script: str) -> int:
    """Run one as the interpreter does; the status with which it ends, or 1 with what it raises on stderr."""
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def main(fault: str, *scripts: str) -> None:
    """Run them all, and end at once: OneFlow 0.9.0 now and then dies when Python takes it down."""
    end = os._exit
    os._exit = sys.exit  # type: ignore[assignment] # with it a script that has told its verdict ends its process
    if fault:
        from dual_object.adapters.oneflow.eager import import_oneflow
        from dual_object.replay.replay import import_function

        import_function(fault)(SimpleNamespace(flow=import_oneflow()))
    for script in scripts:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = status_of(script)
        sys.stdout.write(json.dumps([status, printed.getvalue()]) + "\n")
        sys.stdout.flush()
    end(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
