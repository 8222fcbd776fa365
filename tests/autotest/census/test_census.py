"""The census of a small run: what is known of each op, from cases, ledger and table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autotest.census.census import Census, Op, take_census
from autotest.census.telling import census_json, census_page
from autotest.cli import main
from autotest.errors import UsageError
from dual_object.adapters.dialect import Row
from dual_object.adapters.torch.tables import TableOp, table_ops
from reports import RecordWriter

PAGE = Path(__file__).parents[3] / "docs" / "census-oneflow-0.9.0.md"
OPS = [
    TableOp("ops", "abs", "abs", frozenset({"abs", "abs_", "absolute"})),
    TableOp("ops", "norm", "norm", frozenset({"norm"})),
    TableOp("ops", "norm.nuc", "norm", frozenset({"norm"}), variant=True),
    TableOp("ops", "linalg.norm", "linalg.norm", frozenset({"norm"})),
    TableOp("ops", "div.no_rounding_mode", "div", frozenset({"div"}), variant=True),
    TableOp("ops", "div.floor_rounding", "div", frozenset({"div"}), variant=True),
    TableOp("ops", "lgamma", "lgamma", frozenset({"lgamma"})),
    TableOp("ops", "igamma", "igamma", frozenset({"igamma"})),
    TableOp("ops", "bernoulli", "bernoulli", frozenset({"bernoulli"})),
    TableOp("layers", "nn.GELU", "nn.GELU", frozenset({"GELU"})),
]
LEDGER = """
[[oneflow]]
fingerprint = "oneflow/eager_backward/value/lgamma/float32"
reason = "zero"
versions = "==0.9.0"
tests = ["test_unary.py::test_op[torch.lgamma]"]
message = "lgamma: wrong"
program = "t0 = torch.lgamma(x)"
stored = "{}"

[[oneflow]]
fingerprint = "oneflow/eager_forward/value/bernoulli/float32"
reason = "of another version"
versions = "==0.8.0"
tests = ["test_random.py::test_op[torch.bernoulli]"]
message = "bernoulli: wrong"
program = "t0 = torch.bernoulli(x)"
stored = "{}"
"""
HEADER: dict[str, Any] = {"seed": 0, "environment": {"oneflow": "0.9.0", "torch": "2.14.1"}, "command": "pytest"}


def row(op: str, kind: str, level: str = "wrong", phase: str = "eager_forward") -> dict[str, Any]:
    """A divergence of an op."""
    texts = dict.fromkeys(("target", "test", "case_key", "message", "replay"), "x")
    fingerprint = f"oneflow/{phase}/{kind}/{op}/float32"
    return {**texts, "id": "0123abcd", "fingerprint": fingerprint, "op": op, "phase": phase, "kind": kind} | {
        "level": level,
        "reason": None,
        "evidence": None,
    }


def made_run(folder: Path, target: str = "oneflow") -> Path:
    """A run of five tests."""
    with RecordWriter(folder, "main", **HEADER, target=target) as writer:

        def case(test: str, op: str, *rows: dict[str, Any]) -> None:
            verdict = "divergent" if rows else "aligned"
            graph = {"forward": "off", "backward": "nothing to differentiate"}
            told = {"ops": [op], "dtypes": ["float32"], "graph": graph, "seconds": 0.1, "divergences": rows}
            writer.end(test, f"{test}#0", verdict, **told)

        case("suites/test_unary.py::test_op[torch.abs]", "abs")
        case("suites/test_unary.py::test_form[Tensor.abs_]", "abs_", row("abs_", "dtype"))
        case("suites/test_matmul.py::test_op[torch.linalg.norm]", "norm", row("norm", "unsupported", "known"))
        case("suites/test_reduction.py::test_norm", "norm")
        case("suites/test_binary.py::test_op[torch.div]", "div", row("div", "value"))
        case("suites/opinfo/test_opinfo.py::test_entry[norm.nuc]", "norm", row("norm", "missing", "counted"))
        case("night/tests/test_calls.py::test_gelu", "GELU")
        cells = {"float32 2 contiguous ordinary": [3, 2, 0, 1, 0, 0]}
        laid_out = {"cases": 0, "refused": 0, "pairs": 0, "covered": 0}
        test = "suites/test_unary.py::test_op[torch.abs]"
        writer.reached(test, {"laid_out": laid_out, "groups": [{"ops": ["abs"], "cells": cells}]})
        writer.surface(["abs", "lgamma"], ["abs"], ["abs", "norm", "lgamma"])
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Such a run, beside a ledger."""
    (tmp_path / "known.toml").write_text(LEDGER)
    return made_run(tmp_path / "run")


