"""A training in OneFlow's static graph: forward, backward and update are one `build`, and each step is a call of it.

A graph knows no `DistributedDataParallel`. Where several ranks share the batches of a training, its tensors are global
instead: parameters lie whole on each rank, batches are split, and the loss is the whole batch's.

An optimizer keeps its state in the graph, under names such as `m5.weight-momentum`, and a scaler its scale. Gradients
come out of the graph as the backward gives them: scaled, and not yet clipped. A graph that accumulates takes the
batches of a step in one, cuts it into these again, and cannot give gradients out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from dual_object.adapters.oneflow.configurations import STAGES, configure
from dual_object.adapters.oneflow.spread import Shared, Staged
from dual_object.adapters.oneflow.surface import graph_op_types
from dual_object.program.calls import Call, op_name
from dual_object.program.data_parallel import WRAPPER
from dual_object.program.program import Program
from dual_object.program.training import (
    Step,
    Training,
    clips,
    makes_optimizer,
    makes_scaler,
    outer_schedules,
)
from dual_object.program.values import Ref
from dual_object.replay.adapter import Adapter, GraphError, GraphRefusal
from dual_object.replay.observation import Observation, class_names, failure_of, first_words
from dual_object.replay.reading import module_buffers, see
from dual_object.replay.replay import Replay
from dual_object.replay.tracing import TraceRefused, setup_calls
from dual_object.replay.training import Trains

#: What a graph calls that which an optimizer keeps, by the optimizer and by PyTorch's name for it.
_KEPT: Mapping[str, str] = MappingProxyType(
    {
        "momentum_buffer": "momentum",
        "exp_avg": "m",
        "exp_avg_sq": "v",
        "max_exp_avg_sq": "max_v",
        "grad_avg": "mean_gradient",
        "sum": "sum",
        "acc_delta": "acc_deltas",
    }
)
_SQUARES = MappingProxyType({"RMSprop": "mean_square", "Adadelta": "square_avgs"})


class OneFlow(Adapter, Trains, Protocol):
    """What this needs of OneFlow's adapter."""

    flow: Any
    touched: set[str]
    kept: list[Any]
    graph_debug: tuple[int, list[int] | None] | None


def run(adapter: OneFlow, program: Program, configuration: str) -> Observation | GraphRefusal:
    """Run the steps of a training in a graph of its own. Raises GraphError where it cannot be built."""
    try:
        member = _Member(adapter, program, configuration)
        return member.run()
    except TraceRefused as refused:
        return refused.as_refusal()
    except _NoGraph as reason:
        return GraphRefusal(True, None, (), str(reason))


class _NoGraph(Exception):  # noqa: N818 - why a Program is not run, not a fault
    """OneFlow's graphs do not train so; the message says why."""


