"""The ledgers that a run is given by `--ledger`, by file or by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autotest import toml
from autotest.errors import UsageError

FILE_NAME = "known_divergences.toml"
#: What is known of one target, where it has a file of its own.
OWN_NAME = "known_divergences.{}.toml"
#: The name of the ledgers that the suites come with, and where those are.
SHIPPED = "suites"
SUITES = Path(__file__).resolve().parents[2] / "suites"


def file_names(targets: Sequence[str]) -> list[str]:
    """What a ledger of these targets may be called, in the order in which a folder is looked through: one target may
    have a file of its own, which is all that is known of it there.
    """
    return [*(OWN_NAME.format(target) for target in targets if len(targets) == 1), FILE_NAME]


def given_ledger(text: str) -> tuple[Path, ...]:
    """The files that one `--ledger` names; raises ValueError where there is none, and UsageError for one that is no
    TOML: nothing of it would be known, and all of it red, at the end of a long run.
    """
    shipped = [SUITES / FILE_NAME, *sorted(SUITES.glob(OWN_NAME.format("*"))), SUITES / "global" / FILE_NAME]
    files = [Path(text)] if text != SHIPPED else shipped
    if text != SHIPPED and not files[0].is_file():
        raise ValueError(text)
    for path in files if text != SHIPPED else ():
        try:
            toml.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"ledger={text!r} cannot be read as a ledger: {error} [--ledger]") from None
    found = tuple(path.resolve() for path in files if path.is_file())
    if not found:
        raise ValueError(text)
    return found
