"""OneFlow's static graph: many independent Programs in ONE nn.Graph, for each compilation costs 6-8 ms and leaks.

With gradients: ONE backward per graph, from a scalar that depends on a parameter of an added optimizer (a dummy one
with lr 0); `requires_grad_()` inside `build`. The scalar is `sum(outputs * cotangents)`, concatenated per dtype: 17 ms
against 13 ms for 20 cases.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dual_object.adapters.oneflow import training
from dual_object.adapters.oneflow.configurations import STAGES, configure
from dual_object.adapters.oneflow.eager import EagerAdapter
from dual_object.adapters.oneflow.surface import graph_op_types
from dual_object.program.global_layouts import layouts, moves
from dual_object.program.program import Program
from dual_object.program.strides import extent
from dual_object.program.values import Array, Placement, Ref
from dual_object.replay.adapter import GraphError, GraphRefusal, GraphRequest
from dual_object.replay.observation import Observation, class_names, first_words
from dual_object.replay.reading import module_buffers, see
from dual_object.replay.second_call import place_again
from dual_object.replay.tracing import Trace, TraceRefused, leaf, obstacle


class Adapter(EagerAdapter):
    """OneFlow behind the adapter Protocol: what it runs eagerly, and nn.Graph."""

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """Run all programs in one nn.Graph; those that train, in one of their own."""
        with _undisturbed():
            return run(self, request)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """While it lasts, no graph that nobody needs is freed: one that ends while another is built takes the names of the
    other's variables with it, and `X must be a variable created in nn.Graph` is raised by chance.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Member(Trace):
    """One Program of a batch: its replay, its modules made eagerly, its tensors as the graph takes and gives them."""

    def __init__(self, adapter: Adapter, program: Program, keys: Sequence[str], again: Sequence[Array] | None) -> None:
        self.again = None if again is None else place_again(adapter, program, again)
        super().__init__(adapter, program, keys)

    def inputs(self) -> list[Any]:
        # Detached: an input that requires a gradient outside gets none inside.
        return [self.replay.values.by_id[x.id].detach() for x in self.program.inputs]

    def other_inputs(self) -> list[Any]:
        """The inputs of the graph's second call. The graph runs all of its Programs, so one that has no second call
        gets its first inputs again.
        """
        if self.again is None:
            return self.inputs()
        return [self.again.values.by_id[x.id] for x in self.program.inputs]

    def trace(self, tensors: Sequence[Any], blocks: dict[int, Any]) -> list[Any]:
        """Run the calls on the graph's tensors, and give what they return; modules are called through the graph's own
        blocks.
        """
        self.made.update(blocks)
        pairs = zip(self.program.inputs, tensors, strict=True)
        return self.body([tensor.requires_grad_() if x.requires_grad and self.keys else tensor for x, tensor in pairs])


def run(adapter: Adapter, request: GraphRequest) -> list[Observation | GraphRefusal]:
    """Run all programs in one graph, or one per placement where tensors are global; whoever refuses to be traced is
    left out and the rest is built again.
    """
    results: dict[int, Observation | GraphRefusal] = {}
    worlds: dict[Placement | None, list[int]] = {}
    for index, program in enumerate(request.programs):
        keys = request.gradients[index] if request.gradients else ()
        trains = program.training is not None
        reason = (None if trains else obstacle(program)) or _obstacle(program, keys)
        if request.configuration == STAGES and (program.training is None or program.training.ranks == 1):
            reason = "stages are set where ranks share a training"
        if reason is not None:
            results[index] = GraphRefusal(True, None, (), reason)
        elif trains:
            results[index] = training.run(adapter, program, request.configuration)
        else:
            worlds.setdefault(_world(program), []).append(index)
    for world, indices in worlds.items():
        _run_world(adapter, request, world, indices, results)
    return [results[index] for index in range(len(request.programs))]


def _run_world(
    adapter: Adapter,
    request: GraphRequest,
    world: Placement | None,
    indices: Sequence[int],
    results: dict[int, Observation | GraphRefusal],
) -> None:
    """Run the programs at `indices`, whose tensors lie on `world` (None: are local), in one graph."""
    refused_index: int | None = -1
    while refused_index is not None:
        members: dict[int, _Member] = {}
        for index in indices:
            if index in results:
                continue
            keys = request.gradients[index] if request.gradients else ()
            again = request.again[index] if request.again else None
            try:
                members[index] = _Member(adapter, request.programs[index], keys, again)
            except TraceRefused as refused:
                results[index] = refused.as_refusal()
        if not members:
            return
        refused_index = _run_members(adapter, members, results, world, request.configuration)


