"""An interpreter with NumPy and psutil alone: those of this one, linked into an environment that has nothing else."""

from __future__ import annotations

import importlib.util
import sysconfig
import venv
from pathlib import Path


def toy_python(folder: Path, *packages: str) -> str:
    """Make an environment in `folder` with these packages, and give its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    places = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for package in packages:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).parent
        # A wheel keeps its libraries beside itself.
        for found in (source, source.with_name(f"{package}.libs")):
            if found.is_dir():
                (places / found.name).symlink_to(found)
    return str(folder / "bin" / "python")
