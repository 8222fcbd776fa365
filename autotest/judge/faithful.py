"""Whether a Program is all that its body did: the reference, run by the Program again, shows what the body has shown.

A body that writes into `x.detach().numpy()` has done what no call tells. The target, which is given the calls, is not
to blame for the difference, and neither run is wrong: it cannot be decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from autotest.cases.case import Case
from autotest.compare.difference import Difference, Rules
from autotest.compare.kinds import NUMBERS
from autotest.compare.layouts import eager_differences
from autotest.judge.judgement import Judgement
from autotest.oracle.perturbation import Reruns
from autotest.oracle.undecidable import UNRECORDED, Doubt
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation

#: What so many cases of a test have been found to be is believed of the others: a body goes past its recording in each
#: of them or in none.
ASKED = 2


class Faithful:
    """Asks about the first cases of one test that differ from their target in a number."""

    def __init__(self, reference: Reference, rules: Rules) -> None:
        self._reference = reference
        self._rules = rules
        self._alike = 0

    def left(self, judgement: Judgement, differences: list[Difference]) -> list[Difference]:
        """The differences but those in which the reference's own run of the Program differs from its body's, each time
        in the same way; of those the case keeps a doubt.
        """
        case = judgement.case
        numbers = any(difference.kind in NUMBERS for difference in differences)
        if not numbers or self._alike == ASKED or case.program.random is not None or case.program.inline is not None:
            return differences
        otherwise = self._otherwise(case)
        if not otherwise:
            self._alike += 1
            return differences
        left = [one for one in differences if (one.part, one.key) not in otherwise]
        if len(left) < len(differences):
            judgement.doubts.append(Doubt("program", "eager_forward", UNRECORDED))
        judgement.apart = not left
        return left

    def _otherwise(self, case: Case) -> set[tuple[str, str]]:
        """Part and key of what the Program shows otherwise than its body has, and the same whenever it runs, whatever
        memory holds that nobody wrote.
        """
        runs = Reruns(self._reference, case.program, several=True)
        again, once_more = runs.unfilled or (runs.again, runs.once_more)
        if self._differences(case, again, once_more):
            return set()
        return {(one.part, one.key) for one in self._differences(case, case.reference, again)}

    def _differences(self, case: Case, one: Observation, other: Observation) -> Sequence[Difference]:
        return eager_differences(self._reference, case.program, one, other, self._rules)


__all__ = ["Faithful"]
