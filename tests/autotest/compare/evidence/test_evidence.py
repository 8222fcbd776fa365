"""What shows a divergence to people: facts of all sides, words, worst elements, map and histogram."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Difference, Part, Rules, allowed_between
from autotest.compare.evidence.evidence import (
    LAST_BIN,
    MAP_COLUMNS,
    MAP_ROWS,
    WORST,
    Sides,
    evidence,
    heat,
    histogram,
    part_of,
)
from autotest.compare.mismatch import Mismatch
from dual_object.replay.observation import Observation, Seen

NAN, INF = math.nan, math.inf


def seen(*values: Any, dtype: str = "float32", device: str = "cpu", shape: tuple[int, ...] | None = None) -> Seen:
    """A tensor as a side shows it, a vector unless a shape is given."""
    data = np.array(values, dtype={"bfloat16": "float32"}.get(dtype, dtype))
    data = data if shape is None else data.reshape(shape)
    return Seen(dtype, data.shape, device, False, data)


def outputs(**sides: Seen) -> Sides:
    """Sides whose output number 1 is this."""
    return Sides(**{name: Observation(outputs={1: tensor}) for name, tensor in sides.items()})


def of(
    expected: Seen | None, actual: Seen | None, sides: Sides | None = None, rules: Rules | None = None, **fields: Any
) -> dict[str, Any]:
    """The evidence of a difference of two tensors, as JSON gives it back."""
    given = {"phase": "eager_forward", "kind": "value", "where": "t0", "message": "m", "key": "1", **fields}
    mismatch = None
    if expected is not None and actual is not None and expected.shape == actual.shape:
        allowed = allowed_between(expected, rules or Rules(), signed=given.get("part", "output") == "output")
        mismatch = Mismatch.of(expected.data, actual.data, allowed)
    difference = Difference(expected=expected, actual=actual, mismatch=mismatch, **given)
    text = json.dumps(evidence(difference, sides or Sides()), allow_nan=False)
    return dict(json.loads(text))


NOTHING = {"facts": [], "words": [], "worst": [], "heat": None, "histogram": None, "sample": None, "whole": None}


def test_difference_that_is_not_of_tensors() -> None:
    """An exception, a host value or a crash has no evidence of this kind."""
    assert of(None, None, key="") == NOTHING
    assert of(None, None, part="host", key="") == NOTHING


def test_whole_evidence() -> None:
    """One wrong element of two: what each side has, in words, numbers, a map and a histogram."""
    expected, actual = seen(1.0, 2.0), seen(1.0, 2.5)
    assert of(expected, actual, outputs(reference=expected, eager=actual)) == {
        "facts": [
            ["dtype", "float32", "float32", None],
            ["shape", "(2,)", "(2,)", None],
            ["least", "1.0", "1.0", None],
            ["greatest", "2.0", "2.5", None],
        ],
        "words": ["1 of 2 elements differ beyond the tolerance"],
        "worst": [
            {
                "index": [1],
                "reference": 2.0,
                "eager": 2.5,
                "graph": None,
                "absolute": 0.5,
                "relative": 0.25,
                "ulp": 2.0**21,
            }
        ],
        "whole": {
            "shape": [2],
            "reference": [["1.0", "2.0"]],
            "eager": [["1.0", "2.5"]],
            "graph": None,
            "wrong": [[0, 1]],
        },
        "heat": {"shape": [2], "rows": 1, "columns": 2, "cells": [[0.0, 0.5]], "note": ""},
        "histogram": [["0", 1], *([_label(n), 0] for n in range(1, 22)), [_label(22), 1]],
        "sample": {
            "along": "",
            "of": 2,
            "elements": [[1.0, 1.0, 1.0, 0.00011, 0.0], [2.0, 2.0, 2.5, 0.00021, 2.0**21]],
        },
    }


def _label(number: int) -> str:
    return "1" if number == 1 else f"{2 ** (number - 1):,}-{2**number - 1:,}"


def test_graph_phase_shows_all_sides() -> None:
    """In a graph phase the expected side is eager; the reference keeps its own column."""
    reference, eager, graph = seen(1.0), seen(1.5), seen(3.0)
    found = of(eager, graph, outputs(reference=reference, eager=eager, graph=graph), phase="graph_forward")
    [worst] = found["worst"]
    assert (worst["reference"], worst["eager"], worst["graph"], worst["absolute"]) == (1.0, 1.5, 3.0, 1.5)
    assert ["greatest", "1.0", "1.5", "3.0"] in found["facts"]


def test_eager_phase_has_the_graph_where_it_ran() -> None:
    """In an eager phase the graph's value is shown where there is one, and it is eager that is held to account."""
    reference, eager, graph = seen(1.0), seen(1.5), seen(3.0)
    [worst] = of(reference, eager, outputs(reference=reference, eager=eager, graph=graph))["worst"]
    assert (worst["reference"], worst["eager"], worst["graph"], worst["absolute"]) == (1.0, 1.5, 3.0, 0.5)


