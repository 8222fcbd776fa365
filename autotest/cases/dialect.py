"""Dialects: for which harness a test file was written. The core is handed one and asks it where those differ.

This one is the project's own. Another is `autotest.dropin.dialect`, for files of OneFlow's harness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.errors import UsageError
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.program.values import refs
from dual_object.record.recording import Recording
from dual_object.replay.adapter import Adapter


class Dialect:
    """What the core does for a test written with `from autotest import autotest`."""

    #: What takes a body of its tests down.
    recording: type[Recording] = Recording
    #: Whether its tests draw plain tensors, whatever the run asks for.
    plain = False
    #: Whether a test fails none of whose cases calls anything.
    must_call = True
    #: Where random cotangents start; they end at 1.
    least_cotangent = -1.0

    def target_name(self, target: str) -> str:
        """The attribute of dual objects that gives the raw object of the run's `target`."""
        return target

    def refusal(self, error: Exception) -> Exception:
        """What a body is shown instead of the reference's own exception."""
        return error

    def cause(self, error: Exception) -> BaseException:
        """The reference's own exception behind one that `refusal` gave."""
        return error

    def close(
        self, recording: Recording, returned: Any, test: str, *, auto_backward: bool
    ) -> tuple[Sequence[int], bool]:
        """When the body has run: the numbers of the tensors that a backward starts from, and whether the test asks for
        one. Raises UsageError for what cannot be compared.
        """
        nothing = not refs(recording.program.outputs) and not recording.program.reads_host()
        if auto_backward and (returned is None or nothing):
            raise UsageError(
                f"{test} returned {returned!r}, but should return the result to compare: "
                "return it, or pass auto_backward=False to @autotest, where only how its calls end is to be compared"
            )
        return recording.differentiable(), True

    def unseen(
        self, differences: Sequence[Difference], divergences: Sequence[Divergence], program: Program, *, backward: bool
    ) -> list[Divergence]:
        """Those of `divergences` that the harness of this dialect would have passed.

        They were blamed for `differences` of `program`; `backward` says whether that harness would have run one.
        """
        return []

    def passes_graph(self, reference: Adapter, target: Target, program: Program) -> bool:
        """Whether the harness of this dialect would have passed a Program whose graph is refused."""
        return False

    def passes_refused_draws(self) -> bool:
        """Whether the harness of this dialect passes a target that takes what the reference refuses."""
        return False


__all__ = ["Dialect"]
