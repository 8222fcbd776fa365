"""Calls otherwise than a program made them: an expression with another size, dtype, layout, range, argument or op."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from autotest.expressions.grammar import ROOTS

T = TypeVar("T")
#: One of 0 ... n - 1, as whoever draws decides.
Below = Callable[[int], int]

#: Sizes that a dimension becomes, besides one more than it has.
SIZES = (0, 1, 2, 33, 129)
#: A tensor with a long dimension has at most so many elements.
MOST_ELEMENTS = 1 << 12
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool")
#: Where values lie: in one point, about 0, far from it, beyond what a square or an exponential can hold.
RANGES = ((0, 1), (-1, 1), (-1000, 1000), (-1e-30, 1e-30), (1e18, 1e20), (-100, -50))
INTEGERS = (0, 1, -1, 2, 7)
FLOATS = (0.0, -1.0, 0.5, 1e-12, 1e10)
#: Ops that take the same arguments.
FAMILIES = (
    (
        *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "digamma", "erf", "erfc"),
        *("erfinv", "exp", "exp2", "expm1", "floor", "frac", "isfinite", "isinf", "isnan", "lgamma", "log", "log10"),
        *("log1p", "log2", "logical_not", "neg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sin"),
        *("sinh", "sqrt", "square", "tan", "tanh", "trunc"),
    ),
    (
        *("celu", "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu"),
        *("relu6", "selu", "sigmoid", "silu", "softplus", "softsign", "tanh", "tanhshrink"),
    ),
    (
        *("add", "atan2", "div", "eq", "floor_divide", "fmod", "ge", "gt", "le", "logical_and", "logical_or"),
        *("logical_xor", "lt", "maximum", "minimum", "mul", "ne", "pow", "remainder", "sub"),
    ),
    ("all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"),
    ("cumprod", "cumsum", "log_softmax", "logsumexp", "softmax", "softmin"),
    ("triu", "tril"),
    ("cat", "concat", "hstack", "stack", "vstack"),
    ("chunk", "split", "tensor_split"),
    ("flatten", "squeeze", "unsqueeze"),
    ("bmm", "matmul"),
    ("batch_norm", "instance_norm"),
    ("avg_pool1d", "max_pool1d"),
    ("avg_pool2d", "max_pool2d"),
    ("adaptive_avg_pool2d", "adaptive_max_pool2d"),
    ("huber_loss", "kl_div", "l1_loss", "mse_loss", "smooth_l1_loss", "soft_margin_loss"),
    ("binary_cross_entropy", "binary_cross_entropy_with_logits"),
    ("zeros_like", "ones_like", "empty_like", "rand_like"),
)
_ARITHMETIC: tuple[type[ast.operator], ...] = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    ast.MatMult,
)
_BITS: tuple[type[ast.operator], ...] = (ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def mutate(text: str, others: Sequence[str], below: Below) -> str:
    """An expression with one thing changed, of those that it has; `others` are calls of the same op, whose keywords it
    may take over. It need not mean anything to PyTorch, nor to `parse`.
    """
    kinds = [_size, _shared_size, _rank, _dtype, _layout, _range, _constant, _dropped, _added, _swapped]
    while kinds:
        changed = ast.parse(text, mode="eval")
        if kinds.pop(below(len(kinds)))(changed, others, below):
            return ast.unparse(ast.fix_missing_locations(changed))
    return text


class _Input:
    """A place where an input is first told: `x[2, 3]`, or the call `x[2, 3](low=0)`."""

    def __init__(self, subscript: ast.Subscript, call: ast.Call | None) -> None:
        self.subscript = subscript
        self.call = call

    @property
    def node(self) -> ast.expr:
        """All of it."""
        return self.call or self.subscript

    @property
    def sizes(self) -> list[int]:
        """Its sizes, where all are numbers; `x[()]` has none."""
        index = self.subscript.slice
        nodes = index.elts if isinstance(index, ast.Tuple) else [index]
        found = [node.value for node in nodes if isinstance(node, ast.Constant)]
        return [size for size in found if type(size) is int] if len(found) == len(nodes) else []

    @property
    def dtype(self) -> str:
        """The name of its dtype."""
        given = [keyword.value for keyword in (self.call.keywords if self.call else []) if keyword.arg == "dtype"]
        return ast.unparse(given[0]).removeprefix("torch.").strip("'") if given else "float32"

    def resize(self, sizes: Sequence[int]) -> None:
        """Give it other sizes."""
        nodes: list[ast.expr] = [ast.Constant(size) for size in sizes]
        self.subscript.slice = nodes[0] if len(nodes) == 1 else ast.Tuple(nodes, ast.Load())

    def give(self, tree: ast.Expression, **keywords: object) -> None:
        """Draw it with these arguments, in the place of those of their names."""
        given = [ast.keyword(name, ast.parse(repr(value), mode="eval").body) for name, value in keywords.items()]
        if self.call is None:
            _replace(tree, self.subscript, ast.Call(self.subscript, [], given))
        else:
            self.call.keywords = [k for k in self.call.keywords if k.arg not in keywords] + given


def _inputs(tree: ast.Expression) -> list[_Input]:
    """The inputs of an expression, in order."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id not in ROOTS:
            found.append(_Input(node, calls.get(id(node))))
    return found


def _sized(tree: ast.Expression) -> list[_Input]:
    """Those whose sizes are numbers."""
    return [one for one in _inputs(tree) if one.sizes]


def _one_sized(tree: ast.Expression, below: Below) -> _Input | None:
    """One of those, where there are any."""
    sized = _sized(tree)
    return _pick(sized, below) if sized else None