@pytest.mark.parametrize(
    ("phase", "columns"), [("eager_forward", ("1.0", "3.0", None)), ("graph_forward", (None, None, "3.0"))]
)
def test_sides_that_nobody_kept(phase: str, columns: tuple[str | None, ...]) -> None:
    """What a comparison itself holds stands in for a side: the actual value always, the expected one only of eager."""
    found = of(seen(1.0), seen(3.0), phase=phase)
    assert ["greatest", *columns] in found["facts"]
    [worst] = found["worst"]
    values = (worst["reference"], worst["eager"], worst["graph"])
    assert values == tuple(None if text is None else float(text) for text in columns)
    assert worst["absolute"] == 2.0


def test_host_arrays() -> None:
    """An array that a call gave to Python is shown as a tensor is, without any side's tensors."""
    other = outputs(reference=seen(9.0), eager=seen(9.0))
    [worst] = of(seen(1.0), seen(2.0), other, part="host", key="")["worst"]
    assert (worst["reference"], worst["eager"], worst["graph"]) == (1.0, 2.0, None)


@pytest.mark.parametrize(
    ("part", "key", "found"),
    [
        ("output", "1", 1.0),
        ("output", "2", None),
        ("output", "", None),
        ("gradient", "0", 2.0),
        ("gradient", "7", None),
        ("buffer", "2.mean", 3.0),
        ("buffer", "2.var", None),
        ("input", "0", None),
        ("host", "", None),
    ],
)
def test_part_of_an_observation(part: Part, key: str, found: float | None) -> None:
    """Outputs, gradients and buffers are found by their keys; nothing else is a tensor of an observation."""
    observation = Observation(
        outputs={1: seen(1.0)}, gradients={"0": seen(2.0), "7": None}, buffers={"2.mean": seen(3.0)}
    )
    tensor = part_of(observation, part, key)
    assert (None if tensor is None else float(tensor.data[0])) == found
    assert part_of(None, part, key) is None


def test_gradients_of_all_sides() -> None:
    """The sides of a gradient are gradients, whatever the outputs are."""
    made = {
        name: Observation(outputs={1: seen(9.0)}, gradients={"1": seen(value)})
        for name, value in {"reference": 1.0, "eager": 2.0, "graph": 3.0}.items()
    }
    [worst] = of(seen(1.0), seen(2.0), Sides(**made), part="gradient", phase="eager_backward")["worst"]
    assert (worst["reference"], worst["eager"], worst["graph"]) == (1.0, 2.0, 3.0)


def test_missing_gradient() -> None:
    """Of a gradient that the target lacks, there are the facts of the reference's alone."""
    sides = Sides(Observation(gradients={"0": seen(1.0)}), Observation(gradients={"0": None}))
    found = of(seen(1.0), None, sides, part="gradient", key="0", phase="eager_backward", kind="grad_missing")
    assert found == {
        **NOTHING,
        "facts": [
            ["dtype", "float32", None, None],
            ["shape", "(1,)", None, None],
            ["least", "1.0", None, None],
            ["greatest", "1.0", None, None],
        ],
    }


@pytest.mark.parametrize(
    ("actual", "words"),
    [
        (seen(1.0, 2.0, shape=(1, 2)), "shape (1, 2) broadcasts with (2,), but is another shape"),
        (seen(1.0), "shape (1,) broadcasts with (2,), but is another shape"),
        (seen(1.0, 2.0, 3.0), "shapes (3,) and (2,) do not broadcast"),
    ],
)
def test_shapes_that_differ(actual: Seen, words: str) -> None:
    """Tensors of two shapes are not held against each other element by element."""
    found = of(seen(1.0, 2.0), actual, kind="shape")
    assert found["words"] == [words]
    assert {name: found[name] for name in ("worst", "heat", "histogram")} == {
        "worst": [],
        "heat": None,
        "histogram": None,
    }
    assert ["shape", "(2,)", str(actual.shape), None] in found["facts"]


