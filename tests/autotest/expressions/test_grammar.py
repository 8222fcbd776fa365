"""The grammar of `autotest check`: what an expression means, and what is said of one that means nothing."""

from __future__ import annotations

import ast

import pytest

from autotest.expressions import ExpressionError, parse, test_file

_NO_PART = (
    "no part of PyTorch that has ops, but should be one of amp, aten, attention, autograd, fft, func, functional, "
    "init, linalg, masked, nested, nn, ops, parametrizations, rnn, signal, sparse, special, utils, windows"
)


@pytest.mark.parametrize(
    ("text", "bindings", "returned"),
    [
        (
            "torch.softmax(x[2, 3], dim=-1)",
            {"x": "random_tensor(ndim=2, dim0=2, dim1=3)"},
            "torch.softmax(x, dim=-1)",
        ),
        (
            "nn.Conv2d(3, 8, 3)(x[2, 3, n, n])",
            {"n": "random(1, 8).to(int)", "x": "random_tensor(ndim=4, dim0=2, dim1=3, dim2=n, dim3=n)"},
            "torch.nn.Conv2d(3, 8, 3)(x)",
        ),
        (
            "x[1:6, :] + y[3]",
            {"x": "random_tensor(ndim=2, dim0=random(1, 6))", "y": "random_tensor(ndim=1, dim0=3)"},
            "x + y",
        ),
        (
            "torch.lgamma(x[4](low=0.5, high=4, dtype=float64, requires_grad=False))",
            {"x": "random_tensor(ndim=1, dim0=4, low=0.5, high=4, dtype=torch.float64, requires_grad=False)"},
            "torch.lgamma(x)",
        ),
        ("x[...].sum(oneof(0, -1))", {"x": "random_tensor()"}, "x.sum(oneof(0, -1))"),
        ("torch.relu(x[()])", {"x": "random_tensor(ndim=0)"}, "torch.relu(x)"),
        ("x + x[2]", {"x": "random_tensor(ndim=1, dim0=2)"}, "x + x"),
        ("x[2] * x[2]", {"x": "random_tensor(ndim=1, dim0=2)"}, "x * x"),
        ("x[4, 5][1:3, ..., None]", {"x": "random_tensor(ndim=2, dim0=4, dim1=5)"}, "x[1:3, ..., None]"),
        (
            "x[n, n] + y[n := random(1, 3)]",
            {
                "n": "random(1, 3)",
                "x": "random_tensor(ndim=2, dim0=n, dim1=n)",
                "y": "random_tensor(ndim=1, dim0=n)",
            },
            "x + y",
        ),
        (
            "torch.reshape(x[n, 2 * n], (2, n, n))",
            {"n": "random(1, 8).to(int)", "x": "random_tensor(ndim=2, dim0=n, dim1=2 * n)"},
            "torch.reshape(x, (2, n, n))",
        ),
        (
            "torch.relu(tensor([[1.0, -nan], [inf, 2]], dtype=float64, requires_grad=True))",
            {
                "x": 'dual_tensor(pytorch.tensor([[1.0, -float("nan")], [float("inf"), 2]], '
                "dtype=pytorch.float64, requires_grad=True))"
            },
            "torch.relu(x)",
        ),
        ("(y := tensor([1])) @ y", {"y": "dual_tensor(pytorch.tensor([1]))"}, "y @ y"),
        (
            'torch.einsum("ij->i", x[2, 2].to(torch.float64))',
            {"x": "random_tensor(ndim=2, dim0=2, dim1=2)"},
            'torch.einsum("ij->i", x.to(torch.float64))',
        ),
        ("~(x[3] > 0)", {"x": "random_tensor(ndim=1, dim0=3)"}, "~(x > 0)"),
        (
            "F.pad([x[2]][0], (1, 1), value=inf, mode=None)",
            {"x": "random_tensor(ndim=1, dim0=2)"},
            'torch.nn.functional.pad([x][0], (1, 1), value=float("inf"), mode=None)',
        ),
        (
            "torch.sum(x[2](dtype=random_dtype('floating')), random(0, 1).to(int), keepdim=random_bool())",
            {"x": 'random_tensor(ndim=1, dim0=2, dtype=random_dtype("floating"))'},
            "torch.sum(x, random(0, 1).to(int), keepdim=random_bool())",
        ),
    ],
)
def test_meaning(text: str, bindings: dict[str, str], returned: str) -> None:
    """Each input is one tensor per case, each size one number; the rest is what it looks like."""
    read = parse(text)
    assert (dict(read.bindings), read.returned) == (bindings, returned)
    ast.parse(test_file([read], None))


