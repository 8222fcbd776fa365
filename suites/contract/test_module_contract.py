"""What the documentation of modules says of what is in them: modes, parameters, buffers, states."""

from __future__ import annotations

from functools import partial

import pytest
from graphs import batch, linear, mean_square, values

from autotest import contract

module = partial(contract, target="oneflow")


def nested(flow):
    """A dropout and a batch norm, two modules down, and a linear layer beside them."""
    inner = flow.nn.Sequential(flow.nn.BatchNorm1d(2), flow.nn.Dropout(0.5))
    return flow.nn.Sequential(linear(flow), flow.nn.Sequential(inner))


@module("train() and eval() switch all modules within, however deep", of="nn.Module.train")
@pytest.mark.parametrize("mode", [True, False])
def test_modes(flow, mode):
    made = nested(flow)
    for each in made.modules():
        each.training = not mode
    made.train(mode)
    assert [each.training for each in made.modules()] == [mode] * 6


@module("a module in evaluation neither drops nor counts", of="nn.Module.eval")
def test_eval(flow):
    made = nested(flow).eval()
    before = values(made)
    assert made(batch(flow)).tolist() == made(batch(flow)).tolist()
    assert values(made) == before


@module("a parameter that several modules share is given once", of="nn.Module.parameters")
def test_shared(flow):
    layer, other = linear(flow), linear(flow)
    other.weight = layer.weight
    made = flow.nn.Sequential(layer, flow.nn.Sequential(layer), other)
    assert [name for name, _ in made.named_parameters()] == ["0.weight", "0.bias", "2.bias"]
    assert len(list(made.parameters())) == 3


@module("parameters come in the order in which they were made, each with a name", of="nn.Module.named_parameters")
def test_names(flow):
    names = [name for name, _ in nested(flow).named_parameters()]
    assert names == ["0.weight", "0.bias", "1.0.0.weight", "1.0.0.bias"]


@module("requires_grad_(False) freezes all parameters", of="nn.Module.requires_grad_")
def test_frozen(flow):
    made = nested(flow).requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in made.parameters())


@module("zero_grad() leaves no gradient of any parameter", of="nn.Module.zero_grad")
def test_zero_grad(flow):
    made = nested(flow)
    mean_square(made(batch(flow))).backward()
    made.zero_grad()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in made.parameters())


@module("the state has all parameters and buffers, by their names", of="nn.Module.state_dict")
def test_state(flow):
    norm = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert [*nested(flow).state_dict()] == ["0.weight", "0.bias", *(f"1.0.0.{name}" for name in norm)]


@module("a prefix stands before each name, those of the module's own parameters too", of="nn.Module.state_dict")
def test_prefix(flow):
    assert [*linear(flow).state_dict(prefix="a.")] == ["a.weight", "a.bias"]
    made = nested(flow)
    assert [*made.state_dict(prefix="b.")] == [f"b.{name}" for name in made.state_dict()]


@module("the state has parameters that are not trained, too", of="nn.Module.state_dict")
def test_state_of_frozen(flow):
    made = nested(flow)
    expected = [*made.state_dict()]
    made.requires_grad_(False)
    assert [*made.state_dict()] == expected


@module("a loaded state is that of all parameters and buffers", of="nn.Module.load_state_dict")
def test_loads(flow):
    trained = nested(flow)
    for parameter in trained.parameters():
        parameter.data.copy_(parameter.data * 2 + 1)
    trained(batch(flow) * 3)
    made = nested(flow)
    made.load_state_dict(trained.state_dict())
    assert values(made) == values(trained)
    assert values(made)["1.0.0.running_mean"] != values(nested(flow))["1.0.0.running_mean"]


@module("a strict load refuses a state with other names", of="nn.Module.load_state_dict")
@pytest.mark.parametrize("strict", [True, False])
def test_other_names(flow, strict):
    state = linear(flow).state_dict()
    state["other"] = state.pop("bias")
    if strict:
        with pytest.raises(RuntimeError, match="bias"):
            linear(flow).load_state_dict(state)
    else:
        told = linear(flow).load_state_dict(state, strict=False)
        assert (told.missing_keys, told.unexpected_keys) == (["bias"], ["other"])


@module("a state of another shape is refused", of="nn.Module.load_state_dict")
def test_other_shape(flow):
    with pytest.raises(RuntimeError, match="size mismatch"):
        flow.nn.Linear(2, 2).load_state_dict(linear(flow).state_dict())


