"""Within a module's call: which of the functions that it calls diverges, on a target that is only asked for those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.judge.blame.localization import each_alone, only_call
from autotest.workers.protocol import Target
from dual_object.errors import NotLowered
from dual_object.record.lowering import lower
from dual_object.replay.adapter import Reference


def told_within(
    reference: Reference,
    target: Target,
    divergences: Sequence[Divergence],
    rules: Rules,
    *,
    graph: bool,
    always: bool = False,
) -> list[Divergence]:
    """The divergences; of a target without modules, or `always`, those of a module's call with the first function
    within it that diverges in the same phase.
    """
    if not (always or "modules" in target.info().lacks):
        return [*divergences]
    return [
        _told(reference, target, found, rules, graph=graph) if any(found.program.modules()) else found
        for found in divergences
    ]


def _told(reference: Reference, target: Target, divergence: Divergence, rules: Rules, *, graph: bool) -> Divergence:
    alone, difference = divergence.alone or divergence.program, divergence.difference
    if divergence.call is None or (divergence.alone is None and only_call(alone) is None):
        return divergence
    try:
        lowering = lower(alone, reference)
    except NotLowered:  # then the target was not asked about it alone either, and no function is to blame
        return divergence
    for found in each_alone(reference, target, lowering.program, rules, graph=graph):
        place = lowering.place(found.call)
        if place is not None and place.within and found.difference.phase == difference.phase:
            message = f"{difference.message}; within it {place.within} does"
            return replace(divergence, difference=replace(difference, message=message))
    return divergence


__all__ = ["told_within"]
