"""The digest of a case's inputs: whoever draws it again, elsewhere too, can prove that it is the same."""

from __future__ import annotations

import hashlib

from dual_object.program.program import Program


def inputs_digest(program: Program) -> str:
    """SHA-256 in hexadecimal over dtype, shape, place in memory, requires_grad and bytes of every input, and over
    module states and cotangents.
    """
    digest = hashlib.sha256()
    arrays = [(f"{x.dtype} {x.strides} {x.offset} {x.requires_grad}", x.data) for x in program.inputs]
    arrays += [("state", array) for call in program.modules() for array in call.state.values()]
    arrays += [(f"{program.cotangent_strides.get(id_)}", array) for id_, array in program.cotangents.items()]
    arrays += [("second", array) for array in program.second_cotangents.values()]
    for facts, array in arrays:
        digest.update(f"{facts} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
