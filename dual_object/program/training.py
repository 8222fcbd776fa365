"""A training: how the calls of a Program fall into steps, each of which runs the body on a batch and updates.

What comes before the first step is made once: the model, its optimizers, schedules and scaler. A step is then

    forward     what the body computes, its loss among it
    backward    of the loss, or of the scaled loss
    clip        of the gradients, where the body clips them
    start       of each schedule, which has set the learning rates of the first step when it was made
    update      by each optimizer
    scale       by the scaler, which finds the scale of the next step
    schedule    by each schedule, which finds the learning rates of the next step

A step that accumulates has several batches, with forward and backward of each by turns; it updates by the mean of
their gradients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dual_object.program.calls import Call

StepPart = Literal["forward", "backward", "clip", "start", "update", "scale", "schedule"]

_SCHEDULES = "optim.lr_scheduler."
_SCALERS = ("amp.GradScaler", "cuda.amp.GradScaler", "cpu.amp.GradScaler")


def makes_optimizer(call: Call) -> bool:
    """Whether a call makes an optimizer."""
    return call.kind == "function" and call.op.startswith("optim.") and not call.op.startswith(_SCHEDULES)


def makes_schedule(call: Call) -> bool:
    """Whether a call makes a schedule of learning rates."""
    return call.kind == "function" and call.op.startswith(_SCHEDULES)


def makes_scaler(call: Call) -> bool:
    """Whether a call makes a scaler of losses."""
    return call.kind == "function" and call.op in _SCALERS


def prepares(call: Call) -> bool:
    """Whether a call makes what a training's steps are taken with: an optimizer, a schedule or a scaler."""
    return makes_optimizer(call) or makes_schedule(call) or makes_scaler(call)


def clips(call: Call) -> bool:
    """Whether a call clips gradients."""
    return call.kind == "function" and call.op.startswith("nn.utils.clip_grad_")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a value is that a step shows.

    `what` is `loss`, `output`, `gradient`, `parameter` or PyTorch's name for a state of the optimizer (`exp_avg`);
    `leaf` the key of the parameter that it belongs to, empty for an output.
    """

    what: str
    leaf: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a step.

    Attributes:
        name: which.
        call: index of the call that brings it about; None of the forward, which has many.
        values: what it shows, by the number of the value.
        hosts: indices of the calls that read what it shows as plain numbers: learning rates, the scale of the loss.
    """

    name: StepPart
    call: int | None
    values: dict[int, Shown]
    hosts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        inputs: numbers of its batch, in the order of the first step's; of several batches one after the other.
        end: index of the call after its last one.
        parts: in the order in which they come about.
    """

    inputs: tuple[int, ...]
    end: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Training:
    """The steps of a Program.

    Attributes:
        start: index of the first call of the first step.
        loss: number of the loss of the first batch.
        forward: index of the call after the last one of the first batch's forward.
        steps: all of them, in order.
        accumulate: how many batches each of them has.
        ranks: how many ranks share each batch, and average the gradients; 1 where one process trains.
    """

    start: int
    loss: int
    forward: int
    steps: tuple[Step, ...]
    accumulate: int = 1
    ranks: int = 1

    def shown(self) -> list[int]:
        """Numbers of all values that the steps show."""
        return [id_ for step in self.steps for part in step.parts for id_ in part.values]

    def batches(self, step: Step) -> list[tuple[int, ...]]:
        """Numbers of the inputs of a step, batch by batch."""
        return _split(step.inputs, self.accumulate)

    def returned(self, step: Step) -> list[tuple[int, ...]]:
        """Numbers of what the body returned at a step, batch by batch: its loss first."""
        return _split(tuple(step.parts[0].values), self.accumulate)

    def losses(self) -> list[list[int]]:
        """Numbers of the losses, step by step, one for each batch."""
        return [[batch[0] for batch in self.returned(step)] for step in self.steps]

    def to_json(self) -> list[Any]:
        """The training as JSON data."""
        steps = [
            [
                list(step.inputs),
                step.end,
                [
                    [part.name, part.call, [[id_, of.what, of.leaf] for id_, of in part.values.items()], [*part.hosts]]
                    for part in step.parts
                ],
            ]
            for step in self.steps
        ]
        more = [self.accumulate, self.ranks] if self.ranks > 1 else [self.accumulate] if self.accumulate > 1 else []
        return [self.start, self.loss, self.forward, steps, *more]

    @classmethod
    def from_json(cls, data: list[Any]) -> Training:
        """Rebuild what `to_json` gave."""
        start, loss, forward, steps, *more = data
        return cls(
            start,
            loss,
            forward,
            tuple(
                Step(
                    tuple(inputs),
                    end,
                    tuple(
                        Part(name, call, {id_: Shown(what, leaf) for id_, what, leaf in values}, tuple(hosts))
                        for name, call, values, hosts in parts
                    ),
                )
                for inputs, end, parts in steps
            ),
            *more,
        )


def _split(numbers: tuple[int, ...], parts: int) -> list[tuple[int, ...]]:
    size = len(numbers) // parts
    return [numbers[size * part : size * (part + 1)] for part in range(parts)]


def outer_schedules(calls: list[Call]) -> Iterator[tuple[int, int]]:
    """Number and optimizer's number of each schedule that no other one is made of, as `SequentialLR` is of several."""
    schedules = [call for call in calls if makes_schedule(call)]
    numbers = {id_ for call in schedules for id_ in call.results()}
    inner = {id_ for call in schedules for id_ in call.operands() if id_ in numbers}
    optimizers = {id_ for call in calls if makes_optimizer(call) for id_ in call.results()}
    for call in schedules:
        [number] = call.results()
        if number not in inner:
            yield number, _optimizer(call, calls, optimizers)


def _optimizer(schedule: Call, calls: list[Call], optimizers: set[int]) -> int:
    """The optimizer that a schedule is for, which it is given itself or by another schedule."""
    for id_ in schedule.operands():
        if id_ in optimizers:
            return id_
    made = {id_: call for call in calls for id_ in call.results()}
    return next(_optimizer(made[id_], calls, optimizers) for id_ in schedule.operands() if id_ in made)


__all__ = [
    "Part",
    "Shown",
    "Step",
    "StepPart",
    "Training",
    "clips",
    "makes_optimizer",
    "makes_scaler",
    "makes_schedule",
    "outer_schedules",
    "prepares",
]
