"""Which side of a divergence is wrong: each verdict, its words, and what is not judged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch as real

from autotest import budget as budgets
from autotest import torch
from autotest.budget import Budget
from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.observations import compare
from autotest.judge.blame.localization import of_death, only_call
from autotest.oracle.attribution import EACH, Attribution, attribute
from autotest.workers.protocol import Cause, Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.replay import QuietReplay
from support.programs import given, recorded
from support.runs import Outcome

Change = Callable[[Observation, int], None]


@pytest.fixture
def reference() -> Adapter:
    """PyTorch's adapter, which a test may make wrong."""
    return Adapter()


class Other:
    """A target that shows what PyTorch shows, changed; it counts its runs."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self.runs = 0

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay eagerly."""
        return [self.run(program) for program in programs]

    def run(self, program: Program) -> Observation:
        """Replay one Program."""
        seen = copy.deepcopy(QuietReplay(Adapter(), program, side="reference").run())
        self._change(seen, self.runs)
        self.runs += 1
        return seen

    def graph(self, programs: Any, gradients: Any, again: Any = None) -> Any:
        """No test asks for a graph."""
        raise AssertionError("there is no graph here")


def diverging(reference: Adapter, body: Callable[[], Any], change: Change) -> tuple[Divergence, Other]:
    """The first divergence of a target that shows what `change` makes of PyTorch's own."""
    program, _ = recorded(reference, body)
    expected = QuietReplay(reference, program, side="reference").run()
    target = Other(change)
    first = compare(program, expected, target.run(program), Rules())[0]
    return Divergence(first, program, only_call(program)), target


def judged(reference: Adapter, body: Callable[[], Any], change: Change) -> Attribution:
    """The verdict on such a target."""
    divergence, target = diverging(reference, body, change)
    return attribute(reference, target, "other", Rules(), divergence, Budget(100.0, 100.0))


def kept(seen: Observation, run: int) -> None:
    """The target gives what PyTorch gives."""


def times(factor: float) -> Change:
    """The target gives so many times PyTorch's first output."""

    def change(seen: Observation, run: int) -> None:
        shown = next(iter(seen.outputs.values()))
        shown.data = (shown.data * factor).astype(shown.data.dtype)

    return change


def twice_the_gradient(seen: Observation, run: int) -> None:
    """The target gives twice PyTorch's gradient."""
    shown = next(iter(seen.gradients.values()))
    assert shown is not None
    shown.data = shown.data * 2


def test_target_by_numpy(reference: Adapter) -> None:
    """Numbers that NumPy does not give either; the worst element is told with both distances."""
    found = judged(reference, lambda: torch.exp(given(0.0, 1.0)), times(1.5))
    assert (found.verdict, found.reason) == (
        "target",
        "5.7e+06 ULP off; the reference is 0.3 ULP from NumPy in float64",
    )
    assert found.worst is not None
    told = {name: round(value, 3) if isinstance(value, float) else value for name, value in found.worst.items()}
    assert told["index"] == [1]
    assert (told["exact"], told["reference"], told["target"]) == (2.718, 2.718, 4.077)


def test_infinities_are_no_warnings(reference: Adapter) -> None:
    """Finite differences of sums that are NaN say nothing; NumPy does not warn of them."""
    found = judged(reference, lambda: given(float("inf"), float("-inf"), 1.0, grad=True) * 2, twice_the_gradient)
    assert (found.verdict, found.reason) == (
        "target",
        "8.4e+06 ULP off; the reference is 0.0 ULP from torch.ops.aten in float64",
    )


def test_target_where_nothing_else_knows(reference: Adapter) -> None:
    """Without a third opinion the reference's own float64 run speaks, and the verdict says so."""
    found = judged(reference, lambda: torch.nn.functional.normalize(given(3.0, 4.0), dim=0), times(2.0))
    assert (found.verdict, found.reason) == (
        "target",
        "1.3e+07 ULP off; the reference is 0.2 ULP from the reference's float64 run (no third opinion)",
    )


