"""Errors of the dual object; every one is a sentence for the person who wrote the test."""

from __future__ import annotations


class DualError(Exception):
    """Root of every error that this package raises on purpose."""


class OutsideCaseError(DualError, RuntimeError):
    """A dual call was made where no case is running."""


class ArgumentError(DualError, TypeError):
    """An argument of a dual call cannot be recorded."""


class SignatureError(DualError, TypeError):
    """A generator stands for a parameter whose type cannot be found."""


class ProgramError(DualError, ValueError):
    """A stored Program is damaged or of another version."""


class CannotWiden(DualError, ValueError):  # noqa: N818 - a fact about a Program, asked for and answered, not a fault
    """A Program has no meaning in float64; the message says why."""


class NotLowered(DualError, ValueError):  # noqa: N818 - a fact about a Program, asked for and answered, not a fault
    """The modules of a Program cannot be told by the functions that they call; the message says why, in one line."""


class TargetError(DualError, RuntimeError):
    """A target cannot be loaded: it is unknown, not installed, or dies at import."""


class MissingOp(DualError, AttributeError):  # noqa: N818 - a fact about the target, reported as a divergence, not an error of the user
    """The target has no op of this name."""


class UnmappedOp(MissingOp):
    """The target's table has no row for an op, or its interpreter no module for a custom one: whether the framework has
    such an op is not known.
    """


class StructureError(DualError, TypeError):
    """A call returned another structure than on the reference."""


class DialectError(DualError, ValueError):
    """A target's table of PyTorch's names is damaged, or says what cannot be; the message names the row."""


class UnknownName(DualError, AttributeError):  # noqa: N818 - as AttributeError, which it is
    """The framework has no such function, method or attribute, but one that is spelt alike."""


class RawTargetNeeded(BaseException):
    """A body reached for the target's own object, which lives in another process: the test must run inline."""