def test_facts_that_differ() -> None:
    """Device, gradient and counts of NaN and infinities are told only where they say something."""
    actual = seen(1.0, NAN, INF, dtype="float64", device="cuda:0")
    actual.requires_grad = True
    assert of(seen(1.0, 2.0, 3.0), actual)["facts"] == [
        ["dtype", "float32", "float64", None],
        ["shape", "(3,)", "(3,)", None],
        ["device", "cpu", "cuda:0", None],
        ["requires_grad", "False", "True", None],
        ["NaN", "0", "1", None],
        ["infinite", "0", "1", None],
        ["least", "1.0", "1.0", None],
        ["greatest", "3.0", "1.0", None],
    ]


def test_facts_of_a_device_that_is_not_the_host() -> None:
    """A device that all sides share is told where it is not the processor."""
    both = seen(1.0, device="cuda:0"), seen(2.0, device="cuda:0")
    assert ["device", "cuda:0", "cuda:0", None] in of(*both)["facts"]


@pytest.mark.parametrize("values", [(), (NAN,)])
def test_no_extremes(values: tuple[float, ...]) -> None:
    """A tensor without a finite element has no least and no greatest."""
    assert [row[0] for row in of(seen(*values), seen(*values))["facts"]] == ["dtype", "shape", *["NaN"] * len(values)]


@pytest.mark.parametrize("dtype", ["complex64", "bool"])
def test_dtypes_without_order(dtype: str) -> None:
    """Complex numbers and truth values have no extremes."""
    assert [row[0] for row in of(seen(0, dtype=dtype), seen(1, dtype=dtype))["facts"]] == ["dtype", "shape"]


DIFFER = "differ beyond the tolerance"


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        (seen(1.0, 2.0), seen(1.0, 2.0), []),
        (
            seen(1.0, INF),
            seen(NAN, NAN),
            [f"2 of 2 elements {DIFFER}", "2 of 2 elements are NaN where the expected value is a number"],
        ),
        (
            seen(NAN),
            seen(1.0),
            [f"1 of 1 element {DIFFER}", "1 of 1 element is a number where the expected value is NaN"],
        ),
        (
            seen(1.0, 2.0),
            seen(INF, 2.0),
            [f"1 of 2 elements {DIFFER}", "1 of 2 elements is infinite where the expected value is finite"],
        ),
        (
            seen(INF, 2.0),
            seen(1.0, 2.0),
            [f"1 of 2 elements {DIFFER}", "1 of 2 elements is finite where the expected value is infinite"],
        ),
        (
            seen(INF),
            seen(-INF),
            [f"1 of 1 element {DIFFER}", "1 of 1 element is infinite with the other sign"],
        ),
        (seen(1e-9, 2.0), seen(-1e-9, 2.0), []),
        (seen(0.0, 1.0), seen(-0.0, 1.0), ["1 of 2 elements is zero with the other sign"]),
        (
            seen(1.0, 2.0),
            seen(-1.0, -2.0),
            [f"2 of 2 elements {DIFFER}", "2 of 2 elements are of the other sign"],
        ),
        (seen(1.0, 2.0), seen(0.0, 0.0), [f"2 of 2 elements {DIFFER}", "every element is zero"]),
        (seen(1, 2, dtype="int64"), seen(0, 0, dtype="int64"), [f"2 of 2 elements {DIFFER}"]),
        (
            seen(1j, dtype="complex64"),
            seen(NAN, dtype="complex64"),
            [f"1 of 1 element {DIFFER}", "1 of 1 element is NaN where the expected value is a number"],
        ),
    ],
)
def test_words(expected: Seen, actual: Seen, words: list[str]) -> None:
    """How many elements differ, and what a number alone does not tell."""
    assert of(expected, actual)["words"] == words


def test_words_have_thousands() -> None:
    """Great counts can be read."""
    left, right = np.zeros(2000, "float32"), np.ones(2000, "float32")
    both = [Seen("float32", (2000,), "cpu", False, data) for data in (left, right)]
    assert of(*both)["words"] == [f"2,000 of 2,000 elements {DIFFER}"]


