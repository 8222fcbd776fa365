"""What the test of an expression is called: by the op that it calls last."""

from __future__ import annotations

import ast
from collections.abc import Mapping

#: Operators by what a test of them is called.
OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floor_divide", ast.Mod: "remainder",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


def op_name(node: ast.expr) -> str:
    """What an expression calls last: `softmax`, `Conv2d`, `add`."""
    if isinstance(node, ast.Call):
        return node.func.attr if isinstance(node.func, ast.Attribute) else op_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        called = isinstance(node.value, (ast.Call, ast.Attribute))
        return op_name(node.value) if called else "getitem"
    if isinstance(node, ast.Compare):
        return OPERATORS[type(node.ops[0])]
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return OPERATORS[type(node.op)]
    items = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
    return op_name(items[0]) if items else "expression"
