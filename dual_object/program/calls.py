"""The parts of a Program: its inputs and its calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dual_object.program.values import Array, Placement, Sbp, Tree, refs

CallKind = Literal[
    "function", "method", "operator", "get", "set", "module", "call", "enter", "exit", "custom", "training"
]


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the test drew or built.

    Attributes:
        data: its values, contiguous.
        dtype: its own dtype, which NumPy may lack: bfloat16 values are held as float32.
        strides: in elements; None where the tensor is contiguous.
        offset: how many elements lie before it in its memory; 0 where no slice of packed memory has its strides.
        fill, seed: how the values were drawn, for people.
        layout: placement and sbp of a global tensor on a target's ranks; None for a local one.
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

    Attributes:
        op: a path below the framework's root (function, module, custom), a method or attribute name, a name of the
            operator module, or what is looked at of an optimizer (training).
        args: begin with the receiver for everything that has one.
        out: the tree of what the reference returned: a Ref for each framework object, the plain value for each host
            read.
        state: the parameters and buffers that a constructed module starts with.
        raises: class names (most derived first) of the reference's exception where the body caught one.
        refusal: what that exception says.
        custom: the two functions of a custom dual op.
    """

    kind: CallKind
    op: str
    args: tuple[Tree, ...]
    kwargs: dict[str, Tree]
    out: Tree = None
    state: dict[str, Array] = field(default_factory=dict)
    raises: tuple[str, ...] = ()
    custom: tuple[Any, Any] | None = None
    refusal: str = ""

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
