"""Findings: why a function is not the op, each of a category; and the verdict that they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from autotest.kernels.questions import Cell
from dual_object.program.program import Program

#: What a kernel can be refused for, in words; worst first.
CATEGORIES: Mapping[str, str] = MappingProxyType(
    {
        "crash": "it ends its process",
        "timeout": "it does not end",
        "memory": "it takes more memory than it may",
        "fork": "it starts processes",
        "flood": "it writes without need",
        "descriptors": "it opens or closes descriptors and leaves them so",
        "cheating": "it looks at what is none of its business",
        "delegates": "it calls the op that it should be",
        "state": "it leaves the process in another state",
        "lazy": "it gives what has not been computed",
        "caching": "it gives results again that were for something else",
        "calls": "it is right in some calls only",
        "stale": "it gives memory that it has not written",
        "nondeterminism": "it gives other results for the same inputs",
        "mutation": "it writes to its inputs",
        "alias": "it gives its input, or a view of it",
        "device": "it gives results that lie elsewhere than its inputs",
        "numerics": "wrong results for ordinary inputs",
        "shape": "wrong for some shapes, or of a wrong shape",
        "arguments": "wrong for some arguments",
        "stride": "wrong where tensors lie otherwise in memory",
        "size": "wrong for some sizes",
        "edge values": "wrong for values at the edges",
        "dtype": "wrong for some dtypes, or of a wrong dtype",
        "gradient": "wrong, missing or detached gradients",
        "mode": "wrong in some mode, or in a way of calling it that it claims",
        "precision": "less exact than PyTorch",
        "errors": "accepts what the op refuses",
    }
)


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a score is about: the roles of questions whose right answers count, and the categories that lower it."""

    roles: frozenset[str]
    categories: frozenset[str]


def _dimension(roles: str, *categories: str) -> Dimension:
    return Dimension(frozenset(roles.split()), frozenset(categories))


#: By the name of the score.
DIMENSIONS: Mapping[str, Dimension] = MappingProxyType(
    {
        "values": _dimension(
            "plain arguments size magnitude again modes vmap compile threads",
            *("numerics", "precision", "arguments", "size", "calls", "caching", "stale", "lazy", "mode", "device"),
        ),
        "edge values": _dimension("edges", "edge values"),
        "shapes": _dimension("shape", "shape"),
        "dtypes": _dimension("dtype", "dtype"),
        "layouts": _dimension("layout", "stride", "alias"),
        "gradient": _dimension("backward second", "gradient"),
        "errors": _dimension("errors", "errors"),
        "side effects": _dimension(
            "",
            *(
                "mutation",
                "state",
                "delegates",
                "cheating",
                "fork",
                "flood",
                "descriptors",
                "crash",
                "timeout",
                "memory",
            ),
        ),
        "determinism": _dimension("", "nondeterminism"),
    }
)
#: A score is no better than so where something was found.
FOUND = 0.9


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a function is not the op.

    Attributes:
        category: one of CATEGORIES.
        message: what it did, and what it should have done.
        cell: what it was asked.
        program: the least Program known to show it; None where it is no single one.
        count: how many questions show it.
    """

    category: str
    message: str
    cell: Cell
    program: Program | None = None
    count: int = 1

    @property
    def sentence(self) -> str:
        """The category, and the message."""
        return f"{self.category}: {self.message}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of a kernel.

    Attributes:
        like: the op, as people type it.
        findings: the worst first.
        gaps: what the kernel says that it does not take, which the op takes, by how often it was asked.
        cells: of each role, how many questions there were, and how many were answered as PyTorch answers them.
        undecided: how many answers PyTorch itself does not define.
        unasked: how many questions were not asked, by why.
    """

    like: str
    findings: tuple[Finding, ...] = ()
    gaps: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    undecided: int = 0
    unasked: Mapping[str, int] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def program(self) -> Program | None:
        """The least Program that shows the worst finding."""
        return next((finding.program for finding in self.findings if finding.program is not None), None)

    @property
    def score(self) -> Mapping[str, float]:
        """By dimension the share of the answers that were right, less where something was found; 0.0 where any was of
        what no kernel may do, or where nothing was answered.
        """
        found = {finding.category for finding in self.findings}
        return {name: self._score(dimension, found) for name, dimension in DIMENSIONS.items()}

    def _score(self, dimension: Dimension, found: set[str]) -> float:
        cells = [self.cells[role] for role in dimension.roles if role in self.cells]
        asked, right = sum(number for number, _ in cells), sum(number for _, number in cells)
        if not dimension.categories & found:
            return round(right / asked, 3) if asked else 1.0
        return round(FOUND * right / asked, 3) if asked else 0.0


def worst_first(findings: Sequence[Finding], shown: Mapping[str, int]) -> tuple[Finding, ...]:
    """One of each category, the least Program of it, in the order of CATEGORIES; `shown` says how many questions show a
    category, where that is known.
    """
    order = [*CATEGORIES]
    first: dict[str, Finding] = {}
    counts = Counter(finding.category for finding in findings)
    for finding in sorted(findings, key=lambda one: (order.index(one.category), _size(one.program))):
        first.setdefault(finding.category, finding)
    return tuple(replace(one, count=max(counts[category], shown.get(category, 0))) for category, one in first.items())


def _size(program: Program | None) -> int:
    """How much there is to read of a Program."""
    return 0 if program is None else sum(x.data.size for x in program.inputs) + len(program.calls)


__all__ = ["CATEGORIES", "DIMENSIONS", "Finding", "Verdict", "worst_first"]
