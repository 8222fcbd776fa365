"""What a launcher tells its processes through the environment. Import-light, for every pytest process asks."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

#: The environment variable that makes a pytest process one rank of `autotest run --ranks`.
RANK = "AUTOTEST_RANK"


@dataclass(frozen=True, slots=True)
class Resume:
    """Where ranks go on that take the place of others, which were ended in a test: the test, and the verdicts of its
    cases by key.
    """

    test: str
    ended: dict[str, Any]


def rank_input() -> dict[str, Any] | None:
    """What the launcher told this process, as pytest-xdist tells its workers; None in a process that is no rank."""
    text = os.environ.get(RANK)
    if text is None:
        return None
    data: dict[str, Any] = json.loads(text)
    return data
