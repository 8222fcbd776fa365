"""The parts of a Program: its inputs and its calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dual_object.program.values import Array, Placement, Sbp, Tree, refs

CallKind = Literal["function", "method", "operator", "get", "set", "module", "call", "enter", "exit", "custom"]


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the test drew or built.

    `data` holds its values, contiguous; `strides` (in elements) is None where the tensor is contiguous, and then
    `offset` elements may lie before it in its memory. `dtype` is the tensor's own dtype, which NumPy may lack: bfloat16
    values are held as float32. `fill` and `seed` say how the values were drawn, for people. `layout` is None for a
    local tensor; a global one lies so on a target's ranks.
    """

    id: int
    name: str
    data: Array
    dtype: str
    requires_grad: bool = False
    strides: tuple[int, ...] | None = None
    fill: str | None = None
    seed: int | None = None
    layout: tuple[Placement, tuple[Sbp, ...]] | None = None
    offset: int = 0


@dataclass(slots=True)
class Call:
    """One step of a body.

    `op` is a path below the framework's root (function, module, custom), a method or attribute name, or a name of the
    operator module. `args` starts with the receiver for everything that has one. `out` is the tree of what the
    reference returned: a Ref for each framework object, the plain value for each host read. `state` is what a
    constructed module starts with. `raises` names the classes (most derived first) of the reference's exception where
    the body caught one.
    """

    kind: CallKind
    op: str
    args: tuple[Tree, ...]
    kwargs: dict[str, Tree]
    out: Tree = None
    state: dict[str, Array] = field(default_factory=dict)
    raises: tuple[str, ...] = ()
    custom: tuple[Any, Any] | None = None

    def operands(self) -> list[int]:
        """Numbers of the values this call reads."""
        return refs(self.args) + refs(self.kwargs)

    def results(self) -> list[int]:
        """Numbers of the values this call returns."""
        return refs(self.out)


def op_name(call: Call) -> str:
    """The op's name as people type it: `relu` for `nn.functional.relu`, `Conv2d` for a call of a Conv2d module's
    constructor.
    """
    if call.kind == "operator":
        return OPERATOR_OPS.get(call.op, call.op)
    return call.op.rpartition(".")[2]


#: Operators whose op has another name than the operator module's function.
OPERATOR_OPS = {
    "iadd": "add_",
    "isub": "sub_",
    "imul": "mul_",
    "itruediv": "div_",
    "truediv": "div",
    "ifloordiv": "floor_divide_",
    "floordiv": "floor_divide",
    "imod": "remainder_",
    "mod": "remainder",
    "ipow": "pow_",
    "imatmul": "matmul",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "iand": "bitwise_and_",
    "ior": "bitwise_or_",
    "ixor": "bitwise_xor_",
    "invert": "bitwise_not",
    "getitem": "getitem",
    "setitem": "setitem",
}
