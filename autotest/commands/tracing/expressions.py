"""A call that a program made, as an expression of `autotest check`."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from autotest.expressions import ExpressionError, parse

#: Of operators' methods: how a call with one other operand is written.
_OPERATORS = {
    "__eq__": "{0} == {1}",
    "__ne__": "{0} != {1}",
    "__lt__": "{0} < {1}",
    "__le__": "{0} <= {1}",
    "__gt__": "{0} > {1}",
    "__ge__": "{0} >= {1}",
    "__and__": "{0} & {1}",
    "__or__": "{0} | {1}",
    "__xor__": "{0} ^ {1}",
    "__rsub__": "{1} - {0}",
    "__rdiv__": "{1} / {0}",
    "__rtruediv__": "{1} / {0}",
    "__rfloordiv__": "{1} // {0}",
    "__rmod__": "{1} % {0}",
    "__rpow__": "{1} ** {0}",
    "__rmatmul__": "{1} @ {0}",
    "__invert__": "~{0}",
    "__floordiv__": "{0} // {1}",
    "__mod__": "{0} % {1}",
    "__pow__": "{0} ** {1}",
    "__matmul__": "{0} @ {1}",
}
_NAMES = ("x", "y", "z", "w", "u", "v")
#: What is drawn needs no saying.
_FLOAT = "float32"


class UnspelledError(Exception):
    """A call is no expression; the words say why."""


def spelled(call: Mapping[str, Any]) -> str:
    """The expression of a call that `dual_object.adapters.torch.traced` has told. Raises UnspelledError."""
    tensors = _Tensors(call["tensors"])
    args = [_value(one, tensors) for one in call["args"][1]]
    kwargs = [f"{name}={_value(one, tensors)}" for name, one in call["kwargs"] if one[0] != "device"]
    home, _, name = call["path"].removeprefix("torch.").rpartition(".")
    if home == "Tensor":
        text = _method(name, args, kwargs)
    else:
        short = {"": "torch", "functional": "torch", "nn.functional": "F"}.get(home, f"torch.{home}")
        text = f"{short}.{name}({', '.join([*args, *kwargs])})"
    try:
        parse(text)
    except ExpressionError as error:
        raise UnspelledError(str(error).splitlines()[-1]) from None
    return text


def _method(name: str, args: Sequence[str], kwargs: Sequence[str]) -> str:
    receiver, *rest = args
    if name == "__getitem__":
        index = rest[0]
        return f"{receiver}[{index[1:-1] if index.startswith('(') and index != '()' else index}]"
    if name in _OPERATORS:
        return _OPERATORS[name].format(*args)
    if name.startswith("__"):
        raise UnspelledError("this operator has no expression")
    if name in ("T", "mT", "H", "mH", "real", "imag"):
        return f"{receiver}.{name}"
    return f"{receiver}.{name}({', '.join([*rest, *kwargs])})"


class _Tensors:
    """The inputs of a call: told once, and by their names afterwards."""

    def __init__(self, told: Sequence[Any]) -> None:
        self._left = {number: _tensor(_name(number), *one) for number, one in enumerate(told)}

    def spelled(self, number: int) -> str:
        """How the next place has it."""
        return self._left.pop(number, _name(number))


def _name(number: int) -> str:
    return _NAMES[number] if number < len(_NAMES) else f"x{number}"


def _value(told: Any, tensors: _Tensors) -> str:
    word, *rest = told
    if word == "tensor":
        return tensors.spelled(int(rest[0]))
    if word in ("tuple", "list", "slice"):
        items = [_value(one, tensors) for one in rest[0]]
        if word == "slice":
            return ":".join("" if item == "None" else item for item in items).removesuffix(":" * (items[2] == "None"))
        if word == "list":
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    if word == "ellipsis":
        return "..."
    if word in ("float", "name", "NoneType", "bool", "int"):
        return str(rest[0])
    if word in ("str", "device"):
        return repr(rest[0])
    raise UnspelledError(f"an argument is a {rest[0]}")


def _tensor(
    name: str,
    shape: Sequence[int],
    dtype: str,
    strides: Sequence[int] | None,
    wants: bool,
    found: tuple[float, float] | None,
) -> str:
    """An input: its sizes, what is not usual of it, and how it lies in memory where it can be said by a call."""
    given = []
    floating = dtype in ("float16", "bfloat16", "float32", "float64")
    if found is not None:
        low, high = _outward(*found) if floating else (int(found[0]), int(found[1]) + 1)
        given += [f"low={low}", f"high={high}"]
    if dtype != _FLOAT:
        given.append(f"dtype={dtype}")
    if floating and not wants:
        given.append("requires_grad=False")
    sizes, behind = (shape, "") if strides is None else _lying(shape, strides)
    text = f"{name}[{', '.join(map(str, sizes)) or '()'}]"
    return text + f"({', '.join(given)})" * bool(given) + behind


def _lying(shape: Sequence[int], strides: Sequence[int]) -> tuple[Sequence[int], str]:
    """The sizes of a packed tensor, and the call that makes one of these strides of it; where there is none, this one
    as if it were packed.
    """
    repeated = [size > 1 and stride == 0 for size, stride in zip(shape, strides, strict=True)]
    sizes = [1 if again else size for again, size in zip(repeated, shape, strict=True)]
    order = sorted(range(len(sizes)), key=lambda axis: (-strides[axis] if sizes[axis] > 1 else 0, axis))
    packed, step = True, 1
    for axis in reversed(order):
        packed = packed and (sizes[axis] == 1 or strides[axis] == step)
        step *= sizes[axis]
    if not packed:
        return shape, ""
    expanded = f".expand({', '.join(map(str, shape))})" * any(repeated)
    if order == sorted(order):
        return sizes, expanded
    back = [order.index(axis) for axis in range(len(order))]
    return [sizes[axis] for axis in order], f".permute({', '.join(map(str, back))}){expanded}"


def _outward(low: float, high: float) -> tuple[str, str]:
    """A range in two digits that holds these: programs differ in the last of them each time."""
    low, high = _rounded(low, math.floor), _rounded(high, math.ceil)
    return f"{low:g}", f"{high if high > low else low + 1:g}"


def _rounded(number: float, whole: Any) -> float:
    if abs(number) < sys.float_info.min:
        return 0.0
    digit = 10.0 ** (math.floor(math.log10(abs(number))) - 1)
    rounded = float(f"{whole(number / digit) * digit:.2g}")
    return rounded if math.isfinite(rounded) else number  # the greatest numbers have no greater ones in two digits


__all__ = ["UnspelledError", "spelled"]