@pytest.fixture
def census(run: Path) -> Census:
    """Its census."""
    return take_census([run], [run.parent / "known.toml"], OPS, {})


def told(ops: Sequence[Op]) -> dict[str, tuple[str, str]]:
    """Status, and by what it was decided."""
    return {op.name: (op.status, op.decided) for op in ops}


def test_statuses(census: Census) -> None:
    """By the cases of its names; ops of one name are told apart by the path that a test spells; else by the ledger.

    Of an op of which all entries are variants the first has what is about none of them in particular.
    """
    assert told(census.ops) == {
        "abs": ("wrong", "cases"),
        "norm": ("aligned", "cases"),
        "norm.nuc": ("lacking", "cases"),
        "linalg.norm": ("refused", "cases"),
        "div.no_rounding_mode": ("wrong", "cases"),
        "div.floor_rounding": ("unknown", ""),
        "lgamma": ("wrong", "ledger"),
        "igamma": ("unknown", ""),
        "bernoulli": ("unknown", ""),
        "nn.GELU": ("aligned", "cases"),
    }
    ops = {op.name: op for op in census.ops}
    assert ops["abs"].sources == {"suites": 2}
    assert ops["abs"].found.kinds == {"dtype": 1}
    assert ops["norm.nuc"].sources == {"OpInfo": 1}
    assert ops["nn.GELU"].sources == {"calls": 1}
    assert ops["lgamma"].known == ("oneflow/eager_backward/value/lgamma/float32",)
    assert (ops["norm"].calls, ops["linalg.norm"].calls, ops["norm.nuc"].calls) != (0, 0, 0)


def test_json(census: Census) -> None:
    """Everything, with every cell."""
    data: Any = census_json(census)
    assert data["versions"] == {"oneflow": "0.9.0", "torch": "2.14.1"}
    assert (data["tests"], data["cases"]) == (7, 7)
    assert data["counts"]["all"] == {"wrong": 3, "aligned": 2, "refused": 1, "lacking": 1, "unknown": 3}
    assert data["counts"]["layers"]["aligned"] == 1
    assert data["registry"] == {"abs": True, "lgamma": False}
    assert data["names"] == {"abs": True, "lgamma": False, "norm": True}
    [first, *_] = data["ops"]
    assert first["phases"] == {"eager_forward": {"aligned": 1, "wrong": 1}}
    assert first["space"]["cells"] == [["float32", "2", "contiguous", "ordinary", 3, 2, 0, 1, 0, 0]]


def test_page(census: Census) -> None:
    """One number first; a row for each op; what never ran."""
    page = census_page(census, "autotest census")
    assert page.startswith(
        "# oneflow 0.9.0: census of PyTorch's ops\n\n"
        "Written by `autotest census`, from 7 cases of 7 tests and the ledger, against torch 2.14.1.\n\n"
        "**20.0 % of PyTorch's surface is aligned**; 30.0 % wrong, 10.0 % refused, 10.0 % lacking, 30.0 % unknown.\n\n"
        "| | all | wrong | aligned | refused | lacking | unknown |\n|---|--:|--:|--:|--:|--:|--:|\n"
        "| ops of OpInfo | 9 | 3 | 1 | 1 | 1 | 3 |\n"
        "| layers of PyTorch's table of modules | 1 | 0 | 1 | 0 | 0 | 0 |\n\n"
    )
    assert (
        "| `abs` | wrong | wrong |  |  |  | 1/2 | 1 dtype, 1 rank, 1 layout, 1 value | suites 2, 3 shipped calls |  |\n"
        in page
    )
    assert "| `igamma` | unknown |  |  |  |  | 0 |  |  |  |\n" in page
    assert "## Op types that the target has registered\n\n1 of 2 ran. The others: `lgamma`.\n" in page
    assert inconsistencies(page) == []


def test_table_of_a_target(run: Path) -> None:
    """An op that the target's own table has no row for is lacking; each row has a status of its own."""
    rows = {path: Row(path) for path in ("abs", "Tensor.norm", "igamma")}
    census = take_census([run], [], OPS, {"oneflow": rows})
    assert told(census.ops)["bernoulli"] == ("lacking", "table")
    assert told(census.ops)["igamma"] == ("unknown", "")
    assert told(census.mapped) == {
        "abs": ("aligned", "cases"),
        "Tensor.norm": ("aligned", "cases"),
        "igamma": ("unknown", ""),
    }
    assert "| rows of oneflow's own table | 3 | 0 | 2 | 0 | 0 | 1 |\n" in census_page(census, "autotest census")