@pytest.mark.parametrize(
    ("expected", "actual", "row"),
    [
        (seen(0.0), seen(1.0), (0.0, 1.0, 1.0, "inf", 0x3F800000)),
        (seen(0.1), seen(0.3), (0.1, 0.3, pytest.approx(0.2), pytest.approx(2.0), pytest.approx(13421775, abs=2))),
        (seen(1.0), seen(NAN), (1.0, "nan", "nan", "nan", "inf")),
        (seen(INF), seen(-INF), ("inf", "-inf", "nan", "nan", "inf")),
        (seen(NAN), seen(2.0), ("nan", 2.0, "nan", "nan", "inf")),
        (seen(3, dtype="int64"), seen(5, dtype="int64"), (3, 5, 2, pytest.approx(2 / 3), None)),
        (seen(True, dtype="bool"), seen(False, dtype="bool"), (True, False, 1, 1.0, None)),
        (
            seen(3 + 4j, dtype="complex64"),
            seen(3 - 4j, dtype="complex64"),
            ("(3+4j)", "(3-4j)", 8.0, 1.6, 2 * 0x40800000 + 1),
        ),
        (seen(1.0, dtype="bfloat16"), seen(1.5, dtype="bfloat16"), (1.0, 1.5, 0.5, 0.5, 64)),
        (seen(1.0), seen(2.0, dtype="float64"), (1.0, 2.0, 1.0, 1.0, None)),
        (
            seen(1e308, dtype="float64"),
            seen(-1e308, dtype="float64"),
            (1e308, -1e308, "inf", "inf", float(2 * 0x7FE1CCF385EBC8A0 + 1)),
        ),
    ],
)
def test_worst_rows_are_plain(expected: Seen, actual: Seen, row: tuple[Any, ...]) -> None:
    """Worst elements hold how far apart the values are; what JSON has no number for is text."""
    [worst] = of(expected, actual)["worst"]
    found = tuple(worst[name] for name in ("reference", "eager", "absolute", "relative", "ulp"))
    assert found == row
    assert worst["index"] == [0]


def test_scalar_has_an_empty_place() -> None:
    """The only element of a tensor without dimensions has no index, and there is no map of it."""
    found = of(seen(1.0, shape=()), seen(2.0, shape=()))
    assert [row["index"] for row in found["worst"]] == [[]]
    assert found["heat"] is None
    assert sum(count for _, count in found["histogram"]) == 1


