"""The graph of ATen ops that `make_fx` traces, and where its tracer reaches a limit, which is no difference."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.unwritten import reads_unwritten
from dual_object.replay.tracing import NotTraced

#: What the tracer says at a limit, and what that is.
_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "trying to get value out of a tracing tensor": "PyTorch's tracer cannot follow a value that an op reads",
        "torch.storage.UntypedStorage": "PyTorch's tracer cannot copy the memory of a tensor",  # `copy.deepcopy`
        "a view of a leaf Variable that requires grad is being used in an in-place operation": (
            "PyTorch's tracer cannot follow an op that writes a parameter"  # nn.Embedding with max_norm
        ),
        "Cannot access storage of SparseTensorImpl": "PyTorch's tracer makes no sparse tensor of its parts",
    }
)
_KEYWORD = "PyTorch's tracer writes no Python for an overload named as a keyword"  # `aten.random_.from(x, 0, 7)`
_UNWRITTEN = "PyTorch's traced graph lacks what PyTorch's own code wrote by hand, and reads unwritten memory"


def aten_graph(function: Callable[..., Any], inputs: Sequence[torch.Tensor]) -> torch.fx.GraphModule:
    """What one run of `function` on `inputs` comes down to. Raises NotTraced, and what `function` raises otherwise."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tracer warns of its own internals
            graph: torch.fx.GraphModule = private.make_fx(function, tuple(inputs))
    except SyntaxError as error:
        raise NotTraced(_KEYWORD) from error
    except Exception as error:
        reached = limit(str(error))
        if reached is None:
            raise
        raise NotTraced(reached) from error
    if reads_unwritten(graph.graph):
        raise NotTraced(_UNWRITTEN)
    return graph


def limit(message: str) -> str | None:
    """The limit at which the tracer says this; None for anything else."""
    return next((words for said, words in _LIMITS.items() if said in message), None)


__all__ = ["aten_graph", "limit"]
