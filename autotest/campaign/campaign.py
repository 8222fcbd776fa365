"""`autotest campaign`: hours of search, which go on where they were stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autotest.campaign.config import Config, read_config
from autotest.campaign.driver import Driver, held
from autotest.campaign.rounds import SCRIPTS, Rounds
from autotest.campaign.slots import LocalSlots, Slots
from autotest.commands.summary import tell
from autotest.errors import EnvironmentFault, UsageError
from autotest.exits import ALIGNED, DIVERGED, HARNESS_FAULT, USAGE

#: What to say of a budget that is spent before there is anything to report of.
NOTHING_ENDED = (
    "no round has ended within the budget, of which collecting the tests is part: the same command with more, as "
    "--time 10m, goes on"
)


def campaign(
    path: Path | None, options: Mapping[str, Any], say: Callable[[str], None], width: int, *, color: bool
) -> tuple[int, str]:
    """Run the campaign of a file and of options until its budget is spent, Ctrl-C or SIGTERM; its exit status, and the
    summary of its report.

    Raises UsageError for what means nothing, and for a campaign that is not the one in its folder.
    """
    config = read_config(path, options)
    status, stopped = ALIGNED, ""
    with held(config.folder):
        rounds = Rounds(config)
        try:
            with _slots(config) as source:
                signal.signal(signal.SIGTERM, _interrupt)  # a cluster has a way of its own
                Driver(rounds, source, source.count(config.processes), say).go()
        except KeyboardInterrupt:
            stopped = "stopped; the same command goes on"
        except EnvironmentFault as fault:
            status, stopped = USAGE, str(fault)
        if not rounds.log.done:
            return USAGE, stopped or NOTHING_ENDED  # nothing has been compared that could be aligned
        conclusion = tell(rounds.run, width, color, rounds.look_left * SCRIPTS)
    red = any(done.found for done in rounds.log.done.values())
    if conclusion.faulty or not conclusion.written:
        status = HARNESS_FAULT
    elif status == ALIGNED and red:
        status = DIVERGED
    return status, "\n".join(filter(None, (conclusion.text, stopped)))


def _slots(config: Config) -> Slots:
    """Where the campaign's slots are to be. Raises UsageError where Ray is asked for and not installed."""
    if config.ray is None:
        return LocalSlots()
    try:
        from autotest.campaign.remote.cluster import Cluster
    except ImportError as error:
        raise UsageError(
            f"ray={config.ray!r}, but Ray cannot be imported ({error}): install op-autotest with its extra ray, as "
            "pip install 'op-autotest[ray]', or leave --ray out"
        ) from None
    return Cluster(config.ray, config.folder, config.processes)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


__all__ = ["campaign"]
