"""The dialect of OneFlow's AutoTest files: what its harness draws, shows to a body, and would have failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.cases.dialect import Dialect
from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.dropin.alone import refused_alone
from autotest.dropin.cases import close_case
from autotest.dropin.duals.recording import AutoTestRecording
from autotest.dropin.errors import PyTorchDoesNotSupportError, refused
from autotest.dropin.levels import aligns_exceptions, unseen
from autotest.dropin.options import DropInOptions
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.record.recording import Recording
from dual_object.replay.adapter import Adapter


class AutoTestDialect(Dialect):
    """What the core does for a test that imports OneFlow's harness, with the options of its `@autotest`."""

    recording = AutoTestRecording
    plain = True
    must_call = False  # what they call of OneFlow's own they compare themselves
    least_cotangent = 0.0

    def __init__(self, options: DropInOptions) -> None:
        self._options = options

    def target_name(self, target: str) -> str:
        """These files name the target so, whichever it is."""
        return "oneflow"

    def refusal(self, error: Exception) -> Exception:
        """One that is a PyTorchDoesNotSupportError, too."""
        return refused(error)

    def cause(self, error: Exception) -> BaseException:
        """PyTorch's own exception."""
        return error.exc if isinstance(error, PyTorchDoesNotSupportError) else error

    def close(
        self, recording: Recording, returned: Any, test: str, *, auto_backward: bool
    ) -> tuple[Sequence[int], bool]:
        """All tensors of the body are compared. Raises UsageError for one that is too big or has no gradient."""
        return close_case(recording, returned, self._options, test)

    def unseen(
        self, differences: Sequence[Difference], divergences: Sequence[Divergence], program: Program, *, backward: bool
    ) -> list[Divergence]:
        """What OneFlow's harness does not look at, or finds close enough."""
        return unseen(differences, divergences, program, self._options, backward=backward)

    def passes_graph(self, reference: Adapter, target: Target, program: Program) -> bool:
        """It runs each call in a graph of its own, not the program."""
        return not refused_alone(reference, target, program)

    def passes_refused_draws(self) -> bool:
        """Unless it is told to align exceptions."""
        return not aligns_exceptions()


__all__ = ["AutoTestDialect"]
