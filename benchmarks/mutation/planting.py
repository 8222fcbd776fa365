"""`AUTOTEST_FAULT=benchmarks.mutation.planting:plant` plants the faults that `MUTATION_FAULTS` names, in
each worker.

`python -m benchmarks.mutation.planting FAULT SCRIPT [ARGUMENT...]` runs a script in whose OneFlow one is planted, and
in that of the processes that it starts.
"""

from __future__ import annotations

import os
import runpy
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.mutation.fault import World
from benchmarks.mutation.table import FAULTS

#: The ids of the faults to plant, separated by commas.
VARIABLE = "MUTATION_FAULTS"


def plant(adapter: Any) -> None:
    """Plant the named faults into the adapter's OneFlow; raises KeyError for an id that no fault has."""
    _plant(World(adapter.flow), os.environ[VARIABLE].split(","))


def _plant(world: World, ids: Sequence[str]) -> None:
    faults = {fault.id: fault for fault in FAULTS}
    for id_ in ids:
        faults[id_].plant(world)


def main() -> None:
    """Plant a fault and run a script as `python SCRIPT` would."""
    import oneflow

    id_, *sys.argv = sys.argv[1:]
    _plant(World(oneflow), [id_])
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as scratch:
        python = Path(scratch) / "python"
        command = shlex.join([sys.executable, "-m", __spec__.name, id_])
        python.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        python.chmod(0o755)
        sys.executable = str(python)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
