"""What the documentation of a graph's configuration says, of the whole graph and of one module: one test a sentence.

A configuration is about speed and memory: what comes out is the same as without.
"""

from __future__ import annotations

from functools import partial

import pytest
from graphs import (
    batch,
    flat,
    linear,
    losses,
    mean_square,
    near,
    of_function,
    of_module,
    printed,
    sgd,
    training,
    values,
)
from two_ranks import STEPS, trained_with

from autotest import contract

graph = partial(contract, target="oneflow")

#: What can be called on a graph's configuration, and with what. An option of ZeRO or of auto parallel says something
#: of several devices: with one there is nothing to do, and nothing may go wrong.
OPTIONS = [
    ("allow_fuse_model_update_ops", True),
    ("allow_fuse_model_update_ops", False),
    ("allow_fuse_add_to_output", True),
    ("allow_fuse_cast_scale", True),
    ("set_gradient_accumulation_steps", 1),
    ("set_outputs_buffer_size", 1),
    ("set_outputs_buffer_size", 3),
    ("enable_cudnn_conv_heuristic_search_algo", True),
    ("enable_cudnn_conv_heuristic_search_algo", False),
    ("enable_straighten_algorithm", "Disable"),
    ("enable_straighten_algorithm", "SpeedFirst"),
    ("enable_straighten_algorithm", "MemoryFirst"),
    ("enable_straighten_algorithm", "OverlapCpuGpu"),
    ("enable_compress_memory", True),
    ("enable_auto_parallel", True),
    ("enable_auto_parallel_ignore_user_sbp_config", True),
    ("set_auto_parallel_computation_cost_ratio", 0.05),
    ("set_auto_parallel_wait_time", 16500.0),
    ("enable_auto_parallel_trunk_algo", True),
    ("enable_auto_parallel_sbp_collector", True),
    ("enable_multi_tensor_update", True),
    ("enable_fused_model_update_cast", True),
    ("enable_amp", False),
    ("enable_zero", False),
]


def model_of(flow):
    """A model with what the options rewrite: an addition, a batch norm, a cast."""

    class Model(flow.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last = linear(flow), flow.nn.BatchNorm1d(2), flow.nn.Linear(2, 2)
            self.last.weight.data.copy_(flow.tensor([[1.0, 0.5], [-0.5, 2.0]]))
            self.last.bias.data.copy_(flow.tensor([0.0, 0.25]))

        def forward(self, x):
            y = self.norm(self.first(x))
            return self.last(y + self.first(x).double().float() * 0.5)

    return Model()


def trained(flow, configure=None, steps=3, make=sgd):
    """The losses of a few steps, and the parameters after them."""
    model = model_of(flow)
    given = losses(flow, training(flow, model, make(flow, model), configure=configure), steps)
    return given, values(model)


def same(flow, configure, make=sgd):
    """Asserts that training is the same as without, but for rounding."""
    (given, parameters), (expected, wanted) = trained(flow, configure, make=make), trained(flow, make=make)
    assert near(given, expected), f"the losses are {given}, without {expected}"
    for name, value in wanted.items():
        assert near(parameters[name], value), f"{name} is {parameters[name]}, without {value}"


@graph("a graph trains alike with each configuration", of="nn.Graph.config")
@pytest.mark.parametrize(("option", "value"), OPTIONS)
def test_trains_alike(flow, option, value):
    same(flow, lambda made: getattr(made.config, option)(value))


@graph("a graph with Adam trains alike with what rewrites the update", of="nn.Graph.config")
@pytest.mark.parametrize(
    "option", ["allow_fuse_model_update_ops", "enable_multi_tensor_update", "enable_fused_model_update_cast"]
)
def test_adam_trains_alike(flow, option):
    same(
        flow,
        lambda made: getattr(made.config, option)(True),
        make=lambda flow, model: flow.optim.Adam(model.parameters(), lr=0.01),
    )


@graph("a graph that does not train gives the same with each configuration", of="nn.Graph.config")
@pytest.mark.parametrize(("option", "value"), OPTIONS)
def test_computes_alike(flow, option, value):
    model = model_of(flow).eval()
    given = of_module(flow, model, lambda made: getattr(made.config, option)(value))(batch(flow))
    assert near(flat(given), flat(model(batch(flow))))


@graph("all of them can be asked for together", of="nn.Graph.config")
def test_together(flow):
    def configure(made):
        for option, value in OPTIONS:
            if option != "enable_auto_parallel_sbp_collector":  # has a test of its own
                getattr(made.config, option)(value)

    same(flow, configure)


@graph("auto parallel has options", of="nn.Graph.config.enable_auto_parallel")
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("enable_auto_parallel_ignore_user_sbp_config", True),
        ("set_auto_parallel_computation_cost_ratio", 0.05),
        ("set_auto_parallel_wait_time", 16500.0),
        ("enable_auto_parallel_trunk_algo", True),
    ],
)
def test_auto_parallel(flow, option, value):
    def configure(made):
        made.config.enable_auto_parallel(True)
        getattr(made.config, option)(value)

    same(flow, configure)


