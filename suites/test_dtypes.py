"""Type promotion, casts, and sweeps of ops over dtypes."""

from __future__ import annotations

import itertools

import pytest
from forms import forms, member
from refusals import refused
from rows import Op, args, main_forms, ops, other_forms, pick, shape, tensor, whole

from autotest import autotest, each, random_dtype, torch

_INTEGERS = ("int32", "int64")
_PROMOTED = ("float32", "float64", "int32", "int64", "int8", "uint8", "bool")
_PAIRS = [*itertools.combinations(_PROMOTED, 2)]


def integers(low=-8, high=8, low_y=None, high_y=None):
    """Draws two integer tensors of one dtype and shape."""

    def draw():
        sizes, dtype = shape(2), random_dtype(*_INTEGERS)
        x = tensor(*sizes, low=low, high=high, dtype=dtype)
        return args(x, tensor(*sizes, low=low if low_y is None else low_y, high=high_y or high, dtype=dtype))

    return draw


def great():
    """Draws two tensors of int32 whose sums are beyond what a float32 holds exactly."""
    sizes = shape(2)
    return args(*(tensor(*sizes, low=1 << 25, high=1 << 29, dtype="int32") for _ in range(2)))


def greatest():
    """Draws a tensor of int64 with numbers that differ by less than a float64 of their size can tell."""
    return args(tensor(*shape(2), low=(1 << 53) + 1, high=(1 << 53) + 99, dtype="int64"))


def pair_of_greatest():
    """Draws two of them."""
    sizes = shape(2)
    return args(*(tensor(*sizes, low=(1 << 53) + 1, high=(1 << 53) + 5, dtype="int64") for _ in range(2)))


def pair_of_bytes():
    """Draws two tensors of bytes, whose sums, differences and products wrap around."""
    sizes = shape(2)
    return args(*(tensor(*sizes, low=0, high=256, dtype="uint8") for _ in range(2)))


def number(low=0):
    """Draws an integer tensor and an integer."""
    return lambda: args(tensor(*shape(2), low=low, high=20, dtype=random_dtype(*_INTEGERS)), whole(1, 6))


def fraction():
    """Draws an integer tensor and a number that is none."""
    return args(tensor(*shape(2), low=1, high=20, dtype=random_dtype(*_INTEGERS, "int8", "uint8")), pick(2.5, -0.75))


def wide():
    """Draws integers beyond what a float32 holds exactly, and small ones."""
    sizes = shape(2)
    return args(
        tensor(*sizes, low=(1 << 24) + 1, high=1 << 30, dtype="int64"), tensor(*sizes, low=1, high=6, dtype="int64")
    )


def of_dtype(dtype, low=0, high=5, **named):
    """Draws a tensor of a dtype."""
    return lambda: args(tensor(*shape(2), low=low, high=high, dtype=dtype), **named)


def square(dtype):
    """Draws two square matrices of a dtype."""
    return lambda: args(*(tensor(3, 3, low=-3, high=4, dtype=dtype) for _ in range(2)))


