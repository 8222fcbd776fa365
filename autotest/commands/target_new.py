"""`autotest target new`: the skeleton of an adapter and its table, and what to do next."""

from __future__ import annotations

import importlib.util
import keyword
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autotest.errors import UsageError
from dual_object.adapters.dialect import written

#: A row of each class, for what stands in for the framework.
ROWS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "exp": {"args": ["input"], "places": 1},
        "matmul": {"args": ["input", "other"], "places": 2},
        "sum": {
            "args": ["input", "dim", "keepdim", "*", "dtype"],
            "places": 1,
            "rename": {"dim": "axis", "keepdim": "keepdims"},
        },
        "relu": {"code": "relu"},
        "Tensor.shape": {},
    }
)
#: Read as a text: its room imports PyTorch.
SKELETON = Path(__file__).parents[1] / "conformance" / "skeleton.py"
ABOUT = "PyTorch's functions and methods as {name} has them; dual_object/adapters/dialect.py tells what a row may say."


def new_target(name: str, folder: Path) -> str:
    """Write `NAME.py` and `NAME.json` into a folder, and give what is to be said. Raises UsageError where that cannot
    be.
    """
    _check(name, folder)
    module, table = folder / f"{name}.py", folder / f"{name}.json"
    try:
        module.write_text(SKELETON.read_text(encoding="utf-8").replace("SKELETON", name), encoding="utf-8")
        table.write_text(written(ABOUT.format(name=name), ROWS), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"folder={str(folder)!r} cannot be written: {error.strerror} [--folder]") from None
    return f"""wrote {module} and {table}

1. Write what is marked @unfilled, and rows of the table. Told all at once by what every target must do:

   PYTHONPATH={folder} pytest --autotest-conformance {name}:Adapter

2. Run tests on it:

   PYTHONPATH={folder} autotest run suites/test_unary.py --target {name}:Adapter

3. Where the framework wants an interpreter of its own, or for a shorter name, pyproject.toml gets

   [tool.autotest.targets.{name}]
   adapter = "{name}:Adapter"
   python = ".venv-{name}/bin/python"
   environment = {{ PYTHONPATH = "{folder}" }}
"""


def _check(name: str, folder: Path) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        near = "".join(sign if sign.isalnum() else "_" for sign in name)
        near = near if near.isidentifier() and not keyword.iskeyword(near) else "my_target"
        raise UsageError(f"NAME={name!r}, but should be an identifier of Python, such as {near}")
    if not folder.is_dir():
        raise UsageError(f"folder={str(folder)!r}, but should be a folder that is there [--folder]")
    for path in (folder / f"{name}.py", folder / f"{name}.json"):
        if path.exists():
            raise UsageError(f"{path} is there already, but should not be: choose another NAME or --folder")
    if importlib.util.find_spec(name) is not None:
        raise UsageError(
            f"NAME={name!r}, but should be no module that can be imported, before which {name}.py would stand: such as "
            f"{name}_target"
        )


__all__ = ["new_target"]
