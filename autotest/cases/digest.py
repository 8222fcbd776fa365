"""The digest of a case: whoever draws it again, elsewhere too, can prove that it is the same."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from dual_object.program.program import Program
from dual_object.program.values import Array, Opaque, Tree, map_leaves, refs

#: Why a case that is drawn again may come out as another Program, and the way out.
STEERED = (
    "its test has changed since, or its body follows what the case's key does not bring back, such as "
    "numpy.random.default_rng(), the time, or what an earlier case left behind; draw that with generators, or with "
    "random or numpy.random, which start from the key"
)


def program_digest(program: Program) -> str:
    """SHA-256 in hexadecimal over dtype, shape, place in memory, requires_grad and bytes of every input, over module
    states and cotangents, and over what the body did: each call with its arguments, and what was returned.

    Names of inputs do not count, nor what the reference computed, which another version of it may round otherwise.
    """
    digest = hashlib.sha256()
    arrays = [(f"{x.dtype} {x.strides} {x.offset} {x.requires_grad}", x.data) for x in program.inputs]
    arrays += [("state", array) for call in program.modules() for array in call.state.values()]
    arrays += [(f"{program.cotangent_strides.get(id_)}", array) for id_, array in program.cotangents.items()]
    arrays += [("second", array) for array in program.second_cotangents.values()]
    for facts, array in arrays:
        digest.update(f"{facts} {_described(array)}\n".encode())
        digest.update(array.tobytes())
    for call in program.calls:
        done = (call.kind, call.op, _spelled(call.args), _spelled(call.kwargs), refs(call.out), call.raises)
        digest.update(f"{done}\n".encode())
    digest.update(_spelled(program.outputs).encode())
    return digest.hexdigest()


def _spelled(tree: Tree) -> str:
    return repr(map_leaves(tree, _leaf))


def _leaf(leaf: Any) -> Any:
    """An array by its bytes, and an object of the user by its class: the repr of either leaves something out or holds
    an address.
    """
    if isinstance(leaf, np.ndarray):
        return f"{_described(leaf)} {hashlib.sha256(leaf.tobytes()).hexdigest()}"
    return type(leaf.value).__qualname__ if type(leaf) is Opaque else leaf


def _described(array: Array) -> str:
    return f"{array.dtype.str} {array.shape}"


__all__ = ["STEERED", "program_digest"]
