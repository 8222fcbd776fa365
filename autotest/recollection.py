"""Recollection: what one test has to draw again from the regression memory, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from autotest.case import Drawer, Origin
from autotest.memory import Draw, Memory, Recalled, bounded
from autotest.verdicts import Verdicts

if TYPE_CHECKING:
    from reports import RecordWriter


class Recollection:
    """The remembered cases of one test; without a memory there are none."""

    def __init__(self, memory: Memory | None, test: str, drawer: Drawer) -> None:
        self._memory = memory
        self._test = test
        self._drawer = drawer
        self._recalled = Recalled() if memory is None else memory.recall(test)
        self._besides: list[str] = []

    def besides(self, n: int) -> Iterator[tuple[Origin, list[int]]]:
        """Origins, and the indices to draw from each, that a run of n cases does not draw anyway."""
        for place, indices in self._recalled.besides(*self._drawer.origin, n).items():
            origin = Origin(*place)
            self._besides += [self._drawer.key(index, origin) for index in indices]
            yield origin, indices

    def drawn(self, verdicts: Verdicts) -> int:
        """How many verdicts are of cases that were drawn besides the n."""
        return sum(key in verdicts.ended for key in self._besides)

    def update(self, verdicts: Verdicts, writer: RecordWriter | None, nodeid: str) -> None:
        """Remember what is red now, forget what is not any more, and tell what aligns again."""
        if self._memory is None:
            return
        red: dict[str, list[str]] = {}
        for row in verdicts.rows:
            red.setdefault(row["case_key"], []).append(row["id"])
        kept: list[Draw] = []
        aligned: dict[str, None] = {}
        for draw in self._recalled.draws:
            key = self._drawer.key(draw.index, Origin(draw.seed, draw.inputs))
            if key not in verdicts.ended:  # its test ended before it came to that, or the run's inputs are calmer
                kept.append(draw)
            elif key in red:
                kept += [replace(draw, id=id_) for id_ in red.pop(key)]
            elif verdicts.ended[key] == "aligned":
                aligned[key] = None
        for key, ids in red.items():
            index, origin = self._drawer.place(key)
            kept += [Draw(origin.seed, origin.inputs, index, id_) for id_ in ids]
        problems = [self._recalled.problem, self._memory.keep(self._test, self._recalled, bounded(kept))]
        told = [problem for problem in problems if problem is not None]
        if writer is not None and (aligned or told):
            writer.remembered(nodeid, len(aligned), told)
