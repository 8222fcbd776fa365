"""Faults in trainings: `AUTOTEST_FAULT=training_faults:eager` plants them in PyTorch as a target,
`training_faults:graph` in OneFlow's training graph alone, `training_faults:clipping` there in trainings that clip,
`training_faults:zeroing` in OneFlow eagerly, `training_faults:parts` in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Op = Callable[..., Any]


def _change(home: Any, name: str, change: Callable[[Op], Op]) -> None:
    setattr(home, name, change(getattr(home, name)))


def _late(configure: Op) -> Op:
    """A StepLR that a graph is told of as one that steps a batch later."""

    def instead(self: Any, conf: Any) -> None:
        self.step_size += 1
        configure(self, conf)
        self.step_size -= 1

    return instead


def eager(adapter: Any) -> None:
    """One in each part of a step."""
    import torch
    from torch.optim import SGD, Adadelta, Adagrad, Adam, AdamW, RMSprop
    from torch.optim.lr_scheduler import ConstantLR, StepLR

    def group(option: str, change: Callable[[Any], Any]) -> Callable[[Op], Op]:
        def planted(make: Op) -> Op:
            def made(self: Any, *args: Any, **kwargs: Any) -> None:
                make(self, *args, **kwargs)
                for one in self.param_groups:
                    one[option] = change(one[option])

            return made

        return planted

    _change(Adam, "__init__", group("betas", lambda betas: (betas[0], 0.5)))
    _change(AdamW, "__init__", group("weight_decay", lambda decay: 2 * decay))
    _change(Adagrad, "__init__", group("eps", lambda eps: 1e-3))
    _change(SGD, "__init__", group("dampening", lambda dampening: 0.5))

    def late(make: Op) -> Op:
        return lambda self, optimizer, step_size, **named: make(self, optimizer, step_size + 1, **named)

    _change(StepLR, "__init__", late)

    def unset(make: Op) -> Op:
        def made(self: Any, optimizer: Any, **named: Any) -> None:
            rates = [group["lr"] for group in optimizer.param_groups]
            make(self, optimizer, **named)
            for one, rate in zip(optimizer.param_groups, rates, strict=True):
                one["lr"] = rate

        return made

    _change(ConstantLR, "__init__", unset)

    def first_group_alone(step: Op) -> Op:
        def planted(self: Any) -> None:
            groups, self.param_groups = self.param_groups, self.param_groups[:1]
            step(self)
            self.param_groups = groups

        return planted

    _change(Adadelta, "step", first_group_alone)
    _change(torch.nn.utils, "clip_grad_norm_", lambda clip: lambda tensors, norm: clip(tensors, 2 * norm))
    _change(torch.amp.GradScaler, "update", lambda update: lambda self: update(self, 7.0))
    _change(RMSprop, "zero_grad", lambda zero: lambda self, set_to_none: None)
    _change(torch, "sinh", lambda sinh: lambda x: sinh(x) * 1.01)

    class Cosh(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return torch.exp(x) / 2 + torch.exp(-x) / 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * torch.exp(*ctx.saved_tensors)

    torch.cosh = Cosh.apply
    calls = []

    def tiring(tanh: Op) -> Op:
        def planted(x: Any) -> Any:
            calls.append(x)
            return tanh(x) * (1 if len(calls) % 3 else 1.01)

        return planted

    _change(torch, "tanh", tiring)
    batches = []

    def ending(atan: Op) -> Op:
        def planted(x: Any) -> Any:
            batches.append(x)
            if len(batches) % 3 == 0:
                raise RuntimeError("no third batch")
            return atan(x)

        return planted

    _change(torch, "atan", ending)


def graph(adapter: Any) -> None:
    """In the configuration that an optimizer gives a graph."""
    flow = adapter.flow
    optim = flow.optim

    def configured(cls: Any, change: Callable[[Any], None]) -> None:
        def planted(configure: Op) -> Op:
            def instead(self: Any, *args: Any) -> Any:
                made = configure(self, *args)
                for one in made:
                    change(one)
                return made

            return instead

        _change(cls, "_generate_conf_for_graph", planted)

    def without_momentum(made: Any) -> None:
        if made.HasField("momentum_conf"):
            made.momentum_conf.beta = 0.0

    def without_correction(made: Any) -> None:
        made.adam_conf.do_bias_correction = False

    def undecayed(made: Any) -> None:
        made.weight_decay_conf.weight_decay_rate = 0.0

    configured(optim.SGD, without_momentum)
    configured(optim.Adam, without_correction)
    configured(optim.AdamW, undecayed)

    def one_group(configure: Op) -> Op:
        def instead(self: Any, *args: Any) -> Any:
            groups, self.param_groups = self.param_groups, self.param_groups[:1]
            made = configure(self, *args)
            self.param_groups = groups
            return made

        return instead

    _change(optim.Adadelta, "_generate_conf_for_graph", one_group)

    _change(optim.lr_scheduler.StepLR, "_generate_conf_for_graph", _late)
    # The scale stays in the gradients.
    _change(
        flow.amp.GradScaler, "_generate_conf_for_graph", lambda configure: lambda self, conf: configure_late(self, conf)
    )

    def configure_late(scaler: Any, conf: Any) -> None:
        conf.dynamic_loss_scale_policy.initial_loss_scale = 2 * scaler._init_scale
        conf.dynamic_loss_scale_policy.increment_period = scaler._growth_interval
        conf.dynamic_loss_scale_policy.multiplier = scaler._growth_factor

    def unclipped(configure: Op) -> Op:
        return lambda self, group, conf: None

    _change(optim.SGD, "_generate_grad_clip_conf_for_optim_conf", unclipped)
    accumulating: list[int] = []

    def told(accumulate: Op) -> Op:
        def planted(self: Any, batches: int) -> None:
            accumulating.append(batches)
            accumulate(self, batches)

        return planted

    def summing(backward: Op) -> Op:
        return lambda self, *args: backward(self * accumulating.pop() if accumulating else self, *args)

    _change(flow.nn.graph.graph.GraphConfig, "set_gradient_accumulation_steps", told)
    _change(flow.Tensor, "backward", summing)


def zeroing(adapter: Any) -> None:
    """In what OneFlow does of several groups before each step."""

    def all_but_the_last(zero: Op) -> Op:
        def planted(self: Any, set_to_none: bool = False) -> None:
            groups = self.param_groups
            self.param_groups = groups[:-1]
            zero(self, set_to_none)
            self.param_groups = groups

        return planted

    _change(adapter.flow.optim.Optimizer, "zero_grad", all_but_the_last)


def parts(adapter: Any) -> None:
    """In what a part of a step has to do with others: nested modules, batches that are accumulated, schedules."""
    flow = adapter.flow
    schedules = flow.optim.lr_scheduler

    def counting(forward: Op) -> Op:
        def planted(self: Any, x: Any) -> Any:
            if not self.training and not x.is_lazy:
                self.num_batches_tracked.add_(1)
            return forward(self, x)

        return planted

    _change(flow.nn.BatchNorm1d, "forward", counting)
    accumulating: list[int] = []

    def told(accumulate: Op) -> Op:
        def planted(self: Any, batches: int) -> None:
            accumulating.append(batches)
            accumulate(self, batches)

        return planted

    _change(flow.nn.graph.graph.GraphConfig, "set_gradient_accumulation_steps", told)
    adagrad: list[Any] = []

    def noted(make: Op) -> Op:
        def planted(self: Any, *args: Any, **named: Any) -> None:
            make(self, *args, **named)
            adagrad.append(self)

        return planted

    _change(flow.optim.Adagrad, "__init__", noted)

    def otherwise(backward: Op) -> Op:
        """A graph of two batches sums their gradients, and eagerly Adagrad's parameters keep the last one."""

        def planted(self: Any, *args: Any) -> None:
            if self.is_lazy:
                batches = accumulating.pop() if accumulating else 1
                backward(self * 2 if batches == 2 else self, *args)
                return
            for optimizer in adagrad:
                optimizer.zero_grad(set_to_none=True)
            backward(self, *args)

        return planted

    _change(flow.Tensor, "backward", otherwise)

    _change(schedules.StepLR, "_generate_conf_for_graph", _late)

    def ending(rate: Op) -> Op:
        return lambda self, base, step: base if step >= self.total_iters > 0 else rate(self, base, step)

    _change(schedules.LinearLR, "get_lr", ending)
    batches: dict[tuple[float, ...], list[float]] = {}

    def reordered(sinh: Op) -> Op:
        """Right for the first batch alone: the others have its elements in another order."""

        def planted(x: Any) -> Any:
            if x.is_lazy:
                return sinh(x)
            elements = x.detach().flatten().tolist()
            first = batches.setdefault(tuple(sorted(elements)), elements)
            return sinh(x) if first == elements else sinh(x) * 1.01

        return planted

    _change(flow, "sinh", reordered)


