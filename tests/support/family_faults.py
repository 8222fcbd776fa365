"""Faults of the suites: `AUTOTEST_FAULT=family_faults:plant_each` plants those that `AUTOTEST_FAULTS` names.

`plant` plants one in each family. Each changes one op, wherever users find it, so that one run tells for every family
which rows turned red.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch

Op = Callable[..., Any]
Change = Callable[[Op], Op]


def _plus_one(op: Op) -> Op:
    return lambda *args, **kwargs: op(*args, **kwargs) + 1


def _one_more_without_gradients(op: Op) -> Op:
    return lambda *args, **kwargs: op(*args, **kwargs) + (not torch.is_grad_enabled())


def _inverted(op: Op) -> Op:
    return lambda *args, **kwargs: ~op(*args, **kwargs)


def _idle(_: Op) -> Op:
    return lambda *args, **kwargs: None


class _Given(torch.autograd.Function):
    """The same tensor; its gradient can be differentiated again, and then is twice what it should be."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return _Gradient.apply(gradient)


class _Gradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gradient: Any) -> Any:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, second: Any) -> Any:
        return 2 * second


def _wrong_twice(op: Op) -> Op:
    return lambda x, *args, **kwargs: op(_Given.apply(x), *args, **kwargs)


def _lax(op: Op) -> Op:
    def taken(x: Any, dim: int, *args: Any, **kwargs: Any) -> Any:
        return op(x, dim if -x.ndim <= dim < x.ndim else 0, *args, **kwargs)

    return taken


def _wrong_default(op: Op) -> Op:
    return lambda *args, **kwargs: op(*args, **kwargs) + (len(args) + len(kwargs) == 2)


def _doubled(op: Op) -> Op:
    return lambda schedule: [2 * rate for rate in op(schedule)]


def _each_plus_one(op: Op) -> Op:
    return lambda x, dim=0: tuple(part + 1 for part in op(x, dim))


def _held_plus_one(op: Op) -> Op:
    return lambda *args, **kwargs: {name: tensor + 1 for name, tensor in op(*args, **kwargs).items()}


@dataclass(frozen=True)
class Fault:
    """A fault in `op`, and the op of the same family that it leaves alone. A family without a table names tests. One
    that draws no cases says which of those that are laid out are run.
    """

    op: str
    innocent: str
    change: Change = _plus_one
    homes: tuple[Any, ...] = (torch, torch.Tensor, torch.nn.functional)
    attribute: str = ""
    coverage: str = "none"


#: By family: the name of its file without `test_` and `.py`.
FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "activation": Fault("softsign", "mish"),
        "attention": Fault(
            "test_cross_attention_with_temperature", "test_rotary_places", homes=(torch,), attribute="bmm"
        ),
        "autograd": Fault(
            "test_retain_grad", "test_grad_function", _idle, homes=(torch.Tensor,), attribute="retain_grad"
        ),
        "binary": Fault("logaddexp", "atan2"),
        "comparison": Fault("isclose", "isfinite", _inverted),
        "convolution": Fault("conv_transpose3d", "conv_transpose2d"),
        "creation": Fault("linspace", "logspace"),
        "dtypes": Fault("byte", "bool"),
        # The layer looks its rows up with the function: only a test that calls neither is innocent.
        "embedding": Fault("embedding", ""),
        "graph_configurations": Fault(
            "test_added_to_a_layer_norm", "test_branches", homes=(torch.nn.LayerNorm,), attribute="forward"
        ),
        "indexing": Fault("index_add", "gather"),
        "inference": Fault(
            "test_no_grad[torch.triu]",
            "test_no_grad[torch.dot]",
            _one_more_without_gradients,
            homes=(torch,),
            attribute="triu",
        ),
        "initial_state": Fault(
            "test_new[InstanceNorm3d(num_features=3, affine=True, track_running_stats=True)]",
            "test_new[InstanceNorm2d(num_features=3, affine=True, track_running_stats=True)]",
            _held_plus_one,
            homes=(torch.nn.InstanceNorm3d,),
            attribute="state_dict",
        ),
        "inplace": Fault("erfinv", "floor"),
        "join": Fault("dstack", "column_stack"),
        "loss": Fault("l1_loss", "mse_loss"),
        "layers": Fault("PixelUnshuffle", "ChannelShuffle", homes=(torch.nn.PixelUnshuffle,), attribute="forward"),
        "matmul": Fault("mv", "dot"),
        "matrix": Fault(
            "test_op[torch.logcumsumexp]", "test_op[torch.cumsum]", _lax, attribute="logcumsumexp", coverage="each"
        ),
        "methods": Fault("fill_diagonal", "type_as"),
        "normalization": Fault("RMSNorm", "GroupNorm", homes=(torch.nn.RMSNorm,), attribute="forward"),
        "optimizers": Fault(
            "test_groups[Adam]", "test_groups[SGD]", _idle, homes=(torch.optim.Adam,), attribute="step"
        ),
        "padding": Fault("affine_grid", "grid_sample"),
        "pooling": Fault("avg_pool3d", "avg_pool2d"),
        "random": Fault("rand", "randn"),
        "recurrent": Fault("GRUCell", "RNNCell", homes=(torch.nn.GRUCell,), attribute="forward"),
        "reduction": Fault("amin", "amax"),
        "scan": Fault("cumprod", "cumsum"),
        "schedules": Fault(
            "test_groups[StepLR]",
            "test_groups[CosineAnnealingLR]",
            _doubled,
            homes=(torch.optim.lr_scheduler.StepLR,),
            attribute="get_lr",
        ),
        "second_derivatives": Fault("expm1", "exp", _wrong_twice),
        "signatures": Fault(
            "test_defaults[torch.logsumexp]",
            "test_keywords[torch.logsumexp]",
            _wrong_default,
            homes=(torch,),
            attribute="logsumexp",
        ),
        "sorting": Fault("searchsorted", "topk"),
        "tensor_buffer": Fault("test_parts", "test_made", _each_plus_one, homes=(torch.Tensor,), attribute="unbind"),
        "unary": Fault("square", "neg"),
        "view": Fault("roll", "flip"),
    }
)


