"""Modules that say to be others: a problem's `Model`, and the `ModelNew` that stands for it.

The reference runs `Model` in this process; `ModelNew` runs in a process of its own, and is asked on the shapes of the
problem and on others. It gets the parameters of `Model` where it calls them the same; else both draw theirs from the
same seed, and no gradients of parameters are compared.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autotest.errors import UsageError
from autotest.kernels.findings import Verdict
from autotest.kernels.judge import ENVIRONMENT, start
from autotest.kernels.judging import Judging
from autotest.kernels.questions import Cell, Question, question, sample_inputs
from autotest.workers.launch import START_TIMEOUT, Launch
from autotest.workers.supervisor import Supervisor
from dual_object.adapters.torch.kernels import problems
from dual_object.adapters.torch.kernels.samples.drawing import varied
from dual_object.adapters.torch.kernels.samples.sample import Sample
from dual_object.errors import TargetError
from dual_object.record.namespace import dual, torch
from dual_object.replay.adapter import Reference
from dual_object.replay.asked.kernels import MODULE
from dual_object.replay.observation import Observation

ADAPTER = "dual_object.adapters.torch.kernels.problems:Adapter"
#: What a module is called in Programs, and what the one that stands for it is called in its file.
NAME, NEW = "Model", "ModelNew"
#: Roles in which a module may say that it does not take a shape.
_REFUSABLE = frozenset({"dtype", "shape", "size"})

_COPIED = dual(reference=problems.copied, target=problems.copied_new, name=NAME)
_SEEDED = dual(reference=problems.seeded_alike, target=problems.seeded_alike_new, name=NAME)
_STATE = dual(reference=problems.state_of, target=problems.state_of_new, name="state")


@dataclass(frozen=True, slots=True)
class ModulePair:
    """A module that says to be a problem's.

    Attributes:
        problem: the file with `Model`, `get_inputs` and `get_init_inputs`.
        file, name: where the module is, and its class.
    """

    problem: Path
    file: Path
    name: str = NEW


@dataclass(frozen=True, slots=True)
class ModuleVerdict:
    """What is said of a module.

    Attributes:
        verdict: as of any kernel.
        copied: whether it got the parameters of the problem's module.
        lessened: constants of the problem that were made less, for its own inputs are too large: what they were, and
            are.
    """

    verdict: Verdict
    copied: bool
    lessened: Mapping[str, tuple[int, int]]

    @property
    def words(self) -> list[str]:
        """What a reader has to know besides the verdict."""
        found = [
            "its parameters are those of Model"
            if self.copied
            else "its parameters are called otherwise than those of Model: both drew theirs from the same seed, and "
            "gradients of parameters were not compared"
        ]
        if self.lessened:
            told = ", ".join(f"{name} {less} for {own}" for name, (own, less) in self.lessened.items())
            found.append(f"the problem's own inputs are larger than what is asked: {told}")
        return found


class ModuleJudge:
    """Judges modules of one problem."""

    def __init__(
        self, reference: Reference, problem: Path, *, timeout: float | None = 20.0, memory: int | None = None
    ) -> None:
        """Raises UsageError for a file that is no problem."""
        self._reference = reference
        self._problem = str(problem.resolve())
        self._timeout = timeout
        self._memory = memory
        try:
            plain, self.lessened = problems.plain_sample(problems.load_problem(self._problem))
            self._random = problems.draws_numbers(self._problem, plain)
        except TargetError as error:
            raise UsageError(str(error)) from None
        self._plain = plain
        self._samples = varied([plain])
        self._questions: dict[bool, list[Question]] = {}

    def judge(self, pair: ModulePair, budget: float | None = None) -> ModuleVerdict:
        """Ask everything, or what can be asked in so many seconds. Raises EnvironmentFault where the module cannot be
        loaded.
        """
        place = json.dumps([str(pair.file.resolve()), pair.name, self._random])
        within = max(START_TIMEOUT, self._timeout or 0.0)
        launch = Launch("kernel", ADAPTER, None, {**ENVIRONMENT, MODULE: place}, within)
        supervisor = Supervisor(launch, self._timeout, memory=self._memory)
        start(supervisor, pair.file)
        until = None if budget is None else time.monotonic() + budget
        try:
            copied = self._same_names(supervisor)
            asked = self.questions(copied=copied)
            like = f"{Path(self._problem).name}:{NAME}"
            judging = Judging(self._reference, asked, supervisor, "", until, like=like, refusable=_REFUSABLE)
            judging.ask()
            return ModuleVerdict(judging.verdict(), copied, self.lessened)
        finally:
            supervisor.close()

    def _same_names(self, supervisor: Supervisor) -> bool:
        """Whether the module calls its parameters and buffers as the problem's does."""

        def body() -> Any:
            return _STATE(self._problem, *_init(self._plain))

        [asked] = self._of(Cell("plain", "", ""), body)
        [answer] = supervisor.eager([asked.program])
        return isinstance(answer, Observation) and not answer.hosts and not answer.structures and not answer.ended

    def questions(self, *, copied: bool) -> list[Question]:
        """What is asked, of modules that get the parameters of the problem's, or of others."""
        if copied not in self._questions:
            made = _COPIED if copied else _SEEDED
            bodies: list[tuple[Cell, Callable[[], Any]]] = [
                (Cell(sample.role, sample.detail, ""), partial(self._once, made, sample)) for sample in self._samples
            ]
            bodies += [(Cell("again", detail, ""), body) for detail, body in self._again(made)]
            self._questions[copied] = [asked for cell, body in bodies for asked in self._of(cell, body)]
        return self._questions[copied]

    def _once(self, made: Any, sample: Sample) -> Any:
        (_, *inputs), _ = sample_inputs(sample)
        return made(self._problem, *_init(sample))(*inputs)

    def _again(self, made: Any) -> list[tuple[str, Callable[[], Any]]]:
        def twice() -> Any:
            (_, *inputs), _ = sample_inputs(self._plain)
            module = made(self._problem, *_init(self._plain))
            return [module(*inputs), module(*inputs)]

        def of_the_same_shapes() -> Any:
            (_, *inputs), _ = sample_inputs(self._plain)
            module = made(self._problem, *_init(self._plain))
            turned = [x.flip([0]) if hasattr(x, "flip") else x for x in inputs]
            return [module(*inputs), module(*turned), module(*inputs)]

        def without_gradients() -> Any:
            with torch.no_grad():
                return self._once(made, self._plain)

        return [
            ("the same twice", twice),
            ("others of the same shapes", of_the_same_shapes),
            ("no_grad", without_gradients),
        ]

    def _of(self, cell: Cell, body: Callable[[], Any]) -> list[Question]:
        """The question that a body makes; none where the problem's module refuses it."""
        return question(self._reference, f"module {self._problem}", cell, body)


def _init(sample: Sample) -> list[Any]:
    return list(sample.args[0])


__all__ = ["ADAPTER", "NAME", "NEW", "ModuleJudge", "ModulePair", "ModuleVerdict"]
