"""The OpInfo suite, on PyTorch against itself with planted faults."""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from support.forks import forks
from support.runs import environment

ROOT = Path(__file__).parents[2]
SUITE = "suites/opinfo/test_opinfo.py"
MODULES = "suites/opinfo/test_modules.py"
ENTRIES = ("cumsum", "diff", "exp", "cat", "float", "mT", "__rsub__", "nn.functional.dropout", "empty", "chalf")
#: What each of these tests comes to, by its name.
OTHERS = {
    f"{SUITE}::test_sample[cumsum]": "failed",
    f"{SUITE}::test_sample[cat]": "passed",
    f"{SUITE}::test_sample[exp]": "skipped",
    f"{SUITE}::test_ways[abs]": "failed",
    f"{SUITE}::test_ways[logsumexp]": "failed",
    f"{SUITE}::test_ways[exp]": "passed",
    f"{SUITE}::test_looks[sgn]": "failed",
    f"{SUITE}::test_ways[sgn]": "passed",
    f"{SUITE}::test_looks[exp]": "passed",
    f"{SUITE}::test_looks[lcm]": "skipped",
    f"{MODULES}::test_layer[nn.Tanhshrink]": "failed",
    f"{MODULES}::test_sample[nn.CrossEntropyLoss]": "passed",
    f"{MODULES}::test_layer[nn.BatchNorm1d-train]": "passed",
    f"{MODULES}::test_layer[nn.BatchNorm1d-eval]": "passed",
    f"{MODULES}::test_layer[nn.LazyConv1d]": "skipped",
    f"{MODULES}::test_layer[nn.CTCLoss]": "skipped",
    f"{MODULES}::test_looks[nn.Tanh]": "failed",
    f"{MODULES}::test_layer[nn.Tanh]": "passed",
    f"{MODULES}::test_looks[nn.LazyConv1d]": "skipped",
    f"{MODULES}::test_batches[nn.BatchNorm1d-train]": "failed",
    f"{MODULES}::test_sample[nn.BatchNorm1d-train]": "passed",
    f"{MODULES}::test_least[nn.Softplus]": "failed",
    f"{MODULES}::test_least[nn.LSTM-train]": "passed",
    f"{MODULES}::test_least[nn.Transformer]": "skipped",
}


class Outcome:
    """What the inner run left behind."""

    def __init__(self, status: int, out: str, report: Path) -> None:
        self.status = status
        self.out = out
        self.summary: dict[str, Any] = json.loads((report / "summary.json").read_text())
        lines = [line for path in report.glob("runs/*/records-*.jsonl") for line in path.read_text().splitlines()]
        records = [json.loads(line) for line in lines]
        self.tests = {record["test"]: record["outcome"] for record in records if record["type"] == "test"}
        self.outcomes = {_entry(test): told for test, told in self.tests.items() if "::test_entry[" in test}
        self.cases = Counter(record["test"] for record in records if record["type"] == "end")
        self.blamed = {
            (record["test"], row["op"])
            for record in records
            if record["type"] == "end"
            for row in record["divergences"]
            if row["kind"] == "value"
        }
        self.verdicts = Counter(
            (_entry(record["test"]), record["verdict"])
            for record in records
            if record["type"] == "end" and "::test_entry[" in record["test"]
        )