def plant_each(adapter: Any) -> None:
    """Plant what is named, here or in `corner_faults.py`."""
    for name in os.environ["AUTOTEST_FAULTS"].split():
        (globals().get(name) or getattr(importlib.import_module("corner_faults"), name))(adapter)


def plant(adapter: Any) -> None:
    """Plant the faults of all families."""
    for fault in FAULTS.values():
        name = fault.attribute or fault.op
        for home in fault.homes:
            for spelled in (name, f"{name}_"):
                if hasattr(home, spelled):
                    setattr(home, spelled, fault.change(getattr(home, spelled)))


#: Ops that accept what they should refuse, where users find them: each has rows of wrong calls.
LAX = (
    (torch.nn.functional, "conv2d"),
    (torch, "index_select"),
    (torch, "cat"),
    (torch.nn.functional, "cross_entropy"),
    (torch, "matmul"),
    (torch, "pow"),
    (torch.Tensor, "view"),
    (torch, "logsumexp"),
)


def plant_lax(adapter: Any) -> None:
    """Let the ops of `LAX` accept everything."""
    for home, name in LAX:
        setattr(home, name, _accepting(getattr(home, name)))


def _accepting(op: Op) -> Op:
    def accepting(*args: Any, **kwargs: Any) -> Any:
        try:
            return op(*args, **kwargs)
        except Exception:
            return torch.zeros(1)

    return accepting


def plant_defaults(adapter: Any) -> None:
    """Give a method and a layer another default than their function has."""
    flatten, build = torch.Tensor.flatten, torch.nn.LeakyReLU.__init__
    torch.Tensor.flatten = lambda x, start_dim=1, end_dim=-1: flatten(x, start_dim, end_dim)
    torch.nn.LeakyReLU.__init__ = lambda layer, slope=0.2, inplace=False: build(layer, slope, inplace)


def plant_small(adapter: Any) -> None:
    """Compute a logarithm as its name says, which cancels near zero, and lose numbers that are not normal."""
    absolute, tiny = torch.abs, torch.finfo(torch.float32).tiny
    torch.log1p = lambda x: torch.log(1 + x)
    torch.abs = lambda x: torch.where(absolute(x) < tiny, 0, absolute(x))


def plant_single(adapter: Any) -> None:
    """Compute in float32 what is given in float64, or as integers."""
    erf, equal = torch.erf, torch.eq
    torch.erf = lambda x: erf(x.float()).to(x.dtype)
    torch.eq = lambda x, y: equal(x.float(), y.float())


def plant_of_the_first(adapter: Any) -> None:
    """Give the dtype of the first operand, write what a dtype cannot hold, and take two dtypes where one is wanted."""
    minimum, dot, remainder = torch.minimum, torch.dot, torch.Tensor.remainder_
    torch.minimum = lambda x, y: minimum(x, y).to(x.dtype)
    torch.dot = lambda x, y: dot(x, y.to(x.dtype))
    torch.Tensor.remainder_ = lambda x, y: remainder(x, y.to(x.dtype))


