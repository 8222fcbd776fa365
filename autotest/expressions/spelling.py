"""A Program as one expression of `autotest check`, with its very inputs, to be pasted back into a shell."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections import Counter

import numpy as np

from autotest.expressions.grammar import ExpressionError, parse
from dual_object.program.calls import Call, Input
from dual_object.program.printing import lines, names, show
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref, leaves

#: Longer ones are no text for a shell.
MOST_CHARACTERS = 120
_IMPLIED = {"f": "float32", "i": "int64", "b": "bool"}


def command(program: Program) -> str | None:
    """The command that checks this Program again, None where it is no one expression."""
    expression = spelled(program)
    if expression is None:
        return None
    stateful = any(call.state for call in program.calls)
    return f"autotest check {shlex.quote(expression)}" + "  # its parameters are drawn anew" * stateful


def spelled(program: Program) -> str | None:
    """A Program as one expression that `parse` reads; None where it is none: it does something in several steps, is
    long, or has inputs that do not lie packed in memory.
    """
    if program.second_cotangents or program.inline is not None or not _plain_inputs(program):
        return None
    if any(call.kind == "enter" for call in program.calls):  # a region is a statement
        return None
    try:
        node = _Folding(program).expression()
        expression = ast.unparse(ast.fix_missing_locations(node))
        parse(expression)
    except (_Steps, ExpressionError):
        return None
    return expression if len(expression) <= MOST_CHARACTERS else None


def _plain_inputs(program: Program) -> bool:
    """Whether each input is told by values, dtype and requires_grad alone."""
    packed = all(x.strides is None and not x.offset and x.layout is None for x in program.inputs)
    told = all(x.data.size or x.data.shape == (0,) for x in program.inputs)
    arrays = any(isinstance(leaf, np.ndarray) for call in program.calls for leaf in leaves(call.args))
    return packed and told and not arrays


class _Steps(Exception):  # noqa: N818 - no error: it takes more than one expression
    pass


class _Folding(ast.NodeTransformer):
    """Puts each printed statement of a Program in the place where its value is used."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names = names(program)
        self._values: dict[str, ast.expr] = {self._names[x.id]: _tensor(x) for x in program.inputs}
        self._reads = Counter(name for line in lines(program) for name in _names_read(line.text))
        #: Inputs that are read several times keep their names; any other value has one place.
        self._kept = {name for name in self._values if self._reads[name] > 1}
        self._placed: set[str] = set()

    def expression(self) -> ast.expr:
        """What the Program returns. Raises _Steps."""
        returned = None
        for line in lines(self._program):
            text = line.text.strip()
            if line.call is not None:
                self._fold(text, self._program.calls[line.call])
            elif text.startswith("return "):
                returned = self._substituted(ast.parse(text.removeprefix("return "), mode="eval").body)
        if returned is None or not self._values.keys() <= self._placed:  # what nothing uses would not be run
            raise _Steps
        return returned

    def _fold(self, text: str, call: Call) -> None:
        if call.kind in ("set", "enter", "exit", "custom") or call.raises:
            raise _Steps
        [statement] = ast.parse(text).body
        if isinstance(statement, ast.Expr) and type(call.out) is Ref and call.out.id in call.operands():
            self._bind(self._names[call.out.id], self._substituted(statement.value))  # it gave itself, as `eval` does
        elif not isinstance(statement, ast.Assign):
            raise _Steps
        else:
            value = self._substituted(statement.value)
            target = statement.targets[0]
            items = target.elts if isinstance(target, ast.Tuple) else [target]
            bound = [(item.id, place) for place, item in enumerate(items) if isinstance(item, ast.Name)]
            [(name, place), *others] = [(name, place) for name, place in bound if self._reads[name]] or [("", 0)]
            if not name or others or len(bound) < len(items):
                raise _Steps
            group = isinstance(target, ast.Tuple)
            self._bind(name, ast.Subscript(value, ast.Constant(place), ast.Load()) if group else value)

    def _bind(self, name: str, value: ast.expr) -> None:
        if name in self._kept:
            raise _Steps
        self._values[name] = value
        self._placed.discard(name)

    def _substituted(self, node: ast.expr) -> ast.expr:
        made: ast.expr = self.visit(node)
        return made

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A string in the quotes that a shell's own quotes may hold."""
        return ast.Name(json.dumps(node.value), ast.Load()) if isinstance(node.value, str) else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A value in the place of its name."""
        name = node.id
        if name not in self._values:
            return node
        again = name in self._placed
        self._placed.add(name)
        if name in self._kept:
            return node if again else ast.NamedExpr(ast.Name(name, ast.Store()), self._values[name])
        if again:
            raise _Steps
        return self._values[name]


def _names_read(text: str) -> list[str]:
    if text.startswith("def "):
        return []
    tree = ast.parse(text.strip().removeprefix("return "))
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def _tensor(x: Input) -> ast.expr:
    implied = _IMPLIED.get(x.data.dtype.kind) == x.dtype
    parts = [_literal(x.data), *([] if implied else [f"dtype={x.dtype}"])]
    parts += ["requires_grad=True"] if x.requires_grad else []
    return ast.parse(f"tensor({', '.join(parts)})", mode="eval").body


def _literal(data: Array) -> str:
    """The values as nested lists, of floats the shortest digits that mean the same number."""
    if data.dtype.kind == "f":
        data = np.array([float(str(value)) for value in data.reshape(-1)]).reshape(data.shape)
    return re.sub(r'float\("(-?)(inf|nan)"\)', r"\1\2", show(data.tolist()))
