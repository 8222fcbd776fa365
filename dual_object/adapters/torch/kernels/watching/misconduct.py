"""What a kernel may not do, whatever its values; the judge knows these by name: `dual_object.replay.asked.kernels`."""

from __future__ import annotations


class Misconduct(Exception):  # noqa: N818 - it tells of a kernel, not of an error
    """A kernel has done what none may: `category: evidence`."""

    def __init__(self, category: str, evidence: str) -> None:
        super().__init__(f"{category}: {evidence}")


class NotTaken(TypeError):  # noqa: N818 - no error either: the kernel has no such parameter
    """A kernel has no parameter for an argument of the call."""


class NotCaptured(NotImplementedError):  # noqa: N818 - nor is this one: the kernel is called in parts
    """A kernel is not captured whole by PyTorch's compiler: why."""