def test_reference_by_numpy(reference: Adapter) -> None:
    """A reference whose public function is wrong is convicted, in its float64 as well."""
    reference._resolved["exp"] = lambda x: real.exp(x) * 1.5
    found = judged(reference, lambda: torch.exp(given(0.0, 1.0)), kept)
    assert (found.verdict, found.reason) == (
        "reference",
        "5.7e+06 ULP off; the target is 0.3 ULP from NumPy in float64",
    )


def test_gradient_by_finite_differences(reference: Adapter) -> None:
    """Of two gradients the one is right that says how the outputs move, whichever side gives it."""
    body = lambda: torch.sinh(given(0.5, 2.0, grad=True))  # noqa: E731 - a body
    found = judged(reference, body, twice_the_gradient)
    assert (found.verdict, found.reason) == (
        "target",
        "1.6e+07 ULP off; the reference is 0.6 ULP from finite differences of NumPy in float64",
    )
    reference._resolved["sinh"] = lambda x: real.sinh(x).detach() + 2 * (real.sinh(x) - real.sinh(x).detach())
    found = judged(reference, body, kept)
    assert (found.verdict, found.reason) == (
        "reference",
        "1.6e+07 ULP off; the target is 0.6 ULP from finite differences of NumPy in float64",
    )


def test_finite_differences_say_nothing_at_a_kink(reference: Adapter) -> None:
    """Between the slopes on either side of a tie there is one that is no gradient, though it is a target's answer."""

    def shared(seen: Observation, run: int) -> None:
        [shown] = seen.gradients.values()
        assert shown is not None
        shown.data = np.array([0.5, 0.5, 0.0], np.float32)

    found = judged(reference, lambda: torch.max(given(3.0, 3.0, 1.0, grad=True), 0), shared)
    assert (found.verdict, found.reason) == (
        "target",
        "4.2e+06 ULP off; the reference is 0.0 ULP from torch.ops.aten in float64",
    )


def test_infinite_and_zero_in_values(reference: Adapter) -> None:
    """Where distances in ULP say nothing, the values do."""
    found = judged(reference, lambda: torch.sin(given(0.0, 1.0)), lambda seen, run: _set(seen, [0.5, 0.84147098]))
    assert (found.verdict, found.reason) == (
        "target",
        "0.5 where NumPy in float64 gives 0.0; the reference gives 0.0",
    )
    found = judged(reference, lambda: torch.exp(given(1.0)), lambda seen, run: _set(seen, [np.inf]))
    assert found.reason == "inf where NumPy in float64 gives 2.718281828459045; the reference gives 2.7182817"


def _set(seen: Observation, values: Sequence[float]) -> None:
    shown = next(iter(seen.outputs.values()))
    shown.data = np.array(values, shown.data.dtype)


def test_great_integers_are_exact(reference: Adapter) -> None:
    """Integers that float64 does not hold are told apart."""
    great = (1 << 53) + 1

    def change(seen: Observation, run: int) -> None:
        shown = next(iter(seen.outputs.values()))
        shown.data = shown.data - 1

    found = judged(reference, lambda: torch.abs(given(-great, dtype="int64")), change)
    assert (found.verdict, found.reason) == (
        "target",
        f"{great - 1} where NumPy in float64 gives {great}; the reference gives {great}",
    )


def test_ill_conditioned(reference: Adapter) -> None:
    """What the rounding of the inputs moves as far is the fault of neither side."""
    body = lambda: torch.linalg.inv(given([1.0, 1.0], [1.0, 1.000001]))  # noqa: E731 - a body
    found = judged(reference, body, times(1.01))
    assert found.verdict == "ill_conditioned"
    assert found.reason.startswith("rounding of its inputs alone moves the result as far; the target is ")


