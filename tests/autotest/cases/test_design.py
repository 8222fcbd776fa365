"""The design of laid-out cases: which rows follow from which outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, product

import pytest

from autotest.cases.design import ATTEMPTS, MOST_ROWS, Design, Level, Outcome, Row, covering
from autotest.options import Coverage
from generators import DTYPES, Factor, LaidOutSource
from generators.layouts import LAYOUTS
from generators.mixes import STANDARD

A, B, C = (Factor("index", (n,), 0) for n in (3, 2, 4))
COUNTS = {A: 3, B: 2, C: 4}
Refuses = Callable[[dict[Factor, int]], bool]


def laid(
    coverage: Coverage, refuses: Refuses = lambda levels: False, *, dtypes: bool = True
) -> tuple[Design, list[Row]]:
    """A design on a test with the factors A, B and C, and its rows; `dtypes`: it leaves its dtype open."""
    design = Design(coverage)
    outcome = None
    while (row := design.row(outcome)) is not None:
        levels = {factor: dict(row.levels).get(factor, 0) for factor in COUNTS}
        taken = {factor: (level, COUNTS[factor]) for factor, level in levels.items()}
        outcome = Outcome(taken, not refuses(levels), f"{levels} {row.dtype if dtypes else ''}")
    return design, design.rows


def test_each_level_by_itself_then_each_dtype() -> None:
    """The ordinary case comes first; a level is alone among ordinary ones."""
    design, rows = laid("each")
    alone = [((A, 1),), ((A, 2),), ((B, 1),), ((C, 1),), ((C, 2),), ((C, 3),)]
    assert [row.levels for row in rows[:7]] == [(), *alone]
    assert [row.dtype for row in rows[7:]] == [name for name in DTYPES if name != "float32"]
    assert all(row.levels == () for row in rows[7:])
    assert design.pairs == 0


def test_transposed_matrix_where_no_ordinary_tensor_is_one() -> None:
    """The first level that makes one meets each layout; where an ordinary tensor is a matrix already, none does."""
    layouts = [Factor("corner", (6, *(STANDARD.layouts or ())), turn) for turn in (0, 1)]

    def pairs(*matrices: int) -> list[tuple[Level, ...]]:
        design = Design("each")
        outcome = None
        while (row := design.row(outcome)) is not None:
            levels = {factor: dict(row.levels).get(factor, 0) for factor in (A, *layouts)}
            taken = {factor: (level, 3) for factor, level in levels.items()}
            outcome = Outcome(taken, True, "same", matrix=levels[A] in matrices)
        return [row.levels for row in design.rows if len(row.levels) > 1]

    source = LaidOutSource("key", {layouts[0]: 1})
    assert LAYOUTS[source.corner(6, STANDARD.layouts)] == "transposed"
    assert pairs(1, 2) == [((A, 1), (layout, 1)) for layout in layouts]
    assert pairs(0, 1) == []
    assert pairs() == []


def test_no_dtypes_where_none_is_open() -> None:
    """The first that changes nothing ends the sweep."""
    _, rows = laid("each", dtypes=False)
    assert [row.dtype for row in rows[7:]] == [next(iter(DTYPES))]


def test_none_lays_out_nothing() -> None:
    """Not even the ordinary case."""
    assert laid("none")[1] == []


def test_every_pair_of_levels_meets() -> None:
    """In far fewer rows than there are combinations of all factors."""
    design, rows = laid("pairs", dtypes=False)
    met = {
        frozenset(pair)
        for row in rows
        for pair in combinations([(factor, dict(row.levels).get(factor, 0)) for factor in COUNTS], 2)
    }
    for one, other in combinations(COUNTS, 2):
        for a, b in product(range(COUNTS[one]), range(COUNTS[other])):
            assert frozenset(((one, a), (other, b))) in met
    assert design.pairs == design.covered == 3 * 2 + 3 * 4 + 2 * 4
    assert len(rows) < 8 + 3 * 2 * 4


def test_pairs_of_arguments_alone() -> None:
    """How an input looks meets no argument: of B and C alone any two levels do, A has each of its own."""
    design = Design("arguments")
    look = Factor("corner", (3,), 0)
    counts = {look: 3, B: 2, C: 4}
    outcome = None
    while (row := design.row(outcome)) is not None:
        levels = {factor: dict(row.levels).get(factor, 0) for factor in counts}
        outcome = Outcome({factor: (level, counts[factor]) for factor, level in levels.items()}, True, str(levels))
    alone = [(), *(((factor, level),) for factor in counts for level in range(1, counts[factor]))]
    assert [row.levels for row in design.rows if row.dtype == "float32"] == [
        *alone,
        *(((B, 1), (C, level)) for level in (1, 2, 3)),
    ]
    assert design.pairs == design.covered == 2 * 4


def test_a_refused_level_is_in_no_pair() -> None:
    """It is none of the op's domain."""
    design, rows = laid("pairs", lambda levels: levels[A] == 2, dtypes=False)
    assert [row.levels for row in rows if dict(row.levels).get(A) == 2] == [((A, 2),)]
    assert design.pairs == design.covered == 2 * 2 + 2 * 4 + 2 * 4
    assert design.refused == 1


