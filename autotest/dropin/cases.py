"""What a drop-in case records beyond an ordinary one: all tensors of its body, which are compared when it ends."""

from __future__ import annotations

import os
import sys
from typing import Any

from autotest.dropin.checkers import check_returned
from autotest.dropin.options import DropInOptions
from autotest.errors import UsageError
from dual_object.program.values import Ref, refs
from dual_object.record.recording import Recording

#: Megabytes, unless the environment says otherwise.
SIZE_LIMIT = 32


def close_case(recording: Recording, returned: Any, options: DropInOptions, test: str) -> tuple[list[int], bool]:
    """Note what is compared when the case has run, and give the numbers of the tensors that a backward starts from, and
    whether OneFlow's harness would start one.

    Those are the returned tensors, alone or as elements of a returned list; where there are none, the elements of a
    tuple that a call gave, which OneFlow's harness leaves alone. Raises UsageError for a tensor that is too big, and
    for a returned one from which no backward can start.
    """
    program, values, reference = recording.program, recording.values.by_id, recording.reference
    _refuse_big(recording, test)
    check_returned(recording, returned, options)
    if program.inline is not None:
        program.inline = f"opened: {program.inline}"
    met = {x.id for x in program.inputs}
    for call in program.calls:
        # An element of a group that nothing was done with is no tensor that OneFlow's harness gets to see.
        met.update([call.out.id] if type(call.out) is Ref else (), call.operands())
    outputs = set(refs(program.outputs))
    program.watched = [id_ for id_ in sorted(met - outputs) if isinstance(values.get(id_), reference.tensor_type)]
    if "ONEFLOW_TEST_VERBOSE" in os.environ:
        sys.stdout.write(f"{test}\n{program}\n")
    if not options.auto_backward:
        return [], True
    direct = recording.directly(returned)
    able = recording.differentiable()
    if not options.starts_where_it_can:
        for id_ in direct:
            if id_ not in able:
                raise UsageError(
                    f"{test} returned a tensor without a gradient, but should return one that has it: "
                    "return another, or pass auto_backward=False to @autotest"
                )
    starts = [id_ for id_ in able if id_ in direct]
    return starts or able, bool(starts) or not able


def size_limit() -> int:
    """Megabytes that a tensor of a body may have."""
    return int(os.environ.get("ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB", SIZE_LIMIT))


def _refuse_big(recording: Recording, test: str) -> None:
    limit = size_limit()
    for value in recording.values.by_id.values():
        if isinstance(value, recording.reference.tensor_type):
            size = value.nelement() * value.element_size() / 2**20
            if size >= limit:
                raise UsageError(
                    f"{test} made a tensor of {size:g} MB, but should make none of {limit} MB or more: "
                    "set ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB to allow it"
                )
