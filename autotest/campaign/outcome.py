"""What a round has left in the run's folder: read to its log line, and taken away where it was interrupted."""

from __future__ import annotations

import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autotest.campaign.log import Done, Round
from autotest.cases.drawer import LAYING
from autotest.compare.kinds import DEADLY
from reports import RED_LEVELS, records_file
from reports.records.run import Damage, Run
from reports.tallies.argument_space import SPACE_PHASES

#: A case that ends the target costs as much as so many of one eager call: a process is started again, and what the end
#: needs is tried.
DEATH = 40
#: So much costs a visit itself. A call in a graph costs one, and where the case trains so many.
VISITED, TRAINED = 4, 3


def came(run: Path, round_: Round, *, cpu: float = 0.0, look: float = 0.0, cells: bool = False) -> Done:
    """What came of a round, with its `cells` where they are asked for; its records are on the disk when this returns.

    Raises RecordError.
    """
    path = records_file(run, round_.worker)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    ends = {(visit.test, visit.laid_out[1]) for visit in round_.visits if visit.laid_out is not None}
    cases: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    laid_out: dict[str, bool] = {}
    found: dict[str, dict[str, str]] = defaultdict(dict)
    looked: dict[str, None] = {}
    ids: dict[str, str] = {}
    reached: dict[str, set[str]] = defaultdict(set)
    faults = 0
    for _, line in Run(run, (path,)).lines():
        if isinstance(line, Damage):  # the records of a round that has ended by itself are whole
            faults += 1
            continue
        kind = line["type"]
        if kind == "start" and line["key"].endswith(f"@{LAYING}"):
            laid_out[line["test"]] = (line["test"], line["index"] + 1) in ends
        elif kind == "end":
            cases[line["verdict"]] += 1
            rows = line["divergences"]
            costs[line["test"]] += DEATH if any(row["kind"] in DEADLY for row in rows) else _cost(line)
            red = {row["id"]: row["fingerprint"] for row in rows if row["level"] in RED_LEVELS}
            found[line["test"]] |= red
            ids |= {fingerprint: id_ for id_, fingerprint in red.items()}
        elif kind == "test":
            costs[line["test"]] += VISITED
        elif kind == "shrunk" and line["shrunk"]["runs"] and line["fingerprint"] in ids:
            looked[ids[line["fingerprint"]]] = None
        elif kind == "reached" and cells:
            reached[line["test"]].update(_cells(line["groups"]))
        elif kind == "fault":
            faults += 1
    shown: dict[str, Any] = {test: rows for test, rows in found.items() if rows}
    told = {test: sorted(digests) for test, digests in reached.items()}
    left = tuple(test for test, whole in laid_out.items() if whole)
    return Done(dict(cases), dict(costs), left, shown, tuple(looked), told, round(cpu, 3), round(look, 3), faults)


def _cost(case: Mapping[str, Any]) -> int:
    """What a case costs, from what ran: its calls, in how many graphs, and whether they train."""
    graph: Mapping[str, Any] = case["graph"] or {"forward": "off"}  # a draw that was refused has none
    graphs: int = (graph["forward"] != "off") + len(graph.get("configurations", ()))
    steps = TRAINED if "training" in graph else 1
    return 1 + len(case["ops"]) * graphs * steps


def _cells(groups: list[dict[str, Any]]) -> Iterator[str]:
    """A digest of each cell in which a tensor was compared: its op, dtype, rank, layout, values, and the phase. Of a
    million, one in four thousand shares its digest with another.
    """
    for group in groups:
        for cell, counts in group["cells"].items():
            for phase, count in zip(SPACE_PHASES, counts, strict=False):
                for op in group["ops"] if count else ():
                    yield f"{zlib.crc32(f'{op} {cell} {phase}'.encode()):08x}"


def files(run: Path, worker: str) -> dict[str, bytes]:
    """All that a round has left, by paths in the run's folder."""
    held = [records_file(run, worker), *(run / "programs").glob(f"**/*-{worker}-*")]
    return {str(path.relative_to(run)): path.read_bytes() for path in held if path.is_file()}


def forget(run: Path, worker: str) -> None:
    """Take away all that a round has left."""
    records_file(run, worker).unlink(missing_ok=True)
    for path in (run / "programs").glob(f"**/*-{worker}-*"):
        path.unlink(missing_ok=True)


__all__ = ["came", "files", "forget"]
