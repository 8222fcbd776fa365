"""The public face of the package."""

import ast
import sys
import types
from pathlib import Path

import generators
from generators import errors


def test_all_names_exactly_the_public_names() -> None:
    """`__all__` lists every public name that is not a module, and nothing else."""
    public = {
        name
        for name, value in vars(generators).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(generators.__all__) == public


def test_all_is_sorted_without_repeats() -> None:
    """`__all__` holds constants, classes and functions in that order, each sorted."""
    ordered = sorted(set(generators.__all__), key=lambda name: (not name.isupper(), name.islower(), name))
    assert generators.__all__ == ordered


def test_nothing_but_numpy_is_imported() -> None:
    """The package imports the standard library, NumPy and itself."""
    allowed = {*sys.stdlib_module_names, "numpy", "generators"}
    for path in Path(generators.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, path
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                assert (node.module or "").split(".")[0] in allowed, path


def test_every_error_is_a_generator_error_and_a_builtin_one() -> None:
    """Each error can be caught by the root class and by the builtin class that fits it."""
    fitting = {
        errors.RangeError: ValueError,
        errors.AnnotationError: TypeError,
        errors.DtypeError: ValueError,
        errors.OutsideCaseError: RuntimeError,
        errors.TruthError: TypeError,
        errors.UseError: TypeError,
        errors.ChoiceError: ValueError,
    }
    assert set(errors.GeneratorError.__subclasses__()) == set(fitting)
    for error, builtin in fitting.items():
        assert issubclass(error, builtin)
