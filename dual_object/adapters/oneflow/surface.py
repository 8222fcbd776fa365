"""What OneFlow has and what ran of it: the op types in liboneflow's registry, those of a graph, those behind a result.

Python cannot ask for the registry. `UserOpRegistryMgr::Get()` is exported, and the object that it returns begins with
a `std::unordered_map` from name to op, which is read here as libstdc++ lays it out (measured on 0.9.0: 661 names in
5 ms). A build of another layout must not end the process: memory is read through `/proc/self/mem`, which answers a
wrong address with an error, and the library's own lookup must find every entry at the place where it was read.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_GET = "_ZN7oneflow7user_op17UserOpRegistryMgr3GetEv"
_LOOKUP = "_ZN7oneflow7user_op17UserOpRegistryMgr19GetOpRegistryResultERKSs"
#: The unordered_map: buckets, number of buckets, first node, number of nodes. A node: the next one, the name's
#: characters; its op follows. The length of a name stands three words before its characters.
_MAP = struct.Struct("<QQQQ")
_NODE = struct.Struct("<QQ")
_LENGTH = struct.Struct("<Q")
_NAME, _OP, _BEFORE_CHARACTERS = 8, 16, 24
#: More ops than any build has, and longer names: numbers beyond are no registry.
_MAX_OPS = 10_000
_MAX_LENGTH = 200
#: Nodes of one result's backward that are looked at; a case has a few, a recurrent one hundreds.
_MAX_NODES = 1000

Read = Callable[[int, int], bytes]
Lookup = Callable[[int], int | None]


class RegistryError(Exception):
    """The registry is not where and what it is in OneFlow 0.9.0; the sentence says what was found instead."""


def registered(library: str) -> tuple[str, ...]:
    """The op types registered in the liboneflow that `library` is linked to, sorted; raises RegistryError."""
    try:
        loaded = ctypes.CDLL(library)
        get, lookup = getattr(loaded, _GET), getattr(loaded, _LOOKUP)
    except (OSError, AttributeError) as error:
        raise RegistryError(f"liboneflow has no op registry of a known kind: {error}") from error
    get.restype, get.argtypes = ctypes.c_void_p, []
    lookup.restype, lookup.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]
    manager = get() or 0
    try:
        with Path("/proc/self/mem").open("rb", buffering=0) as memory:

            def read(address: int, count: int) -> bytes:
                memory.seek(address)
                return memory.read(count)

            return tuple(sorted(walk(manager, read, lambda name: lookup(manager, name))))
    except (OSError, OverflowError) as error:  # an address that is none
        raise RegistryError(f"liboneflow's op registry cannot be read: {error}") from error


def walk(manager: int, read: Read, lookup: Lookup) -> list[str]:
    """The names in the map at `manager`.

    `read(address, count)` gives bytes, fewer where memory ends; `lookup(name)` gives the address of the op whose name
    object lies at the address `name`. Raises RegistryError for whatever is no registry.
    """
    _, buckets, node, count = _unpack(_MAP, read, manager)
    if not 0 < count <= _MAX_OPS or buckets < 1:
        raise RegistryError(f"registry.count={count}, but should be from 1 to {_MAX_OPS} [{buckets} buckets]")
    names: list[str] = []
    while node and len(names) < count:
        following, characters = _unpack(_NODE, read, node)
        (length,) = _unpack(_LENGTH, read, characters - _BEFORE_CHARACTERS)
        if not 0 < length <= _MAX_LENGTH:
            raise RegistryError(f"length={length} of name {len(names)}, but should be from 1 to {_MAX_LENGTH}")
        raw = read(characters, length)
        name = raw.decode("latin-1")
        if len(raw) < length or not (name.isascii() and name.isidentifier()):
            raise RegistryError(f"name={raw!r}, but should be {length} characters of an identifier")
        # Only now is it sure that a string lies there: the lookup follows its pointer unprotected.
        if lookup(node + _NAME) != node + _OP:
            raise RegistryError(f"name={name!r}, but the library's own lookup finds it elsewhere")
        names.append(name)
        node = following
    distinct = len({*names})
    if node or distinct != count:
        more = ", and no more" if node else ""
        raise RegistryError(f"names={distinct}, but should be {count}, as the registry counts{more}")
    return names


def _unpack(layout: struct.Struct, read: Read, address: int) -> tuple[int, ...]:
    raw = read(address, layout.size)
    if len(raw) < layout.size:
        raise RegistryError(f"memory at {address:#x} ends after {len(raw)} of {layout.size} bytes")
    return layout.unpack(raw)


def graph_op_types(graph: Any, ours: str | None = None) -> set[str]:
    """The op types that `graph` was built of, before the compiler changed them, but for the block `ours`.

    Costs 0.1 ms for a graph of 30 ops, which takes 20 ms or more.
    """
    return {
        op.user_conf.op_type_name
        for op in graph._graph_proto.net.op
        if op.HasField("user_conf") and (ours is None or not op.name.startswith(f"{ours}-"))
    }


def backward_op_types(outputs: Iterable[Any]) -> set[str]:
    """The op types that gave differentiable `outputs`, as their backward names them; about a microsecond each.

    OneFlow names the backward of an op type `<type>_backward`. Views are named `view::...`, and run no op.
    """
    waiting = [output.grad_fn for output in outputs if output.grad_fn is not None]
    visited = {*waiting}  # nodes, not names: a result may be reached in many ways
    types: set[str] = set()
    while waiting and len(visited) < _MAX_NODES:
        node = waiting.pop()
        name = node.name()
        if name.endswith("_backward") and "::" not in name:
            types.add(name.removesuffix("_backward"))
        for below in node.next_functions:
            if below not in visited:
                visited.add(below)
                waiting.append(below)
    return types