def plant_first_group(adapter: Any) -> None:
    """Update each group with an option of the first, and clip all parameters as if they were the first group's."""
    for optimizer, option in ((torch.optim.Adam, "betas"), (torch.optim.Adagrad, "weight_decay")):
        optimizer.step = _of_first_group(optimizer.step, option)
    clip = torch.nn.utils.clip_grad_norm_
    torch.nn.utils.clip_grad_norm_ = lambda parameters, largest, *rest, **named: clip(parameters, 0.1)


def _of_first_group(step: Op, option: str) -> Op:
    def planted(optimizer: Any) -> None:
        first, *others = optimizer.param_groups
        own = [group[option] for group in others]
        for group in others:
            group[option] = first[option]
        step(optimizer)
        for group, value in zip(others, own, strict=True):
            group[option] = value

    return planted


def plant_forgetful(adapter: Any) -> None:
    """Load the options of OneFlow's optimizers, but not what they keep, and nothing of one schedule."""
    optim = adapter.flow.optim
    load = optim.Optimizer.load_state_dict
    optim.Optimizer.load_state_dict = lambda optimizer, state: load(optimizer, {**state, "state": {"step": 0}})
    optim.lr_scheduler.StepLR.load_state_dict = lambda schedule, state: None


def plant_unsaved(adapter: Any) -> None:
    """Save of what OneFlow's optimizers keep all but the last tensor of each parameter, and of one schedule no step."""
    optim = adapter.flow.optim
    save, schedule = optim.Optimizer.state_dict, optim.lr_scheduler.StepLR

    def saved(optimizer: Any) -> dict[str, Any]:
        made: dict[str, Any] = save(optimizer)
        kept = {key: dict([*own.items()][:-1]) if isinstance(own, dict) else own for key, own in made["state"].items()}
        return {**made, "state": kept}

    optim.Optimizer.state_dict = saved
    whole = schedule.state_dict
    schedule.state_dict = lambda own: {name: value for name, value in whole(own).items() if name != "last_step"}


def plant_redrawn(adapter: Any) -> None:
    """A dropout that is checkpointed itself drops other elements of the gradient than of its input."""
    flow = adapter.flow
    forward = flow.nn.Dropout.forward

    def redrawn(own: Any, x: Any, addend: Any = None) -> Any:
        y = forward(own, x, addend)
        if not (x.is_lazy and own.to(flow.nn.graph.GraphModule).activation_checkpointing):
            return y
        ones = flow.ones_like(x)
        other = x * forward(own, flow.cat([ones, ones]))[x.shape[0] :]
        return other + (y - other).detach()

    flow.nn.Dropout.forward = redrawn


def plant_minimizing(adapter: Any) -> None:
    """SGD ignores maximize."""
    sgd = adapter.flow.optim.SGD
    update = sgd._single_tensor_update

    def minimizing(optimizer: Any, group: Any) -> None:
        wanted, group["maximize"] = group["maximize"], False
        update(optimizer, group)
        group["maximize"] = wanted

    sgd._single_tensor_update = minimizing


def plant_graph_forgetful(adapter: Any) -> None:
    """A graph loads no second moments."""
    load = adapter.flow.nn.Graph.load_state_dict

    def loaded(graph: Any, state: dict[str, Any], strict: bool = True) -> Any:
        return load(graph, {name: part for name, part in state.items() if not name.endswith("-v")}, strict=strict)

    adapter.flow.nn.Graph.load_state_dict = loaded


def plant_graph_silent(adapter: Any) -> None:
    """A graph does not show second moments that it has loaded before its first call."""
    save = adapter.flow.nn.Graph.state_dict

    def saved(graph: Any, destination: Any = None) -> Any:
        made = save(graph, destination)
        if not graph._is_compiled:
            for name in [name for name in made if name.endswith("-v")]:
                del made[name]
        return made

    adapter.flow.nn.Graph.state_dict = saved


def plant_fused(adapter: Any) -> None:
    """Forget AdamW's weight decay in graphs of OneFlow that fuse the ops of an update."""
    graph, optimizer = adapter.flow.nn.Graph, adapter.flow.optim.AdamW
    config = adapter.flow.nn.graph.graph.GraphConfig
    begin, fuse, configure = graph.__init__, config.allow_fuse_model_update_ops, optimizer._generate_conf_for_graph
    fused: list[Any] = []

    def beginning(own: Any, *args: Any, **kwargs: Any) -> None:
        fused.clear()
        begin(own, *args, **kwargs)

    def noting(own: Any, mode: bool) -> None:
        fused.append(own)
        fuse(own, mode)

    def undecayed(own: Any, *args: Any) -> Any:
        made = configure(own, *args)
        for one in made if fused else ():
            one.weight_decay_conf.weight_decay_rate = 0.0
        return made

    graph.__init__, config.allow_fuse_model_update_ops, optimizer._generate_conf_for_graph = (
        beginning,
        noting,
        undecayed,
    )