ROWS = (
    Op("add", integers(), "torch x+y x+=y", variant="integers"),
    *ops("add sub maximum minimum mul eq lt", great, "torch", variant="great"),
    *ops("sum amax", lambda: args(great().args[0]), "torch", variant="great"),
    *ops("max min amax amin argmax sum abs neg", greatest, "torch", variant="greatest"),
    *ops("maximum minimum add sub eq lt", pair_of_greatest, "torch", variant="greatest"),
    *ops("neg abs sign square sum", of_dtype("int8", -128, -120), "torch", variant="least"),
    *ops("sub mul maximum minimum lt le gt ge", pair_of_bytes, "torch", variant="bytes"),
    Op("sub", integers(), "torch x-y", variant="integers"),
    Op("mul", integers(), "torch x*y", variant="integers"),
    Op("div", integers(low_y=1), "torch x/y", variant="integers"),
    Op("pow", integers(0, 4), "torch x**y", variant="integers"),
    *ops("maximum minimum", integers(), "torch", variant="integers"),
    Op("floor_divide", integers(0, 20, 1, 6), "torch x//y", variant="naturals"),
    Op("fmod", integers(0, 20, 1, 6), "torch x%y", variant="naturals"),
    Op("floor_divide", integers(-20, 20, 1, 6), "torch x//y", variant="integers"),
    Op("fmod", integers(-20, 20, 1, 6), "torch x%y", variant="integers"),
    *ops("add sub mul div eq ne lt le gt ge", fraction, "torch Tensor", variant="fraction"),
    *ops("floor_divide fmod sub mul", wide, "torch", variant="wide"),
    Op("add", number(), "x+y", variant="number"),
    Op("sub", number(), "x-y", variant="number"),
    Op("mul", number(), "x*y", variant="number"),
    Op("div", number(), "x/y", variant="number"),
    Op("floor_divide", number(), "x//y", variant="number"),
    *(
        Op(name, of_dtype(dtype, -5), "torch", variant=dtype)
        for name in ("neg", "abs", "sign", "square", "sum", "prod", "relu")
        for dtype in ("int32", "int64", "float64")
    ),
    *(
        Op(name, of_dtype(dtype, 1, 4), "torch", variant=dtype)
        for name in ("exp", "sqrt", "sin", "log", "sigmoid", "reciprocal")
        for dtype in ("int64", "float64")
    ),
    *(
        Op(name, of_dtype(dtype, 1, 4, dim=1), "torch", variant=f"{dtype}_dim")
        for name in ("sum", "amax", "argmax", "max")
        for dtype in ("int32", "float64", "int8")
        if name != "max" or dtype == "float64"
    ),
    Op("sum", of_dtype(bool, 0, 2), "torch", variant="bool"),
    Op("mean", of_dtype("float64"), "torch", variant="float64"),
    Op("softmax", lambda: args(tensor(*shape(3), dtype="float64"), dim=whole(-3, 3)), "torch", variant="float64"),
    *(Op("matmul", square(dtype), "torch", variant=dtype) for dtype in ("float64", "int64")),
    *ops("int long float double bool byte", of_dtype("float32", 0, 5), "Tensor", variant="cast"),
    *ops("half bfloat16", of_dtype("float32", 0, 5), "Tensor", variant="cast"),
)

#: What a kernel computes in float32 for a float64 is nearly within the ordinary tolerance, sometimes quite.
DOUBLES = ops("exp log sin cos tanh sigmoid sqrt reciprocal erf", of_dtype("float64", 0.5, 2), "torch")


@main_forms(DOUBLES)
@autotest(n=3, rtol=1e-10, atol=0.0, coverage="none")
def test_digits(call):
    return call()


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=5, coverage="none")
def test_form(call):
    return call()


@pytest.mark.parametrize("dtypes", _PAIRS, ids="_".join)
@autotest(n=5)
def test_promotion(dtypes):
    sizes = shape(2)
    x, y = (tensor(*sizes, low=0, high=2 if dtype == "bool" else 5, dtype=dtype) for dtype in dtypes)
    return x + y, x * y


#: Two operands of these dtypes, either first.
_MIXED = [("float32", "float64"), ("int64", "float32"), ("int32", "int64"), ("uint8", "int8"), ("bool", "int64")]
_MIXED += [("bool", "float32"), ("float16", "float32"), ("float16", "bfloat16")]
#: What takes no floats, or none with a gradient.
_OF_WHOLE = ("floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor")
#: Each pair in a case of its own.
_mixed = autotest(n=1, check_graph=False, coverage="none", missing="count", unsupported="count")


_TWO = (
    "sub", "div", "floor_divide", "fmod", "remainder", "pow", "maximum", "minimum", "atan2", "copysign", "hypot",
    "logaddexp", "xlogy", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor",
)  # fmt: skip


def mixed(name, *sizes, low=0):
    """Draws two tensors of two dtypes, the second without zeros and of these sizes; those that an op takes first."""
    pairs = sorted(_MIXED, key=lambda pair: "float32" in pair) if name in _OF_WHOLE else _MIXED
    first, second = each(*pairs, *(pair[::-1] for pair in pairs)).value()
    return tensor(2, 3, low=low, high=2 if first == "bool" else 5, dtype=first), tensor(
        *sizes, low=1, high=2 if second == "bool" else 5, dtype=second
    )


@pytest.mark.parametrize("name", _TWO)
@_mixed
def test_mixed(name):
    x, y = mixed(name, 2, 3)
    return member(f"torch.{name}")(x, y)


@pytest.mark.parametrize("name", ["add", "mul", *_TWO])
@_mixed
def test_mixed_with_one_of_no_dimension(name):
    """It decides the dtype only where it is of a higher kind: float32 and a float64 number are float32."""
    x, y = mixed(name, low=1)
    op = member(f"torch.{name}")
    return op(x, y), op(y, x)


