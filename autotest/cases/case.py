"""A case: one draw of a test, run on the reference and recorded. Its key alone brings it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from autotest.cases.mistakes import Mistake
from autotest.options import Inputs
from dual_object.program.program import Program
from dual_object.replay.observation import Observation


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded case.

    Attributes:
        index, key: its place among the test's draws, and what brings it back: `test_x.py::test_y#3`.
        program, reference: what was recorded, and what the reference showed.
        op_dtypes: the dtype that each op of the Program was given.
        backward: whether its test asked for one; gradients are compared anyway.
        laid_out: whether a design has decided it, not chance.
        swept: the dtype that tensors have which leave it open, where a design has tried another than float32.
    """

    index: int
    key: str
    program: Program
    reference: Observation
    op_dtypes: Sequence[str] = ()
    backward: bool = True
    laid_out: bool = False
    swept: str | None = None

    def gradient_keys(self) -> list[str]:
        """The leaves that have a gradient on the reference."""
        return self.reference.gradient_keys()


Laid = Literal["laid"]


class Origin(NamedTuple):
    """What the cases of a test are drawn from, besides their index: another seed or inputs mode gives other cases.
    Those that are `laid` out follow a design.
    """

    seed: int
    inputs: Inputs | Laid


@dataclass(frozen=True, slots=True)
class Rejection:
    """A draw that the reference refused: the Program up to the refused call, the reference's words, the user's line
    that the call is in, and the mistake that it is if any.
    """

    index: int
    key: str
    program: Program
    reason: str
    place: str | None = None
    mistake: Mistake | None = None


def case_test_name(nodeid: str) -> str:
    """The test's name in case keys: `ops/test_x.py::test_y` becomes `test_x.py::test_y`, so that a checkout in another
    folder draws the same.
    """
    path, separator, name = nodeid.partition("::")
    return f"{path.rpartition('/')[2]}{separator}{name}"