def _replace(tree: ast.AST, old: ast.expr, new: ast.expr) -> None:
    """Put one node in the place of another, wherever that stands."""
    for parent in ast.walk(tree):
        if parent is new:
            continue
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                value[:] = [new if item is old else item for item in value]


def _pick(items: Sequence[T], below: Below) -> T:
    return items[below(len(items))]


def _other_size(size: int, elements: Callable[[int], int], below: Below) -> int:
    """Another size, with which the largest input has so many elements."""
    fits = [new for new in (*SIZES, size + 1) if new != size and elements(new) <= MOST_ELEMENTS]
    return _pick(fits, below) if fits else 1


def _size(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """One size of one input: 0, 1, long, or one more."""
    chosen = _one_sized(tree, below)
    if chosen is None:
        return False
    sizes = chosen.sizes
    axis = below(len(sizes))
    rest = math.prod([*sizes[:axis], *sizes[axis + 1 :]])
    sizes[axis] = _other_size(sizes[axis], lambda new: new * rest, below)
    chosen.resize(sizes)
    return True


def _shared_size(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """A size wherever an input has it, so that they go on to fit."""
    sized = _sized(tree)
    if not sized:
        return False
    old = _pick(_pick(sized, below).sizes, below)

    def elements(new: int) -> int:
        return max(math.prod(new if size == old else size for size in one.sizes) for one in sized)

    new = _other_size(old, elements, below)
    for one in sized:
        one.resize([new if size == old else size for size in one.sizes])
    return True


def _rank(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """One dimension more in front of an input, or less."""
    chosen = _one_sized(tree, below)
    if chosen is None:
        return False
    sizes = chosen.sizes
    chosen.resize(sizes[1:] if len(sizes) > 1 and below(2) else [1 + below(3), *sizes])
    return True


def _dtype(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """Another dtype of one input, or of all."""
    inputs = _inputs(tree)
    if not inputs:
        return False
    dtype = _pick(DTYPES, below)
    for one in inputs if below(2) else [_pick(inputs, below)]:
        one.give(tree, dtype=dtype)
        if one.call is not None:  # of another dtype its range and its gradient are others
            one.call.keywords = [k for k in one.call.keywords if k.arg not in ("low", "high", "requires_grad")]
    return True


def _layout(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """One input that lies transposed, every second element of a longer one, or one row expanded."""
    chosen = _one_sized(tree, below)
    if chosen is None:
        return False
    sizes = chosen.sizes
    way = below(3) if len(sizes) > 1 else 1 + below(2)
    if way == 0:
        first, second = 0, 1 + below(len(sizes) - 1)
        sizes[first], sizes[second] = sizes[second], sizes[first]
        behind = f"it.transpose({first}, {second})"
    elif way == 1:
        sizes[-1] *= 2
        behind = "it[..., ::2]"
    else:
        behind = f"it.expand({', '.join(map(str, sizes))})"
        sizes[0] = 1
    node = chosen.node
    place = ast.parse(behind, mode="eval").body
    _replace(tree, node, place)
    [name] = [n for n in ast.walk(place) if isinstance(n, ast.Name) and n.id == "it"]
    _replace(place, name, node)
    chosen.resize(sizes)
    return True


def _range(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """Another range of the values of one input that can hold it."""
    inputs = [one for one in _inputs(tree) if one.dtype in ("float32", "float64")]
    if not inputs:
        return False
    low, high = _pick(RANGES, below)
    _pick(inputs, below).give(tree, low=low, high=high)
    return True


def _arguments(tree: ast.Expression) -> list[ast.Call]:
    """The calls of ops: not those in which an input is told."""
    told = {id(one.call) for one in _inputs(tree)}
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in told]


def _constant(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """Another number or truth value of an argument."""
    told = {id(node) for one in _inputs(tree) for node in ast.walk(one.node)}
    numbers = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float) and id(node) not in told
    ]
    if not numbers:
        return False
    node = _pick(numbers, below)
    if isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node.value, int):
        node.value = _pick([*INTEGERS, node.value + 1], below)
    else:
        node.value = _pick(FLOATS, below)
    return True


def _dropped(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """Without one of its keywords."""
    calls = [call for call in _arguments(tree) if call.keywords]
    if not calls:
        return False
    del (call := _pick(calls, below)).keywords[below(len(call.keywords))]
    return True


def _added(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """With a keyword that another call of the op has."""
    if not isinstance(tree.body, ast.Call):
        return False
    own = {keyword.arg for keyword in tree.body.keywords}
    found = [
        keyword
        for text in others
        if isinstance(other := ast.parse(text, mode="eval").body, ast.Call)
        for keyword in other.keywords
        if keyword.arg not in own and isinstance(keyword.value, (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp))
    ]
    if not found:
        return False
    tree.body.keywords.append(_pick(found, below))
    return True


def _swapped(tree: ast.Expression, others: Sequence[str], below: Below) -> bool:
    """Another op of its family, called as this one is."""
    node = tree.body
    if isinstance(node, ast.BinOp):
        family = _BITS if isinstance(node.op, _BITS) else _ARITHMETIC
        node.op = _pick([kind for kind in family if not isinstance(node.op, kind)], below)()
        return True
    if isinstance(node, ast.Compare):
        node.ops = [_pick([kind for kind in _COMPARISONS if not isinstance(node.ops[0], kind)], below)()]
        return True
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return False
    families = [family for family in FAMILIES if function.attr in family]
    if not families:
        return False
    function.attr = _pick([name for name in _pick(families, below) if name != function.attr], below)
    return True


__all__ = ["mutate"]
