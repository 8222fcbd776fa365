"""Framework-neutral values: what a Program holds where a framework would hold its own objects.

A tree is made of None, bool, int, float, complex, str, slice, Ellipsis, tuple, list, dict, OrderedDict, NumPy arrays
and the leaves defined here. JSON keeps plain leaves as they are and tags the rest with one-key objects; arrays travel
beside it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from dual_object.errors import ArgumentError, ProgramError

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


@dataclass(frozen=True, slots=True, repr=False)
class Placement:
    """The ranks that hold a global tensor, nested as their hierarchy is; given as lists, held as tuples.

    Raises ArgumentError for ranks that are no such nest.
    """

    type: str
    nested: Any

    def __init__(self, type: str, ranks: Any) -> None:
        nested = ranks.tolist() if isinstance(ranks, np.ndarray) else ranks
        try:
            array = np.array(nested)
        except ValueError:  # lists of several lengths
            array = np.array(None)
        if array.dtype.kind != "i" or not array.ndim or not array.size or array.min() < 0:
            raise ArgumentError(
                f"ranks={ranks!r}, but should be a list of ranks, or lists of lists of one length [placement(...)]"
            )
        if type not in ("cpu", "cuda"):
            raise ArgumentError(f"type={type!r}, but should be 'cpu' or 'cuda' [placement(...)]")
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "nested", _tuples(nested))

    @property
    def ranks(self) -> Array:
        """The ranks as an array of the hierarchy's shape."""
        return np.array(self.nested)

    @property
    def ndim(self) -> int:
        """The number of dimensions of the hierarchy."""
        return int(self.ranks.ndim)

    @property
    def members(self) -> list[int]:
        """All ranks in a row."""
        ranks: list[int] = self.ranks.reshape(-1).tolist()
        return ranks

    def __repr__(self) -> str:
        return f'flow.placement("{self.type}", {self.ranks.tolist()})'


def _tuples(nested: Any) -> Any:
    return tuple(_tuples(part) for part in nested) if isinstance(nested, (list, tuple)) else int(nested)


SbpKind = Literal["split", "broadcast", "partial_sum"]


@dataclass(frozen=True, slots=True, repr=False)
class Sbp:
    """How the ranks along one dimension of a placement hold a global tensor: as slices along `dim`, as copies, or as
    summands. Raises ArgumentError for a kind that is none, or a split without a dimension.
    """

    kind: SbpKind
    dim: int | None = None

    def __post_init__(self) -> None:
        """Check both."""
        if self.kind not in get_args(SbpKind):
            raise ArgumentError(f"kind={self.kind!r}, but should be one of {', '.join(get_args(SbpKind))} [sbp]")
        if (type(self.dim) is int and self.dim >= 0) is not (self.kind == "split"):
            raise ArgumentError(f"dim={self.dim!r}, but should be a dimension for a split alone [sbp.{self.kind}]")

    def __repr__(self) -> str:
        return f"flow.sbp.split({self.dim})" if self.kind == "split" else f"flow.sbp.{self.kind}"


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


def leaves(tree: Tree) -> Iterator[Any]:
    """Whatever in `tree` is not a container, in order; the ends of slices and the keys of dicts are left out."""
    kind = type(tree)
    if kind is tuple or kind is list:
        for item in tree:
            yield from leaves(item)
    elif kind is dict or kind is OrderedDict:
        for item in tree.values():
            yield from leaves(item)
    else:
        yield tree


def refs(tree: Tree) -> list[int]:
    """The numbers of all values that `tree` mentions, in order, repeated as they occur."""
    numbers: list[int] = []

    def collect(tree: Tree) -> None:
        kind = type(tree)
        if kind is Ref:
            numbers.append(tree.id)
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
    return numbers


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
    if kind is Placement:
        return {"placement": [tree.type, tree.ranks.tolist()]}
    if kind is Sbp:
        return {"sbp": [tree.kind, tree.dim]}
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
    "placement": lambda value, arrays: Placement(*value),
    "sbp": lambda value, arrays: Sbp(*value),
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
