"""The package offers what its `__all__` says, and imports little."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import reports

LIBRARIES = {"reports", "rich", "jinja2", "markupsafe", "resvg_py"}


def test_all_is_sorted_and_whole():
    """Every name of `__all__` is there, has its home in this package, and is what the home says."""
    assert sorted(reports.__all__) == sorted(reports._HOME_OF)
    for name, home in reports._HOME_OF.items():
        assert getattr(reports, name) is getattr(importlib.import_module(home), name)
    assert set(reports.__all__) <= set(dir(reports))


def test_unknown_name():
    """A name that is not there is refused as Python does."""
    with pytest.raises(AttributeError, match=r"^module 'reports' has no attribute 'nothing'$"):
        _ = reports.nothing


def test_what_type_checkers_see():
    """The imports for type checkers name the same homes as those at run time."""
    tree = ast.parse(Path(reports.__file__).read_text())
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and str(node.module)[:7] == "reports"
    ]
    assert {alias.name: node.module for node in imports for alias in node.names} == reports._HOME_OF


def test_errors_have_one_root():
    """Every error is a ReportError, a fitting builtin, and says in a sentence what it means."""
    from reports import errors

    classes = [value for value in vars(errors).values() if inspect.isclass(value)]
    assert len(classes) == 8
    for error in classes:
        assert issubclass(error, errors.ReportError)
        assert error is errors.ReportError or len(error.__bases__) == 2
        assert error.__doc__.endswith(".")


def test_imports_of_ours():
    """No module imports another of our packages, nor a framework."""
    for path in Path(reports.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                root = name.split(".")[0]
                assert root in LIBRARIES | sys.stdlib_module_names, f"{path.name} imports {name}"


def test_import_leaves_frameworks_alone():
    """What writes records imports neither a framework nor a library that draws."""
    code = (
        "import sys, reports; reports.RecordWriter, reports.plan_run; "
        "print(sorted({'numpy', 'torch', 'oneflow', 'pytest', 'rich', 'jinja2'} & set(sys.modules)))"
    )
    root = Path(reports.__file__).parent.parent
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603 - our own words
    assert answer.stdout == "[]\n"
