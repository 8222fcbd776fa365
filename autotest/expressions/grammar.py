"""The grammar of `autotest check`: an expression of Python's syntax, read from its tree and never evaluated.

torch.softmax(x[2, 3], dim=-1)           a tensor of 2 x 3, drawn anew for each case
nn.Conv2d(3, 8, 3)(x[2, 3, n, n])        n is one size per case
torch.lgamma(x[4](low=0.5, high=4))      what `random_tensor` takes besides
torch.relu(tensor([1.0, nan]))           these very values
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from autotest.errors import UsageError
from autotest.expressions.naming import OPERATORS, op_name
from autotest.expressions.reach import no_op, no_part
from dual_object.meant import did_you_mean
from generators import DTYPES

#: What stands for a part of the framework.
ROOTS = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
GENERATORS = ("nothing", "oneof", "random", "random_bool", "random_device", "random_dtype", "random_or_nothing")
#: What an input takes in brackets behind its sizes: the arguments of `random_tensor`.
KEYWORDS = ("low", "high", "dtype", "requires_grad", "distinct")
MOST_SIZES = 5
_TYPES = ("int", "float", "bool")
#: Names that mean something in the test file or here.
_TAKEN = frozenset(
    {*ROOTS, *GENERATORS, *_TYPES, "autotest", "random_tensor", "dual_tensor", "pytorch", "tensor", "nan", "inf"}
)
_NAMES = ("x", "y", "z", "w", "u", "v")
#: What Python has and this has not, in words.
_FOREIGN: Mapping[type[ast.AST], str] = {
    ast.BoolOp: "`and` and `or` are no ops of tensors, but should be & and |",
    ast.Not: "`not` is no op of tensors, but should be ~",
    ast.Lambda: "a lambda cannot be recorded, but should be calls of ops",
    ast.IfExp: "an `if` cannot be drawn here, but should be torch.where(...) or a test in a file",
    ast.Starred: "`*` cannot be drawn here, but should be the arguments one by one",
    ast.Dict: "a dict is no argument here, but should be a number, tensor, tuple or list",
}


class ExpressionError(UsageError):
    """An expression of `autotest check` means nothing; it shows the place."""

    def __init__(self, text: str, column: int, message: str) -> None:
        super().__init__(f"{text}\n{' ' * column}^\n{message}")


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression, read.

    Attributes:
        text: as it was typed.
        bindings: the statements that draw its sizes and inputs, by the name that each binds, in order.
        returned: the expression of what is returned, by these names.
        op: what it calls last, such as `softmax`.
        uses: names of `autotest` that it needs; `pinned` whether an input has given values; `draws` whether anything is
            drawn.
    """

    text: str
    bindings: Mapping[str, str]
    returned: str
    op: str
    uses: frozenset[str]
    pinned: bool
    draws: bool


