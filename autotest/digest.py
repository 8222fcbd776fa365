"""The digest of a case's inputs: whoever draws it again, elsewhere too, can prove that it is the same."""

from __future__ import annotations

import hashlib

from dual_object.program import Program


def inputs_digest(program: Program) -> str:
    """SHA-256 in hexadecimal over dtype, shape, strides and bytes of every input, module state and cotangent."""
    digest = hashlib.sha256()
    arrays = [(x.dtype, x.strides, x.data) for x in program.inputs]
    arrays += [("", None, array) for call in program.modules() for array in call.state.values()]
    arrays += [("", None, array) for array in program.cotangents.values()]
    for dtype, strides, array in arrays:
        digest.update(f"{dtype} {array.dtype.str} {array.shape} {strides}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
