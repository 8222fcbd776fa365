"""Precision: a Program widened to float64, its values changed on the way where that is asked for.

The widened Program says what the reference computes where rounding hardly matters; widened with its values nudged, it
says how much the result depends on their last digits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from dual_object.errors import CannotWiden
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Array, Name, Opaque, Ref, Tree, leaves, map_leaves

#: What a dtype is widened to, in all spellings that a Program has for it.
WIDE = {
    **dict.fromkeys(("float16", "half", "bfloat16", "float32", "float"), "float64"),
    **dict.fromkeys(("complex32", "chalf", "complex64", "cfloat"), "complex128"),
}
#: Methods that convert to a dtype of their own.
_CONVERSIONS = {
    **dict.fromkeys(("half", "bfloat16", "float"), "double"),
    **dict.fromkeys(("chalf", "cfloat"), "cdouble"),
}
_FLOATING = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})

#: Gives the widened values of a tensor whose own dtype is named.
Change = Callable[[Array, str], Array]


def widened(program: Program, change: Change | None = None, *, integers: bool = False) -> Program:
    """`program` in float64 (complex128), to be run where float64 is the default dtype.

    `change(values, dtype)` gives the new values of every floating input, module state and cotangent; with `integers` of
    every integer input as well, which becomes float64. It may make elements differ that share memory, so an expanded
    input (stride 0) then gets memory of its own. Raises CannotWiden for a Program that has no meaning in another dtype.
    """
    inputs = program.inputs if change is None else _apart(program)
    change = change or (lambda values, dtype: values)
    return dataclasses.replace(
        program,
        inputs=[_input(x, change, integers) for x in inputs],
        calls=[_call(call, change) for call in program.calls],
        cotangents={id_: _array(array, str(array.dtype), change) for id_, array in program.cotangents.items()},
        second_cotangents={
            key: _array(array, str(array.dtype), change) for key, array in program.second_cotangents.items()
        },
    )


def is_wide(program: Program) -> bool:
    """Whether it computes in float64 (complex128) from its inputs and parameters on, as far as can be seen: none of
    them is narrower, no call names a narrower dtype or converts to one, and none makes a tensor out of nothing, which
    would be in the default dtype.
    """
    arrays = [array for call in program.calls for array in call.state.values()]
    dtypes = {x.dtype for x in program.inputs} | {str(array.dtype) for array in arrays}
    floating = dtypes & _FLOATING
    return bool(floating) and floating.isdisjoint(WIDE) and not any(_narrows(call) for call in program.calls)


def _narrows(call: Call) -> bool:
    given = [*leaves(call.args), *(leaf for tree in call.kwargs.values() for leaf in leaves(tree))]
    names = {leaf.path for leaf in given if type(leaf) is Name}
    if call.kind == "function" and "float64" not in names and not any(type(leaf) is Ref for leaf in given):
        return True
    return not names.isdisjoint(WIDE) or (call.kind == "method" and call.op in _CONVERSIONS)


def _apart(program: Program) -> list[Input]:
    """The inputs, expanded ones made contiguous, since elements that share memory cannot be given different values.
    Raises CannotWiden where `as_strided` reads the memory of such an input.
    """
    expanded = [_expanded(x) for x in program.inputs]
    if any(expanded) and any("as_strided" in call.op for call in program.calls):
        raise CannotWiden("as_strided() reads an expanded input's memory")
    pairs = zip(program.inputs, expanded, strict=True)
    return [dataclasses.replace(x, strides=None) if shares else x for x, shares in pairs]


def _expanded(x: Input) -> bool:
    return x.strides is not None and any(
        not stride and size > 1 for stride, size in zip(x.strides, x.data.shape, strict=True)
    )


def _input(x: Input, change: Change, integers: bool) -> Input:
    if integers and x.data.dtype.kind in "iu":
        return dataclasses.replace(x, data=change(x.data.astype(np.float64), x.dtype), dtype="float64")
    data = _array(x.data, x.dtype, change)
    return dataclasses.replace(x, data=data, dtype=WIDE.get(x.dtype, x.dtype))


def _array(array: Array, dtype: str, change: Change) -> Array:
    """`dtype` is the tensor's own: bfloat16 is held as float32."""
    if dtype not in _FLOATING:
        return array
    # Of a tensor of no dimension, NumPy's functions give scalars.
    return np.asarray(change(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), dtype))


def _call(call: Call, change: Change) -> Call:
    if call.kind == "custom":
        raise CannotWiden(f"{call.op} is a custom op, which may know its dtype")
    if call.op == "view" and any(type(arg) is Name for arg in (*call.args, *call.kwargs.values())):
        raise CannotWiden("view(dtype) reads the bits of one dtype as another's")
    if call.op == "type" and call.kind == "method" and any(type(arg) is str for arg in call.args):
        raise CannotWiden("type() is given a tensor class by name")
    return dataclasses.replace(
        call,
        op=_CONVERSIONS.get(call.op, call.op) if call.kind == "method" else call.op,
        args=tuple(_tree(arg) for arg in call.args),
        kwargs={key: _tree(arg) for key, arg in call.kwargs.items()},
        state={name: _array(array, str(array.dtype), change) for name, array in call.state.items()},
    )


def _tree(tree: Tree) -> Tree:
    return map_leaves(tree, _leaf)


def _leaf(leaf: Any) -> Any:
    if type(leaf) is Name:
        return Name(WIDE.get(leaf.path, leaf.path))
    if type(leaf) is Opaque:
        raise CannotWiden("an object of the user's own may know its dtype")
    return leaf
