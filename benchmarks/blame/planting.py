"""Faults in PyTorch, on one side of a run against PyTorch itself.

`AUTOTEST_FAULT=benchmarks.blame.planting:plant` plants those that `BLAME_FAULTS` names in the target's workers;
`-p benchmarks.blame.planting` plants them in pytest's own process, where the reference runs, if `BLAME_SIDE=reference`.
"""

from __future__ import annotations

import os
from typing import Any

import torch

from benchmarks.mutation.fault import PROGRAMS, Fault, World
from benchmarks.mutation.table import FAULTS

#: The ids of the faults to plant, separated by commas; and the side: target or reference.
VARIABLE, SIDE = "BLAME_FAULTS", "BLAME_SIDE"
#: What the reference is called by: the recording of a body, and replays.
REFERENCE = PROGRAMS | {"dual_object.record.recording"}

#: Categories that cannot be planted on both sides: PyTorch as the reference runs in no graph, and what is random is
#: judged by samples.
ONE_SIDED = ("graph forward", "graph backward", "random")


class TorchWorld(World):
    """PyTorch as the place where a fault is planted."""

    @property
    def building(self) -> bool:
        """Whether a static graph is being built: of PyTorch one is traced from an eager run."""
        return False


def fits(fault: Fault) -> bool:
    """Whether a fault of OneFlow can be one of PyTorch's: it reaches for nothing that PyTorch lacks."""
    return fault.category not in ONE_SIDED and "_C" not in _names(fault.change)


def _names(function: Any) -> set[str]:
    """The attributes that a function reads, those of its inner functions included."""
    pending, names = [function.__code__], set()
    while pending:
        code = pending.pop()
        names.update(code.co_names)
        pending += [part for part in code.co_consts if hasattr(part, "co_names")]
    return names


def plant(adapter: Any) -> None:
    """Plant the named faults in a worker."""
    if os.environ[SIDE] == "target":
        _plant(PROGRAMS)


def pytest_configure() -> None:
    """Plant the named faults where the reference runs."""
    if os.environ[SIDE] == "reference":
        _plant(REFERENCE)


def _plant(callers: frozenset[str]) -> None:
    world = TorchWorld(torch)
    faults = {fault.id: fault for fault in FAULTS}
    for id_ in os.environ[VARIABLE].split(","):
        faults[id_].plant(world, callers)
