"""What a slot tells of its rounds."""

from __future__ import annotations

import subprocess

from autotest.campaign.slot import _computed
from support.runs import INTERPRETER

#: Half a second of a processor.
BURN = "import time\nwhile time.process_time() < .5: pass\n"
#: A process that forks targets, as it is once one of them has ended.
FORKING = f"""
import subprocess
subprocess.run([{INTERPRETER!r}, "-c", {BURN!r}])
print("ended", flush=True)
input()
"""


def test_computing_of_targets_that_have_ended() -> None:
    """What they have computed counts while the process that forked them lives, and after it."""
    before = _computed()
    with subprocess.Popen([INTERPRETER, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as forking:  # noqa: S603 - our own interpreter
        assert forking.stdout
        assert forking.stdout.readline() == b"ended\n"
        computed = _computed() - before
        forking.communicate(b"\n")
    after = _computed() - before
    assert computed > 0.4
    assert after >= computed
