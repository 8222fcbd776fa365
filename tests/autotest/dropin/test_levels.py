"""Levels of a drop-in run: what OneFlow's own harness fails is red, what only our checks see is stricter."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable

import numpy as np
import pytest

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.dropin.levels import fails, unseen
from autotest.dropin.options import DropInOptions
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Placement, Ref, Sbp
from dual_object.replay.observation import Seen
from support.runs import Outcome

needs_oneflow = pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="OneFlow is not installed")

SharedRun = Callable[..., Outcome]
FILES = {"test_faults.py": "dropin/faults.py"}
OPTIONS = ("--autotest-drop-in", "-q", "-rA", "-W", "ignore::DeprecationWarning")
FAULTS = {"AUTOTEST_FAULT": "faults:wrong"}
#: Kinds of the divergences that each test with a stricter one shows.
STRICTER = {
    "test_dtype": {"dtype"},
    "test_shape_that_broadcasts": {"shape"},
    "test_device": {"device"},
    "test_grad_extra": {"alias", "grad_extra"},
    "test_gradient_of_a_group": {"value"},
    "test_host_read": {"shape"},
    "test_value_that_is_not_compared": {"value"},
    "test_elements_that_nothing_looks_at": {"structure"},
    "test_refusal_caught": {"accepts_invalid"},
    "test_refused_draw": {"accepts_invalid"},
    "test_refused_otherwise": {"exception_class"},
    "test_graph_value": {"value"},
    "test_graph_dtype": {"dtype"},
    "test_graph_gradient": {"value"},
    "test_graph_state": {"value"},
    "test_graph_of_two_calls": {"exception"},
    "test_batch_only_value": {"batch_only"},
    "test_batch_only_failure": {"batch_only"},
}


def ended(outcome: Outcome, word: str, group: str) -> set[str]:
    """The tests of a class that pytest names after this word."""
    return set(re.findall(rf"^{word} test_faults.py::{group}::(\S+)", outcome.out, re.MULTILINE))


@pytest.fixture
def faulty(shared_run: SharedRun) -> Outcome:
    """A target with a fault of each kind."""
    return shared_run("dropin-faulty", FILES, *OPTIONS, env=FAULTS)


@pytest.fixture
def strict(shared_run: SharedRun) -> Outcome:
    """The same with --autotest-strict."""
    return shared_run("dropin-strict", FILES, *OPTIONS, "--autotest-strict", env=FAULTS)


@needs_oneflow
@pytest.mark.slow
def test_sound_target_is_green(shared_run: SharedRun) -> None:
    """Without a fault every test passes and every level is empty."""
    outcome = shared_run("dropin-sound", FILES, *OPTIONS)
    assert outcome.status == 0, outcome.out
    assert (outcome.summary["divergences"], outcome.summary["stricter"]) == ([], [])


@needs_oneflow
@pytest.mark.slow
def test_what_oneflow_fails_is_red(faulty: Outcome) -> None:
    """Each fault that OneFlow's harness fails fails here."""
    assert ended(faulty, "PASSED", "TestRed") == set(), faulty.out
    assert len(ended(faulty, "FAILED", "TestRed")) == 19
    red = {row["test"].rpartition("::")[2] for row in faulty.summary["divergences"]}
    assert red == ended(faulty, "FAILED", "TestRed")


@needs_oneflow
@pytest.mark.slow
def test_what_only_we_see_is_stricter(faulty: Outcome) -> None:
    """Each fault that OneFlow's harness lets pass passes here, and is told by its kind."""
    assert ended(faulty, "FAILED", "TestStricter") == set(), faulty.out
    shown: dict[str, set[str]] = {}
    for row in faulty.summary["stricter"]:
        shown.setdefault(row["test"].rpartition("::")[2], set()).add(row["kind"])
    assert {test: kinds for test, kinds in shown.items() if test in STRICTER} == STRICTER
    assert ended(faulty, "PASSED", "TestStricter") == set(STRICTER)
    assert ended(faulty, "PASSED", "TestUntouched") == {"test_untouched"}


