"""Trainings: a fault in each part of a step, planted eagerly and in the training graph alone, is blamed on its part."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from autotest.judge.blame.clipping import WORDS
from support.runs import Outcome
from support.scripts import assert_stand_where_planted, scripts_of

pytestmark = pytest.mark.slow

FILES = {"test_training.py": "training.py"}
EAGER, BACK, UPDATE = "eager_forward", "eager_backward", "eager_update"
# Per test: phase, kind and blamed op, and how its message begins.
WRONG = {
    "test_sgd": ((UPDATE, "value", "SGD"), "SGD: m0.weight after step 2 differs in "),
    "test_adam": ((UPDATE, "value", "Adam"), "Adam: exp_avg_sq of m0.weight after step 1 differs in "),
    "test_adamw": ((UPDATE, "value", "AdamW"), "AdamW: m0.weight after step 1 differs in "),
    "test_adagrad": ((UPDATE, "value", "Adagrad"), "Adagrad: m0.weight after step 1 differs in "),
    "test_groups": ((UPDATE, "value", "Adadelta"), "Adadelta: m1.weight after step 1 differs in "),
    "test_step_lr": (
        (UPDATE, "value", "StepLR"),
        "StepLR: the learning rate after step 2 is 0.1, but should be 0.010000000000000002",
    ),
    "test_first_rate": (
        (UPDATE, "value", "ConstantLR"),
        "ConstantLR: the learning rate at step 1 is 0.1, but should be 0.05",
    ),
    "test_clipping": (
        (UPDATE, "value", "clip_grad_norm_"),
        "clip_grad_norm_: clipped gradient of m0.weight at step 1 differs in ",
    ),
    "test_scaler": ((UPDATE, "value", "GradScaler"), "GradScaler: the scale after step 1 is 7.0, but should be 1024.0"),
    "test_forward": ((EAGER, "value", "sinh"), "sinh: "),
    "test_backward": ((BACK, "value", "cosh"), "cosh: gradient of "),
    "test_later_batches": ((EAGER, "value", "program"), "program: loss at step 3 differs in 1 of 1 element: it is "),
    "test_accumulating": ((BACK, "value", "zero_grad"), "zero_grad: gradient of m0.weight at step 2 differs in "),
    "test_third_batch": ((EAGER, "exception", "atan"), "atan: atan raised RuntimeError: no third batch"),
    "test_zero_grad": ((BACK, "value", "zero_grad"), "zero_grad: gradient of m0.weight at step 2 differs in "),
}


@pytest.fixture(scope="module")
def wrong(shared_run: Callable[..., Outcome]) -> Outcome:
    """The bodies with every fault of PyTorch's."""
    return shared_run("training", FILES, env={"AUTOTEST_FAULT": "training_faults:eager"})


@pytest.mark.parametrize("name", WRONG)
def test_fault(wrong: Outcome, name: str) -> None:
    """Each is told once, by its phase and its part."""
    row, message = WRONG[name]
    assert row in wrong.rows(name)
    assert [one for one in wrong.messages(name) if one.startswith(message)]


def losses(run: Outcome, name: str, phase: str) -> dict[str, Any]:
    """What the first divergence of a test in a phase tells of losses."""
    told = (row for end in run.ends(name) for row in end["divergences"] if row["phase"] == phase)
    found: dict[str, Any] = next(told)["evidence"]["losses"]
    return found


def apart(told: dict[str, Any], side: str) -> list[bool]:
    """Whether a side's losses are others than the reference's, step by step."""
    return [one != pytest.approx(other, rel=1e-4) for one, other in zip(told["reference"], told[side], strict=True)]