def plant_late(adapter: Any) -> None:
    """Have two of OneFlow's schedules end one step late, and one of them in graphs alone."""
    schedules = adapter.flow.optim.lr_scheduler
    rate = schedules.CosineDecayLR.get_lr
    schedules.CosineDecayLR.get_lr = lambda schedule, base, step: rate(schedule, base, max(step - 1, 0))
    configure = schedules.ConstantLR._generate_conf_for_graph

    def longer(schedule: Any, made: Any) -> None:
        configure(schedule, made)
        made.constant_lr_conf.total_iters += 1

    schedules.ConstantLR._generate_conf_for_graph = longer


def plant_number(adapter: Any) -> None:
    """Let a tensor without dimensions count for the dtype of a product."""
    multiply = torch.mul
    torch.mul = lambda x, y: multiply(x, y).to(torch.promote_types(x.dtype, y.dtype))


def plant_all_added(adapter: Any) -> None:
    """Multiply what is added to a product by 0, where nothing of it is added."""
    multiply = torch.baddbmm
    torch.baddbmm = lambda x, *given, **how: multiply(x, *given, **how) + 0 * x


def plant_unwritten(adapter: Any) -> None:
    """Leave what takes no gradient as it is."""
    clamp = torch.Tensor.clamp_
    torch.Tensor.clamp_ = lambda x, *ends: clamp(x, *ends) if x.requires_grad else x


def plant_undecayed(adapter: Any) -> None:
    """Have OneFlow's LAMB lose its L2 penalty in an eager step."""
    optimizer = adapter.flow.optim.LAMB
    step = optimizer.step

    def without(own: Any, *arguments: Any) -> Any:
        decays = [group["weight_decay"] for group in own.param_groups]
        for group in own.param_groups:
            group["weight_decay"] *= group["adam_w_mode"]
        try:
            return step(own, *arguments)
        finally:
            for group, decay in zip(own.param_groups, decays, strict=True):
                group["weight_decay"] = decay

    optimizer.step = without


def plant_shallow(adapter: Any) -> None:
    """Switch only the modules right within one of OneFlow's, and load no buffers."""
    module = adapter.flow.nn.Module

    def train(own: Any, mode: bool = True) -> Any:
        own.training = mode
        for child in own.children():
            child.training = mode
        return own

    load = module._load_from_state_dict

    def without_buffers(own: Any, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        kept = {name: tensor.clone() for name, tensor in own.named_buffers(recurse=False)}
        load(own, state, prefix, *rest)
        for name, tensor in kept.items():
            own._buffers[name].data.copy_(tensor)

    module.train, module._load_from_state_dict = train, without_buffers


def plant_unmoved(adapter: Any) -> None:
    """Put a module into one of OneFlow's lists over the one that is there, and forget the order of dicts."""
    nn = adapter.flow.nn

    def insert(own: Any, place: int, module: Any) -> None:
        own.append(module)
        own[place] = module

    def items(own: Any) -> Any:
        return sorted(own._modules.items())

    nn.ModuleList.insert, nn.ModuleDict.items = insert, items


def plant_slope(adapter: Any) -> None:
    """Forget to square the slope of a leaky nonlinearity."""
    init = adapter.flow.nn.init
    gain = init.calculate_gain
    init.calculate_gain = lambda name, slope=None: gain(name, None if slope is None else slope**0.5)


def plant_padded_before(adapter: Any) -> None:
    """Pad sequences in front."""
    rnn, flip = adapter.flow.nn.utils.rnn, adapter.flow.flip
    pad = rnn.pad_sequence

    def padded(sequences: Any, batch_first: bool = False, padding_value: float = 0.0) -> Any:
        turned = [flip(each, [0]) for each in sequences]
        return flip(pad(turned, batch_first, padding_value), [1 if batch_first else 0])

    rnn.pad_sequence = padded


def plant_added(adapter: Any) -> None:
    """Give a group that is added afterwards the learning rate of the first, and update what layers share twice."""
    optimizer, tied = torch.optim.Optimizer, torch.optim.RMSprop
    add, step = optimizer.add_param_group, tied.step

    def added(own: Any, group: dict[str, Any]) -> None:
        add(own, group)
        if len(own.param_groups) == 2:
            own.param_groups[1]["lr"] = own.param_groups[0]["lr"]

    def twice(own: Any) -> None:
        step(own)
        if any(parameter.shape == (7, 4) for group in own.param_groups for parameter in group["params"]):
            step(own)

    optimizer.add_param_group, tied.step = added, twice
