"""Faults in optimizers, schedules, clipping and scalers, everywhere or in the training graph alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from benchmarks.mutation.fault import Fault, World


def _uncorrected(w: World, op: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    op(self, *args, **kwargs, do_bias_correction=False)


def _decays_twice(w: World, op: Any, self: Any) -> Any:
    with w.flow.no_grad():
        for group in self.param_groups:
            for parameter in group.parameters:
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
    return op(self)


def _forgets(w: World, op: Any, self: Any) -> Any:
    for state in self._state.values():
        if isinstance(state, dict):
            state.clear()
    return op(self)


def _first_group(w: World, op: Any, self: Any) -> Any:
    groups, self.param_groups = self.param_groups, self.param_groups[:1]
    op(self)
    self.param_groups = groups


def _keeps_half(w: World, op: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    op(self, *args, **{**kwargs, "rho": kwargs.get("rho", 0.9) / 2})


def _late(w: World, op: Any, self: Any, base: Any, step: Any) -> Any:
    return op(self, base, max(step - 1, 0))


def _to_zero(w: World, op: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    op(self, *args, **{**kwargs, "eta_min": 0.0})


def _by_two(w: World, op: Any, parameters: Any, largest: Any, norm_type: Any = 2.0) -> Any:
    return op(parameters, largest, 2.0)


def _configured(change: Callable[[Any], None]) -> Callable[..., Any]:
    """The configurations that an optimizer gives a graph, changed."""

    def configure(w: World, op: Any, self: Any, training: Any, variables: Any) -> Any:
        made = op(self, training, variables)
        for one in made:
            change(one)
        return made

    return configure


def _no_momentum(made: Any) -> None:
    if made.HasField("momentum_conf"):
        made.momentum_conf.beta = 0.0


def _no_correction(made: Any) -> None:
    made.adam_conf.do_bias_correction = False


def _first_group_in_graph(w: World, op: Any, self: Any, training: Any, variables: Any) -> Any:
    groups, self.param_groups = self.param_groups, self.param_groups[:1]
    made = op(self, training, variables)
    self.param_groups = groups
    return made


def _unclipped(w: World, op: Any, self: Any, group: Any, made: Any) -> None:
    return None


def _by_two_in_graph(w: World, op: Any, self: Any, group: Any, made: Any) -> None:
    op(self, group, made)
    if made.HasField("clip_conf"):
        made.clip_conf.clip_by_global_norm.norm_type = 2.0


def _late_in_graph(w: World, op: Any, self: Any, made: Any) -> None:
    self.step_size += 1
    op(self, made)
    self.step_size -= 1


def _grows_at_once(w: World, op: Any, self: Any, training: Any) -> None:
    op(self, training)
    training.dynamic_loss_scale_policy.increment_period = 1


def _summed(w: World, op: Any, self: Any, *args: Any) -> None:
    op(self * _batches(w) if w.building else self, *args)


def _batches(w: World) -> int:
    """How many batches the graph accumulates that is being built: one of those who called owns it."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and not isinstance(frame.f_locals.get("self"), w.flow.nn.Graph):
        frame = frame.f_back
    assert frame is not None, "a graph is being built"
    graph: Any = frame.f_locals["self"]
    return max(1, int(graph.config.proto.num_gradient_accumulation_steps))


FAULTS = (
    Fault("Adam-uncorrected", "training", "Adam", "does not correct its bias", _uncorrected, "optim.Adam.__init__"),
    Fault("AdamW-decays-twice", "training", "AdamW", "decays weights twice", _decays_twice, "optim.AdamW.step"),
    Fault("SGD-forgets", "training", "SGD", "forgets its momentum at each step", _forgets, "optim.SGD.step"),
    Fault("Adagrad-first-group", "training", "Adagrad", "leaves out a group", _first_group, "optim.Adagrad.step"),
    Fault("Adadelta-rho", "training", "Adadelta", "takes half of rho", _keeps_half, "optim.Adadelta.__init__"),
    Fault("StepLR-late", "training", "StepLR", "is one step late", _late, "optim.lr_scheduler.StepLR.get_lr"),
    Fault(
        "CosineAnnealingLR-to-zero",
        "training",
        "CosineAnnealingLR",
        "ignores eta_min",
        _to_zero,
        "optim.lr_scheduler.CosineAnnealingLR.__init__",
    ),
    Fault(
        "clip_grad_norm_-by-two",
        "training",
        "clip_grad_norm_",
        "clips by the Euclidean norm, whatever it is told",
        _by_two,
        "nn.utils.clip_grad_norm_",
    ),
    Fault(
        "SGD-graph-momentum",
        "training",
        "SGD",
        "has no momentum in a graph",
        _configured(_no_momentum),
        "optim.SGD._generate_conf_for_graph",
    ),
    Fault(
        "Adam-graph-uncorrected",
        "training",
        "Adam",
        "does not correct its bias in a graph",
        _configured(_no_correction),
        "optim.Adam._generate_conf_for_graph",
    ),
    Fault(
        "Adagrad-graph-first-group",
        "training",
        "Adagrad",
        "leaves out a group in a graph",
        _first_group_in_graph,
        "optim.Adagrad._generate_conf_for_graph",
    ),
    Fault(
        "clip_grad_norm_-graph-unclipped",
        "training",
        "clip_grad_norm_",
        "does not clip in a graph",
        _unclipped,
        "optim.Adadelta._generate_grad_clip_conf_for_optim_conf",
    ),
    Fault(
        "clip_grad_norm_-graph-by-two",
        "training",
        "clip_grad_norm_",
        "clips by the Euclidean norm in a graph, whatever it is told",
        _by_two_in_graph,
        "optim.Adadelta._generate_grad_clip_conf_for_optim_conf",
    ),
    Fault(
        "RMSprop-graph-sums",
        "training",
        "accumulate",
        "updates by the sum of the gradients that it accumulates in a graph, not by their mean",
        _summed,
        "Tensor.backward",
    ),
    Fault(
        "StepLR-graph-late",
        "training",
        "StepLR",
        "is one step late in a graph",
        _late_in_graph,
        "optim.lr_scheduler.StepLR._generate_conf_for_graph",
    ),
    Fault(
        "backward-graph-scale",
        "training",
        "backward",
        "grows the scale of its loss at each step in a graph",
        _grows_at_once,
        "amp.GradScaler._generate_conf_for_graph",
    ),
)
