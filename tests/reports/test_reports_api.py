"""The package offers what its `__all__` says, and imports little."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import reports


def test_all_is_sorted_and_whole():
    """`__all__` is sorted and names every public object imported by the package."""
    public = {name for name, value in vars(reports).items() if name[0] != "_" and not inspect.ismodule(value)}
    assert reports.__all__ == sorted(public)


def test_errors_have_one_root():
    """Every error is a ReportError, a fitting builtin, and says in a sentence what it means."""
    from reports import errors

    classes = [value for value in vars(errors).values() if inspect.isclass(value)]
    assert len(classes) == 7
    for error in classes:
        assert issubclass(error, errors.ReportError)
        assert error is errors.ReportError or len(error.__bases__) == 2
        assert error.__doc__.endswith(".")


def test_imports_of_ours():
    """No module imports another of our packages, nor a framework."""
    for path in Path(reports.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                root = name.split(".")[0]
                assert root in {"reports", "rich"} | sys.stdlib_module_names, f"{path.name} imports {name}"


def test_import_leaves_frameworks_alone():
    """Importing reports imports neither NumPy nor torch."""
    code = "import sys, reports; print(sorted({'numpy', 'torch', 'oneflow', 'pytest'} & set(sys.modules)))"
    root = Path(reports.__file__).parent.parent
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603 - our own words
    assert answer.stdout == "[]\n"
