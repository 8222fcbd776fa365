"""The design of a test's laid-out cases: which corner of its inputs and arguments meets which other one, and when.

Chance is the wrong tool for corners: whether a test meets a NaN in a transposed tensor would depend on its seed. So its
first cases are laid out: an ordinary one; each level of each factor by itself (a NaN among ordinary values, a dimension
of size 0, `padding=2`); a transposed matrix where no ordinary tensor is a matrix, for which kernels have a way of their
own; each dtype; and, where pairs are asked for, a covering array of all pairs of levels, or of those of arguments
alone: `padding=2` with `dilation=3`, not with a NaN. What the reference refuses is none of the op's domain: such a
level is in no pair.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from allpairspy import AllPairs

from autotest.options import Coverage
from generators import DTYPES, PLAIN, Factor, transposed

#: The ordinary case is drawn anew so often, where the reference refuses it.
ATTEMPTS = 8
#: A test has at most so many laid-out cases.
MOST_ROWS = 500
#: So many arguments of a row of their pairs are not ordinary, at most: of all at once one hides another. Where there is
#: no batch, `batch_first=True` with `bidirectional=True` is nothing.
AT_ONCE = 3
#: The dtype of tensors that leave it open, in an ordinary case.
ORDINARY = PLAIN.dtype
#: A level of a factor.
Level = tuple[Factor, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A laid-out case.

    Attributes:
        levels: what is not ordinary in it.
        dtype: of the tensors that leave it open.
        attempt: which of the ordinary draws it starts from.
    """

    levels: tuple[Level, ...] = ()
    dtype: str = ORDINARY
    attempt: int = 0

    @property
    def ordinary(self) -> bool:
        """Whether nothing of it is a corner."""
        return not self.levels and self.dtype == ORDINARY


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has come of a row: the levels that were taken, and how many each factor has; whether the reference takes
    them; the digest of the Program; whether one of its inputs is a matrix; whether the target was spared it.
    """

    taken: Mapping[Factor, tuple[int, int]]
    lawful: bool
    digest: str = ""
    matrix: bool = False
    spared: bool = False


@dataclass(slots=True)
class Design:
    """The laid-out cases of one test, each following from what came of those before: `rows` in their order.

    Attributes:
        refused: how many levels of all factors the reference refuses.
        pairs: how many pairs of lawful levels there are, of arguments alone where no others are asked for.
        spared: how many rows the target was spared, which have no part in what the others are.
    """

    coverage: Coverage
    rows: list[Row] = field(default_factory=list)
    refused: int = 0
    pairs: int = 0
    spared: int = 0
    _ended: bool = False
    _steps: Generator[Row, Outcome, None] | None = None
    _seen: set[str] = field(default_factory=set)
    _lawful: dict[Factor, list[int]] = field(default_factory=dict)
    _met: set[frozenset[Level]] = field(default_factory=set)
    _ran: set[frozenset[Level]] = field(default_factory=set)

    @property
    def covered(self) -> int:
        """How many of the pairs a case has that the target was not spared."""
        return len(self._ran)

    def row(self, outcome: Outcome | None) -> Row | None:
        """The next row, when the last one has come to `outcome` (None: there was none); None after the last."""
        if self._ended:
            return None
        try:
            if self._steps is None:
                self._steps = self._lay_out()
                row = next(self._steps)
            else:
                assert outcome is not None, "the last row has come to something"
                row = self._steps.send(outcome)
        except StopIteration:
            self._ended = True
            return None
        self.rows.append(row)
        self._ended = len(self.rows) == MOST_ROWS
        return row

    def repeats(self, outcome: Outcome) -> bool:
        """Whether a row has come out as a Program that another one was already."""
        if outcome.digest in self._seen:
            return True
        self._seen.add(outcome.digest)
        return False

    def _lay_out(self) -> Generator[Row, Outcome, None]:
        if self.coverage == "none":
            return
        for attempt in range(ATTEMPTS):
            base = yield Row(attempt=attempt)
            if base.lawful:
                break
        else:
            return
        matrix: Level | None = None
        alone = [base]
        for factor, (_, count) in base.taken.items():
            self._lawful[factor] = [0]
            for level in range(1, count):
                outcome = yield Row(((factor, level),), attempt=attempt)
                if outcome.lawful:
                    self._lawful[factor].append(level)
                    alone.append(outcome)
                    if outcome.matrix and not base.matrix:
                        matrix = matrix or (factor, level)
                else:
                    self.refused += 1
        if matrix is not None:
            for layout in transposed(base.taken):
                yield Row((matrix, layout), attempt=attempt)
        for dtype in DTYPES:
            if dtype != ORDINARY and (yield Row(dtype=dtype, attempt=attempt)).digest == base.digest:
                break  # no tensor leaves it open
        if self.coverage in ("arguments", "pairs"):
            yield from self._pairs(attempt, alone)

    def _pairs(self, attempt: int, alone: Sequence[Outcome]) -> Generator[Row, Outcome, None]:
        """Rows in which pairs meet that have not met in those of single levels, which were taken `alone`."""
        varied = [
            factor
            for factor, levels in self._lawful.items()
            if len(levels) > 1 and (self.coverage == "pairs" or factor.kind != "corner")
        ]
        for outcome in alone:
            self._meet(outcome, varied)
        # In an order that does not depend on hashes.
        wanted = [
            frozenset(((one, a), (other, b)))
            for one, other in combinations(varied, 2)
            for a in self._lawful[one]
            for b in self._lawful[other]
        ]
        self.pairs = len(wanted)
        # Corners have so many pairs that a row has as many as there is room for.
        at_once = AT_ONCE if self.coverage == "arguments" else len(varied)
        for chosen in covering(tuple(len(self._lawful[factor]) for factor in varied), at_once):
            levels = tuple((f, self._lawful[f][i]) for f, i in zip(varied, chosen, strict=True) if i)
            self._meet((yield Row(levels, attempt=attempt)), varied)
        # Where the reference refused a row, each pair that was left is tried by itself.
        for pair in wanted:
            if pair not in self._met:
                levels = tuple(sorted((level for level in pair if level[1]), key=lambda level: varied.index(level[0])))
                self._meet((yield Row(levels, attempt=attempt)), varied)
                # PyTorch refuses it, or the body does not come to both: a tensor of rank 0 has no second size.
                self.pairs -= pair not in self._met

    def _meet(self, outcome: Outcome, varied: Sequence[Factor]) -> None:
        """Take in which pairs of lawful levels have met in a case that stood."""
        if outcome.lawful:
            taken = [(factor, outcome.taken[factor][0]) for factor in varied if factor in outcome.taken]
            lawful = [(factor, level) for factor, level in taken if level in self._lawful[factor]]
            pairs = {*map(frozenset, combinations(lawful, 2))}
            self._met |= pairs
            if not outcome.spared:
                self._ran |= pairs


@lru_cache(maxsize=1024)
def covering(counts: tuple[int, ...], at_once: int) -> tuple[tuple[int, ...], ...]:
    """Rows of levels, one for each factor, that have every pair of levels of any two in which neither is the first:
    counts (2, 3) give (1, 1) and (1, 2). Rows of single levels have all other pairs. No row has more than `at_once`
    levels that are not the first, which are 2 or more.
    """
    rows: list[tuple[int, ...]] = []
    left = {*combinations(range(len(counts)), 2)}
    while left:
        groups = combinations(range(len(counts)), min(at_once, len(counts)))
        group = max(groups, key=lambda group: len(left.intersection(combinations(group, 2))))
        left.difference_update(combinations(group, 2))
        few = [counts[i] for i in group]
        first = [0] * len(few)
        met = [[*first[:i], level, *first[i + 1 :]] for i, count in enumerate(few) for level in range(count)]
        met += [[row[i] for i in group] for row in rows]
        for chosen in AllPairs([[*range(count)] for count in few], previously_tested=met):
            levels = dict(zip(group, chosen, strict=True))
            rows.append(tuple(levels.get(i, 0) for i in range(len(counts))))
    return tuple(rows)
