"""`python -m autotest.commands.replaying.graph_debug`: one stored Program in a static graph that tells how it is built.

A process of its own, so that all it prints is the graph's log, whatever becomes of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.names import HOME
from autotest.workers.protocol import RANK_VARIABLES

#: Seconds without a deadline of a case.
LONGEST = 600.0


def debug_log(path: Path, target: str, level: int, ranks: Sequence[int], timeout: float | None) -> str:
    """What the target's graph logs while it is built for the Program stored at `path`, and the graph as it prints
    itself.
    """
    asked = json.dumps([str(path.absolute()), target, level, list(ranks), os.getcwd(), sys.path])
    environment = {name: value for name, value in os.environ.items() if name not in RANK_VARIABLES}
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "autotest.commands.replaying.graph_debug", asked],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            # It imports our packages from where it starts: the folder of the run may have modules of these names.
            cwd=HOME,
            timeout=timeout or LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        said = (expired.stdout or b"").decode(errors="replace")
        return f"{said}\nthe graph did not end within {expired.timeout:g} s and was killed"
    text = done.stdout.decode(errors="replace")
    return text if done.returncode == 0 else f"{text}\nthe graph ended its process with status {done.returncode}"


def main(asked: str) -> None:
    """Run the graph; its log and text go to the standard output."""
    path, target, level, ranks, folder, places = json.loads(asked)
    from autotest.compare.fingerprint import configuration_of
    from dual_object.program.program import Program
    from dual_object.replay import adapter as adapters
    from dual_object.replay.adapter import GraphError, GraphRequest
    from dual_object.replay.replay import Replay

    os.chdir(folder)
    sys.path[:] = places
    program, note = Program.load(Path(path))
    observation = Replay(adapters.load("torch"), program, side="reference").run()
    keys = observation.gradient_keys()
    adapter: Any = adapters.load(target)
    if not hasattr(adapter, "graph_debug"):
        sys.stdout.write(
            f"target={target!r}, but should be one whose graphs can tell how they are built, as oneflow's\n"
        )
        return
    adapter.graph_debug = (level, ranks or None)
    try:
        gradients = [keys] if program.cotangents and keys else None
        configuration = configuration_of(note["row"]["fingerprint"])
        adapter.graph(GraphRequest([program], gradients, configuration=configuration))
    except GraphError as error:
        sys.stdout.write(f"the graph failed: {error.message}\n")


if __name__ == "__main__":
    main(sys.argv[1])
