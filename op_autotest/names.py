"""What `autotest/names.py` says, asked for by its place: `import autotest` may find somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_FILE = Path(__file__).resolve().parent.parent / "autotest" / "names.py"


def _displaced() -> Callable[[str], str | None]:
    spec = spec_from_file_location("op_autotest.names_of_packages", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    displaced: Callable[[str], str | None] = module.displaced
    return displaced


#: Why `import NAME` does not give our package, and every way out; None where it does.
displaced = _displaced()