def test_several_runs(run: Path, tmp_path: Path) -> None:
    """What several runs show adds up; runs of several targets have no census."""
    twice = take_census([run, run], [], OPS, {})
    assert twice.cases == 14
    assert twice.ops[0].found.outcomes["eager_forward"] == {"aligned": 2, "wrong": 2}
    with pytest.raises(UsageError) as caught:
        take_census([run, made_run(tmp_path / "other", "torch")], [], OPS, {})
    assert str(caught.value) == "the runs are of oneflow, torch, but should be of one target [REPORT]"


def test_a_run_without_a_case(tmp_path: Path) -> None:
    """A target that never started has no census: there is not even a version that it could be of."""
    with RecordWriter(tmp_path, "main", **HEADER, target="oneflow") as writer:
        writer.fault(None, "the target does not start")
    with pytest.raises(UsageError) as caught:
        take_census([tmp_path], [], OPS, {})
    assert str(caught.value) == (
        "no case has run on oneflow there, so nothing is known of its ops: run the tests again"
    )


def test_pytorchs_tables() -> None:
    """All of OpInfo's entries and all layers, by the names that Programs call them by."""
    ops = {op.name: op for op in table_ops()}
    assert Counter(op.table for op in ops.values())["ops"] > 600
    assert ops["norm.nuc"].variant
    assert ops["norm.nuc"].path == "norm"
    assert ops["clamp"].names >= {"clamp", "clamp_", "clip", "clip_"}
    assert ops["nn.Conv2d"].names == {"Conv2d"}


def test_command(run: Path, tmp_path: Path) -> None:
    """The page goes to a file and says how it was written; a folder without a run is named."""
    page, ledger = tmp_path / "census.md", str(tmp_path / "known.toml")
    done = CliRunner().invoke(main, ["census", str(run), "--ledger", ledger, "--output", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert f"Written by `autotest census {run} --ledger {ledger} --output {page}`, from 7 cases" in text
    assert inconsistencies(text) == []
    done = CliRunner().invoke(main, ["census", str(tmp_path / "none")])
    assert done.exit_code == 2


def inconsistencies(page: str) -> list[str]:
    """What a page's first number and first table say that its own rows do not."""
    wrong = []
    head, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    rows = {section.partition("\n")[0]: Counter(re.findall(r"^\| `+[^|]+\| (\w+) \|", section, re.MULTILINE))
            for section in sections if "| status |" in section}  # fmt: skip
    [names] = re.findall(r"^\| \| all \| (.*) \|$", head, re.MULTILINE)
    counts = re.findall(r"^\| ([a-z][^|]*) \| ([\d,]+) \|((?: [\d,]+ \|)+)$", head, re.MULTILINE)
    whole: Counter[str] = Counter()
    for words, all_, numbers in counts:
        held = rows[words.removeprefix("rows of ")[0].upper() + words.removeprefix("rows of ")[1:]]
        told = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", numbers)]
        if told != [held[name] for name in names.split(" | ")] or int(all_.replace(",", "")) != held.total():
            wrong.append(f"{words}: {told} of {all_}, but should be {dict(held)}")
        whole += held
    first = re.search(r"\*\*([\d.]+) % of PyTorch's surface is aligned\*\*; (.*)\.$", head, re.MULTILINE)
    assert first is not None
    shares = {"aligned": first[1]} | {name: number for number, name in re.findall(r"([\d.]+) % (\w+)", first[2])}
    for name, number in shares.items():
        if number != f"{whole[name] * 1000 // whole.total() / 10:.1f}":
            wrong.append(f"{name}: {number} %, but should be {whole[name]} of {whole.total()}")
    return wrong


def test_page_of_oneflow() -> None:
    """Its numbers are those of its rows, which are PyTorch's table; a count that is wrong is seen."""
    page = PAGE.read_text()
    assert inconsistencies(page) == []
    rows = re.findall(r"^\| `+([^`|]+)`+ \| \w+ \|", page, re.MULTILINE)
    assert rows == [op.name for op in table_ops()]
    [number] = re.findall(r"\*\*([\d.]+) % of", page)
    planted = page.replace(f"**{number} % of", f"**{float(number) + 0.1:.1f} % of")
    assert len(inconsistencies(planted)) == 1
    planted = page.replace("| lacking |", "| aligned |", 2).replace("| aligned |", "| lacking |", 1)
    assert inconsistencies(planted)