@module("a buffer is part of a state where it is persistent, and never a parameter", of="nn.Module.register_buffer")
@pytest.mark.parametrize("persistent", [True, False])
def test_persistent(flow, persistent):
    made = linear(flow)
    made.register_buffer("counts", flow.ones(2), persistent=persistent)
    assert sorted(made.state_dict()) == ["bias", *(["counts"] if persistent else []), "weight"]
    assert [name for name, _ in made.named_buffers()] == ["counts"]
    assert [name for name, _ in made.named_parameters()] == ["weight", "bias"]


@module("apply() reaches each module once, the inner ones first", of="nn.Module.apply")
def test_apply(flow):
    seen = []
    nested(flow).apply(lambda each: seen.append(type(each).__name__))
    assert seen == ["Linear", "BatchNorm1d", "Dropout", "Sequential", "Sequential", "Sequential"]


@module("all floating parameters and buffers become of another dtype, and counts stay integers", of="nn.Module.to")
@pytest.mark.parametrize("way", ["to", "double", "half", "float"])
def test_other_dtype(flow, way):
    dtype = {"half": flow.float16, "float": flow.float32}.get(way, flow.float64)
    made = nested(flow)
    if way == "float":
        made.double()
    made = made.to(dtype) if way == "to" else getattr(made, way)()
    norm = made[1][0][0]
    assert {tensor.dtype for tensor in [*made.parameters(), norm.running_mean, norm.running_var]} == {dtype}
    assert norm.num_batches_tracked.dtype == flow.int64


@module("children are the modules right within, each once, with their names", of="nn.Module.named_children")
def test_children(flow):
    made = nested(flow)
    assert [name for name, _ in made.named_children()] == ["0", "1"]
    assert [type(each).__name__ for each in made.children()] == ["Linear", "Sequential"]
    shared = linear(flow)
    assert len(list(flow.nn.Sequential(shared, shared).children())) == 1


@module("modules are the module itself and all within, each once, with their paths", of="nn.Module.named_modules")
def test_named_modules(flow):
    made = nested(flow)
    assert [name for name, _ in made.named_modules()] == ["", "0", "1", "1.0", "1.0.0", "1.0.1"]
    assert [name for name, _ in made.named_modules(prefix="a")] == ["a", "a.0", "a.1", "a.1.0", "a.1.0.0", "a.1.0.1"]
    shared = linear(flow)
    assert [name for name, _ in flow.nn.Sequential(shared, shared).named_modules()] == ["", "0"]


@module("what is added or registered is a part like what is assigned", of="nn.Module.register_parameter")
def test_added_parts(flow):
    made = flow.nn.Module()
    made.add_module("layer", linear(flow))
    made.register_parameter("scale", flow.nn.Parameter(flow.ones(2)))
    made.register_parameter("none", None)
    assert [name for name, _ in made.named_parameters()] == ["scale", "layer.weight", "layer.bias"]
    assert made.none is None
    del made.layer
    assert [*made.state_dict()] == ["scale"]


@module("a name that is taken, or has a dot in it, is refused", of="nn.Module.register_parameter")
@pytest.mark.parametrize("name", ["a.b", "", "forward"])
def test_refused_names(flow, name):
    with pytest.raises(KeyError):
        flow.nn.Module().register_parameter(name, flow.nn.Parameter(flow.ones(2)))
    with pytest.raises(KeyError):
        flow.nn.Module().add_module(name, linear(flow))


@module("a weight becomes a length and a direction, and one weight again", of="nn.utils.weight_norm")
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(flow, dim):
    made = linear(flow)
    before = made(batch(flow)).tolist()
    flow.nn.utils.weight_norm(made, dim=dim)
    assert sorted(name for name, _ in made.named_parameters()) == ["bias", "weight_g", "weight_v"]
    assert tuple(made.weight_g.shape) == {0: (2, 1), 1: (1, 3), None: ()}[dim]
    assert made(batch(flow)).flatten().tolist() == pytest.approx([each for row in before for each in row], rel=1e-5)
    made.weight_g.data.mul_(2)
    made.bias.data.fill_(0)
    doubled = made(batch(flow)).flatten().tolist()
    flow.nn.utils.remove_weight_norm(made)
    assert sorted(name for name, _ in made.named_parameters()) == ["bias", "weight"]
    assert made(batch(flow)).flatten().tolist() == pytest.approx(doubled, rel=1e-5)
    assert doubled[0] == pytest.approx(2 * (before[0][0] - 0.1), rel=1e-4)
