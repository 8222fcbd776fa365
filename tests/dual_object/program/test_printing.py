"""The printed Program: a golden text for every kind of call."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from dual_object import Call, Input, Program
from dual_object.program.printing import lines, names, show
from dual_object.program.values import Device, Name, Named, Opaque, Ref


def printed(*calls, inputs=2, outputs=None):
    """Return the printed body of a Program whose inputs have the values 0 and 1, and so on."""
    given = [Input(i, "", np.zeros(1), "float32") for i in range(inputs)]
    text = str(Program(given, list(calls), outputs))
    head, *body = text.split("\n")
    assert head.startswith("def program(torch")
    return [line.removeprefix("    ") for line in body]


X, Y = Ref(0), Ref(1)
T = Ref(10)


def operator(name, *args, out=T):
    """Return a call of an operator."""
    return Call("operator", name, args, {}, out)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (Call("function", "matmul", (X, Y), {}, T), "t0 = torch.matmul(x, y)"),
        (Call("function", "nn.relu", (X,), {"inplace": False}, T), "t0 = torch.nn.relu(x, inplace=False)"),
        (Call("function", "rand", (), {}, T), "t0 = torch.rand()"),
        (Call("method", "sum", (X, 0), {"keepdim": True}, T), "t0 = x.sum(0, keepdim=True)"),
        (Call("method", "add_", (X, Y), {}, X), "x.add_(y)"),
        (Call("get", "T", (X,), {}, T), "t0 = x.T"),
        (Call("get", "ndim", (X,), {}, 2), "x.ndim  # 2"),
        (Call("get", "grad", (X,), {}, None), "x.grad"),
        (Call("set", "requires_grad", (X, True), {}, None), "x.requires_grad = True"),
        (Call("custom", "double", (X,), {"k": 1}, T), "t0 = double(x, k=1)"),
        (Call("module", "nn.Linear", (3, 4), {"bias": False}, T), "m0 = torch.nn.Linear(3, 4, bias=False)"),
        (Call("function", "bad", (X,), {}, raises=("ValueError", "X")), "torch.bad(x)  # raises ValueError"),
        (operator("iadd", X, Y, out=None), "x + y"),
        (Call("operator", "iadd", (X, Y), {}, raises=("RuntimeError",)), "x += y  # raises RuntimeError"),
        (operator("neg", X), "t0 = -x"),
        (operator("pos", X), "t0 = +x"),
        (operator("invert", X), "t0 = ~x"),
        (operator("abs", X), "t0 = abs(x)"),
        (operator("sub", 1, X), "t0 = 1 - x"),
        (operator("sub", -1, X), "t0 = (-1) - x"),
        (operator("pow", X, -0.5), "t0 = x ** (-0.5)"),
        (operator("mul", X, float("nan")), 't0 = x * float("nan")'),
        (operator("mul", X, float("-inf")), 't0 = x * float("-inf")'),
        (operator("mul", 2j, X), "t0 = 2j * x"),
        (operator("imatmul", X, Y), "t0 = x @ y"),
        (operator("bool", X, out=True), "bool(x)  # True"),
        (operator("float", X, out=float("inf")), 'float(x)  # float("inf")'),
        (operator("contains", X, 3, out=False), "contains(x, 3)  # False"),
        (operator("iter", X, out=[Ref(10), Ref(11)]), "t0, t1 = iter(x)"),
        (operator("getitem", X, 0), "t0 = x[0]"),
        (operator("getitem", X, -1), "t0 = x[-1]"),
        (operator("getitem", X, ()), "t0 = x[()]"),
        (operator("getitem", X, (0,)), "t0 = x[0,]"),
        (operator("getitem", X, slice(None)), "t0 = x[:]"),
        (operator("getitem", X, (slice(1, None), slice(None, -1), slice(0, 5, 2))), "t0 = x[1:, :-1, 0:5:2]"),
        (operator("getitem", X, (Ellipsis, None, slice(None, None, 2), Y)), "t0 = x[..., None, ::2, y]"),
        (operator("getitem", X, [0, 2]), "t0 = x[[0, 2]]"),
        (operator("setitem", X, (0, slice(None)), Y, out=None), "x[0, :] = y"),
        (operator("setitem", X, 0, -1.5, out=None), "x[0] = -1.5"),
        (Call("function", "cat", ([X, Y], 0), {}, T), "t0 = torch.cat([x, y], 0)"),
        (Call("function", "f", ((X,), ()), {}, T), "t0 = torch.f((x,), ())"),
        (Call("function", "f", ({"a": X, 1: "b"},), {}, T), 't0 = torch.f({"a": x, 1: "b"})'),
        (Call("function", "f", (OrderedDict(a=X),), {}, T), 't0 = torch.f(OrderedDict({"a": x}))'),
        (Call("function", "f", ("a\"'\n",), {}, T), 't0 = torch.f("a\\"\'\\n")'),
        (Call("method", "to", (X, Name("float64")), {}, T), "t0 = x.to(torch.float64)"),
        (Call("method", "to", (X, Device("cuda:1")), {}, T), 't0 = x.to(torch.device("cuda:1"))'),
        (Call("function", "f", (np.zeros((2, 3), np.int8),), {}, T), "t0 = torch.f(array(shape=(2, 3), dtype=int8))"),
        (Call("function", "f", (Opaque(object()),), {}, T), "t0 = torch.f(<object>)"),
        (Call("function", "max", (X,), {}, Named(("values", "indices"), (Ref(10), Ref(11)))), "t0, t1 = torch.max(x)"),
        (Call("function", "split", (X,), {}, (T,)), "(t0,) = torch.split(x)"),
        (Call("function", "lstm", (X,), {}, (Ref(10), (Ref(11), Ref(12)))), "t0, (t1, t2) = torch.lstm(x)"),
        (Call("function", "f", (X,), {}, (Ref(10), (Ref(11),))), "t0, (t1,) = torch.f(x)"),
        (Call("function", "f", (X,), {}, (Ref(10), 3, None)), "t0, _, _ = torch.f(x)"),
        (Call("function", "f", (X,), {}, (1, None)), "torch.f(x)  # (1, None)"),
        (Call("function", "f", (X,), {}, {"a": Ref(10), "b": Ref(11)}), "t0, t1 = torch.f(x).values()"),
        (Call("function", "f", (X,), {}, "text"), 'torch.f(x)  # "text"'),
        (Call("method", "stride", (X,), {}, (2, 1)), "x.stride()  # (2, 1)"),
        (Call("get", "dtype", (X,), {}, Name("float32")), "x.dtype  # torch.float32"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_line_of_a_call(call, line):
    """Each kind of call reads as the Python that makes it; a host read shows what the reference said."""
    assert printed(call) == [line]


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%"), ("pow", "**"),
        ("matmul", "@"), ("and_", "&"), ("or_", "|"), ("xor", "^"), ("lshift", "<<"), ("rshift", ">>"),
    ],
)  # fmt: skip
def test_infix_reflected_and_in_place(name, symbol):
    """Every arithmetic operator has its symbol on both sides and in place."""
    assert printed(operator(name, X, Y)) == [f"t0 = x {symbol} y"]
    assert printed(operator(name, 2, Y)) == [f"t0 = 2 {symbol} y"]
    assert printed(operator(f"i{name.rstrip('_')}", X, Y, out=X)) == [f"x {symbol}= y"]


@pytest.mark.parametrize(
    ("name", "symbol"), [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]
)
def test_comparisons(name, symbol):
    """Every comparison has its symbol."""
    assert printed(operator(name, X, 1)) == [f"t0 = x {symbol} 1"]


def test_whole_program():
    """Modules and tensors are numbered apart, a region indents, the result is returned."""
    calls = [
        Call("module", "nn.Linear", (3, 4), {}, Ref(2)),
        Call("module", "nn.ReLU", (), {}, Ref(3)),
        Call("call", "Linear", (Ref(2), X), {}, Ref(4)),
        Call("function", "no_grad", (), {}, Ref(5)),
        Call("enter", "enter", (Ref(5),), {}),
        Call("call", "ReLU", (Ref(3), Ref(4)), {}, Ref(6)),
        Call("function", "enable_grad", (), {}, Ref(7)),
        Call("enter", "enter", (Ref(7),), {}),
        Call("method", "add_", (Ref(6), 1), {}, Ref(6)),
        Call("exit", "exit", (Ref(7),), {}),
        Call("exit", "exit", (Ref(5),), {}),
        Call("get", "weight", (Ref(2),), {}, Ref(8)),
        operator("iadd", Ref(6), Ref(8), out=Ref(6)),
    ]
    inputs = [Input(0, "data", np.zeros(1), "float32"), Input(1, "", np.zeros(1), "float32")]
    assert str(Program(inputs, calls, {"out": Ref(6), "pair": (Ref(8), None)})) == (
        "def program(torch, data, y):\n"
        "    m0 = torch.nn.Linear(3, 4)\n"
        "    m1 = torch.nn.ReLU()\n"
        "    t0 = m0(data)\n"
        "    with torch.no_grad():\n"
        "        t1 = m1(t0)\n"
        "        with torch.enable_grad():\n"
        "            t1.add_(1)\n"
        "    t2 = m0.weight\n"
        "    t1 += t2\n"
        '    return {"out": t1, "pair": (t2, None)}'
    )


def test_names_of_many_inputs():
    """Six inputs have letters, the others numbers."""
    text = str(Program([Input(i, "", np.zeros(1), "float32") for i in range(8)]))
    assert text == "def program(torch, x, y, z, w, u, v, x6, x7):\n    pass"


def test_empty_program():
    """A Program without anything is a function that does nothing."""
    assert str(Program()) == "def program(torch):\n    pass"


def test_region_without_calls():
    """A region in which nothing happened is still a statement that Python can read."""
    calls = [
        Call("function", "no_grad", (), {}, Ref(5)),
        Call("enter", "enter", (Ref(5),), {}),
        Call("exit", "exit", (Ref(5),), {}),
        Call("function", "relu", (X,), {}, T),
    ]
    body = printed(*calls)
    assert body == ["with torch.no_grad():", "    pass", "t0 = torch.relu(x)"]
    # A shrunk Program may lack the end of it.
    assert str(Program([], calls[:2], Ref(6))) == (
        "def program(torch):\n    with torch.no_grad():\n        pass\n    return v6"
    )


def test_lines_know_their_calls():
    """Each line says which call it shows, the frame says none."""
    program = Program([], [Call("function", "no_grad", (), {}, Ref(5)), Call("function", "f", (), {}, T)], T)
    assert [line.call for line in lines(program)] == [None, 0, 1, None]


def test_names_of_values():
    """Values are known by the names that the printed Program gives them."""
    program = Program([Input(0, "", np.zeros(1), "float32")], [Call("function", "f", (X,), {}, (Ref(3), Ref(4)))])
    assert names(program) == {0: "x", 3: "t0", 4: "t1"}


def test_value_alone():
    """A value without Refs is shown as Python; a Ref that nothing bound has its number."""
    assert show((1, [2.0, None], "a")) == '(1, [2.0, None], "a")'
    assert show(Ref(7)) == "v7"


@pytest.mark.parametrize("call", [operator("add", X, Y), operator("getitem", X, (slice(1, 2), Ellipsis, None))])
def test_printed_text_compiles(call):
    """The printed Program is Python."""
    text = str(Program([Input(0, "", np.zeros(1), "f"), Input(1, "", np.zeros(1), "f")], [call], T))
    assert compile(text, "<program>", "exec")


def test_names_of_inputs_are_not_given_again():
    """A new value never takes the name of an input, such as that of an isolated call."""
    inputs = [Input(0, "t0", np.zeros(1), "float32"), Input(1, "m0", np.zeros(1), "float32")]
    calls = [Call("method", "clone", (X,), {}, T), Call("module", "nn.ReLU", (), {}, Ref(11))]
    assert str(Program(inputs, calls, (X, T))) == (
        "def program(torch, t0, m0):\n    t1 = t0.clone()\n    m1 = torch.nn.ReLU()\n    return (t0, t1)"
    )


def test_the_layout_of_an_input_is_told():
    """What lies in memory otherwise than packed at its start is said in a comment; the text stays Python."""
    inputs = [
        Input(0, "", np.zeros((2, 3)), "float32", strides=(1, 2)),
        Input(1, "", np.zeros((2, 3)), "float32"),
        Input(2, "", np.zeros(4), "float32", offset=3),
        Input(3, "", np.zeros(4), "float32", strides=(2,), offset=5),
    ]
    text = str(Program(inputs, [], Ref(0)))
    assert text == (
        "def program(torch, x, y, z, w):\n"
        "    # x has strides (1, 2) for shape (2, 3)\n"
        "    # z has storage offset 3\n"
        "    # w has strides (2,) for shape (4,), storage offset 5\n"
        "    return x"
    )
    assert compile(text, "<program>", "exec")
    assert str(Program(inputs[2:3], [])) == "def program(torch, x):\n    # x has storage offset 3\n    pass"


def test_no_input_takes_the_name_that_another_was_given():
    """Inputs with and without names of their own are told apart."""
    inputs = [
        Input(0, "", np.zeros(1), "float32"),
        Input(1, "", np.zeros(1), "float32"),
        Input(2, "y", np.zeros(1), "float32"),
    ]
    assert lines(Program(inputs, [], X))[0].text == "def program(torch, x, z, y):"
