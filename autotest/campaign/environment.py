"""What a driver tells its slots through the environment. Import-light, for every pytest process asks."""

from __future__ import annotations

import json
import os
from typing import Any

#: The environment variable that makes a pytest process a slot.
SLOT = "AUTOTEST_CAMPAIGN_SLOT"


def slot_input() -> dict[str, Any] | None:
    """What the driver told this process, as pytest-xdist tells its workers; None in a process that is no slot."""
    text = os.environ.get(SLOT)
    if text is None:
        return None
    data: dict[str, Any] = json.loads(text)
    return data
