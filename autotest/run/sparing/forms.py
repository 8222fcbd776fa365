"""Cases that the target is spared: what one of their form has come to, they all would."""

from __future__ import annotations

from collections.abc import Hashable

from autotest.cases.case import Case
from autotest.judge.judgement import Judgement


class Sparing:
    """The forms of call that have ended the target's process in a test, or that it lacks.

    Of what is listed, hundreds of cases may differ in a stride alone, and each death costs a new worker: some seconds.
    So the target is asked about such a form once, or as often as one chunk has it; about what it lacks once, where that
    is only counted.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, str] = {}

    def note(self, judgement: Judgement) -> None:
        """Take in what a case came to."""
        case = judgement.case
        if judgement.death is not None:
            self._known.setdefault(form(case), f"a call of this form has ended the target in case #{case.index}")
        elif any(divergence.difference.kind == "missing" for divergence in judgement.divergences):
            self._known.setdefault(calls(case), f"the target lacks what case #{case.index} calls, too")

    def reason(self, case: Case) -> str | None:
        """Why the target is not asked about a case; None where it is."""
        return self._known.get(form(case)) or self._known.get(calls(case))


def form(case: Case) -> Hashable:
    """What the calls of a case are but for values and sizes: ops, keywords, dtypes, dimensions, and which of them are
    0.
    """
    return calls(case), tuple((x.dtype, tuple(size == 0 for size in x.data.shape)) for x in case.program.inputs)


def calls(case: Case) -> Hashable:
    """What the calls of a case are, whatever tensors they are given: who lacks an op has it for no dtype."""
    return tuple((call.kind, call.op, len(call.args), tuple(call.kwargs)) for call in case.program.calls)