LONG = ", ".join(["but should be an expression such as torch.softmax(x[2", "3], dim=-1)"])
SHAPE = "this has the shape (2,), but should have (1,) as the one before"
GENERATORS = "nothing, oneof, random, random_bool, random_device, random_dtype or random_or_nothing"
OP = "is a tensor, but should be an op: what it is drawn from is written once, as"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("torch.relu(x[2]", 10, f"'(' was never closed, {LONG}"),
        ("", 0, f"invalid syntax, {LONG}"),
        ("x = 3", 2, f"invalid syntax, {LONG}"),
        ("x[2, 3]", 0, "this calls no op, but should, such as torch.softmax(x[2, 3], dim=-1)"),
        ("1 + 1", 0, "this calls no op, but should, such as torch.softmax(x[2, 3], dim=-1)"),
        ("random(1, 2)", 0, "this calls no op, but should, such as torch.softmax(x[2, 3], dim=-1)"),
        ("torch.relu", 0, "torch.relu calls no op, but should, such as torch.relu(x[2, 3])"),
        ("F.relu", 0, "F.relu calls no op, but should, such as F.relu(x[2, 3])"),
        ("nn.ReLU", 0, "nn.ReLU calls no op, but should, such as nn.ReLU()(x[2, 3])"),
        (
            *("nn.ReLU(x[2, 3])", 0),
            "nn.ReLU(x[2, 3]) makes a module, but should call it, too, such as nn.ReLU()(x[2, 3])",
        ),
        ("nn.ReLU()", 0, "nn.ReLU() makes a module, but should call it, too, such as nn.ReLU()(x[2, 3])"),
        (
            "torch.add(x[2], y)",
            16,
            "y has no sizes, but should have them where it is first named, such as y[2, 3] or y[n]",
        ),
        (
            "torch.relu(é[2], flaot32)",
            17,
            "flaot32 has no sizes, but should have them where it is first named, such as flaot32[2, 3] or flaot32[n]; "
            "did you mean float32?",
        ),
        (
            "torch.relu(np.exp(x[2]))",
            11,
            "np is no part of PyTorch, but should be torch, nn or F; an input has its sizes where it is first named, "
            "such as np[2, 3].exp",
        ),
        (
            "softmax(x[2])",
            0,
            "softmax(...) has no framework before it, but should, such as torch.softmax(...) or F.softmax(...), "
            f"or be a generator: {GENERATORS}",
        ),
        (
            "ReLU(x[2])",
            0,
            f"ReLU(...) has no framework before it, but should, such as nn.ReLU(...), or be a generator: {GENERATORS}",
        ),
        (
            "x[2, 3] + x[0]",
            10,
            "x[0] is another input than x[2, 3], but should be the same, or x alone; an index of it is x[2, 3][...]",
        ),
        ("torch.relu(x[-1])", 13, "-1 is no size, but should be at least 0"),
        (
            "torch.relu(x[2.5])",
            13,
            "2.5 is no size, but should be a whole number of at least 0, a name, a range such as 1:6, or `:` for any",
        ),
        ("torch.relu(x[1:])", 13, "a range of sizes has two whole numbers, such as 1:6 for 1 to 5, or none"),
        (
            "torch.relu(x[7:3])",
            13,
            "7:3 holds no size, but should begin below its end, such as 1:6 for 1 to 5",
        ),
        ("torch.relu(x[1, 2, 3, 4, 5, 6])", 28, "6 sizes are given, but should be at most 5"),
        ("torch.relu(x[y[2]])", 13, "y is a tensor, but should be a size: a number or a name such as n"),
        ("torch[2] + 1", 0, "torch[...] is no input, but should be a name of your own, such as x[2, 3]"),
        (
            "torch.relu(x[3](lo=1))",
            16,
            "lo= is none of the arguments of x, but should be one of low, high, dtype, requires_grad or distinct",
        ),
        ("torch.relu(x[3](low=1))", 16, "low= is given alone, but should come with both low= and high="),
        ("torch.relu(x[3](high=1))", 16, "high= is given alone, but should come with both low= and high="),
        ("torch.relu(x[3](low=0, high=1, low=2))", 31, "low= is given twice, but should be once"),
        ("torch.relu(x[3](2))", 16, "x[...](...) takes low, high, dtype, requires_grad or distinct by name"),
        (
            "torch.relu(x[3](dtype=flot32))",
            22,
            "dtype=flot32, but should be one of float16, bfloat16, float32, float64, int8, uint8, int16, int32, int64, "
            "bool, complex64 or complex128",
        ),
        ("x[2](low=0, high=1)(3)", 0, f"x {OP} x[2, 3](low=0, high=1)"),
        ("x[2] + x(3)", 7, f"x {OP} x[2, 3](low=0, high=1)"),
        ("torch.relu(tensor([[1], [2, 3]]))", 24, SHAPE),
        ("torch.relu(tensor(['a']))", 19, "'a' is no number, but should be one, or a list of such"),
        (
            "torch.relu(tensor([1], device=0))",
            23,
            "tensor(...) takes dtype= and requires_grad=True or False besides its values",
        ),
        (
            "torch.relu(tensor())",
            11,
            "tensor(...) takes its values as numbers or nested lists, such as tensor([1.0, nan])",
        ),
        ("(n := 3) + x[n]", 6, "n := takes a generator or a tensor, such as n := random(1, 5)"),
        (
            "(n := random(1, 2)) + (n := random(1, 3))",
            23,
            "n is given twice, but should be once: further on write n alone",
        ),
        ("(torch := random(1, 2)) + x[2]", 1, "torch has a meaning already, but should be a new name"),
        ("(x := random(1, 2)) + x[2]", 22, "x has a value already, but should be a name of its own"),
        ("x[2] + random(1, 3).to(str)", 7, ".to(...) of a generator takes one of int, float or bool"),
        ("torch._C.relu(x[2])", 0, "_C is private, but should be a public name"),
        ('torch.os.system("true") + x[2]', 0, f"os is {_NO_PART}"),
        ('nn.functional.importlib.reload("os")', 0, f"importlib is {_NO_PART}"),
        ('torch.utils.cpp_extension.load_inline("a")', 0, f"cpp_extension is {_NO_PART}"),
        ('torch.save(x[2], "file")', 0, "save does more than compute, but should be an op"),
        ('torch.PyTorchFileWriter("file")', 0, "PyTorchFileWriter does more than compute, but should be an op"),
        ('torch.import_ir_module("file")', 0, "import_ir_module does more than compute, but should be an op"),
        ('x[2].numpy().tofile("file")', 0, "tofile does more than compute, but should be an op"),
        ("torch.set_default_dtype(float64)", 0, "set_default_dtype does more than compute, but should be an op"),
        ("x[2] and y[2]", 0, "`and` and `or` are no ops of tensors, but should be & and |"),
        ("not x[2]", 0, "`not` is no op of tensors, but should be ~"),
        (
            "0 < x[2] < 1",
            0,
            "this comparison is no op of tensors, but should be one of == != < <= > >= between two",
        ),
        ("x[2] if 1 else 2", 0, "an `if` cannot be drawn here, but should be torch.where(...) or a test in a file"),
        ("torch.add(*x[2])", 10, "`*` cannot be drawn here, but should be the arguments one by one"),
        ("torch.add(**x[2])", 12, "`**` cannot be drawn here, but should be the arguments one by one"),
        ("lambda: x[2]", 0, "a lambda cannot be recorded, but should be calls of ops"),
        ("torch.cat({1: x[2]})", 10, "a dict is no argument here, but should be a number, tensor, tuple or list"),
        ("torch.relu(b'a')", 11, "bytes are no argument, but should be a string"),
        (
            "[y for y in x[2]]",
            0,
            "a comprehension is none of its parts, but should be a call, an operator, an input, a number, a string, a "
            "tuple or a list",
        ),
    ],
)
def test_refusal(text: str, column: int, message: str) -> None:
    """The column is shown, with what should stand there."""
    with pytest.raises(ExpressionError) as refused:
        parse(text)
    assert str(refused.value) == f"{text}\n{' ' * column}^\n{message}"


def test_nested_too_deep() -> None:
    """What Python's own stack does not carry is refused, too."""
    with pytest.raises(ExpressionError, match="too"):
        parse(f"{'-' * 2000}x[2]")


@pytest.mark.parametrize(
    "text",
    [
        "torch.ops.aten.add(x[2], 1)",
        "torch.Tensor.add(x[2], 1)",
        "nn.utils.rnn.pad_sequence([x[2], y[3]])",
        "torch.special.ndtr(x[2])",
        "x[2].set_(y[2])",
        "torch.float32.itemsize * x[2]",
        "random(1, 3) * x[2]",
        "x[2] - random(1, 3) * 2",
    ],
)
def test_within_reach(text: str) -> None:
    """What is refused is no op of these."""
    assert parse(text).text == text
