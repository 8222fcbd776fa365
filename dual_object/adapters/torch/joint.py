"""The static graph of the target `torch`: a Program's forward and backward in one graph of ATen ops.

It is no Executor. Those are handed a module, and autograd runs backward through what they have made of it, which asks
them to keep gradients out of their graph or to be AOTAutograd. Here the gradients are computed while the trace goes on,
so that `detach`, `no_grad` and hooks are what they are in eager, and the graph's backward is part of what is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from dual_object.adapters.torch.executors.aten import aten_graph, limit
from dual_object.program.values import Array
from dual_object.replay.reading import module_buffers
from dual_object.replay.replay import Replay
from dual_object.replay.tracing import Graph, NotTraced, Trace, leaf


def joint_graph(trace: Trace) -> Graph:
    """The graph of a Program, with the gradients of the leaves that are wanted. Raises NotTraced, TraceRefused."""
    program, keys = trace.program, trace.keys

    def body(*tensors: torch.Tensor) -> list[torch.Tensor]:
        wanting = [
            tensor.detach().requires_grad_() if x.requires_grad else tensor
            for x, tensor in zip(program.inputs, tensors, strict=True)
        ]
        results = trace.body(wanting)
        return results + _traced_gradients(trace.replay, keys) if keys else results

    traced = _limited(aten_graph, body, trace.placed())
    state = {f"{call.out.id}.{name}": array for call in program.modules() for name, array in call.state.items()}
    for key, buffer in module_buffers(trace.adapter, program, trace.replay.values).items():  # tracing ran them once
        buffer.copy_(torch.from_numpy(state[key]))

    def graph(tensors: list[torch.Tensor]) -> tuple[Sequence[torch.Tensor], dict[str, torch.Tensor]]:
        results = _limited(traced, *tensors)
        count = len(trace.returned)
        return results[:count], dict(zip(keys, results[count:], strict=True))

    return graph


def _limited(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function. Raises NotTraced for what it raises at a limit of the tracer, as a graph may when it runs."""
    try:
        return function(*args)
    except NotTraced:
        raise
    except Exception as error:
        reached = limit(str(error))
        if reached is None:
            raise
        raise NotTraced(reached) from error


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