@graph(
    "auto parallel can collect the sbp of a tensor that goes to several operators",
    of="nn.Graph.config.enable_auto_parallel_sbp_collector",
    alone=True,
)
def test_sbp_collector(flow):
    def configure(made):
        made.config.enable_auto_parallel(True)
        made.config.enable_auto_parallel_sbp_collector(True)

    same(flow, configure)


@graph("each that is switched on or off is on where nothing is said", of="nn.Graph.config")
@pytest.mark.parametrize("option", sorted({option for option, value in OPTIONS if value is True}))
def test_on_by_default(flow, option):
    said, unsaid = of_function(flow, abs).config, of_function(flow, abs).config
    getattr(said, option)(True)
    getattr(unsaid, option)()
    assert said.proto == unsaid.proto


@graph("enable_amp() trains in mixed precision: near to what float32 gives", of="nn.Graph.config.enable_amp")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_amp(flow, dtype):
    given, _ = trained(flow, lambda made: made.config.enable_amp(True, dtype=getattr(flow, dtype)))
    expected, _ = trained(flow)
    assert all(abs(one - other) < 0.05 * abs(other) for one, other in zip(given, expected, strict=True))


@graph("enable_amp() takes True and False alone", of="nn.Graph.config.enable_amp")
def test_amp_mode(flow):
    with pytest.raises(AssertionError):
        of_function(flow, abs).config.enable_amp(1)


@graph("enable_amp() takes float16 and bfloat16 alone", of="nn.Graph.config.enable_amp")
def test_amp_dtype(flow):
    with pytest.raises(AssertionError):
        of_function(flow, abs).config.enable_amp(True, dtype=flow.float32)


@graph(
    "with one device ZeRO has nothing to share: training is the same at each stage", of="nn.Graph.config.enable_zero"
)
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_zero(flow, stage):
    same(flow, lambda made: made.config.enable_zero(True, stage=stage))


@graph("ZeRO's least shard and its restore level may be chosen", of="nn.Graph.config.enable_zero")
@pytest.mark.parametrize("level", [0, 1, 2])
def test_zero_levels(flow, level):
    same(flow, lambda made: made.config.enable_zero(True, shard_min_size=1, shard_restore_level=level))


