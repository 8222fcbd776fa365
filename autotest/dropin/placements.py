"""The vocabulary of global tensors in OneFlow AutoTest files: placements and sbp are OneFlow's own objects there."""

from __future__ import annotations

import pickle
import sys
from functools import partial
from typing import Any

from autotest.api import global_tensors
from autotest.api.global_tensors import GlobalScope, globaltest, is_global
from dual_object.adapters.oneflow.global_tensors import gather, own


def _own(leaf: Any) -> Any:
    """OneFlow's object, as the file that imported OneFlow has it."""
    return own(sys.modules["oneflow"], leaf)


all_placement = partial(global_tensors.all_placement, given=_own)
all_cpu_placement = partial(global_tensors.all_cpu_placement, given=_own)
all_cuda_placement = partial(global_tensors.all_cuda_placement, given=_own)
random_placement = partial(global_tensors.random_placement, given=_own)
random_cpu_placement = partial(global_tensors.random_cpu_placement, given=_own)
random_gpu_placement = partial(global_tensors.random_gpu_placement, given=_own)
all_sbp = partial(global_tensors.all_sbp, given=_own)
random_sbp = partial(global_tensors.random_sbp, given=_own)


def broadcast(obj: Any, src: int = 0) -> Any:
    """Rank `src`'s object, on every rank."""
    flow = sys.modules["oneflow"]
    if flow.env.get_world_size() == 1:
        return obj
    data = gather(flow, pickle.dumps(obj) if flow.env.get_rank() == src else b"")[src]
    return pickle.loads(data)  # noqa: S301 - from another rank of this very run


__all__ = [
    "GlobalScope",
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "broadcast",
    "globaltest",
    "is_global",
    "random_cpu_placement",
    "random_gpu_placement",
    "random_placement",
    "random_sbp",
]
