"""A Ray cluster, of other machines or of this one, as where slots come from."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import ray

from autotest.campaign.remote.actor import SlotActor
from autotest.campaign.remote.slot import RemoteSlot
from autotest.campaign.slots import Slot
from autotest.campaign.sources import TESTS
from autotest.commands.run import processes
from autotest.errors import EnvironmentFault

#: The address of a cluster that is started here, and ends with the campaign.
LOCAL = "local"
#: How often one is started before it is given up: Ray allows its own processes 15 s, and a busy machine needs more.
STARTS = 3
#: Calls of an actor that may be under way: the round, which case it has begun last, and its end.
CALLS = 3


class Cluster:
    """Slots on a Ray cluster, each an actor with one processor, which is never started again: a round that has ended
    one runs again where the driver says so, and not otherwise.
    """

    def __init__(self, address: str, folder: Path, asked: str) -> None:
        self._address = address
        self._folder = folder
        self._asked = asked
        self._tests: Any = None

    def __enter__(self) -> Cluster:
        """Connect, or start one. Raises EnvironmentFault where there is no cluster."""
        local = self._address == LOCAL
        for left in reversed(range(STARTS if local else 1)):
            try:
                self._connect({"include_dashboard": False, "num_cpus": processes(self._asked)} if local else {})
                break
            except Exception as error:  # Ray raises those of many classes, and some of none
                ray.shutdown()
                if not left:
                    reason = " ".join(str(error).split())[:300]
                    raise EnvironmentFault(f"there is no Ray cluster at {self._address}: {reason} [--ray]") from None
        return self

    def _connect(self, started: dict[str, Any]) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        address = None if started else self._address
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False, **started)

    def count(self, asked: str) -> int:
        """A number, or `auto`: as many as the cluster has processors."""
        return int(asked) if asked != "auto" else max(1, int(ray.cluster_resources().get("CPU", 1)))

    def start(self, number: int, arguments: Sequence[str], told: dict[str, Any], log: Path) -> Slot:
        """An actor, wherever there is room; what its process prints stays there."""
        if self._tests is None:  # the driver has written them by now
            written = (self._folder / TESTS).glob("*.py")
            self._tests = ray.put({str(path): path.read_text(encoding="utf-8") for path in written})
        options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "max_concurrency": CALLS}
        actor = ray.remote(SlotActor).options(**options)
        return RemoteSlot(number, actor.remote(number, os.getcwd(), list(arguments), self._tests, told))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster; one that was started here ends."""
        ray.shutdown()


__all__ = ["LOCAL", "Cluster"]
