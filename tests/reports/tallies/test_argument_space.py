"""What of their argument space the ops of a run have reached: levels, cells, and the words for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports import (
    ArgumentSpace,
    Summary,
    merge_runs,
    never_text,
    read_run,
    render,
    save_summary,
    space_text,
    summarize,
)
from reports.tallies.argument_space import AXES

COUNTS = [3, 2, 1, 0, 0, 0]
Reached = Callable[..., dict[str, Any]]


@pytest.fixture
def reached() -> Reached:
    """Give a function which makes the record of what a test has reached: relu in these cells."""

    def make(
        cells: dict[str, list[int]], *ops: str, test: str = "test_x.py::test_a", **laid_out: int
    ) -> dict[str, Any]:
        counts = {"cases": 0, "spared": 0, "refused": 0, "pairs": 0, "covered": 0, **laid_out}
        groups = [{"ops": [*(ops or ("relu",))], "cells": cells}]
        return {"type": "reached", "test": test, "laid_out": counts, "groups": groups, "time": 5.0}

    return make


@pytest.fixture
def space(summed: Callable[..., Summary]) -> Callable[..., ArgumentSpace]:
    """Give a function which adds up records."""
    return lambda *records: summed(*records).space


def test_levels(space: Callable[..., ArgumentSpace], reached: Reached) -> None:
    """A level is reached where a tensor was compared, refused where PyTorch alone has seen it, else never."""
    relu = space(
        reached(
            {
                "float32 2 contiguous ordinary": [3, 2, 0, 1, 0, 0],
                "float32 2 contiguous nan+zero": [1, 0, 0, 0, 4, 0],
                "bool 2 contiguous ordinary": [0, 0, 0, 0, 2, 0],
                "float16 1 strided tie": [0, 0, 0, 0, 2, 1],
                "float64 7 contiguous ordinary": [0, 0, 0, 0, 0, 0],
            }
        )
    ).ops["relu"]
    dtypes = {"float32": "reached", "bool": "refused", "float16": "unsupported"}
    assert relu.levels("dtype") == {level: dtypes.get(level, "never") for level in AXES["dtype"]}
    assert relu.levels("rank") == {
        **dict.fromkeys(AXES["rank"], "never"), "1": "unsupported", "2": "reached", "7": "never",
    }  # fmt: skip
    values = {"ordinary": "reached", "nan": "reached", "zero": "reached", "tie": "unsupported"}
    assert relu.levels("values") == {level: values.get(level, "never") for level in AXES["values"]}
    assert relu.levels("phase") == {
        "eager_forward": "reached", "eager_backward": "reached", "graph_forward": "never", "graph_backward": "reached",
    }  # fmt: skip


def test_tests_are_added_up(space: Callable[..., ArgumentSpace], reached: Reached) -> None:
    """Cells of several tests are one sum, laid-out cases count once in the run, and once for each op of their test."""
    cell = "float32 2 contiguous ordinary"
    found = space(
        reached({cell: COUNTS}, "relu", "add", cases=40, refused=1, pairs=10, covered=9),
        reached({cell: COUNTS}, test="test_x.py::test_b", cases=2, pairs=5, covered=5),
    )
    assert found.to_json()["laid_out"] == {"cases": 42, "spared": 0, "refused": 1, "pairs": 15, "covered": 14}
    told = json.loads(json.dumps(found.to_json()))["ops"]
    assert [*told] == ["add", "relu"]
    assert {op: (row["tests"], row["laid_out"]["cases"], row["cells"]) for op, row in told.items()} == {
        "add": (1, 40, [["float32", "2", "contiguous", "ordinary", *COUNTS]]),
        "relu": (2, 42, [["float32", "2", "contiguous", "ordinary", 6, 4, 2, 0, 0, 0]]),
    }


def test_further_ranks_count_nothing(lay: Any, header: Any, reached: Reached) -> None:
    """What a further rank has reached is what the first one has."""
    record = reached({"float32 2 contiguous ordinary": COUNTS}, cases=3)
    lay(header(), record, worker="rank0")
    folder = lay(header(), record, worker="rank1")
    assert summarize(read_run(folder)).space.laid_out.cases == 3


def test_merged_shards(tmp_path: Path, header: Any, reached: Reached) -> None:
    """A joined run has reached what its shards have."""
    for name in ("a", "b"):
        record = reached({"float32 2 contiguous ordinary": COUNTS}, test=f"test_x.py::test_{name}", cases=3)
        folder = tmp_path / name / "runs" / "20261120-120000-7-1"
        folder.mkdir(parents=True)
        (folder / "records-main.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (header(), record)))
    merged = merge_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "both").folder
    space = summarize(read_run(merged)).space
    assert space.laid_out.cases == 6
    assert [*space.ops["relu"].cells.values()] == [(6, 4, 2, 0, 0, 0)]


def test_words(space: Callable[..., ArgumentSpace], reached: Reached) -> None:
    """Each axis has its levels by what has become of them, in as many columns as there are."""
    found = space(
        reached(
            {"float32 2 contiguous ordinary": COUNTS, "bool 2 offset zero+tie": [0, 0, 0, 0, 1, 0]},
            cases=1200, spared=12, refused=1, pairs=1000, covered=999,
        ),
        reached({"int8 0 contiguous ordinary": [0, 0, 0, 0, 0, 7]}, test="test_x.py::test_b"),
        reached({}, "arange", test="test_x.py::test_c", cases=1),
    )  # fmt: skip
    assert space_text(found, 80) == (
        """\