def _entry(test: str) -> str:
    return test.partition("[")[2].removesuffix("]")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run of a handful of entries and layers with the planted faults."""
    report = tmp_path_factory.mktemp("opinfo")
    asked = ["-m", "pytest", "-rs", "--autotest-target", "torch", "--autotest-report", str(report)]
    asked += ["--autotest-seed", "11"]
    asked += ["--autotest-shrink", "0", "--autotest-blame-total", "0", "--autotest-repro-total", "0"]
    asked += [*(f"{SUITE}::test_entry[{entry}]" for entry in ENTRIES), *OTHERS]
    variables = environment({"AUTOTEST_FAULT": "opinfo_faults:planted", "COLUMNS": "200"})
    done = forks().run(asked, ROOT, variables, merged=True)
    return Outcome(done.returncode, done.stdout, report)


@pytest.mark.slow
def test_planted_fault_turns_its_entry_red(outcome: Outcome) -> None:
    """A wrong result is a divergence of its own entry, in every case, and of no other."""
    assert outcome.status == 1
    assert outcome.outcomes == {
        "cumsum": "failed",
        "diff": "passed",
        "exp": "passed",
        "cat": "passed",
        "float": "passed",
        "mT": "passed",
        "__rsub__": "passed",
        "nn.functional.dropout": "passed",
        "empty": "skipped",
        "chalf": "skipped",
    }
    blamed = {(test, op) for test, op in outcome.blamed if "::test_entry[" in test}
    assert blamed == {(f"{SUITE}::test_entry[cumsum]", "cumsum")}
    assert outcome.verdicts["cumsum", "divergent"] == 3


@pytest.mark.slow
def test_other_tests_of_an_op_and_layers_turn_red_alone(outcome: Outcome) -> None:
    """Further samples, other names, calls with the least arguments, and layers are compared, each by itself."""
    assert {test: outcome.tests[test] for test in OTHERS} == OTHERS
    assert {(test, op) for test, op in outcome.blamed if test in OTHERS} == {
        (f"{SUITE}::test_sample[cumsum]", "cumsum"),
        (f"{SUITE}::test_ways[abs]", "absolute"),
        (f"{SUITE}::test_ways[logsumexp]", "logsumexp"),
        (f"{SUITE}::test_looks[sgn]", "sgn"),
        (f"{MODULES}::test_layer[nn.Tanhshrink]", "Tanhshrink"),
        (f"{MODULES}::test_least[nn.Softplus]", "Softplus"),
    }


@pytest.mark.slow
def test_all_samples_are_cases(outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sample that can be compared is one case, in the graph or eagerly, whatever the run's seed."""
    for folder in (ROOT / "suites", ROOT / "suites/opinfo"):
        monkeypatch.syspath_prepend(folder)
    entries = importlib.import_module("entries")
    from torch.testing._internal.common_methods_invocations import op_db

    entry = next(entries.Entry(info) for info in op_db if info.name == "cat")
    samples = len(entries.samples(entry, entry.plan.dtype)) - sum(entry.plan.left_out.values())
    assert len({*entry.plan.in_graph, *entry.plan.eager}) == samples
    assert outcome.cases[f"{SUITE}::test_entry[cat]"] + outcome.cases[f"{SUITE}::test_sample[cat]"] == samples


@pytest.mark.slow
def test_missing_entry_is_counted(outcome: Outcome) -> None:
    """An op that the target lacks is counted once and spared its other cases; its test stays green."""
    [row] = [row for row in outcome.summary["counted"] if "/missing/" in row["fingerprint"]]
    assert row["fingerprint"] == "torch/eager_forward/missing/diff/float32"
    assert row["message"] == "diff: diff raised MissingOp: torch has no 'diff'"
    assert (outcome.verdicts["diff", "divergent"], outcome.verdicts["diff", "skipped"]) == (1, 2)


@pytest.mark.slow
def test_other_entries_are_aligned(outcome: Outcome) -> None:
    """Functions, methods, attributes and reflected operators are compared in every case."""
    for entry in ("exp", "cat", "float", "mT", "__rsub__"):
        assert outcome.verdicts[entry, "aligned"] == 3


