"""The false-alarm bench: its variants compute otherwise and lawfully, and what makes it red."""

from __future__ import annotations

import json

import pytest
import torch

from benchmarks.false_alarms.__main__ import full_paths
from benchmarks.false_alarms.judging import Score, complaints, score, table
from benchmarks.false_alarms.remembering import remembering
from benchmarks.false_alarms.variants import TURNED, VARIANTS, Contiguous, Permuted, Wide
from benchmarks.running import ROOT, Outcome, Red, run

BY_NAME = {variant.name: variant for variant in VARIANTS}
#: Its sum in float32 depends on the order: the last two cancel, or the first is lost.
FRAGILE = torch.tensor([1.0, 1e8, -1e8])


def _softmax(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    leaf = x.clone().requires_grad_()
    result = torch.softmax(leaf * 3, -1)
    result.backward(torch.linspace(-1, 1, x.numel(), dtype=x.dtype).reshape(x.shape))
    assert leaf.grad is not None
    return result.detach(), leaf.grad


def test_wide_computes_in_float64_and_rounds() -> None:
    """Forward and backward of one op are those of float64, rounded."""
    x = torch.linspace(-2, 2, 35).reshape(5, 7)
    with Wide():
        narrow = torch.exp(x), torch.ops.aten._softmax_backward_data(x, x, 1, torch.float32)
    wide = torch.exp(x.double()), torch.ops.aten._softmax_backward_data(x.double(), x.double(), 1, torch.float64)
    for found, expected in zip(narrow, wide, strict=True):
        assert found.dtype == torch.float32
        assert torch.equal(found, expected.float())
    with Wide():
        assert FRAGILE.sum() == 1
    assert FRAGILE.sum() == 0


@pytest.mark.parametrize("mode", [Wide, Contiguous, Permuted])
def test_a_mode_is_lawful(mode: type[Wide]) -> None:
    """Values and gradients are right within float32; views, writes and strides stay."""
    x = torch.linspace(-2, 2, 35).reshape(5, 7)
    expected = _softmax(x)
    with mode():
        found = _softmax(x)
        view = x.t()
        y = x.clone()
        y.add_(1)
        written = y.t().add_(1)
        sums = x.sum(0), (x @ x.t()), x.mean(), torch.addmm(torch.ones(5, 5), x, x.t())
    torch.testing.assert_close(found, expected)
    assert view.data_ptr() == x.data_ptr()
    assert written.data_ptr() == y.data_ptr()
    assert torch.equal(y, x + 2)
    torch.testing.assert_close(sums, (x.sum(0), x @ x.t(), x.mean(), torch.addmm(torch.ones(5, 5), x, x.t())))


@pytest.mark.parametrize("mode", [Wide, Permuted])
def test_a_mode_keeps_strides(mode: type[Wide]) -> None:
    """What is computed again is written where the op had put it."""
    x = torch.randn(3, 4).t()
    with mode():
        assert torch.exp(x).stride() == x.stride()


def test_permuted_sums_backwards() -> None:
    """A sum that depends on its order is another one, so are products."""
    with Permuted():
        turned = FRAGILE.sum(), torch.dot(FRAGILE, torch.ones(3)), torch.mm(FRAGILE[None], torch.ones(3, 1))
    assert FRAGILE.sum() == 0
    assert [float(one) for one in turned] == [1.0, 1.0, 1.0]


def test_permuted_turns_only_what_is_reduced() -> None:
    """Every op in the table keeps its result but for rounding."""
    x, y = torch.randn(2, 3, 4).double(), torch.randn(2, 4, 3).double()
    calls = {
        "aten.sum": lambda: torch.sum(x, (0, 2)),
        "aten.mean": lambda: torch.mean(x, 1),
        "aten.var": lambda: torch.var(x, 2),
        "aten.std": lambda: torch.std(x, 0),
        "aten.logsumexp": lambda: torch.logsumexp(x, 1),
        "aten.mm": lambda: torch.mm(x[0], y[0]),
        "aten.bmm": lambda: torch.bmm(x, y),
        "aten.mv": lambda: torch.mv(x[0], y[0, :, 0]),
        "aten.dot": lambda: torch.dot(x[0, 0], y[0, :, 0]),
        "aten.addmm": lambda: torch.addmm(torch.ones(3, 3).double(), x[0], y[0]),
        "aten.baddbmm": lambda: torch.baddbmm(torch.ones(2, 3, 3).double(), x, y),
    }
    assert set(calls) == set(TURNED)
    for call in calls.values():
        expected = call()
        with Permuted():
            torch.testing.assert_close(call(), expected)


def test_contiguous_gives_contiguous_tensors() -> None:
    """A result that would keep its input's strides has those of a contiguous one."""
    x = torch.randn(3, 4).t()
    with Contiguous():
        assert torch.exp(x).is_contiguous()
    assert not torch.exp(x).is_contiguous()


@pytest.mark.parametrize("mode", [Wide, Contiguous, Permuted])
def test_running_statistics_are_written(mode: type[Wide]) -> None:
    """Once, and where they lie, in every mode."""
    x = torch.linspace(-2, 2, 24).reshape(4, 3, 2)
    found, expected = (torch.zeros(6)[::2], torch.ones(6)[::2]), (torch.zeros(3), torch.ones(3))
    with mode():
        torch.nn.functional.batch_norm(x, *found, training=True)
    torch.nn.functional.batch_norm(x, *expected, training=True)
    torch.testing.assert_close(found, expected)


def test_a_full_run_takes_all_suites_but_global_tensors() -> None:
    """PyTorch has no global tensors: each of their cases would be an alarm."""
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("suites/**/test_*.py")}
    taken = {file for file in files if any(file.startswith(path) for path in full_paths())}
    assert files - taken == {file for file in files if file.startswith("suites/global/")}


