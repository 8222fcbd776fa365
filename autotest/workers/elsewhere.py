"""The worker in an interpreter with packages of its own: `/other/bin/python elsewhere.py TARGET`.

It must find our packages and nothing else that lies beside them: in an environment's `site-packages` that would be
NumPy and PyTorch, built for another interpreter. So these packages are found by their names, wherever else it looks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_HOME = Path(__file__).resolve().parents[2]
#: Those of our packages that a worker imports.
_OURS = frozenset({"autotest", "dual_object", "generators"})


class OurPackages:
    """Finds our packages, before anybody else is asked."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where one of our packages is; what lies in it is found by its own path."""
        return PathFinder.find_spec(name, [str(_HOME)]) if name in _OURS else None


def main() -> None:
    """Serve, or say in one line what this interpreter lacks."""
    # The folder of this file, which Python itself has put there.
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 10):  # noqa: UP036 - another interpreter may well be older than what we ask for
        sys.exit(f"{sys.executable} is Python {version}, but should be at least 3.10")
    for package in ("numpy", "psutil"):
        if PathFinder.find_spec(package) is None:
            sys.exit(f"{sys.executable} has no {package}, but should: {sys.executable} -m pip install {package}")
    sys.meta_path.insert(0, OurPackages)
    from autotest.workers.server import main as serve

    serve()


if __name__ == "__main__":
    main()
