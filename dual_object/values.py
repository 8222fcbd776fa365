"""Framework-neutral values: what a Program holds where a framework would hold its own objects.

A tree is made of None, bool, int, float, complex, str, slice, Ellipsis, tuple, list, dict, OrderedDict, NumPy arrays
and the leaves defined here. JSON keeps plain leaves as they are and tags the rest with one-key objects; arrays travel
beside it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dual_object.errors import ProgramError

Tree: TypeAlias = Any
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


class Ref(NamedTuple):
    """A value of the Program, by its number."""

    id: int


class Name(NamedTuple):
    """A public object of the framework by its path below the root, such as `float32` or `nn.functional.relu`."""

    path: str


class Device(NamedTuple):
    """A device, spelled without index where the index is 0: `cpu`, `cuda`, `cuda:1`."""

    spec: str


class Named(NamedTuple):
    """A named tuple that a call returned."""

    fields: tuple[str, ...]
    items: tuple[Tree, ...]


class Opaque(NamedTuple):
    """An object of the user that only an inline replay can pass on; it cannot be stored."""

    value: Any


PLAIN = frozenset({type(None), bool, int, float, str})


def map_leaves(tree: Tree, leaf: Callable[[Any], Any]) -> Tree:
    """Rebuild `tree` with `leaf` applied to whatever is not a container."""
    kind = type(tree)
    if kind in PLAIN:
        return leaf(tree)
    if kind is tuple:
        return tuple(map_leaves(item, leaf) for item in tree)
    if kind is list:
        return [map_leaves(item, leaf) for item in tree]
    if kind is dict or kind is OrderedDict:  # `nn.Sequential` takes the latter alone
        return kind((key, map_leaves(item, leaf)) for key, item in tree.items())
    if kind is Named:
        return Named(tree.fields, tuple(map_leaves(item, leaf) for item in tree.items))
    if kind is slice:
        return slice(map_leaves(tree.start, leaf), map_leaves(tree.stop, leaf), map_leaves(tree.step, leaf))
    return leaf(tree)


def refs(tree: Tree) -> list[int]:
    """The numbers of all values that `tree` mentions, in order, repeated as they occur."""
    found: list[int] = []

    def collect(tree: Tree) -> None:
        kind = type(tree)
        if kind is Ref:
            found.append(tree.id)
        elif kind is tuple or kind is list:
            for item in tree:
                collect(item)
        elif kind is dict or kind is OrderedDict:
            for item in tree.values():
                collect(item)
        elif kind is Named:
            for item in tree.items:
                collect(item)
        elif kind is slice:
            collect((tree.start, tree.stop, tree.step))

    collect(tree)
    return found


def to_json(tree: Tree, arrays: list[Array]) -> Any:
    """Encode `tree` for JSON; arrays are appended to `arrays` and referred to by position."""
    kind = type(tree)
    if kind in PLAIN:
        return tree
    if kind is Ref:
        return {"ref": tree.id}
    if kind is tuple:
        return {"tuple": [to_json(item, arrays) for item in tree]}
    if kind is list:
        return [to_json(item, arrays) for item in tree]
    if kind is dict or kind is OrderedDict:
        tag = "dict" if kind is dict else "ordered"
        return {tag: [[to_json(key, arrays), to_json(item, arrays)] for key, item in tree.items()]}
    if kind is Name:
        return {"name": tree.path}
    if kind is Device:
        return {"device": tree.spec}
    if kind is Named:
        return {"named": [list(tree.fields), [to_json(item, arrays) for item in tree.items]]}
    if kind is slice:
        return {"slice": [to_json(part, arrays) for part in (tree.start, tree.stop, tree.step)]}
    if tree is Ellipsis:
        return {"ellipsis": True}
    if kind is complex:
        return {"complex": [tree.real, tree.imag]}
    if isinstance(tree, np.ndarray):
        arrays.append(tree)
        return {"array": len(arrays) - 1}
    raise ProgramError(f"{tree!r} cannot be stored in a Program")


_DECODERS: dict[str, Callable[[Any, list[Array]], Any]] = {
    "ref": lambda value, arrays: Ref(value),
    "tuple": lambda value, arrays: tuple(from_json(item, arrays) for item in value),
    "dict": lambda value, arrays: {from_json(key, arrays): from_json(item, arrays) for key, item in value},
    "ordered": lambda value, arrays: OrderedDict(
        (from_json(key, arrays), from_json(item, arrays)) for key, item in value
    ),
    "name": lambda value, arrays: Name(value),
    "device": lambda value, arrays: Device(value),
    "named": lambda value, arrays: Named(tuple(value[0]), tuple(from_json(item, arrays) for item in value[1])),
    "slice": lambda value, arrays: slice(*(from_json(part, arrays) for part in value)),
    "ellipsis": lambda value, arrays: Ellipsis,
    "complex": lambda value, arrays: complex(*value),
    "array": lambda value, arrays: arrays[value],
}


def from_json(node: Any, arrays: list[Array]) -> Tree:
    """Decode what `to_json` wrote; raises ProgramError for anything else."""
    kind = type(node)
    if kind in PLAIN:
        return node
    if kind is list:
        return [from_json(item, arrays) for item in node]
    if kind is dict and len(node) == 1:
        [(tag, value)] = node.items()
        decode = _DECODERS.get(tag)
        if decode is not None:
            return decode(value, arrays)
    raise ProgramError(f"{node!r} is no value of a Program")