@graph("ZeRO shares what an optimizer keeps, and training is the same", of="nn.Graph.config.enable_zero")
@pytest.mark.parametrize("least", [1, 1024])
def test_zero_of_two_ranks(flow, least):
    one, other = trained_with(stage=2, shard_min_size=least)
    assert not isinstance(one, str), one
    assert one == other
    module = linear(flow)
    optimizer = sgd(flow, module, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        mean_square(module(flow.ones(4, 3))).backward()
        optimizer.step()
    assert all(near(one[name], expected) for name, expected in values(module).items())


@graph("a stage of ZeRO is 1, 2 or 3", of="nn.Graph.config.enable_zero")
@pytest.mark.parametrize("stage", [0, 4])
def test_zero_stage(flow, stage):
    with pytest.raises(AssertionError, match="range from 1 to 3"):
        of_function(flow, abs).config.enable_zero(True, stage=stage)


@graph("ZeRO's least shard has an element at least", of="nn.Graph.config.enable_zero")
def test_zero_shard(flow):
    with pytest.raises(AssertionError, match="must > 0"):
        of_function(flow, abs).config.enable_zero(True, shard_min_size=0)


@graph("the older name of enable_zero says the newer one", of="nn.Graph.config.set_zero_redundancy_optimizer_mode")
def test_older_name_of_zero(flow):
    with pytest.raises(RuntimeError, match="has been changed to `enable_zero`"):
        of_function(flow, abs).config.set_zero_redundancy_optimizer_mode("distributed_split")


@graph("a straighten algorithm that is none of the four is refused", of="nn.Graph.config.enable_straighten_algorithm")
def test_no_other_straightening(flow):
    with pytest.raises(AssertionError):
        of_function(flow, abs).config.enable_straighten_algorithm("Fastest")


@graph("there is one buffer of outputs at least", of="nn.Graph.config.set_outputs_buffer_size")
@pytest.mark.parametrize("size", [0, 1.5])
def test_no_other_buffer_size(flow, size):
    with pytest.raises(AssertionError):
        of_function(flow, abs).config.set_outputs_buffer_size(size)


@graph("results stay as they are with any number of buffers", of="nn.Graph.config.set_outputs_buffer_size")
@pytest.mark.parametrize("size", [1, 2, 4])
def test_buffers(flow, size):
    model = flow.nn.Identity()
    made = of_module(flow, model, lambda made: made.config.set_outputs_buffer_size(size))
    given = [made(flow.tensor([float(n)])) for n in range(6)]
    assert [one.item() for one in given] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def accumulated(flow, count):
    """What a call with gradients accumulated over so many parts of a batch gives, and the parameters after it."""
    model = linear(flow)
    made = training(
        flow, model, sgd(flow, model), configure=lambda made: made.config.set_gradient_accumulation_steps(count)
    )
    loss = made(batch(flow))
    return loss, values(model)


@graph(
    "gradients are accumulated over the parts of a batch: a step is as one of the whole batch",
    of="nn.Graph.config.set_gradient_accumulation_steps",
)
def test_accumulation(flow):
    _, own = accumulated(flow, 2)
    _, whole = accumulated(flow, 1)
    assert near(own["weight"], whole["weight"]), f"weights {own['weight']}, not {whole['weight']}"


@graph(
    "the loss of each part of a batch comes out, one after the other",
    of="nn.Graph.config.set_gradient_accumulation_steps",
)
def test_accumulated_losses(flow):
    loss, _ = accumulated(flow, 2)
    y = linear(flow)(batch(flow))
    assert near(loss.flatten().tolist(), [(part * part).mean().item() for part in (y[:2], y[2:])])


@graph("config.training says whether the graph has an optimizer", of="nn.Graph.config.training")
def test_training(flow):
    model = linear(flow)
    made = of_module(flow, model)
    before = made.config.training
    made.add_optimizer(sgd(flow, model))
    assert (before, made.config.training) == (False, True)


@graph("an option that is not there is told as such", of="nn.Graph.config")
def test_no_other_option(flow):
    with pytest.raises(AttributeError, match="has no attribute 'enable_magic'"):
        of_function(flow, abs).config.enable_magic(True)


def settings(flow, module):
    """The settings that a module of a graph has."""
    return module.to(flow.nn.graph.GraphModule)


@graph("activation checkpointing of a module trains alike", of="nn.graph.GraphModule.activation_checkpointing")
@pytest.mark.parametrize("names", ["first", "norm", "first norm last"])
def test_checkpointing(flow, names):
    def configure(made):
        for name in names.split():
            settings(flow, getattr(made.model, name)).activation_checkpointing = True

    same(flow, configure)


@graph("a module that is checkpointed drops what it has dropped", of="nn.graph.GraphModule.activation_checkpointing")
@pytest.mark.parametrize("names", ["model", "drop", "model drop"])
def test_checkpointed_dropout(flow, names):
    class Dropping(flow.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = flow.nn.Parameter(flow.ones(1000))
            self.drop = flow.nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x * self.scale)

    model = Dropping()

    class Training(flow.nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model
            self.add_optimizer(flow.optim.SGD([model.scale], lr=1.0))
            blocks = {"model": self.model, "drop": self.model.drop}
            for name in names.split():
                settings(flow, blocks[name]).activation_checkpointing = True

        def build(self, x):
            y = self.model(x)
            y.sum().backward()
            return y

    y = Training()(flow.ones(1000))
    moved = (1.0 - model.scale).tolist()
    assert moved == y.tolist(), "the gradient is of other elements than those that were kept"


@graph("whether a module is checkpointed can be asked", of="nn.graph.GraphModule.activation_checkpointing")
def test_checkpointing_is_told(flow):
    owner = of_module(flow, linear(flow))
    made = settings(flow, owner.model)
    before = made.activation_checkpointing
    made.activation_checkpointing = True
    assert (before, made.activation_checkpointing) == (None, True)
    assert "activation_checkpointing=True" in repr(made)


@graph("a stage and a placement can be set for a module, and asked", of="nn.graph.GraphModule.set_stage")
def test_stage(flow):
    owner = of_module(flow, linear(flow))
    made = settings(flow, owner.model)
    placement = flow.placement("cpu", ranks=[0])
    made.set_stage(1, placement)
    assert (made.stage_id, made.stage_placement) == (1, placement)
    assert "stage_id=1" in repr(made)


@graph("a module with a stage trains alike", of="nn.graph.GraphModule.set_stage")
def test_stages_train_alike(flow):
    def configure(made):
        settings(flow, made.model.first).set_stage(0)
        settings(flow, made.model.last).set_stage(1)

    same(flow, configure)


@graph("a stage with a placement makes a module's inputs global by itself", of="nn.graph.GraphModule.set_stage")
def test_stage_with_placement(flow):
    placement = flow.placement("cpu", ranks=[0])
    model = linear(flow).to_global(placement=placement, sbp=flow.sbp.broadcast)
    made = of_module(flow, model, lambda made: settings(flow, made.model).set_stage(0, placement))
    given = made(batch(flow).to_global(placement=placement, sbp=flow.sbp.broadcast))
    assert near(flat(given.to_local()), flat(linear(flow)(batch(flow))))


@graph("stage_id is an older way to set a stage, and says the newer one", of="nn.graph.GraphModule.stage_id")
def test_older_stage(flow):
    owner = of_module(flow, linear(flow))
    made = settings(flow, owner.model)
    with printed() as told:
        made.stage_id = 2
    assert made.stage_id == 2
    assert "set_stage(i, placement)" in told[0]


@graph("a module of a graph knows its name and what kind of block it is", of="nn.graph.GraphModule.name")
def test_block_names(flow):
    made = of_module(flow, model_of(flow))
    first = settings(flow, made.model.first)
    assert (first.name_prefix + first.name, first.type) == ("model.first", "MODULE")


@graph("a module of a graph gives the module itself back", of="nn.graph.Proxy.to")
def test_module_itself(flow):
    model = linear(flow)
    assert of_module(flow, model).model.to(flow.nn.Module) is model


@graph("a graph can be compiled by XLA", of="nn.Graph.config.enable_xla_jit", gone=True)
def test_xla(flow):
    of_function(flow, abs).config.enable_xla_jit(True)


@graph("a graph can be compiled by TensorRT", of="nn.Graph.config.enable_tensorrt", gone=True)
def test_tensorrt(flow):
    of_function(flow, abs).config.enable_tensorrt(True)


@graph("a graph can be compiled by OpenVINO", of="nn.Graph.config.enable_openvino", gone=True)
def test_openvino(flow):
    of_function(flow, abs).config.enable_openvino(True)


@graph("padding can be fused into a convolution", of="nn.Graph.config.allow_fuse_pad_to_conv", gone=True)
def test_fuse_padding(flow):
    of_function(flow, abs).config.allow_fuse_pad_to_conv(True)


@graph(
    "the least shard of ZeRO can be set by a call of its own",
    of="nn.Graph.config.set_zero_redundancy_optimizer_min_size_after_split",
    gone=True,
)
def test_zero_size(flow):
    of_function(flow, abs).config.set_zero_redundancy_optimizer_min_size_after_split(1)


@graph("a module of a graph has its settings in config", of="nn.graph.BlockConfig", gone=True)
@pytest.mark.parametrize(("setting", "value"), [("activation_checkpointing", True), ("stage_id", 1)])
def test_block_config(flow, setting, value):
    def configure(made):
        setattr(made.model.config, setting, value)

    of_module(flow, linear(flow), configure)


@graph("the module of a graph's block is its origin", of="nn.graph.Block.origin", gone=True)
def test_origin(flow):
    model = linear(flow)
    assert of_module(flow, model).model.origin is model
