"""The judge of a kernel: what it shows is held against what PyTorch shows, in this process, which never runs it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence import Sides
from autotest.compare.layouts import eager_differences
from autotest.kernels.contrast import ORDINARY, in_common
from autotest.kernels.findings import Finding, Verdict, worst_first
from autotest.kernels.precision import MOST_UNITS, off_by, units
from autotest.kernels.questions import Asking, Cell, Question, questions
from autotest.oracle.undecidable import undecided
from autotest.workers.launch import Launch
from autotest.workers.protocol import Death
from autotest.workers.supervisor import Supervisor
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation, Seen

#: What is loaded in the process that runs kernels.
ADAPTER = "dual_object.adapters.torch.kernels.adapter:Adapter"
#: What fresh memory holds there, but for a bit each: 8.457e+37 as float32. Python and NumPy see to their own.
_POISON = {"MALLOC_PERTURB_": "129"}
#: What nothing in that process reads any more, so that a kernel that sets it is seen to.
_UNUSED = {"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "3", "CUBLAS_WORKSPACE_CONFIG": ":0:0"}
_POISONED = 0x7E
#: How often everything is asked: once more in the same order, and once more from the end.
ROUNDS = 3
#: So many differences of one category are looked into: whether PyTorch defines what differs.
LOOKED_INTO = 4
#: So many questions are asked how exact the answers are.
WEIGHED = 24
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
    "second": "gradient",
}
#: The categories of what differs whatever it was asked for.
_OF_KINDS = {
    "mutation": "mutation",
    "alias": "alias",
    "dtype": "dtype",
    "shape": "shape",
    "accepts_invalid": "errors",
    "grad_missing": "gradient",
    "grad_extra": "gradient",
    "requires_grad": "gradient",
}
#: Which of them are held against right answers, to see what they have in common.
_BY_CONTRAST = frozenset({"numerics", "shape", "arguments", "dtype"})
_OF_ENDS = {"crash": "crash", "timeout": "timeout", "out_of_memory": "memory"}
#: What nobody promises of a function: how its result lies, and the names of a tuple's parts.
_FREE = frozenset({"layout", "structure", "device", "exception_class"})


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that says to be an op.

    Attributes:
        file, function: where it is.
        delegates: whether it may call the op itself.
    """

    file: Path
    function: str
    delegates: bool = False


class KernelJudge:
    """Judges kernels of one op; what PyTorch answers is asked once."""

    def __init__(self, reference: Reference, asking: Asking, *, timeout: float = 20.0, memory: int = 4 << 30) -> None:
        self._reference = reference
        self._asking = asking
        self._timeout = timeout
        self._memory = memory
        self._rules = Rules()
        self.questions = questions(reference, asking)

    def launch(self, kernel: Kernel) -> Supervisor:
        """The process that the kernel runs in, started."""
        place = {self._asking.path: [str(kernel.file.resolve()), kernel.function, kernel.delegates]}
        environment = {**_POISON, **_UNUSED, "AUTOTEST_KERNELS": json.dumps(place)}
        supervisor = Supervisor(Launch("kernel", ADAPTER, None, environment), self._timeout, memory=self._memory)
        supervisor.start()
        return supervisor

    def judge(self, kernel: Kernel) -> Verdict:
        """Ask everything, and say what was found. Raises EnvironmentFault where the kernel cannot be loaded."""
        supervisor = self.launch(kernel)
        try:
            return _Judging(self._reference, self.questions, supervisor, self._rules, self._asking).verdict()
        finally:
            supervisor.close()


