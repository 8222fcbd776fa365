"""One training step, on one process and on all ranks: what its gradients are. Imported by the ranks' own processes.

The step works on a copy of the module and gives copies of the gradients: in OneFlow 0.9.0 a gradient that
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
    import oneflow as flow

    share = x.shape[0] // flow.env.get_world_size()
    first = share * flow.env.get_rank()
    parallel = flow.nn.parallel.DistributedDataParallel(copy.deepcopy(module))
    parallel(x[first : first + share]).square().mean().backward()
    return [parameter.grad.clone() for parameter in parallel.parameters()]
