"""The draws of a test: which it takes for its n cases, and what it says where the reference refuses nearly all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from unittest import SkipTest

from autotest.cases.case import Rejection
from autotest.cases.drawer import Drawer
from autotest.cases.mistakes import MISTAKEN_DRAWS
from autotest.cases.places import bracketed
from autotest.errors import RejectionError
from autotest.options import RunOptions

#: A test may draw so many times its n before it gives up on the reference's refusals.
DRAWS_PER_CASE = 20
#: What PyTorch says to a body that asks whether a whole tensor is true.
_ASKED = "Boolean value of Tensor with more than one value"


@dataclass(slots=True)
class Draws:
    """The draws of a test.

    Attributes:
        n: how many cases the test is to have.
        laid: how many laid-out cases stood, where these count among the n.
        accepted: how many cases stand so far.
        rejections: what the reference has refused so far.
        refusal: why too few cases could run.
    """

    drawer: Drawer
    run: RunOptions
    n: int
    laid: int = 0
    accepted: int = 0
    rejections: list[Rejection] = field(default_factory=list)
    refusal: RejectionError | None = None

    def numbers(self) -> Iterator[int]:
        """Draw numbers, from the run's `first`, until n cases stand, or each listed item has had its turn, or the
        reference has refused nearly all, which `refusal` then says.
        """
        index = 0
        if not self._wanted:
            return
        while index < self._most and (self.accepted < self._wanted or self.drawer.listed is not None):
            yield self.run.first + index
            index += 1
            if self.drawer.dialect.must_call and self.rejections and _ASKED in self.rejections[-1].reason:
                # A tensor of a single element has a truth value: cases of those alone would pass for all.
                self.refusal = self._asked(self.rejections[-1])
                return
            if index == MISTAKEN_DRAWS and self._mistaken(lasting=True):
                break
        if self._mistaken():
            self.refusal = self._mistake()
        elif self.accepted < (self._wanted if self.drawer.listed is None else 1):
            self.refusal = self._refused(index)

    @property
    def _wanted(self) -> int:
        """How many cases are to stand: n, or as many as are listed, unless the run is asked for fewer; those that are
        laid out count where the run has some of them.
        """
        listed = self.drawer.listed
        wanted = self.n if listed is None else min(listed, self.run.cases or listed)
        return max(0, wanted - self.laid)

    @property
    def _most(self) -> int:
        """How many draws there may be; what is listed is drawn once."""
        return DRAWS_PER_CASE * self.n if self.drawer.listed is None else self._wanted

    def _mistaken(self, *, lasting: bool = False) -> bool:
        """Whether every draw so far was a mistaken call, and `lasting`: whether any other draw would be one."""
        mistakes = [rejection.mistake for rejection in self.rejections]
        return bool(mistakes and not self.accepted) and all(
            mistake is not None and (mistake.lasting or not lasting) for mistake in mistakes
        )

    def _mistake(self) -> RejectionError:
        first = self.rejections[0]
        assert first.mistake is not None
        return RejectionError(
            f"{self.drawer.test}: PyTorch raised a TypeError at each of {len(self.rejections)} draws, "
            f"so the call is mistaken, not what was drawn: correct it{bracketed(first.place)}\n\n{first.mistake.text}"
        )

    def _asked(self, rejection: Rejection) -> RejectionError:
        return RejectionError(
            f"{self.drawer.test}: the body asks whether a whole tensor is true, which PyTorch refuses: "
            "ask for one truth value, as (x > 0).all() is, or choose element by element with torch.where"
            f"{bracketed(rejection.place)}"
        )

    def _refused(self, drawn: int) -> RejectionError:
        reasons = Counter(rejection.reason for rejection in self.rejections)
        reason, count = reasons.most_common(1)[0]
        place = next(rejection.place for rejection in self.rejections if rejection.reason == reason)
        return RejectionError(
            f"{self.drawer.test}: the reference refused {sum(reasons.values())} of {drawn} draws, "
            f"so only {self.accepted} "
            f"of n={self._wanted} cases could run; the commonest reason ({count} times) is {reason}: "
            f"{_way(reason, alike=not self.accepted and len(reasons) == 1)}{bracketed(place)}"
        )


def _way(reason: str, *, alike: bool) -> str:
    """What to do where the reference refuses draws for a reason; `alike`: every draw for this one."""
    if "NVIDIA driver" in reason or "not compiled with CUDA" in reason:
        return "draw a device that is there, by random_device()"
    drawn = "draw what PyTorch takes, by narrower ranges, dtype= or requires_grad=False"
    return f"it says so of every draw: correct the call, or {drawn}" if alike else drawn


def nothing_ran(drawer: Drawer, *, deadly: bool) -> RejectionError:
    """Why none of the laid-out cases ran of a test that has no others. Raises SkipTest where the run has none, or the
    ordinary one is known to be `deadly`.
    """
    rows = len(drawer.design.rows)
    if not rows:
        raise SkipTest("its cases are laid out, and the run lays out none: it wants plain inputs or no coverage")
    if deadly:
        raise SkipTest("the ledger knows that its ordinary case ends the target")
    return RejectionError(f"{drawer.test}: the reference refused each of {rows} laid-out cases: correct the call")