def parse(text: str) -> Expression:
    """Read an expression. Raises ExpressionError, which shows the column and says what should stand there."""
    text = text.strip().replace("\n", " ")
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        column = min(max((error.offset or 1) - 1, 0), len(text))
        raise ExpressionError(text, column, f"{error.msg}, but should be an expression such as {_EXAMPLE}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # a NUL; nested too deep
        raise ExpressionError(text, 0, f"{error}, but should be an expression such as {_EXAMPLE}") from None
    try:
        return _Reader(text, tree).read()
    except RecursionError:
        raise ExpressionError(text, 0, f"this is nested too deep, but should be simpler, as {_EXAMPLE}") from None


_NO_OP = "{0} is a tensor, but should be an op: what it is drawn from is written once, as {0}[2, 3](low=0, high=1)"
_EXAMPLE = "torch.softmax(x[2, 3], dim=-1)"


@dataclass
class _Reader:
    """Reads one tree: each node is checked, and rewritten as the body of a test has it."""

    text: str
    tree: ast.expr
    bindings: dict[str, str] = field(default_factory=dict)
    uses: set[str] = field(default_factory=set)
    pinned: bool = False
    #: Inputs as they were first given, to be held against their repetitions.
    given: dict[str, str] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    #: `:=` that are read already: a size may be named before its range is.
    bound: set[int] = field(default_factory=set)

    def read(self) -> Expression:
        """The whole."""
        self._find_names()
        node = self._expression(self.tree)
        computes = self.inputs or any(isinstance(part, (ast.Call, ast.Attribute)) for part in ast.walk(self.tree))
        if isinstance(node, (ast.Name, ast.Constant)) or _is_generator(self.tree) or not computes:
            self._fail(self.tree, f"this calls no op, but should, such as {_EXAMPLE}")
        self._refuse_uncalled()
        returned = ast.unparse(ast.fix_missing_locations(node))
        draws = bool(self.uses - {"dual_tensor"})
        return Expression(
            self.text, self.bindings, returned, op_name(self.tree), frozenset(self.uses), self.pinned, draws
        )

    def _refuse_uncalled(self) -> None:
        """Refuse an op or a module that is only named, `torch.relu`, and a module that is only made, `nn.ReLU()`: there
        would be nothing to compare.
        """
        made = isinstance(self.tree, ast.Call)
        named = self.tree.func if isinstance(self.tree, ast.Call) else self.tree
        path = ast.unparse(named)
        if not re.fullmatch(rf"({'|'.join(ROOTS)})(\.\w+)+", path):
            return
        whole = self.text if made else path
        module = path.rpartition(".")[2][:1].isupper()
        # A tensor is for the call.
        bare = f"{path}()" if not made or self.inputs else whole
        if made and module:
            self._fail(self.tree, f"{whole} makes a module, but should call it, too, such as {bare}(x[2, 3])")
        if not made:
            self._fail(self.tree, f"{whole} calls no op, but should, such as {bare if module else whole}(x[2, 3])")

    def _find_names(self) -> None:
        """The names of inputs and sizes: an input may be named before its sizes are."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.NamedExpr):
                (self.inputs if _is_input(node.value) else self.sizes).add(node.target.id)
            elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                self.inputs.add(node.value.id)
                self.sizes |= {
                    name.id
                    for size in _dimensions(node.slice)
                    for name in ast.walk(size)
                    if isinstance(name, ast.Name) and name.id not in (*GENERATORS, *_TYPES)
                }

    def _fail(self, node: ast.AST, message: str) -> NoReturn:
        # Columns of a tree count bytes.
        before = self.text.encode()[: getattr(node, "col_offset", 0)].decode(errors="ignore")
        raise ExpressionError(self.text, len(before), message)

    # Expressions

    def _expression(self, node: ast.expr) -> ast.expr:
        """A node as the body has it."""
        read: Callable[[Any], ast.expr] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if read is None:
            said = _FOREIGN.get(type(node), f"{_words(node)} is none of its parts, but should be a call, an operator, "
                                            "an input, a number, a string, a tuple or a list")  # fmt: skip
            self._fail(node, said)
        return read(node)

    def _constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, bytes):
            self._fail(node, "bytes are no argument, but should be a string")
        return _raw(json.dumps(node.value)) if isinstance(node.value, str) else node

    def _name(self, node: ast.Name, attribute: str = "") -> ast.expr:
        name = node.id
        if name in ROOTS:
            return _raw(ROOTS[name])
        if name in ("nan", "inf"):
            return _raw(f'float("{name}")')
        if name in self.inputs:
            return node
        if name in self.sizes:
            self._size_name(node)
            return node
        if name in DTYPES:
            return _raw(f"torch.{name}")
        return self._fail(node, self._holds_none(name, attribute) if attribute else self._unknown(name))

    def _unknown(self, name: str) -> str:
        known = [*self.inputs, *self.sizes, *ROOTS, *GENERATORS, "tensor", "nan", "inf", *DTYPES]
        first = f"{name}[2, 3] or {name}[n]{did_you_mean(name, known)}"
        return f"{name} has no sizes, but should have them where it is first named, such as {first}"

    def _holds_none(self, name: str, attribute: str) -> str:
        told = f"{name} is no part of PyTorch, but should be {_listed(tuple(ROOTS))}"
        return f"{told}; an input has its sizes where it is first named, such as {name}[2, 3].{attribute}"

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr.startswith("_"):
            self._fail(node, f"{node.attr} is private, but should be a public name")
        inner = node.value
        holder = self._name(inner, node.attr) if isinstance(inner, ast.Name) else self._expression(inner)
        refused = no_op(node.attr)
        if refused is None and isinstance(inner, ast.Attribute) and _is_of_pytorch(inner):
            refused = no_part(inner.attr)
        if refused is not None:
            self._fail(node, refused)
        return ast.Attribute(holder, node.attr, ast.Load())

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name):
            return self._input(node, [])
        return ast.Subscript(self._expression(node.value), self._expression(node.slice), ast.Load())

    def _slice(self, node: ast.Slice) -> ast.expr:
        ends = [None if end is None else self._expression(end) for end in (node.lower, node.upper, node.step)]
        return ast.Slice(*ends)

    def _tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple([self._expression(item) for item in node.elts], ast.Load())

    def _list(self, node: ast.List) -> ast.expr:
        return ast.List([self._expression(item) for item in node.elts], ast.Load())

    def _binop(self, node: ast.BinOp) -> ast.expr:
        return ast.BinOp(self._expression(node.left), node.op, self._expression(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            self._fail(node, _FOREIGN[ast.Not])
        return ast.UnaryOp(node.op, self._expression(node.operand))

    def _compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1 or type(node.ops[0]) not in OPERATORS:
            self._fail(node, "this comparison is no op of tensors, but should be one of == != < <= > >= between two")
        return ast.Compare(self._expression(node.left), node.ops, [self._expression(node.comparators[0])])

    def _namedexpr(self, node: ast.NamedExpr) -> ast.expr:
        name, value = node.target.id, node.value
        if id(node) in self.bound:
            return ast.Name(name, ast.Load())
        self.bound.add(id(node))
        if name in _TAKEN:
            self._fail(node, f"{name} has a meaning already, but should be a new name")
        if name in self.bindings:
            self._fail(node, f"{name} is given twice, but should be once: further on write {name} alone")
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "tensor":
            self.bindings[name] = self._pinned(value)
        elif _is_generator(value):
            self.bindings[name] = ast.unparse(ast.fix_missing_locations(self._expression(value)))
        else:
            self._fail(value, f"{name} := takes a generator or a tensor, such as {name} := random(1, 5)")
        return ast.Name(name, ast.Load())

    # Calls

    def _call(self, node: ast.Call) -> ast.expr:
        function = node.func
        if isinstance(function, ast.Subscript) and isinstance(function.value, ast.Name):
            if node.args:
                self._fail(node.args[0], f"{function.value.id}[...](...) takes {_listed(KEYWORDS)} by name")
            self._once(node.keywords)
            return self._input(function, node.keywords)
        if isinstance(function, ast.Name):
            return self._named_call(node, function.id)
        if isinstance(function, ast.Attribute) and function.attr == "to" and _is_generator(function.value):
            return self._typed(node, function)
        called = self._expression(function)
        if isinstance(called, ast.Name) and called.id in self.bindings:
            self._fail(node, _NO_OP.format(called.id))
        return ast.Call(called, *self._arguments(node))

    def _arguments(self, node: ast.Call) -> tuple[list[ast.expr], list[ast.keyword]]:
        self._once(node.keywords)
        keywords = [ast.keyword(keyword.arg, self._expression(keyword.value)) for keyword in node.keywords]
        return [self._expression(argument) for argument in node.args], keywords

    def _once(self, keywords: list[ast.keyword]) -> None:
        names: set[str] = set()
        for keyword in keywords:
            if keyword.arg is None:
                self._fail(keyword.value, "`**` cannot be drawn here, but should be the arguments one by one")
            if keyword.arg in names:
                self._fail(keyword, f"{keyword.arg}= is given twice, but should be once")
            names.add(keyword.arg)

    def _named_call(self, node: ast.Call, name: str) -> ast.expr:
        if name in GENERATORS:
            self.uses.add(name)
            return ast.Call(ast.Name(name, ast.Load()), *self._arguments(node))
        if name == "tensor":
            free = next(candidate for candidate in self._free_names())
            self.bindings[free] = self._pinned(node)
            return ast.Name(free, ast.Load())
        if name in self.inputs:
            self._fail(node, _NO_OP.format(name))
        spelled = f"nn.{name}(...)" if name[:1].isupper() else f"torch.{name}(...) or F.{name}(...)"
        known = f"such as {spelled}, or be a generator: {_listed(GENERATORS)}"
        return self._fail(node, f"{name}(...) has no framework before it, but should, {known}")

    def _typed(self, node: ast.Call, function: ast.Attribute) -> ast.expr:
        kind = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(kind, ast.Name) or kind.id not in _TYPES:
            self._fail(node, f".to(...) of a generator takes one of {_listed(_TYPES)}")
        return ast.Call(ast.Attribute(self._expression(function.value), "to", ast.Load()), [kind], [])

    def _free_names(self) -> list[str]:
        taken = {*self.inputs, *self.sizes, *self.bindings}
        return [name for name in (*_NAMES, *(f"x{number}" for number in range(6, 99))) if name not in taken]

    # Inputs

    def _input(self, node: ast.Subscript, keywords: list[ast.keyword]) -> ast.expr:
        """`x[2, n]`, with `(low=0, high=1)` or without: a tensor that is drawn, once per case."""
        assert isinstance(node.value, ast.Name)
        name = node.value.id
        if name in _TAKEN:
            self._fail(node, f"{name}[...] is no input, but should be a name of your own, such as x[2, 3]")
        spelled = ast.unparse(ast.Call(node, [], keywords) if keywords else node)
        first = self.given.get(name, spelled)
        if spelled != first:
            same = f"should be the same, or {name} alone; an index of it is {first}[...]"
            self._fail(node, f"{spelled} is another input than {first}, but {same}")
        if name not in self.given:
            if name in self.bindings:
                self._fail(node, f"{name} has a value already, but should be a name of its own")
            self.given[name] = spelled
            arguments = [*self._sizes(node), *self._keywords(name, keywords)]
            self.uses.add("random_tensor")
            self.bindings[name] = f"random_tensor({', '.join(arguments)})"
        return ast.Name(name, ast.Load())

    def _sizes(self, node: ast.Subscript) -> list[str]:
        sizes = _dimensions(node.slice)
        if len(sizes) == 1 and isinstance(sizes[0], ast.Constant) and sizes[0].value is Ellipsis:
            return []
        if len(sizes) > MOST_SIZES:
            self._fail(sizes[MOST_SIZES], f"{len(sizes)} sizes are given, but should be at most {MOST_SIZES}")
        spelled = [(f"dim{axis}", self._size(size)) for axis, size in enumerate(sizes)]
        return [f"ndim={len(sizes)}", *(f"{name}={size}" for name, size in spelled if size)]

    def _size(self, size: ast.expr) -> str:
        """One size as `random_tensor` takes it; empty where it is left open."""
        if isinstance(size, ast.Slice):
            if size.lower is None and size.upper is None and size.step is None:
                return ""
            low, high = (end.value if isinstance(end, ast.Constant) else None for end in (size.lower, size.upper))
            if type(low) is not int or type(high) is not int or size.step is not None:
                self._fail(node=size, message="a range of sizes has two whole numbers, such as 1:6 for 1 to 5, or none")
            if low >= high:
                self._fail(size, f"{low}:{high} holds no size, but should begin below its end, such as 1:6 for 1 to 5")
            self.uses.add("random")
            return f"random({low!r}, {high!r})"
        if isinstance(size, ast.Constant) and (type(size.value) is not int or size.value < 0):
            self._fail(size, f"{ast.unparse(size)} is no size, but should be a whole number of at least 0, a name, "
                             "a range such as 1:6, or `:` for any")  # fmt: skip
        if isinstance(size, ast.UnaryOp):
            self._fail(size, f"{ast.unparse(size)} is no size, but should be at least 0")
        for part in ast.walk(size):
            if isinstance(part, ast.Name) and part.id in self.inputs:
                self._fail(part, f"{part.id} is a tensor, but should be a size: a number or a name such as n")
        return ast.unparse(ast.fix_missing_locations(self._expression(size)))

    def _size_name(self, node: ast.Name) -> None:
        """A size by its name is one value per case: of any range that `:=` says, else 1 to 7."""
        if node.id not in self.bindings and not self._given_later(node.id):
            self.uses.add("random")
            self.bindings[node.id] = "random(1, 8).to(int)"

    def _given_later(self, name: str) -> bool:
        later = [node for node in ast.walk(self.tree) if isinstance(node, ast.NamedExpr) and node.target.id == name]
        for node in later[:1]:
            if name not in self.bindings:
                self._namedexpr(node)
        return bool(later)

    def _keywords(self, name: str, keywords: list[ast.keyword]) -> list[str]:
        spelled = []
        given = {keyword.arg for keyword in keywords}
        for keyword in keywords:
            if keyword.arg not in KEYWORDS:
                known = f"should be one of {_listed(KEYWORDS)}"
                self._fail(keyword, f"{keyword.arg}= is none of the arguments of {name}, but {known}")
            if keyword.arg in ("low", "high") and not given >= {"low", "high"}:
                self._fail(keyword, f"{keyword.arg}= is given alone, but should come with both low= and high=")
            value = self._dtype(keyword.value) if keyword.arg == "dtype" else self._expression(keyword.value)
            spelled.append(f"{keyword.arg}={ast.unparse(ast.fix_missing_locations(value))}")
        return spelled

    def _dtype(self, node: ast.expr) -> ast.expr:
        spelled = ast.unparse(node).removeprefix("torch.").strip("'\"")
        if spelled in DTYPES:
            return _raw(f"torch.{spelled}")
        if spelled in _TYPES or (isinstance(node, ast.Call) and _is_generator(node)):
            return self._expression(node) if isinstance(node, ast.Call) else node
        return self._fail(node, f"dtype={ast.unparse(node)}, but should be one of {_listed(tuple(DTYPES))}")

    def _pinned(self, node: ast.Call) -> str:
        """`tensor([1.0, nan])`: an input of these very values."""
        self.pinned = True
        self.uses.add("dual_tensor")
        if len(node.args) != 1:
            self._fail(node, "tensor(...) takes its values as numbers or nested lists, such as tensor([1.0, nan])")
        self._shape(node.args[0])
        arguments = [ast.unparse(ast.fix_missing_locations(self._expression(node.args[0])))]
        for keyword in node.keywords:
            spelled = ast.unparse(keyword.value)
            if keyword.arg == "dtype":
                arguments.append(f"dtype={ast.unparse(self._dtype(keyword.value)).replace('torch.', 'pytorch.')}")
            elif keyword.arg == "requires_grad" and spelled in ("True", "False"):
                arguments.append(f"requires_grad={spelled}")
            else:
                self._fail(keyword, "tensor(...) takes dtype= and requires_grad=True or False besides its values")
        return f"dual_tensor(pytorch.tensor({', '.join(arguments)}))"

    def _shape(self, node: ast.expr) -> tuple[int, ...]:
        """The shape of nested lists of numbers."""
        if isinstance(node, ast.List):
            shapes = [self._shape(item) for item in node.elts]
            for item, shape in zip(node.elts, shapes, strict=True):
                if shape != shapes[0]:
                    self._fail(item, f"this has the shape {shape}, but should have {shapes[0]} as the one before")
            return (len(shapes), *(shapes[0] if shapes else ()))
        number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
        named = isinstance(number, ast.Name) and number.id in ("nan", "inf")
        if not named and not (isinstance(number, ast.Constant) and isinstance(number.value, (int, float, complex))):
            self._fail(node, f"{ast.unparse(node)} is no number, but should be one, or a list of such")
        return ()


def _dimensions(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _is_of_pytorch(node: ast.expr) -> bool:
    """Whether a dotted name begins with PyTorch."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ROOTS


def _is_generator(node: ast.expr) -> bool:
    """Whether a node draws an argument: `random(1, 5)`, `random(1, 5).to(int)`, `random(1, 5) * 2`."""
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        numbers = [side for side in sides if isinstance(side, (ast.Constant, ast.UnaryOp))]
        drawn = [side for side in sides if _is_generator(side)]
        return bool(drawn) and len(drawn) + len(numbers) == len(sides)  # `random(1, 5) * x[2]` is a tensor
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "to" and _is_generator(node.func.value)
    return isinstance(node.func, ast.Name) and node.func.id in GENERATORS


def _is_input(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tensor"


def _raw(code: str) -> ast.expr:
    """Code as a node: `ast.unparse` writes a name as it is."""
    return ast.Name(code, ast.Load())


def _words(node: ast.AST) -> str:
    name = type(node).__name__
    return {"JoinedStr": "an f-string", "ListComp": "a comprehension", "GeneratorExp": "a comprehension"}.get(
        name, f"Python's {name}"
    )


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