class _Judging:
    """One kernel's judgement."""

    def __init__(
        self,
        reference: Reference,
        asked: Sequence[Question],
        supervisor: Supervisor,
        rules: Rules,
        asking: Asking,
    ) -> None:
        self._reference = reference
        self._asked = asked
        self._supervisor = supervisor
        self._rules = rules
        self._path = asking.path
        self._findings: list[Finding] = []
        self._gaps = Counter[str]()
        self._looked = Counter[str]()
        self._undecided = 0
        #: Ordinary calls that gave wrong values or shapes.
        self._wrong: list[Question] = []
        #: Of each role, how many questions, and how many answers were right.
        self._cells: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def verdict(self) -> Verdict:
        """Ask, compare, and ask again."""
        supervisor = self._supervisor
        first = supervisor.eager([question.program for question in self._asked])
        right: list[tuple[Question, Observation]] = []
        for question, answer in zip(self._asked, first, strict=True):
            cell = self._cells[question.cell.role]
            cell[0] += 1
            if self._answered(question, answer):
                cell[1] += 1
                assert isinstance(answer, Observation)
                right.append((question, answer))
        self._contrast([question for question, _ in right])
        if not right and not self._findings:
            first_gap = next(iter(self._gaps), "")
            self._find(
                "arguments", f"it takes none of {len(self._asked)} calls: {first_gap}", self._asked[0].cell, None
            )
        if not any(isinstance(answer, Death) for answer in first):
            self._ask_again(first)
            self._weigh(right)
        told = worst_first(self._findings)
        cells = {role: (asked, answered) for role, (asked, answered) in self._cells.items()}
        return Verdict(f"torch.{self._path}", told, dict(self._gaps), cells, self._undecided)

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
            own = {"numerics", *_OF_KINDS.values(), *_OF_ENDS.values()}
            of_roles = set(_OF_ROLES.values()) - own
            self._findings = [one for one in self._findings if one.category not in of_roles]

    def _find(self, category: str, message: str, cell: Cell, program: Program | None) -> None:
        self._findings.append(Finding(category, message, cell, program))

    def _answered(self, question: Question, answer: Observation | Death) -> bool:
        """Whether an answer is as PyTorch's."""
        cell, program = question.cell, question.program
        if isinstance(answer, Death):
            self._find(_OF_ENDS[answer.cause], f"it {answer.sentence()}", cell, program)
            return False
        if answer.ended and self._ended(question, answer):
            return False
        differences = [
            difference
            for difference in eager_differences(self._reference, program, question.expected, answer, self._rules)
            if difference.kind not in _FREE or (difference.kind == "structure" and difference.part == "output")
        ]
        return [self._differs(question, difference, answer) for difference in differences].count(True) == 0

    def _ended(self, question: Question, answer: Observation) -> bool:
        """Whether an exception was no finding of the op, or is told of already."""
        failure, cell = answer.failures[-1], question.cell
        name = (*failure.classes, "")[0]
        if name == "Misconduct":
            category, _, words = failure.message.partition(": ")
            self._find(category, words, cell, question.program)
            return True
        if name == "NotTaken":
            self._gaps[f"it takes no such arguments: {failure.message}"] += 1
            return True
        if "NotImplementedError" in failure.classes:
            self._gaps[f"it says that it does not do this: {failure.message}"] += 1
            return True
        if cell.role == "dtype":
            self._gaps[f"it refuses {cell.detail}: {name}: {failure.message}"] += 1
            return True
        return False

    def _differs(self, question: Question, difference: Difference, answer: Observation) -> bool:
        """Whether PyTorch defines what differs, which is a finding then."""
        cell, program = question.cell, question.program
        category = self._category(cell, difference)
        if cell.role in ORDINARY and category in _BY_CONTRAST and question not in self._wrong:
            self._wrong.append(question)
        if self._looked[category] >= LOOKED_INTO:
            return True
        call = next((i for i, one in enumerate(program.calls) if one.op == self._path), None)
        several = sum(one.op == self._path for one in program.calls) > 1
        sides = Sides(question.expected, answer)
        found = Divergence(difference, program, None if several else call, sides=sides)
        left, doubts = undecided(self._reference, found)
        if left is None:
            self._undecided += bool(doubts)
            return False
        self._looked[category] += 1
        if self._poisoned(difference):
            category = "stale"
        self._find(category, left.difference.message, cell, program)
        return True

    def _category(self, cell: Cell, difference: Difference) -> str:
        if difference.kind in _OF_KINDS and not (difference.kind == "dtype" and cell.role == "dtype"):
            return _OF_KINDS[difference.kind]
        if difference.part in ("gradient", "second") or difference.phase.endswith(("backward", "second")):
            return "gradient"
        return _OF_ROLES[cell.role]

    @staticmethod
    def _poisoned(difference: Difference) -> bool:
        """Whether an element that differs holds what fresh memory holds there."""
        actual, mismatch = difference.actual, difference.mismatch
        if actual is None or mismatch is None or mismatch.mask.shape != actual.data.shape:
            return False
        wrong = np.ascontiguousarray(actual.data[mismatch.mask])
        size = wrong.dtype.itemsize
        if size < 2 or not wrong.size:
            return False
        rows = wrong.view(np.uint8).reshape(-1, size)
        return bool((rows == _POISONED).all(axis=1).any())

    # The same once more.

    def _ask_again(self, first: Sequence[Observation | Death]) -> None:
        """Ask everything again, from the end and from the start: what it gives must be what it gave."""
        programs = [question.program for question in self._asked]
        backwards = self._supervisor.eager(programs[::-1])[::-1]
        forwards = self._supervisor.eager(programs)
        for question, *answers in zip(self._asked, first, backwards, forwards, strict=True):
            if question.program.random is not None:
                continue
            for death in (answer for answer in answers[1:] if isinstance(answer, Death)):
                self._find(_OF_ENDS[death.cause], f"it {death.sentence()}", question.cell, question.program)
            seen = [answer for answer in answers if isinstance(answer, Observation) and not _misconduct(answer)]
            told = [_shown(answer) for answer in seen]
            if len(told) < 2 or all(one == told[0] for one in told):
                continue
            self._unsteady(question, seen, told)

    def _unsteady(self, question: Question, seen: Sequence[Observation], told: Sequence[object]) -> None:
        """What changes from one time to the next: from right to wrong with the calls, or its last digits by chance."""
        compared = [
            [
                difference
                for difference in eager_differences(
                    self._reference, question.program, question.expected, answer, self._rules
                )
                if difference.kind not in _FREE
            ]
            for answer in seen
        ]
        wrong = [differences for differences in compared if differences]
        if wrong and len(wrong) < len(seen):
            category = "stale" if any(map(self._poisoned, wrong[0])) else "calls"
            words = f"right in {len(seen) - len(wrong)} of {len(seen)} calls; in another, {wrong[0][0].message}"
            self._find(category, words, question.cell, question.program)
            return
        settled = len(told) > 2 and told[1] == told[2]
        words = "other calls between change what it gives" if settled else "it gives other bits each time"
        self._find("nondeterminism", words, question.cell, question.program)

    # How exact it is.

    def _weigh(self, right: Sequence[tuple[Question, Observation]]) -> None:
        roles = ("plain", "size", "layout", "arguments")
        usable = [
            (question, answer)
            for question, answer in right
            if (question.cell.role in roles or question.cell.detail == "float64") and question.program.random is None
        ]
        by_dtype: dict[str, list[Array]] = defaultdict(list)
        step = max(1, len(usable) // WEIGHED)
        chosen = usable[::step] + [pair for pair in usable if pair[0].cell.detail == "float64"]
        for question, answer in chosen:
            dtypes = {seen.dtype for seen in question.expected.outputs.values()}
            for off in units(self._reference, question, answer):
                by_dtype["float64" if "float64" in dtypes else "float32"].append(off)
        for dtype, found in by_dtype.items():
            half = off_by(found)
            if half > MOST_UNITS:
                message = (
                    f"half of its {dtype} results are {half:.0f} units of rounding or more from the exact ones, "
                    f"but should be at most {MOST_UNITS:.0f}: it computes in a lower precision than it is given"
                )
                question = next(q for q, _ in chosen if dtype in {s.dtype for s in q.expected.outputs.values()})
                self._find("precision", message, question.cell, question.program)


def _misconduct(answer: Observation) -> bool:
    return bool(answer.failures) and answer.failures[-1].classes[:1] in (("Misconduct",), ("NotTaken",))


def _shown(answer: Observation) -> object:
    """All that an answer shows, bit for bit."""
    failures = [(failure.classes, failure.kind) for failure in answer.failures]
    parts = (answer.outputs, answer.gradients, answer.second, answer.inputs)
    return failures, [{key: _bits(value) for key, value in part.items()} for part in parts]


def _bits(value: Seen | Array | None) -> object:
    if value is None:
        return None
    data = value.data if isinstance(value, Seen) else value
    return (
        data.dtype.str,
        data.shape,
        np.where(np.isnan(data), 0, data).tobytes() if data.dtype.kind == "f" else (data.tobytes()),
    )


__all__ = ["Kernel", "KernelJudge"]