class _Member:
    """One training: its replay, the modules and optimizers that are made before its graph, and the graph."""

    def __init__(self, adapter: OneFlow, program: Program, configuration: str) -> None:
        assert program.training is not None, "it trains"
        self.adapter = adapter
        self.configuration = configuration
        self.program = program
        self.training: Training = program.training
        self.replay = _Unwrapped(adapter, program)
        self.place: Shared | None = None
        if self.training.ranks > 1:
            lies = Staged if configuration == STAGES else Shared
            self.place = lies(adapter.flow, program, self.training.ranks)
        for x in program.inputs:
            self.replay.place(x)
        made = [index for index in setup_calls(program) if self.training.start <= index < self.training.forward]
        for index in [*range(self.training.start), *made]:
            call = program.calls[index]
            if makes_scaler(call):  # a graph has one of its own
                continue
            self.replay.step(index, call)
            if self.replay.seen.ended:
                raise TraceRefused(self.replay.seen.failures[-1])
            if self.place is not None:
                self._spread(call)
        self.values = self.replay.values
        #: Of what the body returns, whether a batch gives a single number.
        self.single: list[bool] = []
        before = program.calls[: self.training.start]
        #: The class of each optimizer, by its number.
        self.optimizers = {id_: op_name(call) for call in before if makes_optimizer(call) for id_ in call.results()}
        schedules = [*outer_schedules(before)]
        self.schedules = {optimizer: schedule for schedule, optimizer in schedules}
        self.scaler = next((call for call in before if makes_scaler(call)), None)
        if len(self.schedules) < len(schedules):
            raise _NoGraph("OneFlow's nn.Graph takes one schedule per optimizer")
        self._check_batches()
        self._check_parameters()
        self._set_clipping()

    def _check_batches(self) -> None:
        """Raise _NoGraph for batches that no graph can be given in one."""
        if self.training.accumulate == 1:
            return
        batch = self.training.steps[0].inputs
        if any(x.data.ndim == 0 for x in self.program.inputs if x.id in batch):
            raise _NoGraph("OneFlow's nn.Graph cuts its inputs into batches, and a number has no batches")
        if self.place is not None and self.place.parts:
            raise _NoGraph("OneFlow's nn.Graph cuts each rank's part of its inputs into batches")

    def _spread(self, call: Call) -> None:
        """Lay what a call before the graph has made on the ranks."""
        assert self.place is not None, "several ranks train"
        values = self.replay.values
        for id_ in call.results():
            value = values.by_id[id_]
            if id_ in values.modules and call.state:
                self.place.module(id_, value)
            elif isinstance(value, self.adapter.tensor_type) and not value.is_global:
                values.by_id[id_] = self.place.tensor(value)

    def _check_parameters(self) -> None:
        """Raise _NoGraph for parameters that no graph trains."""
        known = set(self._parameters())
        for optimizer in self.optimizers:
            if any(id(tensor) not in known for tensor in self._trained(optimizer)):
                raise _NoGraph("OneFlow's nn.Graph trains parameters of modules alone")

    def _trained(self, optimizer: int) -> list[Any]:
        return self.adapter.trained(self.values.by_id[optimizer])

    def _parameters(self) -> dict[int, list[str]]:
        """By the id of each parameter of a module, the keys that it has as a leaf: `3.0.weight` in a Sequential is the
        `1.weight` of a Linear that was made before. A graph calls it by the first.
        """
        keys: dict[int, list[str]] = {}
        for number, module in self.values.modules.items():
            for name, parameter in self.adapter.parameters(module).items():
                keys.setdefault(id(parameter), []).append(f"{number}.{name}")
        return keys

    def _set_clipping(self) -> None:
        """Make optimizers clip as the body does: a graph clips by what is written in a group of parameters."""
        calls = self.program.calls[self.training.forward : self.training.steps[0].end]
        for call in calls:
            if clips(call):
                self._clip(call)

    def _clip(self, call: Call) -> None:
        given, largest, *rest = call.args
        kind = rest[0] if rest else call.kwargs.get("norm_type", 2.0)
        if not call.op.endswith("clip_grad_norm_"):
            raise _NoGraph(f"OneFlow's nn.Graph has no {call.op.rpartition('.')[2]}")
        wanted = [id(self.replay.value(ref)) for ref in (given if isinstance(given, (list, tuple)) else [given])]
        for optimizer in self.optimizers:
            for group in self.values.by_id[optimizer].param_groups:
                if [id(parameter) for parameter in group.parameters] == wanted:
                    group._options.update(clip_grad_max_norm=float(largest), clip_grad_norm_type=float(kind))
                    group._enable_clip_grad = True
                    return
        raise _NoGraph("OneFlow's nn.Graph clips each group of parameters by itself")

    def run(self) -> Observation:
        """Build the graph, call it once per step, and read all that each step shows."""
        adapter, seen = self.adapter, Observation()
        if self.training.accumulate > 1:
            seen.shows -= {"gradients"}
        try:
            graph = self._graph()
        except Exception as error:  # of `add_optimizer`, before anything was compiled
            raise TraceRefused(failure_of(error, None)) from error
        try:
            for step in self.training.steps:
                results = graph(*self._given(step))
                self._read(seen, step, results, graph)
        except TraceRefused:
            raise
        except Exception as error:
            raise GraphError(class_names(error), first_words(error), poisoned=True) from error
        if adapter.graph_debug is not None:
            sys.stdout.write(f"{graph!r}\n")
        adapter.touched |= graph_op_types(graph)
        buffers = module_buffers(adapter, self.program, self.values)
        seen.buffers = dict(zip(buffers, see(adapter, list(buffers.values())), strict=True))
        for module in self.values.modules.values():
            for parameter in adapter.parameters(module).values():
                parameter.grad = None  # lazy, and the next graph would meet it
        return seen

    def _graph(self) -> Any:
        flow, member = self.adapter.flow, self

        class Trained(flow.nn.Graph):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                if member.training.accumulate > 1:
                    self.config.set_gradient_accumulation_steps(member.training.accumulate)
                for number, module in member.values.modules.items():
                    setattr(self, _attribute(number), module)
                if member.place is None or member.configuration != STAGES:
                    configure(flow, self, member.blocks(self).values(), member.configuration)
                else:
                    member.place.configure(flow, member.blocks(self))
                for number in member.optimizers:
                    optimizer, schedule = member.values.by_id[number], member.schedules.get(number)
                    if schedule is None:
                        self.add_optimizer(optimizer)
                    else:
                        self.add_optimizer(optimizer, lr_sch=member.values.by_id[schedule])
                if member.scaler is not None:
                    self.set_grad_scaler(_scaler(flow, member.scaler))

            def build(self, *tensors: Any) -> Any:
                return member.trace(tensors, member.blocks(self))

        graph = Trained()
        if self.place is not None:
            # Destroyed while another rank still sends, a graph ends the process (comm_network.cpp); it leaks anyway.
            self.adapter.kept.append(graph)
        if self.adapter.graph_debug is not None:
            level, ranks = self.adapter.graph_debug
            graph.debug(level, ranks=ranks)
        return graph

    def blocks(self, graph: Any) -> dict[int, Any]:
        """The modules as the graph has them, by their numbers."""
        return {number: getattr(graph, _attribute(number)) for number in self.values.modules}

    def trace(self, tensors: tuple[Any, ...], blocks: Mapping[int, Any]) -> tuple[Any, ...]:
        """Run the first step's forward and backward on the graph's tensors: what it returned, and gradients."""
        training, replay = self.training, self.replay
        replay.values.by_id.update(blocks)
        first = training.steps[0]
        for id_, tensor in zip(training.batches(first)[0], tensors, strict=True):
            replay.values.by_id[id_] = tensor
        setup = set(setup_calls(self.program))
        for index in range(training.start, training.forward):
            call = self.program.calls[index]
            if index in setup or (call.out is not None and not call.results()):
                continue
            if self.place is not None:
                self.place.before(call, replay.values)
            replay.step(index, call)
            if replay.seen.ended:
                raise TraceRefused(replay.seen.failures[-1])
            if self.place is not None and any(self._local(id_) for id_ in call.results()):
                raise _NoGraph("OneFlow's nn.Graph makes no global tensor of a local one")
        returned = [replay.values.by_id[id_] for id_ in training.returned(first)[0]]
        self.single = [tensor.ndim == 0 for tensor in returned]
        replay.values.by_id[training.loss].backward()
        if training.accumulate > 1:
            return tuple(returned)
        gradients = [parameter.grad for number in self.optimizers for parameter in self._trained(number)]
        return (*returned, *gradients)

    def _given(self, step: Step) -> Iterator[Any]:
        """The tensors that the graph is called with at a step."""
        for alike in zip(*self.training.batches(step), strict=True):
            tensors = [self.values.inputs[id_].detach() for id_ in alike]
            whole = tensors[0] if len(tensors) == 1 else self.adapter.flow.cat(tensors, dim=0)
            yield whole if self.place is None else self.place.batch(whole)

    def _local(self, id_: int) -> bool:
        value = self.replay.values.by_id[id_]
        return isinstance(value, self.adapter.tensor_type) and not value.is_global

    def _read(self, seen: Observation, step: Step, results: tuple[Any, ...], graph: Any) -> None:
        """Read what one call of the graph shows, before the next one writes to it again."""
        shown = dict(self._shown(step, list(results), graph))
        seen.outputs.update(zip(shown, see(self.adapter, list(shown.values())), strict=True))

    def _shown(self, step: Step, results: list[Any], graph: Any) -> Iterator[tuple[int, Any]]:
        """The tensors of a step that there are, by the numbers of their values."""
        _, backward, *rest = step.parts
        batches = self.training.returned(step)
        for place, (alike, single) in enumerate(zip(zip(*batches, strict=True), self.single, strict=True)):
            yield from zip(alike, _cut(results[place], len(batches), single=single), strict=True)
        gradients = results[len(self.single) :]
        keys = self._parameters()
        trained = [parameter for number in self.optimizers for parameter in self._trained(number)] if gradients else []
        by_leaf = {
            key: gradient for parameter, gradient in zip(trained, gradients, strict=True) for key in keys[id(parameter)]
        }
        first = {key: alike[0] for alike in keys.values() for key in alike}
        for id_, of in backward.values.items():
            if by_leaf.get(of.leaf) is not None:
                yield id_, by_leaf[of.leaf]
        kept: dict[str, Any] | None = None
        for part in rest:
            for id_, of in part.values.items() if part.name == "update" else ():
                module, _, name = of.leaf.partition(".")
                if of.what == "parameter":
                    yield id_, self.adapter.parameters(self.values.modules[int(module)])[name]
                    continue
                kept = graph.state_dict() if kept is None else kept
                tensor = kept.get(f"{_attribute(first[of.leaf])}-{self._kept(part.call, of.what)}")
                if tensor is not None:
                    yield id_, tensor

    def _kept(self, update: int | None, what: str) -> str:
        """What the graph calls a state of the optimizer that an update is by."""
        assert update is not None, "updates are calls"
        numbers = [arg.id for arg in self.program.calls[update].args if type(arg) is Ref]
        return kept_name(next(self.optimizers[id_] for id_ in numbers if id_ in self.optimizers), what)


