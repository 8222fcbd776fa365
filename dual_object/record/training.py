"""A body that trains: it is recorded once, as its first step, and goes on from there with other batches.

What the body writes is what stands around a training loop in PyTorch, and one pass through its inside:

```python
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
loss = torch.nn.functional.mse_loss(model(x), y)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
return loss
```

What follows the last optimizer, schedule or scaler belongs to each step. The rest of the step, from `zero_grad` to
`schedule.step()`, is recorded here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dual_object.errors import ArgumentError
from dual_object.program.calls import Call, Input
from dual_object.program.data_parallel import joined, part, wrappers
from dual_object.program.global_layouts import world_size
from dual_object.program.training import (
    Part,
    Shown,
    Step,
    StepPart,
    Training,
    makes_optimizer,
    makes_scaler,
    outer_schedules,
    prepares,
)
from dual_object.program.values import Array, Ref, refs
from dual_object.record.dual import DualObject
from dual_object.record.recording import Recording
from dual_object.replay.reading import leaf_tensors
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import other_inputs
from dual_object.replay.training import look

#: The one schedule whose step wants to know how well the training does.
_MEASURING = "optim.lr_scheduler.ReduceLROnPlateau"
#: How near what the parts of a batch give together is to what the whole gives: relatively and absolutely.
_ALIKE = (1e-3, 1e-5)
#: What the steps call, and no body.
_EACH_STEP = ("zero_grad", "backward", "step", "update", "scale", "unscale_")


def train(recording: Recording, returned: Any, steps: int, accumulate: int = 1) -> None:
    """Record the rest of a first step whose forward the body has recorded, and `steps - 1` further ones, each of as
    many batches as it is to `accumulate`.

    `returned` is what the body returned, its loss first. The Program's outputs become all that the steps show.

    Raises ArgumentError where the body is no step of a training, and what the reference raises.
    """
    recorder = _Recorder(recording, returned, accumulate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a schedule counts what a scaler makes its optimizer leave out
        parts = [recorder.step(number) for number in range(steps)]
    program = recording.program
    program.training = Training(
        recorder.start, recorder.loss, recorder.forward, tuple(parts), accumulate, recorder.ranks
    )
    program.outputs = tuple(map(Ref, program.training.shown()))
    program.brief = True


class _Recorder:
    """Records the steps of one training."""

    def __init__(self, recording: Recording, returned: Any, accumulate: int) -> None:
        self._recording = recording
        self._accumulate = accumulate
        self._replay = recording.repeating()
        self._returned = _tensors(recording, returned)
        calls = recording.program.calls
        self.start = 1 + max((index for index, call in enumerate(calls) if _belongs_before(call)), default=-1)
        before = calls[: self.start]
        self._optimizers = [id_ for call in before if makes_optimizer(call) for id_ in call.results()]
        self._schedules = list(outer_schedules(before))
        scalers = [id_ for call in before if makes_scaler(call) for id_ in call.results()]
        if len(scalers) > 1:
            raise ArgumentError(
                f"the body makes {len(scalers)} scalers, but should make at most one: its loss is scaled once"
            )
        self._scaler = next(iter(scalers), None)
        if not self._optimizers:
            raise ArgumentError(
                "the body makes no optimizer, but a training should have one, "
                "as in torch.optim.SGD(model.parameters(), lr=0.1)"
            )
        self._body = calls[self.start :]
        self._check_calls()
        self.forward = len(calls)
        self.loss = self._checked_loss()
        self._leaves = {
            id(tensor): key
            for key, tensor in leaf_tensors(recording.reference, recording.program, recording.values).items()
        }
        self._inputs = self._batch()
        self._check_returned()
        self._wrapped = bool(wrappers(recording.program))
        #: How many ranks share each batch.
        self.ranks = world_size() if self._wrapped else 1
        if self.ranks > 1:
            self._check_parts()

    def _check_calls(self) -> None:
        """Refuse a body that does itself what each step does after it, or makes at each step what is trained once."""
        made = {
            id_
            for call in self._recording.program.calls[: self.start]
            if _belongs_before(call)
            for id_ in call.results()
        }
        for call in self._body:
            if call.op in _EACH_STEP and (call.op == "backward" or made.intersection(refs(call.args[:1]))):
                raise ArgumentError(
                    f"the body calls {call.op}, but a training calls it at each step: return the loss, and leave "
                    "zero_grad, backward, step and update to the training"
                )
            if call.kind == "module" and call.state:
                raise ArgumentError(
                    f"torch.{call.op} is made after the optimizer, but should be made before it: "
                    "what follows the last optimizer, schedule or scaler belongs to each step"
                )
        for call in self._recording.program.calls:
            if call.kind in ("method", "get") and made.intersection(refs(call.args[:1])) and not _adds(call):
                raise ArgumentError(
                    f"the body {'reads' if call.kind == 'get' else 'calls'} {call.op}, but should only make its "
                    "optimizers, schedules and scaler: give them there what groups and steps have of their own, as in "
                    'torch.optim.SGD([{"params": model.parameters(), "lr": 0.1}])'
                )

    def _checked_loss(self) -> int:
        """The number of the loss."""
        recording = self._recording
        if not self._returned:
            raise ArgumentError("the body returned no tensor, but should return its loss first")
        [loss, *_] = self._returned
        dtype, shape, _, requires_grad = recording.reference.describe(recording.values.by_id[loss])
        if shape or not requires_grad:
            raise ArgumentError(
                f"the body returned a {dtype} tensor of shape {shape}{'' if requires_grad else ' without a gradient'}, "
                "but should return a scalar loss first, which the parameters lead to"
            )
        if not any(loss in call.results() for call in self._body):
            last = next(call for call in reversed(recording.program.calls[: self.start]) if _belongs_before(call))
            raise ArgumentError(
                f"the loss is computed before torch.{last.op} is made, but should be computed after it: "
                "what follows the last optimizer, schedule or scaler belongs to each step"
            )
        return loss

    def _check_returned(self) -> None:
        """Refuse what the body returns that is the same for each batch of a step, which is one of its outputs."""
        computed = {id_ for call in self._body for id_ in call.results()} | {x.id for x in self._inputs}
        if self._accumulate > 1 and not computed.issuperset(self._returned):
            raise ArgumentError(
                "the body returns a tensor that is not computed from its batch, but should not where a step has "
                f"{self._accumulate} batches, each with outputs of its own"
            )

    def _batch(self) -> list[Input]:
        """The inputs that each step has anew: those that its calls read and no optimizer trains."""
        program, values = self._recording.program, self._recording.values
        read = {id_ for call in self._body for id_ in call.operands()}
        trained = {id(tensor) for optimizer in self._optimizers for tensor in self._trained(optimizer)}
        return [x for x in program.inputs if x.id in read and id(values.inputs[x.id]) not in trained]

    def _check_parts(self) -> None:
        """Refuse a training that ranks cannot share: where the parts of a batch do not make the whole, ranks compute
        something else than one process does, and lawfully so.
        """
        ranks = self.ranks
        for x in self._inputs:
            if not x.data.ndim or not x.data.shape[0] or x.data.shape[0] % ranks:
                raise ArgumentError(
                    f"{x.name or 'an input'} has shape {x.data.shape}, but should have a first dimension that "
                    f"{ranks} ranks can share: with DistributedDataParallel each has its part of the batch. "
                    "Make what all of them need whole before the optimizer, as by torch.ones(...)"
                )
        parts = [self._forward_of(rank) for rank in range(ranks)]
        [wholes] = [self._recording.reference.read([self._recording.values.by_id[id_] for id_ in self._returned])]
        for id_, whole, *each in zip(self._returned, wholes, *parts, strict=True):
            together = joined(each) if each[0].ndim == whole.ndim else None
            if together is None or together.shape != whole.shape or not np.allclose(together, whole, *_ALIKE, True):
                what = "loss" if id_ == self.loss else "output"
                raise ArgumentError(
                    f"the {what} of a batch is not {'the mean' if not whole.ndim else 'made'} of those of its parts, "
                    f"so {ranks} ranks with DistributedDataParallel compute another one: the loss should be a mean "
                    "over the batch, and no call may mix its rows, as BatchNorm does in training, or draw at random"
                )

    def _forward_of(self, rank: int) -> list[Array]:
        """What the body returns for a rank's part of the batch."""
        recording = self._recording
        reference, values = recording.reference, recording.values
        replay = Replay(reference, recording.program, side="reference")
        replay.values.by_id.update(values.by_id)
        buffers = {id_: self._buffers(module) for id_, module in values.modules.items()}
        for x in self._inputs:
            replay.place(replace(x, data=part(x.data, rank, self.ranks), strides=None, offset=0, layout=None))
        for index, call in enumerate(self._body, self.start):
            replay.step(index, call)
        changed = [name for id_, module in values.modules.items() for name in self._restored(module, buffers[id_])]
        if changed:
            raise ArgumentError(
                f"the forward changes {changed[0]}, which each of {self.ranks} ranks with DistributedDataParallel does "
                "by its own part of the batch, and so otherwise than one process: call eval() on the module before"
            )
        if replay.seen.ended:
            raise ArgumentError(
                f"a rank's part of the batch cannot be computed: {replay.seen.failures[-1].message}; with "
                "DistributedDataParallel the body should not fix the size of the batch, as in reshape(4, -1)"
            )
        return reference.read([replay.values.by_id[id_] for id_ in self._returned])

    def _restored(self, module: Any, buffers: dict[str, Array]) -> list[str]:
        """Give a module its buffers back; the names of those that had changed."""
        now = self._buffers(module)
        self._recording.reference.load_state(module, buffers)
        return [name for name, data in buffers.items() if now[name].tobytes() != data.tobytes()]

    def _buffers(self, module: Any) -> dict[str, Array]:
        reference = self._recording.reference
        buffers = reference.buffers(module)
        return {name: data.copy() for name, data in zip(buffers, reference.read([*buffers.values()]), strict=True)}

    def _trained(self, optimizer: int) -> list[Any]:
        reference: Any = self._recording.reference
        parameters: list[Any] = reference.trained(self._recording.values.by_id[optimizer])
        return parameters

    # One step.

    def step(self, number: int) -> Step:
        """Record step `number`, counted from 0; of the first one the forward is there."""
        inputs: list[int] = []
        shown: dict[int, Shown] = {}
        for place in range(self._accumulate):
            numbers = self._forward(number * self._accumulate + place)
            inputs += [numbers.get(x.id, x.id) for x in self._inputs]
            loss, *others = (numbers.get(id_, id_) for id_ in self._returned)
            shown |= {loss: Shown("loss"), **{id_: Shown("output") for id_ in others}}
            if not place:
                for optimizer in self._optimizers:
                    # The wrapper of a target may keep gradients where it averages them, and add to what is there.
                    self._dual(optimizer).zero_grad(set_to_none=not self._wrapped)
            self._differentiate(loss)
        parts = [Part("forward", None, shown), self._gradients()]
        parts += [part for call in self._recording.clipping for part in self._clip(call)]
        if not number:
            parts += [self._start(schedule, optimizer) for schedule, optimizer in self._schedules]
        parts += [self._update(optimizer) for optimizer in self._optimizers]
        parts += self._rescale()
        parts += [self._schedule(schedule, optimizer, loss) for schedule, optimizer in self._schedules]
        return Step(tuple(inputs), len(self._recording.program.calls), tuple(parts))

    def _forward(self, number: int) -> dict[int, int]:
        """Record the forward of batch `number`, counted from 0; the new number of each value of the first one."""
        numbers: dict[int, int] = {}
        if number:
            for x in other_inputs(self._inputs, number):
                numbers[x.id] = self._input(x, number)
            for call in self._body:
                if call.out is None or call.results():  # what was read to Python has steered the body already
                    self._recording.repeat(call, numbers, self._replay)
        return numbers

    def _input(self, x: Input, number: int) -> int:
        name = f"{x.name}_{number + 1}" if x.name else ""
        return self._recording.input(x.data, x.dtype, name=name, strides=x.strides, offset=x.offset)._ref.id

    def _dual(self, id_: int) -> DualObject:
        return self._recording.numbered(id_)

    @property
    def _last(self) -> int:
        """The index of the call that was recorded last."""
        return len(self._recording.program.calls) - 1

    def _differentiate(self, loss: int) -> None:
        start: Any = self._dual(loss)
        if self._accumulate > 1:
            start = start / self._accumulate
        (start if self._scaler is None else self._dual(self._scaler).scale(start)).backward()

    def _gradients(self) -> Part:
        backward = self._last
        trained = [tensor for optimizer in self._optimizers for tensor in self._trained(optimizer)]
        missing = [tensor for tensor in trained if tensor.grad is None]
        if len(missing) == len(trained):
            raise ArgumentError(
                "the loss gives no parameter of an optimizer a gradient, but should come of one that requires it"
            )
        if missing and self._wrapped:
            raise ArgumentError(
                f"the loss gives {len(missing)} of the optimizers' parameters no gradient, but should give each one: "
                "with DistributedDataParallel the ranks would wait for it"
            )
        return self._part("backward", backward, [("gradients", optimizer) for optimizer in self._optimizers])

    def _clip(self, call: Call) -> Sequence[Part]:
        optimizers = [optimizer for optimizer in self._optimizers if self._concerns(call, optimizer)]
        for optimizer in optimizers:
            if self._scaler is not None:
                self._dual(self._scaler).unscale_(self._dual(optimizer))
        self._recording.repeat(call, {}, self._replay)
        return [self._part("clip", self._last, [("gradients", optimizer) for optimizer in optimizers])]

    def _concerns(self, call: Call, optimizer: int) -> bool:
        """Whether a call clips gradients of an optimizer's parameters."""
        given = {id(self._recording.values.by_id[id_]) for id_ in refs(call.args) + refs(call.kwargs)}
        return any(id(parameter) in given for parameter in self._trained(optimizer))

    def _update(self, optimizer: int) -> Part:
        dual = self._dual(optimizer)
        dual.step() if self._scaler is None else self._dual(self._scaler).step(dual)
        return self._part("update", self._last, [("parameters", optimizer), ("states", optimizer)])

    def _rescale(self) -> list[Part]:
        if self._scaler is None:
            return []
        scaler = self._dual(self._scaler)
        scaler.update()
        update = self._last
        scaler.get_scale()
        return [Part("scale", update, {}, (self._last,))]

    def _start(self, schedule: int, optimizer: int) -> Part:
        self._look("rates", optimizer)
        return Part("start", self._made(schedule), {}, (self._last,))

    def _made(self, id_: int) -> int:
        """The index of the call that has made a value."""
        return next(index for index, call in enumerate(self._recording.program.calls) if id_ in call.results())

    def _schedule(self, schedule: int, optimizer: int, loss: int) -> Part:
        dual = self._dual(schedule)
        made = self._recording.program.calls[self._made(schedule)]
        dual.step(self._dual(loss).item()) if made.op == _MEASURING else dual.step()
        step = self._last
        self._look("rates", optimizer)
        return Part("schedule", step, {}, (self._last,))

    def _look(self, name: str, optimizer: int) -> Any:
        function: Callable[..., Any] = partial(look, self._recording.reference, name)
        self._recording.call("training", name, function, (self._dual(optimizer),), {})
        return self._recording.program.calls[-1].out

    def _part(self, name: StepPart, call: int, looks: Sequence[tuple[str, int]]) -> Part:
        """The part that `call` brings about, with what is to be looked at: names of looks and optimizers."""
        shown: dict[int, Shown] = {}
        hosts: list[int] = []
        for what, optimizer in looks:
            keys = [self._leaves.get(id(parameter), "") for parameter in self._trained(optimizer)]
            given = self._look(what, optimizer)
            if None in given:  # that there is no gradient is compared, too
                hosts.append(self._last)
            for key, value in zip(keys, given, strict=True):
                if type(value) is Ref:
                    shown[value.id] = Shown(what.removesuffix("s"), key)
                elif isinstance(value, dict):
                    shown.update({ref.id: Shown(kept, key) for kept, ref in value.items()})
        return Part(name, call, shown, tuple(hosts))


def _tensors(recording: Recording, returned: Any) -> list[int]:
    """Numbers of the tensors that the body returned, each once, in order."""
    by_id, tensor_type = recording.values.by_id, recording.reference.tensor_type
    returned = recording.returned(returned)
    return [id_ for id_ in dict.fromkeys(refs(returned)) if isinstance(by_id[id_], tensor_type)]


def _belongs_before(call: Call) -> bool:
    return prepares(call) or _adds(call)


def _adds(call: Call) -> bool:
    """Whether a call gives an optimizer a further group of parameters."""
    return call.kind == "method" and call.op == "add_param_group"


__all__ = ["train"]