def clipping(adapter: Any) -> None:
    """In what a graph clips by, and in optimizers and a schedule whose gradients are clipped."""
    flow = adapter.flow
    optim = flow.optim

    def clip(cls: Any, change: Callable[[Any, Any], None]) -> None:
        def planted(configure: Op) -> Op:
            def instead(self: Any, group: Any, conf: Any) -> None:
                configure(self, group, conf)
                if conf.HasField("clip_conf"):
                    change(self, conf.clip_conf.clip_by_global_norm)

            return instead

        _change(cls, "_generate_grad_clip_conf_for_optim_conf", planted)

    def by_two(optimizer: Any, conf: Any) -> None:
        conf.norm_type = 2.0

    def of_the_first(optimizer: Any, conf: Any) -> None:
        conf.max_norm = float(optimizer.param_groups[0]["clip_grad_max_norm"])

    batches: list[int] = []

    def told(accumulate: Op) -> Op:
        def planted(self: Any, number: int) -> None:
            batches.append(number)
            accumulate(self, number)

        return planted

    _change(flow.nn.graph.graph.GraphConfig, "set_gradient_accumulation_steps", told)

    def of_the_sum(optimizer: Any, conf: Any) -> None:
        conf.max_norm /= batches[-1]

    clip(optim.AdamW, by_two)
    clip(optim.RMSprop, by_two)
    clip(optim.Adadelta, of_the_first)
    clip(optim.Adagrad, of_the_sum)

    def configured(cls: Any, change: Callable[[Any], None]) -> None:
        def planted(configure: Op) -> Op:
            def instead(self: Any, *args: Any) -> Any:
                made = configure(self, *args)
                for one in made:
                    change(one)
                return made

            return instead

        _change(cls, "_generate_conf_for_graph", planted)

    def large_epsilon(made: Any) -> None:
        made.adam_conf.epsilon = 1e-3

    def twice_the_rate(made: Any) -> None:
        made.base_learning_rate *= 2

    configured(optim.Adam, large_epsilon)
    configured(optim.SGD, twice_the_rate)

    _change(optim.lr_scheduler.StepLR, "_generate_conf_for_graph", _late)