def _cut(result: Any, batches: int, *, single: bool) -> list[Any]:
    """What a graph returned for all batches of a step, batch by batch; a `single` number of each is stacked."""
    if batches == 1:
        return [result]
    size = result.shape[0] // batches
    return [result[place] if single else result[size * place : size * (place + 1)] for place in range(batches)]


class _Unwrapped(Replay):
    """A replay in which a wrapped model is the model itself."""

    def _function(self, path: str) -> Any:
        return _unwrapped if path == WRAPPER else super()._function(path)


def _unwrapped(held: Any) -> Any:
    return lambda outputs: outputs


def _attribute(key: int | str) -> str:
    """What a graph calls a module, or a parameter of it."""
    return f"m{key}"


def kept_name(optimizer: str, what: str) -> str:
    """What a graph calls a state of an optimizer's class that PyTorch calls `what`."""
    return _SQUARES.get(optimizer, what) if what == "square_avg" else _KEPT.get(what, what)


def _scaler(flow: Any, call: Call) -> Any:
    """A graph's own scaler that does what PyTorch's does."""
    known = ("init_scale", "growth_factor", "backoff_factor", "growth_interval")
    return flow.amp.GradScaler(**{name: value for name, value in call.kwargs.items() if name in known})


__all__ = ["kept_name", "run"]