@pytest.mark.parametrize(
    ("name", "phase", "steps", "words"),
    [
        ("test_sgd", UPDATE, [False, False, True], "at step 2, after the update: parameter m0.weight"),
        ("test_adamw", UPDATE, [False, True, True], "at step 1, after the update: parameter m0.weight"),
        ("test_step_lr", UPDATE, [False, False, False], "at step 2, after the schedule: the learning rate"),
        ("test_first_rate", UPDATE, [False, True, True], "at step 1, before the first update: the learning rate"),
        ("test_forward", EAGER, [True, True, True], "at step 1, in the forward: loss"),
        ("test_backward", BACK, [False, True, True], "at step 1, in the backward: gradient of m0.weight"),
    ],
)
def test_losses(wrong: Outcome, name: str, phase: str, steps: list[bool], words: str) -> None:
    """Each tells the losses of all steps, though fewer show it, and what of which step parts first."""
    told = losses(wrong, name, phase)
    assert apart(told, "eager") == steps
    assert (told["graph"], told["parting"]["words"], told["words"]) == (None, words, [])


def test_losses_until_it_fails(wrong: Outcome) -> None:
    """A target that fails in a step has shown the losses of those before."""
    told = losses(wrong, "test_third_batch", EAGER)
    assert told["eager"] == [*told["reference"][:2], None]
    assert told["parting"] == {"step": 3, "words": "at step 3, in the forward: atan"}
    assert told["words"] == ["eager: no loss in 1 of 3 steps, first in step 3"]


def test_losses_in_the_report(wrong: Outcome) -> None:
    """The page has them beside the divergence."""
    row = next(one for one in wrong.summary["divergences"] if one["op"] == "AdamW")
    [detail] = wrong.folder.glob(f"autotest-report/runs/*/report/divergences/{row['id']}.js")
    told = json.loads(detail.read_text().removeprefix("autotest.detail(").removesuffix(");\n"))
    assert told["evidence"]["losses"] == losses(wrong, "test_adamw", UPDATE)


def test_sound(shared_run: Callable[..., Outcome]) -> None:
    """Without a fault PyTorch trains as PyTorch does."""
    run = shared_run("training-sound", FILES)
    assert run.status == 0, run.out
    assert run.counts()["cases"] == run.counts()["aligned"] == 2 * len(run.outcomes())


GRAPH = {
    "test_sgd": {("graph_update", "value", "SGD")},
    "test_adam": {("graph_update", "value", "Adam")},
    "test_adamw": {("graph_update", "value", "AdamW")},
    "test_groups": {("graph_update", "structure", "Adadelta"), ("graph_update", "value", "Adadelta")},
    "test_step_lr": {("graph_update", "value", "StepLR")},
    "test_clipping": {("graph_update", "value", "clip_grad_norm_")},
    "test_scaler": {("graph_backward", "value", "GradScaler")},
    "test_accumulating": {("graph_update", "value", "accumulate")},
}


@pytest.fixture(scope="module")
def wrong_graphs(shared_run: Callable[..., Outcome]) -> Outcome:
    """The bodies with every fault of OneFlow's graphs."""
    return shared_run("training-graph", FILES, target="oneflow", env={"AUTOTEST_FAULT": "training_faults:graph"})


def test_graph(wrong_graphs: Outcome) -> None:
    """What a graph alone does otherwise is told in its own phase; eager is sound."""
    graph = {name: {row for row in wrong_graphs.rows(name) if row[0].startswith("graph")} for name in WRONG}
    assert {name: rows for name, rows in graph.items() if rows} == GRAPH


@pytest.mark.parametrize(
    ("test", "start", "factor"),
    [
        ("test_step_lr", "StepLR: m0.weight after step 3 differs in", "10"),
        ("test_clipping", "clip_grad_norm_: m0.weight after step 1 differs in", r"\d+(\.\d+)?"),
        ("test_momentum_by_schedule", "SGD: m0.weight after step 2 differs in", None),
        ("test_accumulating", "accumulate: square_avg of m0.weight after step 1 differs in", None),
    ],
)
def test_length_of_a_step_in_a_graph(wrong_graphs: Outcome, test: str, start: str, factor: str | None) -> None:
    """An update that is too long or too short is blamed on what its length depends on, though no graph shows that."""
    for message in wrong_graphs.messages(test):
        assert message.startswith(start), message
        told = re.search(r"; it moves (.*) times as far as it should$", message.removesuffix(WORDS))
        assert (told is None) == (factor is None), message
        assert factor is None or (told is not None and re.fullmatch(factor, told[1])), message


