"""The kinds of divergence and the phases of a case as records name them.

A copy of `autotest.compare.kinds`, for a report needs nothing but records; a test holds both equal.
"""

from __future__ import annotations

from collections.abc import Mapping

PHASES = (
    "eager_forward",
    "eager_backward",
    "eager_second",
    "eager_update",
    "global_forward",
    "global_backward",
    "graph_forward",
    "graph_backward",
    "graph_update",
    "graph_state",
    "contract",
)
#: Those in which the target ended.
DEADLY = ("crash", "timeout", "out_of_memory")
#: Worst first; an unknown kind stands before those in which the target says that it does not do this, since it may be
#: anything.
KINDS = (
    *DEADLY,
    "value",
    "nonfinite",
    "sign",
    "random",
    "shape",
    "dtype",
    "structure",
    "grad_missing",
    "grad_extra",
    "mutation",
    "alias",
    "requires_grad",
    "exception",
    "accepts_invalid",
    "exception_class",
    "mode",
    "broken",
    "batch_only",
    "layout",
    "device",
)
REFUSALS = ("missing", "unmapped", "unsupported")
#: What ends a case in its eager run: nothing after it is checked.
ENDING = frozenset({*DEADLY, "exception", *REFUSALS})
#: How a case has come into the graph of an executor that tells so, in words, best first.
CAPTURES: Mapping[str, str] = {
    "captured": "whole",
    "recompiled": "whole, but anew for other values",
    "broken": "with graph breaks",
    "refused": "refused",
}


def severity(kind: str) -> int:
    """Return the place of a kind among all kinds, the worst having 0."""
    if kind in KINDS:
        return KINDS.index(kind)
    return len(KINDS) + (1 + REFUSALS.index(kind) if kind in REFUSALS else 0)
