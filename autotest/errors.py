"""Errors of the harness; every one is a sentence for the person who runs it."""

from __future__ import annotations

from collections.abc import Sequence


class AutotestError(Exception):
    """Root of every error that this package raises on purpose."""


class UsageError(AutotestError, ValueError):
    """A test or an option is written in a way that cannot mean anything."""


class EnvironmentFault(AutotestError, RuntimeError):  # noqa: N818 - a fault of the surroundings, told apart from a fault of the harness
    """The run cannot go on: the target cannot start, or the report cannot be written."""


class DivergenceError(AutotestError, AssertionError):
    """The target did not do what the reference did.

    `replays` are the commands by which its stored Programs run again.
    """

    def __init__(self, message: str, replays: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.replays = replays


class HazardError(AutotestError, AssertionError):
    """An executor of PyTorch did not do what a function does that it was handed as it is."""


class RejectionError(AutotestError, AssertionError):
    """The reference refused so many draws of a test that its cases could not be completed."""


class BodyTimeoutError(AutotestError, AssertionError):
    """The body of a test did not end in time on the reference."""


class HarnessFault(AutotestError, RuntimeError):  # noqa: N818 - a fault of ours, told apart from one of the surroundings
    """The harness itself failed; neither the test nor the target is to blame."""


for _error in (
    UsageError,
    EnvironmentFault,
    DivergenceError,
    HazardError,
    RejectionError,
    BodyTimeoutError,
    HarnessFault,
):
    _error.__module__ = "autotest"  # where people import them from, and what pytest prints


def is_sentence(error: BaseException) -> bool:
    """Whether an error says all there is to say, so that a traceback would only lead through our internals."""
    from dual_object.errors import DualError
    from generators import GeneratorError
    from reports import ReportError

    if isinstance(error, HarnessFault):
        return False
    return isinstance(error, (AutotestError, DualError, GeneratorError, ReportError))
