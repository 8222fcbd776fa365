"""The map of all ops: family by family, a column for each op, a shape for each phase that says the worst outcome."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from types import MappingProxyType

from reports.tallies.matrix import Matrix

#: The outline of each outcome in a square of ten by ten, so different that they are told apart without their colours;
#: the worst first.
SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "crashed": "M1 1H3L5 3.4 7 1H9V3L6.6 5 9 7V9H7L5 6.6 3 9H1V7L3.4 5 1 3z",
        "wrong": "M.5.5h9v9h-9z",
        "refuses": "M.5 3.2h9v3.6h-9z",
        "known": "M5 .3 9.7 5 5 9.7.3 5z",
        "undecidable": "M5 .8a4.2 4.2 0 1 1 0 8.4a4.2 4.2 0 1 1 0-8.4zM5 3a2 2 0 1 0 0 4a2 2 0 1 0 0-4z",
        "aligned": "M2.2 2.2h5.6v5.6h-5.6z",
        "not_checked": "M4 4.5h2v1h-2z",
    }
)


def family(test: str) -> str:
    """Return the op family that a test belongs to: its file's name without `test_` and `.py`."""
    return test.partition("::")[0].rpartition("/")[2].removesuffix(".py").removeprefix("test_")


def home(matrix: Matrix, op: str) -> str:
    """Return the family that most of an op's tests are of, the first of as many: a common op is called in the tests of
    many. It is empty where no test is known.
    """
    counts = Counter(family(test) for test in matrix.tests.get(op, ()))
    return min(counts, key=lambda name: (-counts[name], name), default="")


def families(matrix: Matrix) -> dict[str, list[str]]:
    """Return the families by name, each with its ops by name."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for op in sorted(matrix.cells):
        found[home(matrix, op)].append(op)
    return dict(sorted(found.items()))
