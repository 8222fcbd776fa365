"""The public names, and that importing them costs no framework."""

from __future__ import annotations

import builtins
import subprocess
import sys

import pytest

import autotest
from autotest import exits
from autotest.errors import AutotestError, HarnessFault, is_sentence
from dual_object.errors import ArgumentError
from generators.errors import RangeError
from reports import RecordError


def test_all_is_what_there_is() -> None:
    """`__all__` is sorted, every name in it can be imported, and `tuple` is reachable without being in it."""
    assert sorted(autotest.__all__) == autotest.__all__
    for name in autotest.__all__:
        assert getattr(autotest, name) is not None
    assert "tuple" not in autotest.__all__
    assert autotest.tuple is not builtins.tuple
    assert set(autotest.__all__) <= set(dir(autotest))


def test_unknown_name() -> None:
    """A name that is not there is an AttributeError that says so."""
    with pytest.raises(AttributeError) as caught:
        _ = autotest.nothing_at_all
    assert str(caught.value) == "module 'autotest' has no attribute 'nothing_at_all'"


@pytest.mark.usefixtures("real_interpreter")
def test_import_is_light() -> None:
    """`import autotest` imports neither NumPy nor a framework."""
    code = "import sys, autotest; print(sorted({'numpy', 'torch', 'oneflow', 'pytest'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (AutotestError("a"), True),
        (autotest.UsageError("a"), True),
        (autotest.DivergenceError("a"), True),
        (ArgumentError("a"), True),
        (RangeError("a"), True),
        (RecordError("a"), True),
        (HarnessFault("a"), False),
        (ValueError("a"), False),
    ],
)
def test_sentences_are_told_apart_from_faults(error: Exception, told: bool) -> None:
    """Our own errors are shown as sentences; a fault of the harness and a stranger keep their traceback."""
    assert is_sentence(error) is told


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (autotest.UsageError, ValueError),
        (autotest.DivergenceError, AssertionError),
        (autotest.HazardError, AssertionError),
        (autotest.RejectionError, AssertionError),
        (autotest.BodyTimeoutError, AssertionError),
        (autotest.EnvironmentFault, RuntimeError),
    ],
)
def test_errors_have_a_root_and_a_builtin(error: type[Exception], builtin: type[Exception]) -> None:
    """Each error can be caught by our root or by the fitting builtin, and is named as people import it."""
    assert issubclass(error, (AutotestError,))
    assert issubclass(error, builtin)
    assert error.__module__ == "autotest"


def test_exit_statuses_are_the_documented_ones() -> None:
    """Exit statuses never change."""
    assert (exits.ALIGNED, exits.DIVERGED, exits.USAGE, exits.HARNESS_FAULT, exits.NOTHING_COLLECTED) == (0, 1, 2, 3, 5)
    assert (exits.GONE, exits.STANDS, exits.CANNOT_RUN) == (0, 1, 125)
