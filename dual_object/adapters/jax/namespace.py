"""PyTorch's functions on cells: what is in them goes to JAX's functions, and what comes back is put into new cells."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from types import TracebackType
from typing import Any

import jax
import numpy as np

from dual_object.adapters.dialect import Dialect
from dual_object.adapters.jax.ops.shared import DEFAULT, Detached, Itself, Written
from dual_object.adapters.jax.tensor import Tensor, View
from dual_object.errors import UnmappedOp

#: Ops whose results lie in the memory of what they are given first. So does `Tensor.__getitem__` of ranges and numbers.
VIEWS = frozenset(
    {
        "Tensor.T",
        "Tensor.expand",
        "Tensor.view",
        "broadcast_to",
        "chunk",
        "detach",
        "diagonal",
        "dsplit",
        "flatten",
        "hsplit",
        "moveaxis",
        "movedim",
        "narrow",
        "permute",
        "ravel",
        "reshape",
        "select",
        "split",
        "split_with_sizes",
        "squeeze",
        "swapaxes",
        "swapdims",
        "t",
        "tensor_split",
        "transpose",
        "unbind",
        "unflatten",
        "unsqueeze",
        "vsplit",
    }
)


#: Ops that ask another tensor for its shape or dtype alone: it gets no gradient of theirs.
LIKE = frozenset({"Tensor.expand_as", "Tensor.reshape_as", "Tensor.type_as", "Tensor.view_as"})


#: Ops that make 64 bits of whatever they are given.
WIDE = frozenset({"Tensor.double", "float_power"})


class Namespace:
    """The functions of a dialect.

    Attributes:
        recording: whether what is computed now can be differentiated: not so inside `no_grad`.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.recording = True
        self._functions: dict[str, Callable[..., Any]] = {
            "no_grad": partial(Recording, self, False),
            "enable_grad": partial(Recording, self, True),
            "set_grad_enabled": self._set_recording,
            "is_grad_enabled": lambda: self.recording,
        }

    def function(self, path: str) -> Callable[..., Any]:
        """PyTorch's function at `path`, of cells; raises UnmappedOp, MissingOp."""
        found = self._functions.get(path)
        if found is None:
            found = self._functions[path] = self._made(path)
        return found

    def _made(self, path: str) -> Callable[..., Any]:
        row = self.dialect.row(path)
        plain = self.dialect.row(path[:-1]) if row is None and path.endswith("_") else None
        if plain is not None and plain.path in VIEWS - {"detach"}:
            raise UnmappedOp(f"the dialect of jax has no {path!r}, which lays a tensor out anew in its place")
        if plain is not None:
            return partial(self._in_place, self.function(path[:-1]))
        function = self.dialect.resolve(path)
        if row is not None and row.path not in WIDE:
            function = _of_default(function)
        if row is not None and row.path in LIKE:
            return partial(self._like, function)
        if row is not None and (row.path in VIEWS or row.path == "Tensor.__getitem__"):
            return partial(self._viewed, function)
        if row is None or "inplace" not in row.args:
            return partial(self._called, function)
        return partial(self._perhaps_in_place, partial(self._called, function), row.args.index("inplace"))

    def _called(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """What a function of arrays gives of cells, in cells: with a gradient of whatever one of the operands has."""
        leaves: set[str] = set()

        def array(leaf: Any) -> Any:
            if isinstance(leaf, Tensor):
                leaves.update(leaf.leaves)
                return leaf.array
            return leaf

        result = function(*mapped(args, array), **{name: mapped(value, array) for name, value in kwargs.items()})
        wanted = frozenset(leaves) if self.recording else frozenset()

        def tensor(leaf: Any) -> Any:
            if isinstance(leaf, Itself):
                return args[0] if args else kwargs["input"]
            if not isinstance(leaf, jax.Array):
                return leaf
            if not jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact):
                return Tensor(leaf, self)
            return Tensor(leaf if self.recording or not leaves else jax.lax.stop_gradient(leaf), self, wanted)

        if isinstance(result, Detached):
            return Tensor(result.array, self)
        if isinstance(result, Written):
            given = inspect.signature(function).bind(*args, **kwargs).arguments
            for name, written in result.arguments.items():
                given[name].write(Tensor(written, self), recorded=self.recording)
            result = result.result
        return mapped(result, tensor)

    def _like(self, function: Callable[..., Any], /, input: Tensor, other: Tensor) -> Any:
        """The same, of a tensor and the shape or dtype of another one."""
        return self._called(function, input, other.array)

    def _viewed(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """The same, in cells that look at the first operand."""
        result = self._called(function, *args, **kwargs)
        base, more = (args[0], args[1:]) if args else (None, ())
        if not isinstance(base, Tensor) or result is base or not _names_places(more):
            return result
        if isinstance(result, tuple):
            return tuple(
                self._view(base, tensor, partial(_item, function, more, kwargs, place))
                for place, tensor in enumerate(result)
            )
        return self._view(base, result, lambda array: _item(function, more, kwargs, None, array))

    def _view(self, base: Tensor, shown: Tensor, part: Callable[[Any], Any]) -> Tensor:
        return Tensor(shown.array, self, shown.leaves, View(base, part, bool(shown.leaves) or not base.leaves))

    def _in_place(self, function: Callable[..., Any], /, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The first operand, with the result written to it."""
        result = function(input, *args, **kwargs)
        return input if result is input else input.write(result, recorded=self.recording)

    def _perhaps_in_place(self, function: Callable[..., Any], place: int, /, *args: Any, **kwargs: Any) -> Any:
        """In place where the argument at this place says so."""
        inplace = kwargs.get("inplace", args[place] if len(args) > place else False)
        return self._in_place(function, *args, **kwargs) if inplace else function(*args, **kwargs)

    def _set_recording(self, mode: bool) -> Recording:
        region = Recording(self, mode)
        region.__enter__()
        return region


class Recording:
    """A region in which what is computed can be differentiated, or cannot."""

    def __init__(self, namespace: Namespace, mode: bool) -> None:
        self._namespace, self._mode = namespace, mode
        self._before = namespace.recording

    def __enter__(self) -> Recording:
        self._namespace.recording = self._mode
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._namespace.recording = self._before


def _of_default(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where it makes real numbers of integers and booleans, and is told of no dtype, those of PyTorch's default."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        given: list[Any] = []
        mapped([*args, *kwargs.values()], given.append)
        arrays = [leaf for leaf in given if isinstance(leaf, jax.Array)]
        told = any(isinstance(leaf, np.dtype) for leaf in given)
        real = any(jax.numpy.issubdtype(array.dtype, jax.numpy.inexact) for array in arrays)
        return result if told or real or not arrays else mapped(result, _narrowed)

    return called


def _narrowed(leaf: Any) -> Any:
    return leaf.astype(DEFAULT) if isinstance(leaf, jax.Array) and leaf.dtype == np.float64 else leaf


def _item(function: Callable[..., Any], more: Any, kwargs: Any, place: int | None, array: Any) -> Any:
    """What a view shows of an array: all that the function gives, or one of several."""
    result = function(array, *more, **kwargs)
    result = result.array if isinstance(result, Detached) else result
    return result if place is None else result[place]


def _names_places(more: Any) -> bool:
    """Whether an index names ranges and numbers alone: what is gathered by others is a copy."""
    parts = more[0] if len(more) == 1 and isinstance(more[0], tuple) else more
    return not any(isinstance(part, (Tensor, list, bool)) or hasattr(part, "__array__") for part in parts)


def mapped(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """A tree of arguments or results, with `leaf` applied to whatever is no container."""
    if isinstance(tree, tuple):
        items = [mapped(item, leaf) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, list):
        return [mapped(item, leaf) for item in tree]
    if isinstance(tree, dict):
        return {key: mapped(item, leaf) for key, item in tree.items()}
    if isinstance(tree, slice):
        return slice(mapped(tree.start, leaf), mapped(tree.stop, leaf), mapped(tree.step, leaf))
    return leaf(tree)


__all__ = ["Namespace", "Recording", "mapped"]
