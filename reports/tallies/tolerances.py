"""Tolerances: what the surveyed cases need, by op, dtype, device and phase, and which tests allow far more."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from reports.records.shape import Record
from reports.words.literals import literal
from reports.words.paper import Paper

FILE = "tolerances.json"
#: A test's own tolerance that allows so many times what its cases need is told of.
LOOSE = 100.0


@dataclass(frozen=True)
class Needed:
    """What one op needs: its largest error as a share of the table's tolerance and in ULP, and the case that shows it.

    `rtol` and `atol` are the table's pair, scaled by that share. `reference` and `target` are the shares of each side's
    own error, against the reference in float64; None where that was not asked.
    """

    op: str
    dtype: str
    device: str
    phase: str
    share: float
    ulp: float
    rtol: float
    atol: float
    reference: float | None
    target: float | None
    case: str

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return dict(vars(self))


class ToleranceTally:
    """Counts records into what is needed and what to warn of; memory grows with ops and tests."""

    def __init__(self) -> None:
        self._needed: dict[tuple[str, str, str, str], Needed] = {}
        self._own: dict[str, list[Record]] = {}

    def take(self, record: Record) -> None:
        """Take what one test found at one place."""
        place = (record["op"], record["dtype"], record["device"], record["phase"])
        rtol, atol = record["table"]
        share = record["share"]
        needed = Needed(
            *place,
            share,
            record["ulp"],
            share * rtol,
            share * atol,
            record["reference"],
            record["target"],
            record["key"],
        )
        held = self._needed.get(place)
        if held is None or (needed.share, held.case) > (held.share, needed.case):
            self._needed[place] = needed
        if record["own"] is not None:
            self._own.setdefault(record["test"], []).append(record)

    def needed(self) -> tuple[Needed, ...]:
        """What was found, the greatest share first."""
        return tuple(sorted(self._needed.values(), key=lambda row: (-row.share, row.op, row.dtype, row.phase)))

    def warnings(self) -> tuple[str, ...]:
        """A sentence for each test whose own tolerance is far too loose, or wider than the table without a reason."""
        sentences = (_warning(test, rows) for test, rows in sorted(self._own.items()))
        return tuple(sentence for sentence in sentences if sentence)


def _warning(test: str, rows: Sequence[Record]) -> str:
    rtol, atol = rows[0]["own"]
    wider = [row for row in rows if rtol > row["table"][0] or atol > row["table"][1]]
    if not wider:
        return ""
    worst = max(wider, key=lambda row: row["share"])
    # As a share of what the test allows, by whichever of its two parts allows less of the table's.
    times = min(own / table if table else math.inf for own, table in zip((rtol, atol), worst["table"], strict=True))
    enough = [_round_up(max(worst["share"], 1.0) * part) for part in worst["table"]]
    pair = f"rtol={enough[0]:g}, atol={enough[1]:g} would do [largest error: {worst['key']}]"
    if times > LOOSE * max(worst["share"], 1.0):
        return f"{test}: rtol={rtol:g}, atol={atol:g}, but {pair}"
    if worst["because"] is None:
        table = worst["table"]
        return (
            f"{test}: rtol={rtol:g}, atol={atol:g} is wider than the table's rtol={table[0]:g}, atol={table[1]:g}, "
            f"but because=... should name the case that needs it [@autotest(...)]; {pair}"
        )
    return ""


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(step for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)) * power:.1g}")


def save_tolerances(folder: Path, rows: Sequence[Needed]) -> Path:
    """Write what is needed as JSON into a run folder and return the file; raises OSError."""
    path = folder / FILE
    path.write_text(json.dumps([row.to_json() for row in rows], indent=1) + "\n")
    return path


def tolerance_text(rows: Sequence[Needed], width: int = 80, encoding: str = "utf-8") -> str:
    """Return what is needed as a table: a line per op, dtype, device and phase."""
    paper = Paper(width, False)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("op", "dtype", "device", "phase"):
        table.add_column(name, overflow="fold")
    for name in ("of table", "ULP", "rtol", "atol", "torch off", "target off"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("case", overflow="fold")
    for row in rows:
        own = ["-" if share is None else f"{share:.2g}" for share in (row.reference, row.target)]
        texts = [row.op, row.dtype, row.device, row.phase]
        numbers = [f"{row.share:.2g}", f"{row.ulp:.3g}", f"{row.rtol:.1e}", f"{row.atol:.1e}", *own]
        table.add_row(*(Text(literal(text, encoding)) for text in texts), *numbers, Text(literal(row.case, encoding)))
    paper.console.print(table)
    return paper.text()
