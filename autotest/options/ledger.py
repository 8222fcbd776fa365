"""The ledgers that a run is given by `--ledger`, by file or by name."""

from __future__ import annotations

from pathlib import Path

FILE_NAME = "known_divergences.toml"
#: The name of the ledgers that the suites come with, and where those are.
SHIPPED = "suites"
SUITES = Path(__file__).resolve().parents[2] / "suites"


def given_ledger(text: str) -> tuple[Path, ...]:
    """The files that one `--ledger` names; raises ValueError where there is none."""
    files = [Path(text)] if text != SHIPPED else [SUITES / FILE_NAME, SUITES / "global" / FILE_NAME]
    if text != SHIPPED and not files[0].is_file():
        raise ValueError(text)
    found = tuple(path.resolve() for path in files if path.is_file())
    if not found:
        raise ValueError(text)
    return found