def test_gradients_that_a_graph_does_not_show(wrong_graphs: Outcome) -> None:
    """A graph that accumulates cannot give its gradients out: they are counted as not verified."""
    backward = {
        name: {end["graph"]["backward"] for end in wrong_graphs.ends(name)}
        for name in ("test_sgd", "test_accumulating")
    }
    assert backward == {
        "test_sgd": {"verified"},
        "test_accumulating": {"oneflow shows no gradients where it accumulates"},
    }


def test_losses_in_graphs(wrong_graphs: Outcome) -> None:
    """The graph's losses stand beside those of eager and reference, which are alike."""
    told = losses(wrong_graphs, "test_sgd", "graph_update")
    assert (apart(told, "eager"), apart(told, "graph")) == ([False, False, False], [False, False, True])
    assert told["parting"] == {"step": 2, "words": "at step 2, after the update: parameter m0.weight"}
    told = losses(wrong_graphs, "test_scaler", "graph_backward")
    assert (told["eager"], told["words"]) == (None, ["eager: no loss in any step"])


ZEROED = """\
from autotest import autotest, random_tensor, torch


@autotest(n=2, train=3, coverage="none")
def test_groups():
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    torch.optim.SGD([{"params": first.parameters()}, {"params": second.parameters()}], lr=0.1, momentum=0.9)
    return torch.square(second(first(random_tensor(2, 4, 3)))).mean()


@autotest(n=2, train=3, coverage="none")
def test_maximizing():
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    groups = [{"params": first.parameters(), "maximize": True}, {"params": second.parameters()}]
    torch.optim.SGD(groups, lr=0.1)
    return torch.square(second(first(random_tensor(2, 4, 3)))).mean()
"""


def test_zero_grad_of_groups(shared_run: Callable[..., Outcome]) -> None:
    """OneFlow's zero_grad that leaves the last group out is blamed itself, not the optimizer whose rounding differs."""
    run = shared_run(
        "zeroing", {"test_zeroing.py": ZEROED}, target="oneflow", env={"AUTOTEST_FAULT": "training_faults:zeroing"}
    )
    assert run.rows("test_groups") == {(BACK, "value", "zero_grad")}
    for message in run.messages("test_groups"):
        assert message.startswith("zero_grad: gradient of m1.weight at step 2 differs in "), message
        assert message.endswith("; that of the step before is added to it"), message
    # OneFlow's SGD does not maximize without a momentum. So its graph, which clears its gradients, is as neither side.
    assert run.rows("test_maximizing") == {(UPDATE, "value", "SGD"), (BACK, "value", "zero_grad")}


BESIDE = """\
from autotest import autotest, random_tensor, torch


@autotest(n=1, train=3, coverage="none")
def test_dampening():
    layer = torch.nn.Linear(3, 2)
    torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, dampening=0.5)
    return torch.square(layer(random_tensor(2, 4, 3, low=0.5, high=1.5))).mean()
"""


def test_losses_of_a_graph_beside_a_wrong_eager(shared_run: Callable[..., Outcome]) -> None:
    """What eager is wrong in is drawn with the graph, too, though that runs later."""
    run = shared_run("training-beside", {"test_beside.py": BESIDE}, target="oneflow")
    told = losses(run, "test_dampening", UPDATE)
    assert apart(told, "eager") == apart(told, "graph") == [False, True, True]
    assert told["parting"] == {"step": 1, "words": "at step 1, after the update: parameter m0.weight"}


FAULTY = ["graph_update/value/SGD", "graph_update/value/Adam", "graph_backward/value", "graph_update/value/accumulate"]


def test_graph_scripts(wrong_graphs: Outcome) -> None:
    """The script of a training graph ends with 1 where the fault is planted, and with 0 where it is not."""
    assert_stand_where_planted(scripts_of(wrong_graphs, FAULTY), "training_faults:graph")