@pytest.mark.parametrize("name", ["cat", "stack", "hstack", "vstack", "where", "addcmul", "addcdiv", "outer"])
@_mixed
def test_mixed_of_several(name):
    x, y = mixed(name, 2, 3)
    if name == "where":
        return torch.where(x > 1, x, y)
    if name == "outer":
        return torch.outer(x[0], y[1])
    if name in ("addcmul", "addcdiv"):
        return member(f"torch.{name}")(x, x + 1, y)
    return member(f"torch.{name}")([x, y])


@pytest.mark.parametrize("name", ["where", "addcmul", "addcdiv"])
@_mixed
def test_mixed_of_several_with_one_of_no_dimension(name):
    x, y = mixed(name, low=1)
    if name == "where":
        return torch.where(x > 1, x, y), torch.where(x > 1, y, x)
    op = member(f"torch.{name}")
    return op(x, x + 1, y), op(x, y, x + 1)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "floor_divide", "fmod", "remainder", "pow"])
@_mixed
def test_mixed_in_place(name):
    """What is written keeps its dtype, or is refused where that cannot hold the result."""
    x, y = mixed(name, 2, 3)
    x = x.clone()
    getattr(x, f"{name}_")(y)
    return x


@pytest.mark.parametrize("name", ["dot", "mv", "matmul", "isclose", "lerp"])
@autotest(n=1, auto_backward=False, check_graph=False, coverage="none", missing="count", unsupported="count")
def test_mixed_and_refused(name):
    """These take no two dtypes."""
    x, y = mixed(name, 2, 3)
    if name in ("dot", "mv"):
        x, y = x[0] if name == "dot" else x, y[0]
    given = (x, x, y) if name == "lerp" else (x, y.t() if name == "matmul" else y)
    refused(lambda: member(f"torch.{name}")(*given))


#: What sums products, and the shapes of the two factors.
_PRODUCTS = {
    "matmul": ((2, 3), (3, 2)),
    "mm": ((2, 3), (3, 2)),
    "bmm": ((2, 2, 3), (2, 3, 2)),
    "mv": ((2, 3), (3,)),
    "dot": ((3,), (3,)),
    "inner": ((2, 3), (2, 3)),
    "vdot": ((3,), (3,)),
    "tensordot": ((2, 3), (3, 2)),
    "kron": ((2, 2), (2, 2)),
    "outer": ((3,), (2,)),
}


@pytest.mark.parametrize("name", _PRODUCTS)
@autotest(n=2, check_graph=False, coverage="none", missing="count", unsupported="count")
def test_products_of_integers(name):
    """And sums of them, that no float64 holds."""
    factors = (tensor(*shape, low=1 << 29, high=1 << 30, dtype="int64") for shape in _PRODUCTS[name])
    return member(f"torch.{name}")(*factors, **({"dims": 1} if name == "tensordot" else {}))


@pytest.mark.parametrize("name", ["mean", "norm", "std", "var"])
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none", missing="count", unsupported="count")
def test_halves_that_overflow_in_between(name):
    """Their sum, or that of their squares, is beyond what a half holds, the result is not."""
    low, high = (20000, 30000) if name == "mean" else (300, 400)
    return member(f"torch.{name}")(tensor(7, low=low, high=high, dtype="float16"))


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8", "bool", "float64"])
@autotest(n=5)
def test_promotion_by_a_number(dtype):
    x = tensor(*shape(2), low=0, high=2, dtype=dtype)
    return x * 0.5, x + 1


@pytest.mark.parametrize("dtype", ["torch.int32", "torch.int64", "torch.float64", "torch.bool", "torch.int8"])
@autotest(n=10)
def test_to_dtype(dtype):
    return tensor(*shape(2), low=-5, high=5).to(member(dtype))


@forms("Tensor.int", "Tensor.long", "Tensor.float", "Tensor.double", "Tensor.bool")
@autotest(n=10)
def test_cast_of_integers(op):
    return op(tensor(*shape(2), low=-5, high=5, dtype=random_dtype(*_INTEGERS)))


@autotest(n=10)
def test_mixed_comparison():
    sizes = shape(2)
    return tensor(*sizes, low=0, high=3, dtype="int32") < tensor(*sizes, low=0, high=3)


@autotest(n=10)
def test_where_promotes():
    sizes = shape(2)
    mask = tensor(*sizes, low=0, high=2, dtype=bool)
    return torch.where(mask, tensor(*sizes, dtype="float64"), tensor(*sizes))


@autotest(n=10)
def test_cat_promotes():
    return torch.cat([tensor(2, dtype=int, low=0, high=5), tensor(3)])


@autotest(n=1)
def test_softmax_of_nothing():
    return torch.softmax(tensor(3, 1, 0, dtype="float64"), dim=-1)
