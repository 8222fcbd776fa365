"""`generators`, `dual_object` and `reports` are plain words: what else may answer to them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from autotest.errors import UsageError

GROUNDS = ("autotest", "dual_object", "generators", "reports")


def check_shadows() -> None:
    """Refuse to go on with somebody else's modules of our packages' names; raises UsageError naming the file."""
    home = Path(__file__).resolve().parent.parent
    for name in GROUNDS:
        found = _origin(name)
        if found is not None and Path(found).resolve().parent.parent != home:
            raise UsageError(
                f"the import {name!r} resolved to {found}, but should resolve to op-autotest's own package in {home}: "
                "rename that file, or run from another folder"
            )


def _origin(name: str) -> str | None:
    """The file that `import name` has given or would give."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None)
    spec = importlib.util.find_spec(name)
    return None if spec is None else spec.origin