@needs_oneflow
@pytest.mark.slow
def test_strict_makes_all_red(strict: Outcome) -> None:
    """With --autotest-strict nothing is stricter, and each of those tests fails."""
    assert strict.summary["stricter"] == []
    assert ended(strict, "FAILED", "TestStricter") == set(STRICTER), strict.out
    assert ended(strict, "PASSED", "TestUntouched") == {"test_untouched"}


@needs_oneflow
@pytest.mark.slow
def test_align_exception(shared_run: SharedRun) -> None:
    """With ONEFLOW_TEST_ALIGN_EXCEPTION a refusal that the target does not share is red."""
    env = {**FAULTS, "ONEFLOW_TEST_ALIGN_EXCEPTION": "1"}
    outcome = shared_run("dropin-aligned", FILES, *OPTIONS, "-k", "refus or untouched", env=env)
    assert ended(outcome, "FAILED", "TestStricter") == {
        "test_refusal_caught",
        "test_refused_draw",
        "test_refused_otherwise",
    }, outcome.out


def seen(data: object, dtype: str = "float32") -> Seen:
    """A tensor as a side shows it."""
    array = np.array(data, dtype)
    return Seen(dtype, array.shape, "cpu", True, array)


def difference(kind: str = "value", phase: str = "eager_forward", **more: object) -> Difference:
    """A difference, by default of two tensors of one element."""
    pair = {"expected": seen([1.0]), "actual": seen([2.0])} if kind not in ("exception", "crash") else {}
    return Difference(phase, kind, "x", "differs", **{**pair, **more})  # type: ignore[arg-type]


PROGRAM = Program(
    inputs=[Input(0, "", np.zeros(2, "float32"), "float32")],
    calls=[
        Call("method", "numel", (Ref(0),), {}, out=2),
        Call("function", "relu", (Ref(0),), {}, out=Ref(1)),
        Call("function", "chunk", (Ref(0),), {}, out=(Ref(2), Ref(3))),
    ],
    outputs=Ref(1),
)
OPTIONS_OF = DropInOptions()


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (difference(), True),
        (difference(phase="eager_second"), False),
        (difference(phase="graph_forward"), False),
        (difference("exception", phase="graph_forward"), True),
        (difference("crash", phase="graph_forward"), True),
        (difference("timeout"), True),
        (difference("batch_only"), False),
        (difference("alias"), False),
        (difference("requires_grad"), False),
        (difference("layout", phase="eager_backward", part="gradient"), False),
        (difference("structure", part="call", call=2), False),
        (difference("sign", expected=seen([0.0]), actual=seen([-0.0])), False),
        (difference("accepts_invalid"), False),
        (difference("exception_class"), False),
        (difference("missing"), True),
        (difference("unsupported"), True),
        (difference("exception", phase="eager_backward"), True),
        (difference("grad_missing", phase="eager_backward", part="gradient", actual=None), True),
        (difference("grad_extra", phase="eager_backward", part="gradient", expected=None), False),
        (difference("dtype", actual=seen([1.0], "float64")), False),
        (difference("dtype", actual=seen([2.0], "float64")), True),
        (difference("shape", actual=seen([[1.0]])), False),
        (difference("shape", expected=seen([1.0, 2.0]), actual=seen([1.0, 2.0, 3.0])), True),
        (difference(expected=seen([100_000], "int64"), actual=seen([100_001], "int64")), False),
        (difference("nonfinite", expected=seen([np.nan]), actual=seen([np.nan])), False),
        (difference("mutation", part="input"), True),
        (difference("structure", part="buffer", actual=None), False),
        (difference("structure", call=1), True),
        (difference("structure", call=2), False),
        (difference("shape", part="host", call=0), False),
        (difference("value", part="host"), False),
    ],
)
def test_one_difference(one: Difference, expected: bool) -> None:
    """Whether OneFlow's harness fails of one difference, under its defaults."""
    assert fails(one, PROGRAM, OPTIONS_OF) is expected


def test_options_of_the_test_count() -> None:
    """Dtypes count with check_dtype alone, values not without check_allclose, tolerances are the test's own."""
    dtype = difference("dtype", actual=seen([1.0], "float64"))
    assert fails(dtype, PROGRAM, DropInOptions(check_dtype=True))
    assert not fails(difference(), PROGRAM, DropInOptions(check_allclose=False))
    assert not fails(difference(), PROGRAM, DropInOptions(atol=1.0))
    assert fails(difference("exception"), PROGRAM, DropInOptions(check_allclose=False))


