"""The static graph of the target `torch`: a Program's forward and backward in one graph of ATen ops.

It is no Executor. Those are handed a module, and autograd runs backward through what they have made of it, which asks
them to keep gradients out of their graph or to be AOTAutograd. Here the gradients are computed while the trace goes on,
so that `detach`, `no_grad` and hooks are what they are in eager, and the graph's backward is part of what is compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dual_object.adapters.torch.executors.aten import NotTraced, aten_graph, limit
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter, GraphRefusal
from dual_object.replay.observation import Observation, class_names, first_words
from dual_object.replay.reading import module_buffers, see
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import place_again
from dual_object.replay.tracing import TraceRefused, leaf, obstacle, returned_tensors, setup_calls, traced_calls


def joint_graph(
    adapter: Adapter, program: Program, keys: Sequence[str], again: Sequence[Array] | None
) -> Observation | GraphRefusal:
    """What the graph of a Program shows, with the gradients of the leaves at `keys`; `again` are the inputs of a second
    call.
    """
    replay = Replay(adapter, program)
    reason = obstacle(program)
    if reason is not None:
        return GraphRefusal(True, None, (), reason)
    try:
        return _trace(adapter, replay, keys, again)
    except NotTraced as reached:
        return GraphRefusal(True, None, (), str(reached))
    except Exception as error:
        reason = limit(str(error))  # the graph may say it, too, when it runs
        if reason is not None:
            return GraphRefusal(True, None, (), reason)
        if isinstance(error, TraceRefused):
            return error.as_refusal()
        return GraphRefusal(False, None, class_names(error), first_words(error))


def _trace(adapter: Adapter, replay: Replay, keys: Sequence[str], again: Sequence[Array] | None) -> Observation:
    program, values = replay.program, replay.values
    first = [x.data for x in program.inputs]
    for x in program.inputs:
        replay.place(x)
    for index in setup_calls(program):
        replay.step(index, program.calls[index])
        if replay.seen.ended:
            raise TraceRefused(replay.seen.failures[-1])
    returned: list[int] = []

    def inputs(arrays: Sequence[Array]) -> list[torch.Tensor]:
        # At each call they lie as at the first: what is contiguous there has no `contiguous()` in the graph.
        placed = place_again(adapter, program, arrays)
        return [placed.values.by_id[x.id] for x in program.inputs]

    def body(*tensors: torch.Tensor) -> list[torch.Tensor]:
        for x, tensor in zip(program.inputs, tensors, strict=True):
            values.place(x.id, tensor.detach().requires_grad_() if x.requires_grad else tensor)
        for index in traced_calls(program):
            replay.step(index, program.calls[index])
            if replay.seen.ended:
                raise TraceRefused(replay.seen.failures[-1])
        returned[:] = returned_tensors(replay)
        results = [values.by_id[id_] for id_ in returned]
        return results + _traced_gradients(replay, keys) if keys else results

    traced = aten_graph(body, inputs(first))
    state = {f"{call.out.id}.{name}": array for call in program.modules() for name, array in call.state.items()}
    buffers = module_buffers(adapter, program, values)
    for key, buffer in buffers.items():  # tracing ran the modules once
        buffer.copy_(torch.from_numpy(state[key]))

    def called(tensors: Sequence[torch.Tensor], observation: Observation) -> Observation:
        readings = iter(see(adapter, [*traced(*tensors), *buffers.values()]))
        observation.outputs = {id_: next(readings) for id_ in returned}
        observation.gradients = {key: next(readings) for key in keys}
        observation.buffers = {key: next(readings) for key in buffers}
        return observation

    observation = called(inputs(first), replay.seen)
    if again is not None:
        for tensor in (*observation.outputs.values(), *observation.gradients.values(), *observation.buffers.values()):
            assert tensor is not None, "asked of autograd, a gradient is there"
            tensor.data = tensor.data.copy()  # the second call may write to what the first one gave
        observation.again = called(inputs(again), Observation())
    return observation


def _traced_gradients(replay: Replay, keys: Sequence[str]) -> list[torch.Tensor]:
    """The gradients of the leaves at `keys`, computed while a graph is traced; zeros for a leaf that plays no part."""
    by_id, cotangents = replay.values.by_id, replay.program.cotangents
    starts = [id_ for id_ in cotangents if by_id[id_].requires_grad]
    gradients = torch.autograd.grad(
        [by_id[id_] for id_ in starts],
        [leaf(replay, key) for key in keys],
        [like(cotangents[id_], by_id[id_]) for id_ in starts],
        materialize_grads=True,
    )
    return list(gradients)


def like(cotangent: Array, output: torch.Tensor) -> torch.Tensor:
    """A cotangent as a tensor of its output's dtype and device."""
    return torch.from_numpy(cotangent).to(device=output.device, dtype=output.dtype)


__all__ = ["joint_graph", "like"]