def test_looks_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Special values of the first and of the last tensor, other dtypes, others in memory; what changes nothing is none,
    and what is given twice stays one.
    """
    for folder in (ROOT / "suites", ROOT / "suites/opinfo"):
        monkeypatch.syspath_prepend(folder)
    variants = importlib.import_module("variants")
    x, y = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_(), torch.tensor([1.0, 2.0, 3.0])
    index = torch.tensor([0, 1])
    looks = {variant.id: variant.of((x, [index, y], {"again": x}), torch.float32) for variant in variants.variants()}
    assert all(look[1][0] is index and look[2]["again"] is look[0] for look in looks.values())
    first = {name: look[0].detach() for name, look in looks.items()}
    last = {name: look[1][1] for name, look in looks.items()}
    assert first["first-nan"].isnan().sum() == 1
    assert first["first-infinite"].isinf().sum() == 2
    assert not first["first-nothing"].any()
    assert first["first-ties"].unique().numel() == 1
    assert first["first-great"].max() == torch.finfo(torch.float32).max
    assert last["last-nan"].isnan().sum() == 1
    assert last["last-infinite"].isinf().sum() == 2
    assert not last["last-zeros"][0]
    assert {str(first[name].dtype)[6:] for name in ("float16", "bfloat16", "complex64", "int64", "uint8")} == {
        *("float16", "bfloat16", "complex64", "int64", "uint8")
    }
    assert first["complex64"].imag.count_nonzero() == 5
    assert first["complex64"].flatten()[0] == 0
    assert (first["last-float64"].dtype, last["last-float64"].dtype) == (torch.float32, torch.float64)
    assert (first["last-int64"].dtype, last["last-int64"].dtype) == (torch.float32, torch.int64)
    assert first["transposed"].stride() == (1, 2)
    assert first["transposed"].dtype == torch.float64
    assert (first["strided"].stride(), last["strided"].stride()) == ((6, 2), (2,))
    assert first["strided"].equal(x)
    assert looks["first-nan"][0].requires_grad
    assert not looks["int64"][0].requires_grad
    alone = {variant.id: variant.of((y,), torch.float32) for variant in variants.variants()}
    assert {name for name, look in alone.items() if look is None} == {
        *("last-nan", "last-infinite", "last-zeros", "last-float64", "last-int64")
    }


def test_samples_that_are_no_cases_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told of by their reasons, the commonest first, those of all entries together."""
    for folder in (ROOT / "suites", ROOT / "suites/opinfo"):
        monkeypatch.syspath_prepend(folder)
    entries = importlib.import_module("entries")
    plans = [
        entries.planned(None, ["it is random", "too large", ""], [1, 1, 1]),
        entries.planned(None, ["too large"], [1]),
    ]
    assert entries.told(plans) == "2 x too large; 1 x it is random"


def test_one_sample_of_each_form_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends a target is met before the many like it; those in the graph are spread over all that can run."""
    for folder in (ROOT / "suites", ROOT / "suites/opinfo"):
        monkeypatch.syspath_prepend(folder)
    entries = importlib.import_module("entries")
    plan = entries.planned(None, ["", "", "", "", "it is random", "", "", ""], [*"aaaabbca"])
    assert plan.in_graph == (0, 3, 7)
    assert plan.eager == (1, 5, 6, 2)


@pytest.mark.slow
def test_skips_say_why(outcome: Outcome) -> None:
    """What cannot be compared is skipped with its reason."""
    skips = re.findall(r"^SKIPPED \[1\] suites/opinfo/test_opinfo\.py:\d+: (.*)$", outcome.out, re.MULTILINE)
    skips += re.findall(r"^SKIPPED \[1\] suites/opinfo/test_modules\.py:\d+: (.*)$", outcome.out, re.MULTILINE)
    assert sorted(skips) == [
        "PyTorch ends its process on the least integer",
        "PyTorch takes none of its samples with other tensors",
        "PyTorch takes none of its samples without optional arguments, or what they give is random",
        "PyTorch's own traced graph gives another loss than PyTorch",
        "all of its samples run in the graph",
        "its parameters are made by its first call, and both sides' could not be made the same before",
        "its result is complex32, which NumPy lacks",
        "its values are whatever memory held",
    ]