def test_a_refused_pair_is_tried_alone_and_counts_no_more() -> None:
    """A row of the covering array may be refused for another pair than the one that it was to cover."""

    def refuses(levels: dict[Factor, int]) -> bool:
        return levels[A] == 2 and levels[C] == 3

    design, rows = laid("pairs", refuses, dtypes=False)
    assert rows[-1].levels == ((A, 2), (C, 3)) or ((A, 2), (C, 3)) in [row.levels for row in rows]
    assert design.pairs == design.covered == 3 * 2 + 3 * 4 + 2 * 4 - 1


def test_a_row_that_the_target_is_spared_covers_nothing() -> None:
    """Its pairs are wanted and not run, and the rows are those that there would be: what is known of a target does not
    say which case has which number.
    """
    design, rows = Design("pairs"), laid("pairs", dtypes=False)[1]
    outcome = None
    while (row := design.row(outcome)) is not None:
        levels = {factor: dict(row.levels).get(factor, 0) for factor in COUNTS}
        taken = {factor: (level, COUNTS[factor]) for factor, level in levels.items()}
        outcome = Outcome(taken, lawful=True, digest=f"{levels} ", spared=levels[A] == 2)
    assert design.rows == rows
    assert design.pairs == 3 * 2 + 3 * 4 + 2 * 4
    assert 2 + 4 <= design.pairs - design.covered < 2 + 4 + 2 * 4, "those of A's level 2 with B and with C, at least"


def test_a_pair_that_never_meets_counts_no_more() -> None:
    """A body that draws C where A is 0 alone has no pair of A's other levels with those of C."""
    design = Design("pairs")
    outcome = None
    while (row := design.row(outcome)) is not None:
        levels = {factor: dict(row.levels).get(factor, 0) for factor in COUNTS}
        drawn = {factor: level for factor, level in levels.items() if factor != C or not levels[A]}
        taken = {factor: (level, COUNTS[factor]) for factor, level in drawn.items()}
        outcome = Outcome(taken, lawful=True, digest=str(levels))
    assert design.pairs == design.covered == 3 * 2 + 1 * 4 + 2 * 4


def test_a_refused_ordinary_case_is_drawn_anew() -> None:
    """Ordinary sizes that do not fit each other are drawn again; the others start from the draw that stood."""
    tries = iter([True, True, *[False] * 100])
    _, rows = laid("each", lambda levels: next(tries))
    assert [row.attempt for row in rows[:4]] == [0, 1, 2, 2]
    _, rows = laid("each", lambda levels: True)
    assert rows == [Row(attempt=attempt) for attempt in range(ATTEMPTS)]


def test_rows_are_bounded() -> None:
    """However many factors a body has."""
    design = Design("pairs")
    factors = {Factor("index", (10,), turn): (0, 10) for turn in range(60)}
    outcome = None
    while design.row(outcome) is not None:
        outcome = Outcome(factors, True, "same")
    assert len(design.rows) == MOST_ROWS


def test_programs_that_repeat_are_told() -> None:
    """A layout changes nothing in a tensor of one element."""
    design = Design("each")
    assert [design.repeats(Outcome({}, True, digest)) for digest in ("a", "b", "a")] == [False, False, True]


@pytest.mark.parametrize("at_once", [2, 3, 5])
@pytest.mark.parametrize("counts", [(2, 3), (9, 6, 4, 4, 2), (2, 2, 2, 2)])
def test_a_covering_array_covers(counts: tuple[int, ...], at_once: int) -> None:
    """The library's promise, which designs rest on, but for pairs that a row of a single level has; no more at once
    than are asked for; and the same rows each time.
    """
    rows = covering(counts, at_once)
    assert max(sum(map(bool, row)) for row in rows) == min(at_once, len(counts))
    for i, j in combinations(range(len(counts)), 2):
        assert {(row[i], row[j]) for row in rows} >= {*product(range(1, counts[i]), range(1, counts[j]))}
    assert len({*rows}) == len(rows) < math.prod(counts)
    covering.cache_clear()
    assert covering(counts, at_once) == rows


def test_a_single_factor_has_no_pairs() -> None:
    """Each of its levels was a case already."""
    assert covering((5,), 3) == covering((), 3) == ()
