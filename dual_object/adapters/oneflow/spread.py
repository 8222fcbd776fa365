"""How the tensors of a training lie that several ranks share, in OneFlow's static graph.

Data parallel: parameters lie whole on each rank, and each has its part of the batch. In stages: each module lies on one
rank, and what it computes goes on to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.reading import Values


class Shared:
    """Data parallel."""

    #: Whether a rank has a part of each batch alone.
    parts = True

    def __init__(self, flow: Any, program: Program, ranks: int) -> None:
        self._everywhere = flow.placement("cpu", list(range(ranks)))
        self._whole, self._part = [flow.sbp.broadcast], [flow.sbp.split(0)]

    def module(self, number: int, module: Any) -> None:
        """Lay a module and its tensors."""
        module.to_global(placement=self._everywhere, sbp=self._whole)

    def tensor(self, tensor: Any) -> Any:
        """A local tensor, the same on all ranks, that was made before the graph."""
        return tensor.to_global(placement=self._everywhere, sbp=self._whole)

    def batch(self, tensor: Any) -> Any:
        """A local tensor, the same on all ranks, that a step is given."""
        return self.tensor(tensor).to_global(sbp=self._part)

    def configure(self, flow: Any, blocks: Mapping[int, Any]) -> None:
        """Tell the modules of a graph what they have to know."""

    def before(self, call: Call, values: Values) -> None:
        """Move what a call is given inside of the graph."""


class Staged(Shared):
    """In stages: modules that no other one holds lie in their order on the ranks, and others with those that hold
    them. A call is computed on the last rank that it is given anything of.
    """

    parts = False

    def __init__(self, flow: Any, program: Program, ranks: int) -> None:
        super().__init__(flow, program, ranks)
        self._ranks = [flow.placement("cpu", [rank]) for rank in range(ranks)]
        made = {id_: call for call in program.modules() for id_ in call.results()}
        held = {id_: holder for holder, call in made.items() for id_ in call.operands() if id_ in made}
        outer = [id_ for id_, call in made.items() if id_ not in held and (call.state or id_ in held.values())]
        stages = {id_: place * ranks // len(outer) for place, id_ in enumerate(outer)}
        self._stages: dict[int, int] = {}
        for id_ in made:
            holder = id_
            while holder in held:
                holder = held[holder]
            if holder in stages:
                self._stages[id_] = stages[holder]

    def module(self, number: int, module: Any) -> None:
        """Lay a module on its rank."""
        module.to_global(placement=self._ranks[self._stages[number]], sbp=self._whole)

    def tensor(self, tensor: Any) -> Any:
        """Whole on the first rank, from where calls take it."""
        return tensor.to_global(placement=self._ranks[0], sbp=self._whole)

    def batch(self, tensor: Any) -> Any:
        """Whole on the first rank, where the first stage is."""
        return self.tensor(tensor)

    def configure(self, flow: Any, blocks: Mapping[int, Any]) -> None:
        """Say which stage a module is."""
        for number, block in blocks.items():
            if number in self._stages:
                stage = self._stages[number]
                block.to(flow.nn.graph.GraphModule).set_stage(stage, self._ranks[stage])

    def before(self, call: Call, values: Values) -> None:
        """Bring everything to the module that is called, else to the last rank that holds anything of it."""
        tensors = {id_: values.by_id[id_] for id_ in call.operands() if getattr(values.by_id[id_], "is_global", False)}
        places = {id_: int(tensor.placement.ranks.reshape(-1)[0]) for id_, tensor in tensors.items()}
        receiver = call.args[0] if call.kind == "call" else None
        stage = self._stages.get(receiver.id) if type(receiver) is Ref else None
        stage = max(places.values(), default=0) if stage is None else stage
        for id_, tensor in tensors.items():
            if places[id_] != stage:
                values.by_id[id_] = tensor.to_global(placement=self._ranks[stage], sbp=self._whole)


__all__ = ["Shared", "Staged"]
