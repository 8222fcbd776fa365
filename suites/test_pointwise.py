"""Ops that compute each element by itself: unary, binary with broadcasting, ternary, activations."""

from __future__ import annotations

from forms import forms, modules

from autotest import autotest, oneof, random, random_device, random_tensor, torch


@forms(
    "torch.abs",
    "Tensor.abs",
    "abs(x)",
    "torch.neg",
    "Tensor.neg",
    "torch.negative",
    "-x",
    "torch.exp",
    "Tensor.exp",
    "torch.expm1",
    "torch.sin",
    "Tensor.sin",
    "torch.cos",
    "Tensor.cos",
    "torch.tan",
    "torch.sinh",
    "torch.cosh",
    "torch.tanh",
    "Tensor.tanh",
    "torch.atan",
    "torch.asinh",
    "torch.erf",
    "torch.erfc",
    "torch.square",
    "torch.sigmoid",
    "Tensor.sigmoid",
    "torch.sign",
    "torch.floor",
    "Tensor.floor",
    "torch.ceil",
    "torch.round",
    "torch.trunc",
    "torch.relu",
    "Tensor.relu",
)
@autotest(n=20, check_graph=True)
def test_any_value(op):
    device = random_device()
    x = random_tensor(low=-3, high=3).to(device)
    return op(x)


@forms(
    "torch.log",
    "Tensor.log",
    "torch.log2",
    "torch.log10",
    "torch.log1p",
    "torch.sqrt",
    "Tensor.sqrt",
    "torch.rsqrt",
    "torch.reciprocal",
)
@autotest(n=20, check_graph=True)
def test_positive_value(op):
    device = random_device()
    x = random_tensor(low=0.2, high=4).to(device)
    return op(x)


@forms("torch.asin", "torch.acos", "torch.atanh", "Tensor.asin", "Tensor.acos")
@autotest(n=20, check_graph=True)
def test_value_within_one(op):
    device = random_device()
    x = random_tensor(low=-0.9, high=0.9).to(device)
    return op(x)


@forms("torch.acosh")
@autotest(n=20, check_graph=True)
def test_value_above_one(op):
    device = random_device()
    x = random_tensor(low=1.1, high=4).to(device)
    return op(x)


@forms(
    "torch.add",
    "Tensor.add",
    "Tensor.add_",
    "x+y",
    "x+=y",
    "torch.sub",
    "Tensor.sub",
    "Tensor.sub_",
    "x-y",
    "torch.mul",
    "Tensor.mul",
    "Tensor.mul_",
    "x*y",
    "torch.maximum",
    "torch.minimum",
    "torch.logaddexp",
)
@autotest(n=20, check_graph=True)
def test_broadcast(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=oneof(rows, 1), dim1=oneof(columns, 1)).to(device)
    return op(x, y)


@forms("torch.atan2", "Tensor.atan2")
@autotest(n=20, check_graph=True)
def test_same_shape(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0.5, high=2).to(device)
    return op(x, y)


@forms("torch.div", "Tensor.div", "Tensor.div_", "x/y", "torch.pow", "Tensor.pow", "x**y", "torch.fmod")
@autotest(n=20, check_graph=True)
def test_broadcast_positive(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0.5, high=3).to(device)
    y = random_tensor(ndim=2, dim0=oneof(rows, 1), dim1=oneof(columns, 1), low=0.5, high=3).to(device)
    return op(x, y)


@forms("torch.add", "Tensor.sub", "torch.mul", "x+y", "x-y", "x*y", "x/y")
@autotest(n=20, check_graph=True)
def test_scalar_on_the_right(op):
    device = random_device()
    x = random_tensor().to(device)
    return op(x, oneof(2, -0.5, 3.25).value())


@forms("x+y", "x-y", "x*y", "x/y", "x**y")
@autotest(n=20, check_graph=True)
def test_scalar_on_the_left(op):
    device = random_device()
    x = random_tensor(low=0.5, high=2).to(device)
    return op(oneof(2, 0.5, 3.25).value(), x)