def _red(kind: str = "value", count: int = 1) -> Red:
    return Red("test_sin", "sin", kind, f"torch/eager_forward/{kind}/sin/float32", "differs", count)


def _score(*reds: Red, variant: str = "float64", cases: int = 20_000) -> Score:
    return score(BY_NAME[variant], "standard", Outcome(reds, (), cases, 1.0))


def test_a_lawful_difference_is_no_alarm() -> None:
    """Contiguous inputs lawfully give other strides, and nothing else."""
    found = _score(_red("layout", 5), _red("value"), variant="contiguous")
    assert (found.count, found.lawful) == (1, 5)
    assert _score(_red("layout", 5)).count == 5


def test_an_alarm_needs_an_explanation() -> None:
    """Few alarms are borne, where each is understood."""
    assert list(complaints(_score(_red()), {})) == [
        "float64, standard inputs: unexplained false alarm torch/eager_forward/value/sin/float32 [test_sin] differs"
    ]
    explained = {("float64", "torch/eager_forward/value/sin/float32"): "a half-way value"}
    assert list(complaints(_score(_red()), explained)) == []


def test_too_many_alarms_are_red_whatever_their_reasons() -> None:
    """One alarm in 10,000 cases, at least one."""
    explained = {("float64", "torch/eager_forward/value/sin/float32"): "a half-way value"}
    assert list(complaints(_score(_red(count=2)), explained)) == []
    assert list(complaints(_score(_red(count=3)), explained)) == [
        "float64, standard inputs: false alarms=3, but should be at most 2 in 20000 cases"
    ]
    assert list(complaints(_score(_red(), cases=100), explained)) == []


def test_a_test_that_fails_otherwise_is_red() -> None:
    """A body that raises under a variant says nothing of alarms."""
    found = score(BY_NAME["permuted"], "edge", Outcome((), ("test_sin",), 10, 1.0))
    assert list(complaints(found, {})) == ["permuted, edge inputs: test_sin failed without a divergence"]


def test_the_table_has_a_row_per_run() -> None:
    """In columns for people, in Markdown for a page."""
    assert list(table([_score(_red())], markdown=True)) == [
        "| variant | inputs | cases | false alarms |",
        "|---|---|---:|---:|",
        "| float64 | standard | 20000 | 1 |",
    ]
    assert list(table([_score()], markdown=False))[1] == "float64     standard     20000             0"


@pytest.mark.usefixtures("forked")
def test_every_test_remembers_cases_of_another_seed() -> None:
    """The run that remembers draws, besides its own cases, as many of another seed, under the same numbers."""
    paths = ["suites/test_reduction.py::test_op[torch.sum]"]
    with remembering(paths, "edge", 2) as folder:
        options = ("--target", "torch", "-n", "0", "--cases", "2", "--inputs", "edge")
        report = folder / "report"
        outcome = run(paths, {}, *options, report=report, folder_with_memory=folder)
        keys = {
            record["key"]
            for path in report.glob("runs/*/records-*.jsonl")
            for record in map(json.loads, path.read_text().splitlines())
            if record["type"] == "end"
        }
    name = "test_reduction.py::test_op[torch.sum]"
    assert keys == {f"{name}#0", f"{name}#1", f"{name}#0@1", f"{name}#1@1"}
    assert (outcome.reds, outcome.failed, outcome.cases) == ((), (), 4)
