"""What the package exports, and its errors."""

from __future__ import annotations

import pytest

import dual_object
from dual_object import errors


def test_all_is_sorted_and_real():
    """`__all__` is sorted and each name exists."""
    assert dual_object.__all__ == sorted(dual_object.__all__)
    assert [name for name in dual_object.__all__ if not hasattr(dual_object, name)] == []


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.OutsideCaseError, RuntimeError),
        (errors.ArgumentError, TypeError),
        (errors.SignatureError, TypeError),
        (errors.ProgramError, ValueError),
        (errors.CannotWiden, ValueError),
        (errors.TargetError, RuntimeError),
        (errors.MissingOp, AttributeError),
        (errors.UnknownName, AttributeError),
    ],
)
def test_errors_subclass_a_builtin(error, builtin):
    """Each error is a DualError, the fitting builtin, and says in one sentence when it is raised."""
    assert issubclass(error, (errors.DualError,))
    assert issubclass(error, builtin)
    assert error.__doc__.endswith(".")


def test_raw_target_is_no_exception():
    """A body's own `except Exception` does not swallow the request for an inline run."""
    assert not issubclass(errors.RawTargetNeeded, Exception)
