"""`generators`, `dual_object` and `reports` are plain words: what else may answer to them."""

from __future__ import annotations

from autotest.errors import UsageError
from autotest.names import PACKAGES, displaced


def check_shadows() -> None:
    """Refuse to go on with somebody else's modules of our packages' names; raises UsageError naming the file."""
    for name in PACKAGES:
        sentence = displaced(name)
        if sentence is not None:
            raise UsageError(sentence)