def _world(program: Program) -> Placement | None:
    """Where the first global tensor of a Program lies; None where all are local."""
    return next((placement for placement, _ in layouts(program).values()), None)


def _obstacle(program: Program, keys: Sequence[str]) -> str | None:
    for x in program.inputs:
        if x.data.ndim and x.data.shape[0] == 0:
            return "OneFlow's nn.Graph aborts on an input of size 0"
        if x.strides is not None and extent(x.data.shape, x.strides) < x.data.size:
            # It copies as many elements as the shape has, and damages the heap: another case dies of that later.
            return "OneFlow's nn.Graph reads past the memory of an expanded input"
    modules = {id_ for call in program.modules() for id_ in call.results()}
    lying = {x.id for x in program.inputs if x.layout is not None} | modules
    for call in program.calls:
        move = moves(call)
        if move is not None and type(call.args[0]) is Ref and call.args[0].id not in lying:
            return "OneFlow's nn.Graph makes no global tensor of a local one"
        if move == "to_local":
            return "OneFlow's nn.Graph makes no local tensor of a global one"
        if move is not None or "placement" in call.kwargs or not lying.isdisjoint(call.operands()):
            lying.update(call.results())
    if keys and len({placement.ndim for placement, _ in layouts(program).values()}) > 1:
        return "OneFlow's nn.Graph aborts on gradients between placements of one and of two dimensions"
    return None


def _run_members(
    adapter: Adapter,
    members: dict[int, _Member],
    results: dict[int, Observation | GraphRefusal],
    world: Placement | None,
    configuration: str,
) -> int | None:
    """Build and run one graph; returns the member that refused to be traced, or None when all have a result."""
    place = None if world is None else _Place(adapter, world)
    tracing: list[int] = []
    inputs = [tensor for member in members.values() for tensor in member.inputs()]
    cotangents = _cotangents(adapter, members, place)
    graph = _new_graph(adapter, members, place, tracing, configuration)
    other_inputs = [tensor for member in members.values() for tensor in member.other_inputs()]
    try:
        observations = _observe(adapter, members, graph, [*inputs, *cotangents], [*other_inputs, *cotangents])
    except TraceRefused as refused:
        results[tracing[0]] = refused.as_refusal()
        return tracing[0]
    except Exception as error:
        # Building the plan registers state that aborts the next compilation of this process.
        message = first_words(error)
        raise GraphError(class_names(error), message, poisoned=True) from error
    if adapter.graph_debug is not None:
        sys.stdout.write(f"{graph!r}\n")
    ran = graph_op_types(graph, "dummy")
    if _has_backward(members):
        ran.discard("ones_like")  # where `backward()` starts: a Program's own shows in a graph without gradients
    adapter.touched |= ran
    results.update(observations)
    for member in members.values():
        for module in member.replay.values.modules.values():
            for parameter in adapter.parameters(module).values():
                parameter.grad = None
    return None


class _Place:
    """Where the global tensors of a graph meet for its loss: whole on every rank of one placement."""

    def __init__(self, adapter: Adapter, world: Placement) -> None:
        self.placement = adapter.own(world)
        self.sbp = [adapter.flow.sbp.broadcast] * world.ndim

    def whole(self, tensor: Any) -> Any:
        return tensor.to_global(placement=self.placement, sbp=self.sbp)


def _new_graph(
    adapter: Adapter, members: dict[int, _Member], place: _Place | None, tracing: list[int], configuration: str
) -> Any:
    """The graph of all members, which takes their inputs and then their cotangents, and returns what `_collect` reads:
    outputs, then gradients. While a member is traced its index is the one element of `tracing`.
    """
    flow = adapter.flow
    backward = _has_backward(members)
    starts: list[Any] = []

    class Batch(flow.nn.Graph):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            blocks = []
            for index, member in members.items():
                for id_, module in member.replay.values.modules.items():
                    setattr(self, f"m{index}_{id_}", module)
                    blocks.append(getattr(self, f"m{index}_{id_}"))
            configure(flow, self, blocks, configuration)
            if backward:
                self.dummy = _new_loss(flow, members, place, starts)
                self.add_optimizer(flow.optim.SGD(self.dummy.parameters(), lr=0.0))

        def build(self, *tensors: Any) -> Any:
            offset = 0
            outputs: list[Any] = []
            for index, member in members.items():
                tracing[:] = [index]
                count = len(member.program.inputs)
                modules = member.replay.values.modules
                blocks = {id_: getattr(self, f"m{index}_{id_}") for id_ in modules}
                outputs += member.trace(tensors[offset : offset + count], blocks)
                offset += count
            tracing.clear()
            if backward:
                starts[:] = tensors[offset:]
                outputs += self.gradients()
            return tuple(outputs)

        def gradients(self) -> list[Any]:
            self.dummy().backward()
            return [leaf(member.replay, key).grad for member in members.values() for key in member.keys]

    graph = Batch()
    if adapter.world_size > 1:
        # Destroyed while another rank still sends, a graph ends the process (comm_network.cpp); it leaks anyway.
        adapter.kept.append(graph)
    if adapter.graph_debug is not None:
        level, ranks = adapter.graph_debug
        graph.debug(level, ranks=ranks)
    return graph


