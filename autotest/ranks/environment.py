"""What a launcher tells its processes through the environment. Import-light, for every pytest process asks."""

from __future__ import annotations

import json
import os
from typing import Any

#: The environment variable that makes a pytest process one rank of `autotest run --ranks`.
RANK = "AUTOTEST_RANK"


def rank_input() -> dict[str, Any] | None:
    """What the launcher told this process, as pytest-xdist tells its workers; None in a process that is no rank."""
    told = os.environ.get(RANK)
    if told is None:
        return None
    found: dict[str, Any] = json.loads(told)
    return found