def test_gradients_count_where_a_backward_was_asked_for() -> None:
    """Gradients and exceptions of a backward that only we run are stricter."""
    gradient = difference(phase="eager_backward", part="gradient")
    raised = difference("exception", phase="eager_backward")
    assert [fails(one, PROGRAM, OPTIONS_OF, backward=True) for one in (gradient, raised)] == [True, True]
    assert [fails(one, PROGRAM, OPTIONS_OF, backward=False) for one in (gradient, raised)] == [False, False]


@pytest.mark.parametrize(("device", "expected"), [("cpu", False), ("cuda", True)])
def test_graphs_of_global_tensors(device: str, expected: bool) -> None:
    """OneFlow's harness builds no graph of global tensors on the CPU; their eager values count as ever."""
    x = Input(0, "", np.zeros(2, "float32"), "float32", layout=(Placement(device, [0]), (Sbp("broadcast"),)))
    program = Program([x], PROGRAM.calls, Ref(1))
    assert fails(difference("crash", phase="graph_forward"), program, OPTIONS_OF) is expected
    assert fails(difference("exception", phase="graph_forward"), program, OPTIONS_OF) is expected
    assert fails(difference(phase="global_forward"), program, OPTIONS_OF)
    assert fails(difference(phase="global_backward", part="gradient"), program, OPTIONS_OF)
    assert not fails(difference(phase="global_backward", part="gradient"), program, OPTIONS_OF, backward=False)


def test_returned_numbers_count() -> None:
    """A plain value counts where the body returned it, alone or in a list."""
    host = difference("shape", part="host", call=0)
    assert not fails(host, PROGRAM, OPTIONS_OF)
    for outputs in (2, [Ref(1), 2]):
        program = Program(PROGRAM.inputs, PROGRAM.calls, outputs)
        assert fails(host, program, OPTIONS_OF)


def test_groups_count_where_they_are_returned() -> None:
    """A group of another length counts where the body returned it."""
    program = Program(PROGRAM.inputs, PROGRAM.calls, (Ref(2), Ref(3)))
    assert fails(difference("structure", call=2), program, OPTIONS_OF)


def test_a_failing_case_keeps_a_red_divergence() -> None:
    """Where a difference fails, a blamed divergence is red, even if alone it would not be; else all are stricter."""
    hidden, shown = difference("dtype", actual=seen([1.0], "float64")), difference()
    blamed = Divergence(hidden, PROGRAM, 1)
    red = Divergence(shown, PROGRAM, 1)
    assert unseen([shown], [blamed], PROGRAM, OPTIONS_OF, backward=True) == []
    both = unseen([shown], [blamed, red], PROGRAM, OPTIONS_OF, backward=True)
    assert [one is blamed for one in both] == [True]
    assert len(unseen([hidden], [blamed, red], PROGRAM, OPTIONS_OF, backward=True)) == 2


def test_a_backward_starts_in_the_shape_of_each_side() -> None:
    """Where a result has its elements in another shape, a backward that is refused here runs in OneFlow's harness."""
    raised = difference("exception", phase="eager_backward")
    reshaped = difference("shape", expected=seen([1.0]), actual=seen(1.0))
    longer = difference("shape", expected=seen([1.0, 1.0]), actual=seen([1.0]))
    lacking = difference("shape", expected=None)
    blamed = [Divergence(raised, PROGRAM, 1)]
    assert unseen([reshaped, raised], blamed, PROGRAM, OPTIONS_OF, backward=True) == blamed
    for other in (longer, lacking, difference("dtype", actual=seen([1.0], "float64"))):
        assert unseen([other, raised], blamed, PROGRAM, OPTIONS_OF, backward=True) == []
    gradient = Divergence(difference(phase="eager_backward", part="gradient"), PROGRAM, 1)
    assert unseen([reshaped, gradient.difference], [gradient], PROGRAM, OPTIONS_OF, backward=True) == []