def test_ten_worst_elements_are_kept() -> None:
    """Of many wrong elements the ten worst are kept, worst first, with their places in all dimensions."""
    expected, actual = seen(*[0.0] * 20, shape=(4, 5)), seen(*map(float, range(20)), shape=(4, 5))
    worst = of(expected, actual)["worst"]
    assert [row["index"] for row in worst] == [[n // 5, n % 5] for n in range(19, 19 - WORST, -1)]
    assert len(worst) == WORST == 10


def test_side_of_another_shape_has_no_value() -> None:
    """A side whose tensor has another shape has no element at that place."""
    sides = outputs(reference=seen(1.0, 2.0), eager=seen(1.0, 3.0), graph=seen(7.0))
    [worst] = of(seen(1.0, 2.0), seen(1.0, 3.0), sides)["worst"]
    assert (worst["reference"], worst["eager"], worst["graph"]) == (2.0, 3.0, None)


def test_equal_values_have_no_worst() -> None:
    """Tensors that differ in their dtype alone have facts and no elements to show."""
    found = of(seen(1.0), seen(1.0, dtype="float64"), kind="dtype")
    assert (found["worst"], found["heat"], found["histogram"], found["words"]) == ([], None, None, [])


def test_tolerance_of_the_rules() -> None:
    """What a test allows is not told as wrong."""
    rules = Rules(rtol=0.6, atol=0.0)
    assert of(seen(1.0, 1.0), seen(1.5, 9.0), rules=rules)["words"] == [f"1 of 2 elements {DIFFER}"]


def array(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Zeros."""
    return np.zeros(shape, "float32")


@pytest.mark.parametrize(
    ("shape", "rows", "columns", "note"),
    [
        ((5,), 1, 5, ""),
        ((4, 5), 4, 5, ""),
        ((2, 3, 5), 6, 5, ""),
        ((MAP_ROWS, MAP_COLUMNS), MAP_ROWS, MAP_COLUMNS, ""),
        ((MAP_ROWS + 1, 3), 13, 3, "each cell is the greatest error of a 2 x 1 block"),
        ((1, MAP_COLUMNS + 1), 1, 25, "each cell is the greatest error of a 1 x 2 block"),
        ((1000, 1000), 24, 48, "each cell is the greatest error of a 42 x 21 block"),
    ],
)
def test_map_has_its_size(shape: tuple[int, ...], rows: int, columns: int, note: str) -> None:
    """The last dimension runs along the columns, all others along the rows; a greater tensor is told in blocks."""
    found = heat(array(shape), array(shape))
    assert found is not None
    cells: Any = found.pop("cells")
    assert found == {"shape": list(shape), "rows": rows, "columns": columns, "note": note}
    assert (len(cells), {len(row) for row in cells}) == (rows, {columns})


def test_map_of_blocks_keeps_each_error() -> None:
    """A single wrong element shows in the block that holds it, and in no other, wherever it is."""
    shape = (50, 100)
    for place in ((0, 0), (2, 2), (3, 3), (49, 99), (48, 0)):
        actual = array(shape)
        actual[place] = -7.0
        found = heat(array(shape), actual)
        assert found is not None
        cells = np.array(found["cells"])
        assert list(zip(*np.nonzero(cells), strict=True)) == [(place[0] // 3, place[1] // 3)]
        assert cells.max() == 7.0


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3)])
def test_no_map(shape: tuple[int, ...]) -> None:
    """A tensor without dimensions or elements has no map."""
    assert heat(array(shape), array(shape)) is None


@pytest.mark.parametrize(
    ("expected", "actual", "cell"),
    [
        (1.0, 1.5, 0.5),
        (1.0, 0.0, 1.0),
        (NAN, NAN, 0.0),
        (INF, INF, 0.0),
        (INF, -INF, "not finite"),
        (1.0, NAN, "not finite"),
        (NAN, 1.0, "not finite"),
        (1.0, INF, "not finite"),
        (3 + 4j, 0j, 5.0),
        (0.0, -1.7976931348623157e308, 1.7976931348623157e308),
        (1.7976931348623157e308, -1.7976931348623157e308, 1.7976931348623157e308),
        (0.0, 1.23456789, 1.235),
        (0, 3, 3.0),
        (False, True, 1.0),
    ],
)
def test_cells_of_a_map(expected: Any, actual: Any, cell: Any) -> None:
    """A cell is how far apart two values are, in four digits, or text where that is no number."""
    found = heat(np.array([expected]), np.array([actual]))
    assert found is not None
    assert found["cells"] == [[cell]]


@pytest.mark.parametrize(
    ("distances", "rows"),
    [
        ([], [["0", 0]]),
        ([0.0, 0.0], [["0", 2]]),
        ([1.0], [["0", 0], ["1", 1]]),
        ([2.0, 3.0, 4.0], [["0", 0], ["1", 0], ["2-3", 2], ["4-7", 1]]),
        (
            [1024.0],
            [["0", 0], ["1", 0], *([f"{2**n:,}-{2 ** (n + 1) - 1:,}", 0] for n in range(1, 10)), ["1,024-2,047", 1]],
        ),
        ([NAN, 0.0], [["0", 2]]),
        ([INF, NAN, 1.0], [["0", 1], ["1", 1], ["not finite", 1]]),
    ],
)
def test_histogram(distances: list[float], rows: list[list[object]]) -> None:
    """Bins double, up to the last that holds any; two NaNs agree, one does not count as a distance."""
    assert histogram(np.array(distances)) == rows


def test_last_bin() -> None:
    """What is farther than the last bin begins is in it."""
    rows = histogram(np.array([2.0**30 - 1, 2.0**30, 2.0**63]))
    assert rows[-2:] == [["536,870,912-1,073,741,823", 1], ["1,073,741,824 or more", 2]]
    assert len(rows) == LAST_BIN + 1


def test_histogram_counts_every_element() -> None:
    """No element of any shape is lost."""
    distances = np.floor(np.random.default_rng(3).lognormal(sigma=8, size=(40, 50)))
    rows = histogram(distances)
    assert sum(count for _, count in rows if isinstance(count, int)) == 2000
    for label, count in rows[:-1]:
        low, _, high = str(label).replace(",", "").partition("-")
        inside = (distances >= int(low)) & (distances <= int(high or low))
        assert int(inside.sum()) == count


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(seen(1, dtype="int64"), seen(2, dtype="int64")), (seen(1.0), seen(2.0, dtype="float64"))],
)
def test_no_histogram(expected: Seen, actual: Seen) -> None:
    """Integers, and tensors of two dtypes, have no units to count in."""
    assert of(expected, actual)["histogram"] is None
