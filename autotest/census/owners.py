"""Whose a test is: of an entry of PyTorch's tables, of a campaign's source, or of a suite."""

from __future__ import annotations

import re

from autotest.campaign.config import SOURCES
from autotest.campaign.sources import TESTS
from reports.tallies.census import Owner

#: Where the tests of an entry of PyTorch's tables come from.
ENTRY = "OpInfo"
#: Where all others come from that are no campaign's.
SUITES = "suites"
_ENTRIES = re.compile(
    r"(?:^|/)test_opinfo\.py::test_(?:entry|sample|ways)\[(?P<op>.+)\]$"
    r"|(?:^|/)test_opinfo\.py::test_errors\[(?P<refused>.+)-\d+\]$"
    r"|(?:^|/)test_modules\.py::test_\w+\[(?P<layer>.+?)(?:-train|-eval)?\]$"
)
_WRITTEN = re.compile(rf"(?:^|/){TESTS}/test_({'|'.join(SOURCES)})\.py::")
_SPELLED = re.compile(r"\[(?:torch\.)?((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)")


def owner_of(test: str) -> Owner:
    """Whose a test is, by its node id or by its name in a ledger: `torch.linalg.norm` in its parameters is a path."""
    entry = _ENTRIES.search(test)
    if entry is not None:
        return Owner(ENTRY, next(filter(None, entry.groups())))
    written = _WRITTEN.search(test)
    spelled = _SPELLED.search(test)
    return Owner(SUITES if written is None else written[1], "" if spelled is None else spelled[1])


__all__ = ["ENTRY", "SUITES", "owner_of"]
