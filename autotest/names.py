"""The plain words that our packages are called by, and what else answers to them."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

PACKAGES = ("autotest", "dual_object", "generators", "reports")
HOME = Path(__file__).resolve().parent.parent


def displaced(name: str) -> str | None:
    """Why `import name` does not give our package, and every way out; None where it does."""
    module = sys.modules.get(name)
    if module is None:
        spec = importlib.util.find_spec(name)
        found = None if spec is None else spec.origin
    else:
        found = getattr(module, "__file__", None)
    if found is None or _ours(found):
        return None
    return (
        f"the import {name!r} resolved to {found}, but should resolve to op-autotest's own package in {HOME}: "
        f"rename yours; or make it part of a package (import yours.{name}); or keep {_folder(found)} off the import "
        "path (`autotest run` or `pytest` instead of `python -m pytest`, pytest's --import-mode=importlib, no "
        "PYTHONPATH and no `pythonpath` that names it); or, where yours is installed, give op-autotest an environment "
        "of its own"
    )


def displacing(error: BaseException | None) -> str | None:
    """Why an import that asked for a module of the user's was answered by our package of that name, and every way out;
    None where it was not.
    """
    while error is not None and not isinstance(error, ImportError):
        error = error.__cause__
    name = "" if error is None else (error.name or "").partition(".")[0]
    module = sys.modules.get(name)
    if name not in PACKAGES or not _ours(getattr(module, "__file__", None) or ""):
        return None
    for entry in sys.path:
        spec = PathFinder.find_spec(name, [entry])
        if spec is not None and spec.origin is not None and not _ours(spec.origin):
            return (
                f"the import {name!r} gave op-autotest's own package in {HOME}, not {spec.origin}: rename yours; or "
                f"make it part of a package (import yours.{name}); or run the tests that need it without those of "
                "op-autotest: pytest -p no:autotest"
            )
    return None


def _ours(file: str) -> bool:
    return Path(file).resolve().parent.parent == HOME


def _folder(file: str) -> Path:
    """The folder on the import path in which a module was found."""
    path = Path(file)
    return path.parent.parent if path.name == "__init__.py" else path.parent
