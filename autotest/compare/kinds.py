"""The kinds of divergence and the phases of a case in which they show: one row each, which everything else asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Phase = Literal[
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
]


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """A phase: how the Program is run (`mode`), and which `step` of that is compared. An issue calls it by its `words`,
    a ledger's page by its `short` name. In a `contract` no Program runs: a sentence of a documentation is tried.
    """

    name: Phase
    mode: Literal["eager", "global", "graph", "contract"]
    step: Literal["forward", "backward", "second", "update", "state", "sentence"]
    words: str
    short: str


#: In the order of a case's life.
PHASES: Mapping[str, PhaseRow] = MappingProxyType(
    {
        row.name: row
        for row in (
            PhaseRow("eager_forward", "eager", "forward", "forward, eager", "eager"),
            PhaseRow("eager_backward", "eager", "backward", "backward, eager", "eager gradient"),
            PhaseRow("eager_second", "eager", "second", "second derivative, eager", "eager second derivative"),
            PhaseRow("eager_update", "eager", "update", "training, eager", "eager update"),
            PhaseRow("global_forward", "global", "forward", "forward, eager, global tensors", "global"),
            PhaseRow("global_backward", "global", "backward", "backward, eager, global tensors", "global gradient"),
            PhaseRow("graph_forward", "graph", "forward", "forward, static graph", "graph"),
            PhaseRow("graph_backward", "graph", "backward", "backward, static graph", "graph gradient"),
            PhaseRow("graph_update", "graph", "update", "training, static graph", "graph update"),
            PhaseRow("graph_state", "graph", "state", "buffers after a static graph", "graph state"),
            PhaseRow("contract", "contract", "sentence", "documentation", "documentation"),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of divergence.

    Attributes:
        words: what an issue's title says of it.
        compared: attributes of a tensor in which it shows, where it shows in any.
        ends: whether the run ended, so that nothing after it was compared; `deadly`: and the target's process with it.
        refuses: whether the target says that it does not do this.
        of_form: whether the fingerprint holds how the op was called, as a method or with which keyword arguments.
        of_target: why the target is to blame whatever the reference does; empty where that has to be found out.
    """

    name: str
    words: str
    compared: tuple[str, ...] = ()
    ends: bool = False
    deadly: bool = False
    refuses: bool = False
    of_form: bool = False
    of_target: str = ""


#: Worst first.
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        row.name: row
        for row in (
            Kind("crash", "ends the process", ends=True, deadly=True, of_target="it ends its process"),
            Kind("timeout", "does not end", ends=True, deadly=True, of_target="it does not answer"),
            Kind(
                "out_of_memory",
                "takes more memory than it may",
                ends=True,
                deadly=True,
                of_target="it takes more memory than it may, where PyTorch does not",
            ),
            Kind("value", "wrong values", ("values",)),
            Kind("nonfinite", "NaN or infinity where there should be none, or none where there should be", ("values",)),
            Kind("sign", "wrong sign", ("values",)),
            Kind("random", "draws from another distribution"),
            Kind("shape", "wrong shape", ("shape",)),
            Kind("dtype", "wrong dtype", ("dtype",)),
            Kind("structure", "returns another structure", of_form=True),
            Kind("grad_missing", "a gradient is missing"),
            Kind("grad_extra", "a gradient where there should be none"),
            Kind("mutation", "an input is changed that should not be, or not changed that should be", ("values",)),
            Kind("alias", "shares memory that it should not, or shares none that it should"),
            Kind("requires_grad", "wrong place in the graph of gradients", ("requires_grad", "is_leaf")),
            Kind("exception", "raises where PyTorch does not", ends=True, of_form=True),
            Kind("accepts_invalid", "accepts what PyTorch refuses", of_form=True),
            Kind("exception_class", "raises an unrelated exception", of_form=True),
            Kind("mode", "leaves a mode of the process switched", of_target="no op may switch a mode for what follows"),
            Kind("broken", "does not do what its documentation says", of_target="its own documentation says so"),
            Kind(
                "batch_only",
                "wrong only in a static graph that other programs share",
                of_target="alone in its graph it is right",
            ),
            Kind("layout", "wrong memory layout", ("strides", "offset")),
            Kind("device", "wrong device", ("device",)),
            Kind("missing", "is not there", ends=True, refuses=True, of_target="it lacks what PyTorch has"),
            Kind(
                "unmapped",
                "has no row in the target's table",
                ends=True,
                refuses=True,
                of_target="the table that translates for it has no row for this",
            ),
            Kind(
                "unsupported",
                "is not supported",
                ends=True,
                refuses=True,
                of_form=True,
                of_target="it says that it does not do this",
            ),
        )
    }
)

#: Those of two tensors' numbers, which an exact answer can decide.
NUMBERS = frozenset({"value", "nonfinite", "sign"})
DEADLY = frozenset(kind.name for kind in KINDS.values() if kind.deadly)
#: Those of a target that says that it does not do this.
REFUSALS = frozenset(kind.name for kind in KINDS.values() if kind.refuses)
#: Those of an exception that ends the run where the reference goes on.
RAISES = frozenset(kind.name for kind in KINDS.values() if kind.ends and not kind.deadly)


def in_graph(phase: str) -> bool:
    """Whether a phase is one of the static graph; of an unknown one, no."""
    return phase in PHASES and PHASES[phase].mode == "graph"
