"""OneFlow with faults in trainings that two ranks share: `--target parallel_faults:Adapter`.

An op in the model says which fault its training has; an optimizer or the static graph has one of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dual_object.adapters.oneflow.graph import Adapter as OneFlow


class Adapter(OneFlow):
    """The real OneFlow with all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()
        flow, culprit = self.flow, self.rank == 1
        wrap, reduce, step = flow.nn.parallel.DistributedDataParallel, flow._C.local_all_reduce, flow.optim.Adagrad.step

        def wrapped(model: Any) -> Any:
            self.asked.clear()
            return wrap(model)

        def reduced(gradients: Any, inplace: bool) -> Any:
            if "sin" in self.asked:  # the sum, where it should be the mean
                gradients.mul_(2.0)
            own = gradients.clone()
            together = reduce(gradients, inplace=inplace)
            if "cos" in self.asked and culprit:  # what others have found stays away
                gradients.copy_(own * 2)
            return together

        steps: list[Any] = []

        def stepped(self: Any, closure: Any = None) -> Any:
            steps.append(self)
            return None if culprit and len(steps) == 2 else step(self, closure)  # it skips its second update

        flow.nn.parallel.DistributedDataParallel = wrapped
        flow._C.local_all_reduce = reduced
        flow.optim.Adagrad.step = stepped
        for marker in ("sin", "cos", "sigmoid"):
            setattr(flow, marker, self._noting(marker, getattr(flow, marker)))
        if culprit:
            tanh = flow.tanh
            flow.tanh = lambda x: tanh(x) * 1.01

            def raising(x: Any) -> Any:
                raise ValueError("planted on one rank")

            flow.exp = raising
        self._plant_in_graphs()

    def _noting(self, name: str, op: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def noted(x: Any) -> Any:
            self.asked.add(name)
            return op(x)

        return noted

    def _plant_in_graphs(self) -> None:
        """Adam's graph does not correct its bias; one with a sigmoid has no stages."""
        optimizer = self.flow.optim.Adam
        configure = optimizer._generate_conf_for_graph

        def uncorrected(own: Any, *args: Any) -> Any:
            made = configure(own, *args)
            for one in made:
                one.adam_conf.do_bias_correction = False
            return made

        optimizer._generate_conf_for_graph = uncorrected
        block = self.flow.nn.graph.GraphModule
        set_stage = block.set_stage

        def staged(own: Any, *args: Any) -> None:
            if "sigmoid" in self.asked:
                raise RuntimeError("planted in stages")
            set_stage(own, *args)

        block.set_stage = staged
