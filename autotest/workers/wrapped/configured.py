"""A target under one configuration of its static graph: it does all that the target does, and builds graphs so."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.compare.difference import Rules
from autotest.errors import UsageError
from autotest.workers.protocol import Death, GraphFailure, Target
from dual_object.program.precision import is_wide
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Configuration, GraphRefusal, TargetInfo
from dual_object.replay.observation import Observation

#: Stands for all configurations of the target.
ALL = "all"


class Configured:
    """A target whose graphs are built under a configuration of its own."""

    def __init__(self, target: Target, configuration: Configuration) -> None:
        self._target = target
        self.configuration = configuration

    def info(self) -> TargetInfo:
        """What the target says of itself."""
        return self._target.info()

    def unlowered(self, program: Program) -> str | None:
        """Why the target cannot be asked about a Program for its modules."""
        return self._target.unlowered(program)

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs eagerly, which a configuration does not change."""
        return self._target.eager(programs)

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE graph, under the configuration."""
        return self._target.graph(programs, gradients, again, configuration or self.configuration.name)


def wanted(asked: Sequence[str], info: TargetInfo) -> list[Configuration]:
    """Those of a target's configurations that are asked for by name, or all of them; none where it has none at all.

    Raises UsageError for a name that none of them has.
    """
    offered = {configuration.name: configuration for configuration in info.configurations}
    for name in asked:
        if offered and name != ALL and name not in offered:
            raise UsageError(
                f"graph_configs={name!r}, but should be all, or configurations of {info.name}'s graphs, which are "
                f"{', '.join(offered)} [--graph-configs or @autotest(graph_configs=...)]"
            )
    return [configuration for name, configuration in offered.items() if ALL in asked or name in asked]


def under(target: Target, rules: Rules, name: str, program: Program) -> tuple[Target, Rules] | None:
    """The target under its configuration of this name, and how closely what a graph of the Program gives is compared
    then; both as they are where there is no name, and None where the target has no such configuration.
    """
    if not name:
        return target, rules
    for configuration in target.info().configurations:
        if configuration.name == name:
            return Configured(target, configuration), rules.computed_in(dtype_under(configuration, program))
    return None


def dtype_under(configuration: Configuration, program: Program) -> str:
    """The dtype that a graph of the Program may compute in: no configuration narrows float64."""
    return "" if configuration.dtype and is_wide(program) else configuration.dtype


__all__ = ["Configured", "dtype_under", "under", "wanted"]