def _new_loss(flow: Any, members: dict[int, _Member], place: _Place | None, starts: Sequence[Any]) -> Any:
    """The module whose result is the scalar that the backward of all members starts from.

    It is `p * 0 + sum(output * cotangent)`, where `p` is the parameter that the graph's optimizer needs. A module of
    its own, so that its ops carry this block's name and are told from those of the Programs. `starts` holds the
    cotangents, as tensors of the graph, by the time that it is called.
    """

    class Dummy(flow.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.p = flow.nn.Parameter(flow.zeros(1))

        def forward(self) -> Any:
            products: dict[Any, tuple[list[Any], list[Any]]] = {}
            cotangents = iter(starts)
            for member in members.values():
                for id_ in _starts(member):
                    output = member.replay.values.by_id[id_]
                    ys, dys = products.setdefault(output.dtype, ([], []))
                    y = (output if place is None else place.whole(output)).reshape(-1)
                    ys.append(y if y.shape[0] else y.sum().reshape(1))
                    dys.append(next(cotangents))
            loss = self.p.sum() * 0
            for dtype, (ys, dys) in products.items():
                y, dy = (ys[0], dys[0]) if len(ys) == 1 else (flow.cat(ys), flow.cat(dys))
                product = (y * dy).sum()
                loss = loss + (product if dtype == flow.float32 else product.to(flow.float32))
            return loss

    return Dummy() if place is None else Dummy().to_global(placement=place.placement, sbp=place.sbp)


def _has_backward(members: dict[int, _Member]) -> bool:
    return any(member.keys for member in members.values())


def _cotangents(adapter: Adapter, members: dict[int, _Member], place: _Place | None) -> list[Any]:
    """The cotangents of all members as flat tensors, in the order in which the loss takes them."""
    cotangents = [
        _cotangent(adapter, member.program.cotangents[id_]) for member in members.values() for id_ in _starts(member)
    ]
    return cotangents if place is None else [place.whole(cotangent) for cotangent in cotangents]


def _observe(
    adapter: Adapter, members: dict[int, _Member], graph: Any, first: Sequence[Any], second: Sequence[Any]
) -> dict[int, Observation]:
    """What the members show when the graph is called on the tensors `first`, and again on `second` for those that want
    a second call.
    """
    observations = _collect(adapter, members, graph(*first))
    for index, member in members.items():
        observations[index].structures = member.replay.seen.structures
    adapter.synchronize()
    if any(member.again is not None for member in members.values()):
        for index, observation in _collect(adapter, members, graph(*second)).items():
            if members[index].again is not None:
                observations[index].again = observation
        adapter.synchronize()
    return observations


def _starts(member: _Member) -> list[int]:
    return list(member.program.cotangents) if member.keys else []


def _cotangent(adapter: Adapter, cotangent: Array) -> Any:
    # One element for none: the graph aborts on an input of size 0, which a cotangent is, too.
    return adapter.flow.from_numpy(cotangent.reshape(-1).copy() if cotangent.size else np.zeros(1, cotangent.dtype))


def _collect(adapter: Adapter, members: dict[int, _Member], results: Sequence[Any]) -> dict[int, Observation]:
    """What one call of the graph shows of each member; read at once, before another call writes its buffers again."""
    buffers = {
        (index, key): buffer
        for index, member in members.items()
        for key, buffer in module_buffers(adapter, member.program, member.replay.values).items()
    }
    fetched = list(results)
    tensors = [*fetched, *buffers.values()]
    readings = iter(see(adapter, [tensor for tensor in tensors if tensor is not None]))
    gradients = iter(fetched[sum(len(member.returned) for member in members.values()) :])
    observations = {index: Observation() for index in members}
    for index, member in members.items():
        observations[index].outputs = {id_: next(readings) for id_ in member.returned}
    for index, member in members.items():
        # None: a leaf that got no gradient in the graph.
        observations[index].gradients = {
            key: None if next(gradients) is None else next(readings) for key in member.keys
        }
    for index, key in buffers:
        observations[index].buffers[key] = next(readings)
    return observations
