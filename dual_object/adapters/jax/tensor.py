"""A tensor of the target `jax`: a cell around an immutable array, so that bodies can write to it.

An op that writes in place puts another array into the cell. A view is a cell that looks at another one: it shows what
is written there, and what is written to it goes there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from dual_object.errors import UnmappedOp
from dual_object.program.values import Device

#: Python's operators, by the op that each is.
_OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = {"neg": "neg", "pos": "positive", "invert": "bitwise_not", "abs": "abs"}

CPU = Device("cpu")


class Ops(Protocol):
    """What a tensor asks for its ops."""

    def function(self, path: str) -> Callable[..., Any]:
        """PyTorch's function, of tensors."""


#: Of an old array and a new one the new one, with the gradient of the old: what a write is that nobody differentiates.
_overwritten = jax.custom_jvp(lambda old, new: new)
_overwritten.defjvp(lambda arrays, tangents: (arrays[1], tangents[0]))


class View(NamedTuple):
    """What a cell looks at: another cell, the part of it that the function gives, and whether with its gradient."""

    base: Tensor
    part: Callable[[Any], Any]
    recorded: bool


class Tensor:
    """A cell; `ops` are what its operators are."""

    __slots__ = ("_array", "_leaves", "_seen", "_view", "_written", "ops")

    def __init__(self, array: Any, ops: Ops, leaves: frozenset[str] = frozenset(), view: View | None = None) -> None:
        self._array = array
        self._view = view
        #: How often it was written to, and at how many writes of what it looks at that was seen.
        self._written = 0
        self._seen = 0 if view is None else view.base.written
        self._leaves = leaves
        self.ops = ops

    @property
    def written(self) -> int:
        """How often it was written to, by whichever name."""
        return self._written if self._view is None else self._view.base.written

    @property
    def array(self) -> Any:
        """What is in it now."""
        self._look()
        return self._array

    @property
    def leaves(self) -> frozenset[str]:
        """The keys of the leaves that it has a gradient of."""
        self._look()
        return self._leaves

    def _look(self) -> None:
        if self._view is not None and self._view.base.written != self._seen:
            base, part, recorded = self._view
            self._array, self._seen = part(base.array), base.written
            self._leaves = base.leaves if recorded else frozenset()

    def begin(self, array: Any, leaves: frozenset[str]) -> None:
        """Be a leaf, or none, from now on: what has looked at it before does not."""
        self._array, self._leaves = array, leaves

    def become(self, array: Any, leaves: frozenset[str]) -> None:
        """Hold another array; what it looks at holds it at the same place."""
        if self._view is None:
            self._array, self._leaves, self._written = array, leaves, self._written + 1
            return
        base, part, _ = self._view
        whole = base.array
        places = part(jnp.arange(whole.size).reshape(whole.shape)).reshape(-1)
        written = whole.reshape(-1).at[places].set(array.reshape(-1)).reshape(whole.shape)
        base.become(written, base.leaves | leaves)

    def write(self, other: Tensor, *, recorded: bool) -> Tensor:
        """Put another tensor's values here, as PyTorch's in-place ops do; not `recorded`, it stays what it was for a
        gradient. Raises ValueError where that would be another shape, TypeError where it would lose values.
        """
        old, new = self.array, other.array
        if new.shape != old.shape:
            raise ValueError(f"the result has shape {new.shape}, which does not fit into one of shape {old.shape}")
        if _rank(new.dtype) > _rank(old.dtype):
            raise TypeError(f"the result has dtype {new.dtype}, which does not fit into {old.dtype}")
        new = new.astype(old.dtype)
        if recorded:
            self.become(new, other.leaves)
        else:
            self.become(_overwritten(old, new) if self.leaves else new, self.leaves)
        return self

    # What a body reads to Python.

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return int(self.array.ndim)

    @property
    def dtype(self) -> Any:
        """Its dtype, NumPy's object."""
        return self.array.dtype

    @property
    def device(self) -> Device:
        """The CPU."""
        return CPU

    @property
    def data(self) -> Tensor:
        """What is in it, which no gradient goes through."""
        return self.ops.function("detach")(self)  # type: ignore[no-any-return]

    @data.setter
    def data(self, other: Tensor) -> None:
        raise UnmappedOp("the dialect of jax sets no data: what had been there would have to stay where it was")

    def size(self, dim: int | None = None) -> Any:
        """Its sizes, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """How many dimensions it has."""
        return self.ndim

    def ndimension(self) -> int:
        """How many dimensions it has."""
        return self.ndim

    def numel(self) -> int:
        """How many elements it has."""
        return int(self.array.size)

    def nelement(self) -> int:
        """How many elements it has."""
        return int(self.array.size)

    def element_size(self) -> int:
        """The bytes of an element."""
        return int(self.array.dtype.itemsize)

    def is_floating_point(self) -> bool:
        """Whether its dtype is a floating one."""
        return bool(jnp.issubdtype(self.array.dtype, jnp.floating))

    def is_complex(self) -> bool:
        """Whether its dtype is a complex one."""
        return bool(jnp.issubdtype(self.array.dtype, jnp.complexfloating))

    def item(self) -> Any:
        """Its only element as a number of Python."""
        return self.array.item()

    def tolist(self) -> Any:
        """Its elements as lists of lists."""
        return np.asarray(self.array).tolist()

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Itself: the run knows its leaves, and marks what is to be differentiated."""
        if not requires_grad:
            self.begin(jax.lax.stop_gradient(self.array), frozenset())
        return self

    def retain_grad(self) -> None:
        """Nothing, for the same reason."""

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __int__(self) -> int:
        return int(self.array)

    def __index__(self) -> int:
        return self.array.__index__()  # type: ignore[no-any-return]  # JAX's arrays are untyped here

    def __float__(self) -> float:
        return float(self.array)

    def __complex__(self) -> complex:
        return complex(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        return iter([self[place] for place in range(len(self))])

    def __getitem__(self, index: Any) -> Any:
        return self.ops.function("Tensor.__getitem__")(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.ops.function("Tensor.__setitem___")(self, index, value)

    __hash__ = object.__hash__


def _rank(dtype: Any) -> int:
    """Booleans before integers before reals before complex numbers: what a write may go to is no earlier one."""
    return next(
        rank
        for rank, kind in enumerate((jnp.bool_, jnp.integer, jnp.floating, jnp.number))
        if jnp.issubdtype(dtype, kind)
    )


def _binary(op: str) -> Callable[[Tensor, Any], Any]:
    return lambda self, other: self.ops.function(op)(self, other)


def _reflected(op: str) -> Callable[[Tensor, Any], Any]:
    return lambda self, other: self.ops.function(op)(other, self)


def _unary(op: str) -> Callable[[Tensor], Any]:
    return lambda self: self.ops.function(op)(self)


for _name, _op in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _binary(_op))
    setattr(Tensor, f"__r{_name}__", _reflected(_op))
    setattr(Tensor, f"__i{_name}__", _binary(f"Tensor.{_op}_"))
for _name in _COMPARISONS:
    setattr(Tensor, f"__{_name}__", _binary(_name))
for _name, _op in _UNARY.items():
    setattr(Tensor, f"__{_name}__", _unary(_op))

__all__ = ["CPU", "Ops", "Tensor"]
