"""Ops that write to their first argument: on an input, whose new values are compared, and on a result in a backward."""

from __future__ import annotations

import pytest
from rows import Op, args, main_forms, ops, real, shape, tensor, values, whole

from autotest import autotest, random_bool, torch


def pair(**named):
    """Draws two tensors of one shape."""

    def draw():
        sizes = shape(2)
        return args(tensor(*sizes), tensor(*sizes, low=0.5, high=2), **named)

    return draw


def written(draw_more=lambda: ()):
    """Draws a tensor and further arguments."""
    return lambda: args(tensor(*shape(2), low=-3, high=3), *draw_more())


ROWS = (
    *ops("add sub mul div", pair(), "Tensor_"),
    *ops("relu sin floor zero", written(), "Tensor_"),
    Op("clamp", written(lambda: (real(-2, 0), real(0, 2))), "Tensor_"),
    *ops("clamp_min clamp_max", written(lambda: (real(-1, 1),)), "Tensor_"),
    Op("fill", written(lambda: (real(-3, 4),)), "Tensor_"),
    Op("copy", pair(), "Tensor_"),
    Op("triu", written(lambda: (whole(-1, 2),)), "Tensor_"),
    Op("erfinv", values(-0.9, 0.9), "Tensor_"),
    *ops("sin_ floor_ zero_", lambda: args(tensor(*shape(2)) * 2), "torch"),
    Op("clamp_", lambda: args(tensor(*shape(2)) * 2, -1.0, real(0, 2)), "torch"),
    *ops("clamp_min_ clamp_max_", lambda: args(tensor(*shape(2)) * 2, real(-1, 1)), "torch"),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@pytest.mark.parametrize("name", [
    "add_", "sub_", "mul_", "div_", "fill_", "clamp_min_", "clamp_max_", "clamp_", "pow_", "fmod_", "remainder_",
])  # fmt: skip
@autotest(n=10, missing="count")
def test_input_is_written(name):
    x = tensor(*shape(2), requires_grad=False)
    getattr(x, name)(real(1, 4))
    return x


@pytest.mark.parametrize("name", [
    "relu_", "sin_", "floor_", "zero_", "abs_", "neg_", "exp_", "ceil_", "round_", "trunc_", "sqrt_", "reciprocal_",
    "sigmoid_", "tanh_", "cos_", "square_", "sign_", "erf_",
])  # fmt: skip
@autotest(n=10, missing="count")
def test_input_is_written_by(name):
    x = tensor(*shape(2), requires_grad=False)
    getattr(x, name)()
    return x


#: What a method is given where that is not one tensor of its operand's shape, made of two such.
_GIVEN = {
    **dict.fromkeys(("addcmul_", "addcdiv_", "addmm_"), lambda y, z: (y, z)),
    "lerp_": lambda y, z: (y, 0.25),
    "addr_": lambda y, z: (y[0], z[:, 1]),
    "masked_fill_": lambda y, z: (y > 1, 2.5),
    "index_fill_": lambda y, z: (0, torch.tensor([2, 0]), 2.5),
    **dict.fromkeys(("index_add_", "index_copy_"), lambda y, z: (1, torch.tensor([2, 0]), y[:, :2])),
    **dict.fromkeys(("scatter_", "scatter_add_"), lambda y, z: (0, torch.tensor([[2, 0, 1], [1, 1, 0]]), y)),
    **dict.fromkeys(("cumsum_", "cumprod_"), lambda y, z: (1,)),
    **dict.fromkeys(("unsqueeze_", "squeeze_"), lambda y, z: (-1,)),
    "transpose_": lambda y, z: (0, -1),
    "t_": lambda y, z: (),
    # A place that is named twice gets both values.
    "index_put_": lambda y, z: ((torch.tensor([2, 0, 2]),), y, True),
    "put_": lambda y, z: (torch.tensor([5, 0, 5]), y[0], True),
    "masked_scatter_": lambda y, z: (y > 1, z),
}


@pytest.mark.parametrize("name", [
    "add_", "sub_", "mul_", "div_", "pow_", "fmod_", "remainder_", "floor_divide_", "atan2_", "hypot_", "copysign_",
    "xlogy_", "copy_", "eq_", "ne_", "lt_", "le_", "gt_", "ge_", "logical_and_", "logical_or_", "logical_xor_",
    "addcmul_", "addcdiv_", "lerp_", "addmm_", "addr_", "masked_fill_", "index_fill_", "index_add_", "index_copy_",
    "scatter_", "scatter_add_", "cumsum_", "cumprod_", "index_put_", "put_", "masked_scatter_",
    "unsqueeze_", "squeeze_", "transpose_", "t_",
])  # fmt: skip
@autotest(n=3, missing="count")
def test_input_is_written_with(name):
    """With tensors, however it lies."""
    x, y, z = (tensor(3, 3, low=0.5, high=2, requires_grad=False) for _ in range(3))
    getattr(x, name)(*_GIVEN.get(name, lambda y, z: (y,))(y, z))
    return x


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_", "copy_", "addcmul_", "addcdiv_", "lerp_"])
@autotest(n=2, missing="count")
def test_input_is_written_with_itself(name):
    """What is read of it is what it was."""
    x, y = (tensor(3, 3, low=0.5, high=2, requires_grad=False) for _ in range(2))
    getattr(x, name)(*_GIVEN.get(name, lambda y, z: (y,))(x, y))
    return x


@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_", "bernoulli_"])
@autotest(n=5)
def test_random_values_are_in_place(name):
    x = tensor(*shape(2), low=0.2, high=0.8, requires_grad=False) * 1
    return torch.zeros_like(getattr(x, name)())


@autotest(n=10)
def test_copy_():
    sizes = shape(2)
    x, y = (tensor(*sizes, requires_grad=False) for _ in range(2))
    x.copy_(y)
    return x + y


@autotest(n=10)
def test_copy_broadcast():
    x = tensor(3, 4, requires_grad=False)
    x.copy_(tensor(4, requires_grad=False))
    return x


@autotest(n=10)
def test_masked_fill_():
    sizes = shape(2)
    x = tensor(*sizes) * 2
    return x.masked_fill_(tensor(*sizes, low=0, high=2, dtype=bool), real(-3, 3))


@autotest(n=10)
def test_through_a_view():
    x = tensor(4, 4, requires_grad=False)
    x[1:3].mul_(2)
    x.t()[0].add_(1)
    return x


@autotest(n=10)
def test_result_is_used_again():
    x = tensor(*shape(2)) * 2
    y = x.add_(1)
    return y * x


@autotest(n=10)
def test_requires_grad_():
    x = tensor(*shape(2), requires_grad=False)
    x.requires_grad_(random_bool().value())
    return x * 2


@autotest(n=10, check_graph=False)
def test_data_is_replaced():
    x = tensor(*shape(2), requires_grad=False)
    x.data = x * 2
    return x + 1