@forms("torch.addcmul", "Tensor.addcmul", "torch.addcdiv", "Tensor.addcdiv")
@autotest(n=20, check_graph=True)
def test_three_operands(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x, y, z = (random_tensor(ndim=2, dim0=rows, dim1=columns, low=0.5, high=2).to(device) for _ in range(3))
    return op(x, y, z, value=random(-2, 3).to(float))


@forms("torch.clamp", "Tensor.clamp", "Tensor.clamp_", "torch.clip", "Tensor.clip")
@autotest(n=20, check_graph=True)
def test_clamp(op):
    device = random_device()
    x = random_tensor(low=-3, high=3).to(device)
    return op(x, min=random(-2, 0).to(float), max=random(0, 2).to(float))


@forms("torch.clamp_min", "Tensor.clamp_min", "torch.clamp_max", "Tensor.clamp_max")
@autotest(n=20, check_graph=True)
def test_clamp_one_side(op):
    device = random_device()
    x = random_tensor(low=-3, high=3).to(device)
    return op(x, random(-1, 1).to(float).value())


@forms(
    "torch.nn.functional.relu",
    "torch.nn.functional.relu6",
    "torch.nn.functional.gelu",
    "torch.nn.functional.silu",
    "torch.nn.functional.mish",
    "torch.nn.functional.selu",
    "torch.nn.functional.celu",
    "torch.nn.functional.softplus",
    "torch.nn.functional.softsign",
    "torch.nn.functional.softshrink",
    "torch.nn.functional.hardswish",
    "torch.nn.functional.hardsigmoid",
    "torch.nn.functional.logsigmoid",
)
@autotest(n=20, check_graph=True)
def test_activation(op):
    device = random_device()
    x = random_tensor(low=-5, high=5).to(device)
    return op(x)


@forms("torch.nn.functional.elu", "torch.nn.functional.leaky_relu")
@autotest(n=20, check_graph=True)
def test_activation_with_slope(op):
    device = random_device()
    x = random_tensor(low=-5, high=5).to(device)
    return op(x, random(0.1, 2).to(float).value())


@autotest(n=20, check_graph=True)
def test_hardtanh():
    device = random_device()
    x = random_tensor(low=-5, high=5).to(device)
    return torch.nn.functional.hardtanh(x, random(-2, 0).to(float), random(0.5, 2).to(float))


@modules(
    {
        "torch.nn.ReLU": {},
        "torch.nn.GELU": {},
        "torch.nn.SiLU": {},
        "torch.nn.Tanh": {},
        "torch.nn.Sigmoid": {},
        "torch.nn.ELU": {"alpha": 0.7},
        "torch.nn.LeakyReLU": {"negative_slope": 0.2},
        "torch.nn.Hardtanh": {"min_val": -1.5, "max_val": 2.0},
        "torch.nn.Softplus": {"beta": 2},
    }
)
@autotest(n=20, check_graph=True)
def test_activation_module(module):
    device = random_device()
    m = module().to(device)
    x = random_tensor(low=-5, high=5).to(device)
    return m(x)


@modules({"torch.nn.PReLU": {}})
@autotest(n=20, check_graph=True)
def test_prelu(module):
    device = random_device()
    channels = random(1, 5)
    m = module(num_parameters=oneof(1, channels)).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=channels, dim2=random(1, 5), dim3=random(1, 5)).to(device)
    return m(x)


@forms("torch.softmax", "Tensor.softmax", "torch.log_softmax", "torch.nn.functional.softmax")
@autotest(n=20, check_graph=True)
def test_softmax(op):
    device = random_device()
    x = random_tensor(ndim=3, low=-4, high=4).to(device)
    return op(x, dim=random(-3, 3).to(int))


@autotest(n=20, check_graph=True)
def test_a_chain_of_pointwise_ops():
    device = random_device()
    x = random_tensor(low=0.5, high=2).to(device)
    y = torch.exp(-x) + x.log() * 2
    return torch.tanh(y) / (1 + y.abs())
