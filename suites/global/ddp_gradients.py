"""Steps of a training, on one process and on all ranks: what their gradients are. Imported by the ranks' own processes.

A step works on a copy of the module and gives copies of the gradients: in OneFlow 0.9.0 a gradient that
`DistributedDataParallel` has averaged lies in a bucket, and `reshape` of it starts at the bucket's first element.
"""

from __future__ import annotations

import copy
from typing import Any


def on_one_process(module: Any, x: Any) -> list[Any]:
    """The gradients of the mean over the whole batch."""
    module = copy.deepcopy(module)
    module(x).square().mean().backward()
    return [parameter.grad.clone() for parameter in module.parameters()]


def on_all_ranks(module: Any, x: Any) -> list[Any]:
    """The same where each rank has its share of the batch; `DistributedDataParallel` averages the gradients."""
    parallel = _parallel(module)
    parallel(_share(x)).square().mean().backward()
    return [parameter.grad.clone() for parameter in parallel.parameters()]


def second_on_all_ranks(module: Any, x: Any) -> list[Any]:
    """The gradients of a second step, where those of the first were set to None before, as PyTorch's `zero_grad` does:
    on one process they are those of a first step.
    """
    parallel = _parallel(module)
    for _ in range(2):
        for parameter in parallel.parameters():
            parameter.grad = None
        parallel(_share(x)).square().mean().backward()
    return [parameter.grad.clone() for parameter in parallel.parameters()]


def _parallel(module: Any) -> Any:
    import oneflow as flow

    return flow.nn.parallel.DistributedDataParallel(copy.deepcopy(module))


def _share(x: Any) -> Any:
    import oneflow as flow

    share = x.shape[0] // flow.env.get_world_size()
    first = share * flow.env.get_rank()
    return x[first : first + share]