arange  in 1 test, 1 laid-out case
  no tensor was drawn for it

relu  in 2 tests, 1,200 laid-out cases, 1 corner that PyTorch refuses, 12 left
  out, known to end the target, 99.9 % of 1,000 pairs of corners
  dtype   reached          float32
          unsupported      int8
          PyTorch refuses  bool
          never            float16, bfloat16, float64, uint8, int16, int32,
                           int64, complex64, complex128
  rank    reached          2
          unsupported      0
          never            1, 3, 4, 5
  layout  reached          contiguous
          PyTorch refuses  offset
          never            transposed, channels_last, strided, expanded
  values  reached          ordinary
          PyTorch refuses  zero, tie
          never            nan, inf, huge, subnormal, far, kink, empty
  phase   reached          eager forward, eager backward, graph forward
          never            graph backward"""
    )
    assert never_text(found, 200) == (
        "relu: dtype float16, bfloat16, float64, uint8, int16, int32, int64, complex64, complex128; rank 1, 3, 4, 5; "
        "layout transposed, channels_last, strided, expanded; values nan, inf, huge, subnormal, far,\n"
        "    kink, empty; phase graph backward"
    )
    assert max(map(len, space_text(found, 44).splitlines())) <= 44


def test_nothing_left(space: Callable[..., ArgumentSpace], reached: Reached) -> None:
    """Where every level was reached or cannot be, that is said."""
    cells = {f"{dtype} 0 contiguous ordinary": [1, 1, 1, 1, 0, 0] for dtype in AXES["dtype"]}
    cells |= {f"bool {rank} contiguous ordinary": [1, 1, 1, 1, 0, 0] for rank in AXES["rank"]}
    cells |= {f"bool 1 {layout} ordinary": [0, 0, 0, 0, 1, 0] for layout in AXES["layout"]}
    cells |= {f"bool 1 contiguous {values}": [0, 0, 0, 0, 0, 1] for values in AXES["values"]}
    assert never_text(space(reached(cells))) == "no op has a level that was never tried"


def test_line_of_the_summary(summed: Callable[..., Summary], reached: Reached) -> None:
    """The summary tells how many cases were laid out, and what share of the pairs they cover, rounded down."""
    pairs = summed(reached({}, cases=12181, pairs=100746, covered=100740))
    assert "laid out        12,181  cases; 99.9 % of 100,746 pairs of corners" in render(pairs, 80).splitlines()
    assert "laid out        7  cases" in render(summed(reached({}, cases=7)), 80).splitlines()
    spared = render(summed(reached({}, cases=7, spared=1234)), 80).splitlines()
    assert "laid out        7  cases; 1,234 left out, known to end the target" in spared
    assert "laid out" not in render(summed(reached({})), 80)
    assert pairs.to_json()["laid_out"] == {
        "cases": 12181,
        "spared": 0,
        "refused": 0,
        "pairs": 100746,
        "covered": 100740,
    }


def test_file(summed: Callable[..., Summary], reached: Reached) -> None:
    """The run's folder has coverage.json beside summary.json, where a test has told something."""
    nothing = summed()
    save_summary(nothing.folder, nothing)
    assert not (nothing.folder / "coverage.json").exists()
    summary = summed(reached({"float32 2 contiguous ordinary": COUNTS}))
    save_summary(summary.folder, summary)
    told = json.loads((summary.folder / "coverage.json").read_text())
    assert told["counts"] == [
        "eager_forward", "eager_backward", "graph_forward", "graph_backward", "refused", "unsupported",
    ]  # fmt: skip
    assert told["ops"]["relu"]["cells"] == [["float32", "2", "contiguous", "ordinary", *COUNTS]]
    assert told["ops"]["relu"]["levels"]["rank"]["2"] == "reached"


def test_page(space: Callable[..., ArgumentSpace], reached: Reached) -> None:
    """The page's levels are numbers of a list that has those of the run, too."""
    page = space(reached({"float32 7 strided nan+zero": COUNTS}, cases=1)).to_page()
    axes: Any = page["axes"]
    assert axes == {**{axis: [*levels] for axis, levels in AXES.items()}, "rank": [*AXES["rank"], "7"]}
    laid_out = {"cases": 1, "spared": 0, "refused": 0, "pairs": 0, "covered": 0}
    assert page["ops"] == [["relu", 1, laid_out, [[2, 6, 4, [1, 6], *COUNTS]]]]
