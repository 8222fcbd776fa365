"""`AUTOTEST_FAULT=benchmarks.mutation.planting:plant` plants the faults that `MUTATION_FAULTS` names, in
each worker.
"""

from __future__ import annotations

import os
from typing import Any

from benchmarks.mutation.fault import World
from benchmarks.mutation.table import FAULTS

#: The ids of the faults to plant, separated by commas.
VARIABLE = "MUTATION_FAULTS"


def plant(adapter: Any) -> None:
    """Plant the named faults into the adapter's OneFlow; raises KeyError for an id that no fault has."""
    world = World(adapter.flow)
    faults = {fault.id: fault for fault in FAULTS}
    for id_ in os.environ[VARIABLE].split(","):
        faults[id_].plant(world)