def test_undecided(reference: Adapter) -> None:
    """Two sides that are both wrong, each its own way, are left undecided."""
    reference._resolved["exp"] = lambda x: real.exp(x) * 1.5
    found = judged(reference, lambda: torch.exp(given(0.0, 1.0)), times(2.0))
    assert (found.verdict, found.reason) == (
        "undecided",
        "the target is 1.1e+07 ULP and the reference 5.7e+06 ULP from NumPy in float64",
    )


def test_nondeterministic(reference: Adapter) -> None:
    """A side that gives another result at each run, or a difference that does not come again."""
    body = lambda: torch.exp(given(0.0, 1.0))  # noqa: E731 - a body
    found = judged(reference, body, lambda seen, run: times(1.5 + run)(seen, run))
    assert found == Attribution("nondeterministic", "the target gives another result when it runs again (3 runs)")
    found = judged(reference, body, lambda seen, run: times(1.5 if run == 0 else 1.0)(seen, run))
    assert found == Attribution("nondeterministic", "run again, it does not show (3 runs)")
    calls = iter(range(1, 100))
    reference._resolved["exp"] = lambda x: real.exp(x) * (1 + next(calls))
    found = judged(reference, body, kept)
    assert found == Attribution("nondeterministic", "the reference gives another result when it runs again")


def test_facts_by_the_kernel(reference: Adapter) -> None:
    """Of dtypes and the like PyTorch's own kernel knows, called past the public function."""

    def wider(seen: Observation, run: int) -> None:
        seen.outputs = {id_: replace(shown, dtype="float64") for id_, shown in seen.outputs.items()}

    found = judged(reference, lambda: torch.atan(given(0.5)), wider)
    assert found == Attribution("target", "torch.ops.aten does as the reference does")
    reference._resolved["atan"] = lambda x: real.atan(x).double()
    found = judged(reference, lambda: torch.atan(given(0.5)), kept)
    assert found == Attribution("reference", "torch.ops.aten does as the target does")
    reference._resolved["atan"] = lambda x: real.atan(x).half()
    found = judged(reference, lambda: torch.atan(given(0.5)), wider)
    assert found == Attribution("target", "torch.ops.aten does as neither side, and the reference gives the same twice")
    found = judged(reference, lambda: torch.nn.functional.normalize(given(0.5), dim=0), wider)
    assert found == Attribution("target", "no third opinion on normalize, and the reference gives the same twice")


class InGraph(Other):
    """Such a target, whose graphs show the same and all of it."""

    def graph(self, programs: Any, gradients: Any, again: Any = None) -> Any:
        """What an executor of PyTorch shows."""
        return [self.run(program) for program in programs]


def test_facts_of_a_graph_by_the_kernel(reference: Adapter) -> None:
    """The same of strides in a graph that shows them: the kernel's own are looked at, too."""
    reference._resolved["relu"] = lambda x: real.relu(x).t().contiguous().t()
    program, _ = recorded(reference, lambda: torch.relu(given([0.5, 0.25], [1.0, 2.0])))
    expected = QuietReplay(reference, program, side="reference").run()
    target = InGraph(kept)
    [difference] = compare(program, expected, target.run(program), Rules(), graph=True)
    assert (difference.phase, difference.kind) == ("graph_forward", "layout")
    divergence = Divergence(difference, program, only_call(program))
    found = attribute(reference, target, "other", Rules(), divergence, Budget(100.0, 100.0))
    assert found == Attribution("reference", "torch.ops.aten does as the target does")


