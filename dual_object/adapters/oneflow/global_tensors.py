"""OneFlow's global tensors: placements and sbp to and from their neutral forms, and what is whole on every rank.

Measured on OneFlow 0.9.0: a collective of two ranks on one machine takes 0.6 ms, one of one rank 10 microseconds.
Splitting a dimension that is smaller than the ranks ends all of them (`Check failed` in the boxing).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from dual_object.program.values import Array, Placement, Sbp


def neutral(value: Any) -> Placement | Sbp | None:
    """The neutral form of OneFlow's placement or sbp, None for anything else. OneFlow is not imported for this: whoever
    holds such a value has imported it.
    """
    flow = sys.modules.get("oneflow")
    if flow is None:
        return None
    if isinstance(value, flow.placement):
        return Placement(value.type, _nested(value.ranks.tolist()))
    if isinstance(value, flow.sbp.sbp):
        return _neutral_sbp(flow, value)
    return None


def _nested(ranks: Any) -> Any:
    return tuple(_nested(part) for part in ranks) if isinstance(ranks, list) else ranks


def _neutral_sbp(flow: Any, value: Any) -> Sbp:
    for kind in ("broadcast", "partial_sum"):
        if value == getattr(flow.sbp, kind)():
            return Sbp(kind)
    # A split does not tell its dimension but in its text: `oneflow.sbp.split(dim=1)`.
    return Sbp("split", int(str(value).rpartition("=")[2].rstrip(")")))


def own(flow: Any, leaf: Placement | Sbp) -> Any:
    """OneFlow's object for a neutral one."""
    if isinstance(leaf, Placement):
        return flow.placement(leaf.type, leaf.ranks)
    return flow.sbp.split(leaf.dim) if leaf.kind == "split" else getattr(flow.sbp, leaf.kind)()


def spread(flow: Any, tensor: Any, placement: Any, sbp: Sequence[Any]) -> Any:
    """A local tensor, the same on every rank, as a global one."""
    whole = tensor.to_global(placement=placement, sbp=[flow.sbp.broadcast] * len(sbp))
    return whole if all(part == flow.sbp.broadcast for part in sbp) else whole.to_global(sbp=list(sbp))


def whole(flow: Any, tensor: Any) -> Any:
    """All of a global tensor, as a local one on every rank of the run."""
    size = flow.env.get_world_size()
    ranks = tensor.placement.ranks
    if ranks.size != size:  # ranks outside of the placement hold nothing of it
        everywhere = flow.placement(tensor.placement.type, list(range(size)))
        return tensor.to_global(placement=everywhere, sbp=[flow.sbp.broadcast]).to_local()
    return tensor.to_global(sbp=[flow.sbp.broadcast] * ranks.ndim).to_local()


def spread_like(flow: Any, array: Array, tensor: Any, *, whole: bool = False) -> Any:
    """`array` as a global tensor with the placement and sbp of `tensor`; with `whole`, as a full copy on each of its
    ranks.
    """
    local = flow.from_numpy(array.copy()).to(tensor.dtype)
    sbp = [flow.sbp.broadcast] * len(tensor.sbp) if whole else tensor.sbp
    return spread(flow, local, tensor.placement, sbp)


def gather(flow: Any, data: bytes) -> list[bytes]:
    """What every rank passes here, in their order."""
    rank = flow.env.get_rank()
    broadcast = flow._oneflow_internal.cpu_broadcast
    return [broadcast(data if source == rank else None, source) for source in range(flow.env.get_world_size())]
