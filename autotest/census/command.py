"""What `autotest census` tells."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import dual_object.adapters
from autotest.census.census import take_census
from autotest.census.telling import census_json, census_page
from autotest.options.ledger import SHIPPED
from autotest.options.table import OPTIONS
from dual_object.adapters.dialect import Row, table
from reports import resolve_run

#: The targets whose tables say what they call PyTorch's ops.
TRANSLATED = ("jax", "paddle")


def census_text(reports: Sequence[Path], ledgers: Sequence[str], output: Path | None, *, as_json: bool) -> str:
    """The page, or the JSON, of these report folders.

    Raises ReportError for a folder without a run, UsageError for a ledger that is none and for runs of several targets.
    """
    from dual_object.adapters.torch.tables import table_ops

    given = OPTIONS["ledger"].read(tuple(ledgers) or (SHIPPED,), "--ledger")
    runs = [resolve_run(folder) for folder in reports]  # before PyTorch's tables, which take seconds
    census = take_census(runs, given, table_ops(), tables())
    if as_json:
        return json.dumps(census_json(census), indent=1) + "\n"
    typed = [*map(str, reports), *(part for one in ledgers for part in ("--ledger", one))]
    typed += [] if output is None else ["--output", str(output)]
    return census_page(census, shlex.join(["autotest", "census", *typed]))


def tables() -> dict[str, dict[str, Row]]:
    """By target the rows of its table, by PyTorch's path. Raises DialectError."""
    home = Path(dual_object.adapters.__path__[0])
    return {target: table(home / target) for target in TRANSLATED}


__all__ = ["census_text"]