def test_refusals(reference: Adapter) -> None:
    """An exception is whose the kernel does not raise."""

    def refused(seen: Observation, run: int) -> None:
        seen.failures = [Failure(0, "exception", ("RuntimeError",), "no")]
        seen.ended = True

    found = judged(reference, lambda: torch.atan(given(0.5)), refused)
    assert found == Attribution("target", "torch.ops.aten does as the reference does")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "it lacks what PyTorch has"),
        ("unsupported", "it says that it does not do this"),
        ("batch_only", "alone in its graph it is right"),
    ],
)
def test_what_is_about_the_target_alone(reference: Adapter, kind: str, reason: str) -> None:
    """Some kinds need no run."""
    program, _ = recorded(reference, lambda: torch.exp(given(1.0)))
    divergence = Divergence(Difference("eager_forward", kind, "t0", "words"), program, 0)
    target = Other(kept)
    assert attribute(reference, target, "other", Rules(), divergence, Budget(1.0, EACH)) == Attribution(
        "target", reason
    )
    assert target.runs == 0


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("crash", "it ends its process"),
        ("timeout", "it does not answer"),
        ("out_of_memory", "it takes more memory than it may, where PyTorch does not"),
    ],
)
def test_death(reference: Adapter, cause: Cause, reason: str) -> None:
    """A target that dies, hangs or takes all memory is not run again."""
    program, _ = recorded(reference, lambda: torch.exp(given(1.0)))
    divergence = of_death(program, Death(cause, "died", 0, 0, ""), "eager_forward")
    target = Other(kept)
    assert attribute(reference, target, "other", Rules(), divergence, Budget(1.0, EACH)) == Attribution(
        "target", reason
    )
    assert target.runs == 0


def test_seconds(reference: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond the seconds of a run, or of one divergence, is not judged; a fingerprint is judged once."""
    divergence, target = diverging(reference, lambda: torch.exp(given(0.0, 1.0)), times(1.5))
    seconds = Budget[Attribution](100.0, 50.0)
    first = attribute(reference, target, "other", Rules(), divergence, seconds)
    assert 50.0 < seconds.left < 100.0
    runs = target.runs
    assert attribute(reference, target, "other", Rules(), divergence, seconds) is first
    assert target.runs == runs
    assert attribute(reference, target, "other", Rules(), divergence, Budget(0.0, EACH)) == Attribution(
        "not judged", "the 0 s that this process has for verdicts are spent; --blame-total gives more"
    )
    moments = iter(range(0, 1000, 3))
    monkeypatch.setattr(budgets, "time", _Clock(moments))
    seconds = Budget[Attribution](100.0, EACH)
    assert attribute(reference, target, "other", Rules(), divergence, seconds) == Attribution(
        "not judged", "its 2 s were spent"
    )
    assert seconds.left < 98.0


class _Clock:
    """A clock that moves only when it is asked."""

    def __init__(self, moments: Any) -> None:
        self._moments = moments

    def monotonic(self) -> float:
        """The next moment."""
        return float(next(self._moments))


BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=2)
def test_sin():
    return torch.sin(random_tensor(ndim=2, low=1, high=2))
"""


def test_a_run_tells_who_is_to_blame(shared_run: Callable[..., Outcome]) -> None:
    """The failed test, the summary, summary.json and the issue have the verdict on the shrunk program."""
    run = shared_run(
        "blame",
        {"test_x.py": BODY},
        "--autotest-blame-total=60",
        "--autotest-shrink=10",
        "--autotest-no-memory",
        env={"AUTOTEST_FAULT": "faults:float32"},
    )
    [row] = run.summary["divergences"]
    words = "target, 0.5 where NumPy in float64 gives 0.0; the reference gives 0.0"
    assert f"{row['blame']['verdict']}, {row['blame']['reason']}" == words
    assert f"blame: {words}" in " ".join(run.out.split())
    [record] = run.records("blame")
    assert record["blame"] == row["blame"]
    assert set(row["blame"]["worst"]) == {"index", "exact", "reference", "reference_ulp", "target", "target_ulp"}
    [issue] = run.folder.glob("autotest-report/runs/*/repros/*/issue.md")
    assert f"Which side is wrong: {words}." in issue.read_text()


def test_no_seconds_for_verdicts(shared_run: Callable[..., Outcome]) -> None:
    """With --blame-total 0 nobody is blamed."""
    run = shared_run("float64", {"test_float64.py": "float64.py"}, env={"AUTOTEST_FAULT": "faults:float32"})
    assert {row["blame"] for row in run.summary["divergences"]} == {None}
    assert "blame:" not in run.out
