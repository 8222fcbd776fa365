"""One judgement: what a kernel shows is held against what PyTorch shows, in this process, which never runs it."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.layouts import eager_differences
from autotest.kernels.between import INPUTS_CHANGED, RESULT_CHANGED
from autotest.kernels.findings import Finding, Verdict, worst_first
from autotest.kernels.questions import TWICE, Cell, Question
from autotest.kernels.ways import CLAIMS, Way, asked_in
from autotest.kernels.weighing.answers import (
    OF_ENDS,
    among_greater,
    category_of_end,
    complex_infinities,
    counts,
    ended_words,
    has_gradients,
    in_both,
    nearly,
    of_gradients,
    of_no_number,
    of_zeros,
    out_of_memory,
    out_of_range,
    partly,
    poisoned,
    shown_bits,
    unwritten,
    valueless,
)
from autotest.kernels.weighing.contrast import ORDINARY, in_common
from autotest.kernels.weighing.drawn import scaled_otherwise
from autotest.kernels.weighing.limits import at_the_limit
from autotest.kernels.weighing.precision import MOST_UNITS, SMALL, Rounding, off_by
from autotest.kernels.weighing.subgradients import promised
from autotest.oracle.undecidable import KINK, UNSTABLE, undecided
from autotest.workers.protocol import Death
from autotest.workers.supervisor import Supervisor
from dual_object.adapters.torch.kernels.samples.arguments import AS_NUMBER
from dual_object.adapters.torch.kernels.samples.dtypes import GREATEST_INTEGERS
from dual_object.adapters.torch.kernels.samples.layouts import CONJUGATED
from dual_object.adapters.torch.kernels.samples.results import adds_in_any_order, views
from dual_object.adapters.torch.kernels.samples.sizes import SLOPES
from dual_object.program.program import Program
from dual_object.replay.adapter import Reference
from dual_object.replay.asked.kernels import MISCONDUCT, NOT_CAPTURED, NOT_TAKEN, SEVERAL_THREADS
from dual_object.replay.isolation import isolate
from dual_object.replay.observation import Observation

#: How questions end whose numbers are far apart.
_APART = (*SLOPES, GREATEST_INTEGERS, "huge")
#: Of those who have little time so many are asked together.
TOGETHER = 24
#: A process that has ended so often is asked no more: each hang takes its whole deadline.
ENOUGH_ENDS = 3
#: What PyTorch is asked goes one by one: its modes are those of the whole process.
ASKING = threading.Lock()
#: So many differences of one category are looked into: whether PyTorch defines what differs.
LOOKED_INTO = 4
#: Of which roles the answers are weighed, and what they are refused for; so many of each group.
WEIGHED = {
    "plain": "precision",
    "size": "precision",
    "layout": "precision",
    "arguments": "precision",
    "dtype": "precision",
    "magnitude": "numerics",
}
MOST_WEIGHED = 24
#: Of what is less exact in one call than in another, by how many times.
_LESS_EXACT = 10.0
#: The categories of what differs, by what it was asked for.
_OF_ROLES = {
    "plain": "numerics",
    "edges": "edge values",
    "magnitude": "numerics",
    "dtype": "dtype",
    "layout": "stride",
    "size": "size",
    "shape": "shape",
    "arguments": "arguments",
    "errors": "errors",
    "again": "caching",
    "modes": "mode",
    "backward": "numerics",
    "second": "gradient",
    **dict.fromkeys(CLAIMS, "mode"),
}
#: The categories of what differs whatever it was asked for.
_OF_KINDS = {
    "mutation": "mutation",
    "alias": "alias",
    "device": "device",
    "dtype": "dtype",
    "shape": "shape",
    "accepts_invalid": "errors",
    "grad_missing": "gradient",
    "grad_extra": "gradient",
    "requires_grad": "gradient",
}
#: Whose results are gradients, and who may refuse to give one.
_OF_GRADIENTS, _REFUSE = (TWICE,), (RESULT_CHANGED, INPUTS_CHANGED)
#: Which of them are held against right answers, to see what they have in common.
_BY_CONTRAST = frozenset({"numerics", "shape", "arguments", "dtype"})


class Judging:
    """One kernel's judgement, of the op at `path`, or of what is called `like`, on a `device`. In the `refusable` roles
    it may refuse what it is asked, which is told and is no finding. `rounding` is what other judgements of the same
    questions know.
    """

    def __init__(
        self,
        reference: Reference,
        asked: Sequence[Question],
        supervisor: Supervisor,
        path: str,
        until: float | None,
        *,
        like: str = "",
        refusable: Collection[str] = ("dtype",),
        rounding: Rounding | None = None,
        device: str = "cpu",
    ) -> None:
        self._reference = reference
        self._rounding = rounding or Rounding(reference)
        self._asked = asked
        self._supervisor = supervisor
        self._rules = Rules()
        self._path = path
        self._like = like or f"torch.{path}"
        self._free_to_copy = not views(path)
        #: Whether PyTorch's own results are other bits each time.
        self._by_chance = device != "cpu" and adds_in_any_order(path)
        self._refusable = refusable
        self._until = until
        self._findings: list[Finding] = []
        self._gaps = Counter[str]()
        self._looked = Counter[str]()
        #: The questions whose answers show each category.
        self._shown: dict[str, set[Question]] = defaultdict(set)
        self._undecided = 0
        #: Ordinary calls that gave wrong values or shapes.
        self._wrong: list[Question] = []
        #: The first call that is wrong while no gradients are recorded.
        self._without_gradients: Finding | None = None
        #: Of each role, how many questions, and how many answers were right.
        self._cells: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._unasked: dict[str, int] = {}
        #: What was answered as PyTorch does.
        self._right: list[Question] = []
        self._died = False
        #: In which way it is being asked, besides the plain one.
        self._way: Way | None = None

    def ask(self) -> None:
        """Ask, compare, and ask again."""
        answers = self._answers()
        asked = self._asked[: len(answers)]
        often = _ends(answers) == ENOUGH_ENDS
        why = f"its process had ended {ENOUGH_ENDS} times" if often else "the time was up [--budget]"
        self._unasked = {why: left} if (left := len(self._asked) - len(asked)) else {}
        right: list[tuple[Question, Observation]] = []
        with ASKING:
            for question, answer in zip(asked, answers, strict=True):
                cell = self._cells[question.cell.role]
                cell[0] += 1
                if self._answered(question, answer):
                    cell[1] += 1
                    assert isinstance(answer, Observation)
                    right.append((question, answer))
            self._contrast([question for question, _ in right])
            if self._without_gradients is not None and not self._wrong:
                self._findings.append(self._without_gradients)
            gradients = [one for one in self._findings if one.category == "gradient"]
            if gradients and all(one.cell.role == "edges" for one in gradients):
                self._findings.append(replace(gradients[0], category="edge values"))
            if not right and not self._findings:
                words = f"it takes none of {len(asked)} calls: {next(iter(self._gaps), '')}"
                self._find("arguments", words, asked[0].cell, None)
        self._right = [question for question, _ in right]
        self._died = _ends(answers) > 0
        if not self._died:
            self._ask_again(asked, answers)
            with ASKING:
                self._weigh(right)

    @property
    def goes_on(self) -> bool:
        """Whether there is something to ask in another way: right answers, of a process that lives, and time."""
        return bool(self._right) and not self._died and not self._late

    def ask_in(self, way: Way, supervisor: Supervisor) -> None:
        """Ask in another way what was answered as it should be: it is to be so again."""
        role = way.name.partition(" ")[0]
        self._way = way
        chosen = asked_in(way, self._right)
        for question in chosen:
            [answer] = supervisor.eager([question.program])
            with ASKING:
                detail = " ".join(filter(None, (way.detail, question.cell.role, question.cell.detail)))
                cell = Cell(role, detail, question.cell.dtype)
                self._cells[role][0] += 1
                self._cells[role][1] += self._answered(replace(question, cell=cell), answer)
            if isinstance(answer, Death):  # each costs a process, and says the same
                return

    def verdict(self) -> Verdict:
        """What all of it comes to."""
        told = worst_first(self._findings, {category: len(asked) for category, asked in self._shown.items()})
        cells = {role: (number, answered) for role, (number, answered) in self._cells.items()}
        return Verdict(self._like, told, dict(self._gaps), cells, self._undecided, self._unasked)

    def _answers(self) -> list[Observation | Death]:
        """What the kernel answers to all questions, or to the first of them where there is no time for more, or where
        its process has ended too often.
        """
        programs = [question.program for question in self._asked]
        answers: list[Observation | Death] = []
        step = len(programs) if self._until is None else TOGETHER
        while len(answers) < len(programs) and not (answers and self._late):
            left = ENOUGH_ENDS - _ends(answers)
            if not left:
                break
            answers += self._supervisor.submit(programs[len(answers) : len(answers) + step], enough=left).result()
        return answers

    @property
    def _late(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def _contrast(self, right: Sequence[Question]) -> None:
        """Whether what is wrong among ordinary calls is so for their arguments or dimensions; where all of them are
        wrong, what else is wrong comes of that.
        """
        plain = [question for question in right if question.cell.role in ORDINARY]
        category = in_common(self._path, self._wrong, plain)
        found = next((one for one in self._findings if one.category in _BY_CONTRAST), None)
        if category and found is not None:
            self._find(category, found.message, found.cell, found.program)
        if self._wrong and not plain:
            own = {"numerics", *_OF_KINDS.values(), *OF_ENDS.values()}
            of_roles = set(_OF_ROLES.values()) - own
            self._findings = [one for one in self._findings if one.category not in of_roles]

    def _find(self, category: str, message: str, cell: Cell, program: Program | None) -> None:
        words = message if self._way is None else f"{self._way.words}, {message}"
        self._findings.append(Finding(category, words, cell, program))

    def _answered(self, question: Question, answer: Observation | Death) -> bool:
        """Whether an answer is as PyTorch's."""
        cell, program = question.cell, question.program
        if isinstance(answer, Death):
            self._find(category_of_end(answer), ended_words(answer), cell, program)
            return False
        if answer.ended and self._ended(question, answer):
            return False
        found = [self._differs(question, difference, answer) for difference in self._differences(question, answer)]
        if (words := scaled_otherwise(question, answer)) is not None:
            self._find("mode", words, cell, program)
            return False
        return not any(found)

    def _differences(self, question: Question, answer: Observation) -> list[Difference]:
        """How an answer differs from PyTorch's in what somebody promises."""
        program = question.program
        if question.cell.detail in _REFUSE and answer.backward_failure is not None:
            return []
        expected = question.expected
        if self._free_to_copy:
            expected = replace(expected, shared=in_both(expected.shared, answer.shared))
        promised = has_gradients(program, expected)
        return [
            difference
            for difference in eager_differences(self._reference, program, expected, answer, self._rules)
            if counts(difference)
            and (promised or not of_gradients(difference))
            and not (question.cell.detail.endswith(_APART) and among_greater(difference))
            and not complex_infinities(difference)
            and not of_no_number(difference)
            and not of_zeros(difference)
        ]

    def _ended(self, question: Question, answer: Observation) -> bool:
        """Whether an exception was no finding of the op, or is told of already."""
        failure, cell = answer.failures[-1], question.cell
        name = (*failure.classes, "")[0]
        if name == MISCONDUCT:
            category, _, words = failure.message.partition(": ")
            self._find(category, words, cell, question.program)
            return True
        if out_of_memory(answer):
            self._find("memory", failure.message.partition(". ")[0], cell, question.program)
            return True
        if name == NOT_CAPTURED:
            self._gaps[f"torch.compile does not capture it whole: {failure.message}"] += 1
            return True
        if name == NOT_TAKEN:
            self._gaps[f"it takes no such arguments: {failure.message}"] += 1
            return True
        if cell.role in CLAIMS:
            return False
        if "NotImplementedError" in failure.classes:
            self._gaps[f"it says that it does not do this: {failure.message}"] += 1
            return True
        if cell.detail.endswith(AS_NUMBER) and name in ("TypeError", "AttributeError"):
            self._gaps[f"it takes a tensor alone where a number may stand: {failure.message}"] += 1
            return True
        if cell.role in self._refusable or cell.detail.startswith(CONJUGATED):  # NumPy takes no such tensor
            self._gaps[f"it refuses {cell.detail}: {name}: {failure.message}"] += 1
            return True
        return False

    def _differs(self, question: Question, difference: Difference, answer: Observation) -> bool:
        """Whether PyTorch defines what differs, which is a finding then."""
        cell, program = question.cell, question.program
        category = self._category(cell, difference)
        if difference.kind == "device":
            self._shown[category].add(question)
            self._find(category, f"{difference.where} lies elsewhere than what it was given", cell, program)
            return True
        if cell.role in ORDINARY and category in _BY_CONTRAST and question not in self._wrong:
            self._wrong.append(question)
        if self._looked[category] >= LOOKED_INTO:
            self._shown[category].add(question)
            return True
        found = self._of_call(question, difference, answer)
        left, doubts = undecided(self._reference, found, rewritten=True)
        if left is None and KINK in {doubt.reason for doubt in doubts} and self._promised(program, difference):
            left = found
        # Where PyTorch reads beyond its memory, it does so for the neighbours of what changes, too.
        unstable = UNSTABLE in {doubt.reason for doubt in doubts}
        if left is None or unstable or at_the_limit(self._reference, program, difference):
            self._undecided += left is not None or bool(doubts)
            return False
        self._looked[category] += 1
        self._shown[category].add(question)
        if poisoned(difference) or (cell.role not in ("edges", "magnitude") and unwritten(difference)):
            category = "stale"
        if category == "edge values" and cell.detail in ("huge", "subnormal") and out_of_range(difference):
            words = f"it leaves the range of its dtype on the way: {left.difference.message}"
            self._find("numerics", words, cell, program)
        self._find(category, left.difference.message, cell, program)
        if category in ("numerics", "dtype") and nearly(difference):
            self._find("precision", left.difference.message, cell, program)
            if category == "dtype" and partly(difference):
                self._find("numerics", left.difference.message, cell, program)
        if cell.detail == "no_grad" and category == "mode" and self._without_gradients is None:
            words = f"only while no gradients are recorded: {left.difference.message}"
            self._without_gradients = Finding("gradient", words, cell, program)
        return True

    def _of_call(self, question: Question, difference: Difference, answer: Observation) -> Divergence:
        """The difference, blamed on the call of the op that it is a result of: of several calls, on that one alone."""
        program, sides = question.program, Sides(question.expected, answer)
        calls = [i for i, one in enumerate(program.calls) if one.op == self._path]
        if difference.part != "output" or difference.mismatch is None:
            return Divergence(difference, program, calls[0] if len(calls) == 1 else None, sides=sides)
        made = next((i for i in calls if int(difference.key) in program.calls[i].results()), None)
        if made is None or len(calls) == 1:
            return Divergence(difference, program, made, sides=sides)
        alone = next((alone for i, alone, _ in isolate(self._reference, program) if i == made), None)
        return Divergence(difference, program, None if alone is None else made, alone=alone, sides=sides)

    def _promised(self, program: Program, difference: Difference) -> bool:
        """Whether PyTorch promises a gradient that differs at a kink; so many are looked into."""
        if self._looked[KINK] >= LOOKED_INTO:
            return False
        self._looked[KINK] += 1
        found = promised(self._reference, program, difference)
        return found is not None and bool(found.any())

    def _category(self, cell: Cell, difference: Difference) -> str:
        if cell.role in CLAIMS:  # it was right where it was called plainly
            return _OF_ROLES[cell.role]
        if cell.detail == "inplace=True" and difference.kind in ("mutation", "alias"):
            return "mode"
        if difference.kind in _OF_KINDS and not (difference.kind == "dtype" and cell.role == "dtype"):
            return _OF_KINDS[difference.kind]
        if of_gradients(difference) or cell.detail in _OF_GRADIENTS:
            return "gradient"
        return _OF_ROLES[cell.role]

    # The same once more.

    def _ask_again(self, asked: Sequence[Question], first: Sequence[Observation | Death]) -> None:
        """Ask everything again, from the end and from the start: what it gives must be what it gave."""
        programs = [question.program for question in asked]
        backwards = self._supervisor.submit(programs[::-1], enough=ENOUGH_ENDS).result()
        forwards = [] if _ends(backwards) else self._supervisor.submit(programs, enough=ENOUGH_ENDS).result()
        unasked = len(asked) - len(backwards)
        with ASKING:
            for place, question in enumerate(asked):
                answers = [first[place], *forwards[place : place + 1]]
                if place >= unasked:
                    answers.insert(1, backwards[len(asked) - 1 - place])
                self._same(question, answers, threaded=place in SEVERAL_THREADS)

    def _same(self, question: Question, answers: Sequence[Observation | Death], *, threaded: bool) -> None:
        """Whether the answers to one question are the same; when it was first asked, there may have been several
        threads.
        """
        if question.program.random is not None:
            return
        for death in (answer for answer in answers[1:] if isinstance(answer, Death)):
            self._find(category_of_end(death), ended_words(death), question.cell, question.program)
        seen = [answer for answer in answers if isinstance(answer, Observation) and not valueless(answer)]
        told = [shown_bits(answer) for answer in seen]
        if len(told) > 1 and any(one != told[0] for one in told):
            self._unsteady(question, seen, told, threaded=threaded)

    def _unsteady(
        self, question: Question, seen: Sequence[Observation], told: Sequence[object], *, threaded: bool
    ) -> None:
        """What changes from one time to the next: from right to wrong with the calls, or its last digits by chance."""
        wrong = [differences for answer in seen if (differences := self._differences(question, answer))]
        if wrong and len(wrong) < len(seen):
            category = "stale" if any(map(unwritten, wrong[0])) else "calls"
            words = f"right in {len(seen) - len(wrong)} of {len(seen)} calls; in another, {wrong[0][0].message}"
            self._find(category, words, question.cell, question.program)
            return
        exact = self._more_or_less_exact(question, seen)
        if exact is not None:
            self._find("calls", exact, question.cell, question.program)
            return
        settled = len(told) > 2 and told[1] == told[2]
        if self._by_chance or (settled and threaded):  # several threads add up in another order
            return
        words = "other calls between change what it gives" if settled else "it gives other bits each time"
        self._find("nondeterminism", words, question.cell, question.program)

    def _more_or_less_exact(self, question: Question, seen: Sequence[Observation]) -> str | None:
        """How the answers to one question are exact in some calls and not in others, in words; None where they are not,
        or where that was looked into often enough.
        """
        weighed = WEIGHED.get(question.cell.role)
        if weighed is None or self._looked["exact"] >= MOST_WEIGHED:
            return None
        self._looked["exact"] += 1
        off = [off_by(self._rounding.units(question, answer)) for answer in seen]
        if not min(off) <= MOST_UNITS[weighed] < max(off) or max(off) < _LESS_EXACT * min(off):
            return None
        return (
            f"half of its results are {max(off):.0f} units of rounding or more from the exact ones in one call, "
            f"and {min(off):.0f} in another"
        )

    # How exact it is.

    def _weigh(self, right: Sequence[tuple[Question, Observation]]) -> None:
        """Whether what is within the tolerance is as exact as PyTorch's: of ordinary inputs, of small and great ones,
        and what is so small that any tolerance holds it.
        """
        groups: dict[tuple[str, str], list[tuple[Question, Observation]]] = defaultdict(list)
        for question, answer in right:
            if question.program.random is None and question.cell.role in WEIGHED:
                detail = question.cell.detail if question.cell.role in ("magnitude", "dtype") else ""
                groups[WEIGHED[question.cell.role], detail].append((question, answer))
        ordinary: list[tuple[Question, Observation]] = []
        for (category, detail), group in groups.items():
            chosen = group[:: max(1, len(group) // MOST_WEIGHED)]
            ordinary += [one for one in chosen if one[0].cell.role != "magnitude"]
            self._exact(chosen, category, f" of {detail} numbers" if detail else "")
        # What is so small is within any tolerance: `1 - erf(x)` is no `erfc(x)`.
        self._exact(ordinary, "numerics", f" below {SMALL:g}", SMALL)

    def _exact(
        self, chosen: Sequence[tuple[Question, Observation]], category: str, of: str, small: float = np.inf
    ) -> None:
        found = self._rounding.less_exact(chosen, MOST_UNITS[category], small)
        if found is not None:
            half, most = found
            message = (
                f"half of its results{of} are {half:.0f} units of rounding or more from the exact ones, "
                f"but should be at most {most:.0f}"
            )
            question = next(q for q, answer in chosen if any(x.size for x in self._rounding.units(q, answer, small)))
            self._find(category, message, question.cell, question.program)


def _ends(answers: Sequence[Observation | Death]) -> int:
    return sum(isinstance(answer, Death) for answer in answers)


__all__ = ["ASKING", "Judging"]
