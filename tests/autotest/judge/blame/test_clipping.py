"""Where a graph's update is wrong, the clipping before it is blamed if it is right without, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.observations import compare
from autotest.judge.blame.clipping import WORDS
from autotest.judge.blame.localization import localize
from autotest.workers.protocol import Death
from dual_object.program.program import Program
from dual_object.program.training import clips
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import GraphRefusal, load_reference
from dual_object.replay.observation import Observation
from dual_object.replay.randomness import randomness
from dual_object.replay.replay import Replay
from support.runs import Outcome
from support.scripts import assert_stand_where_planted, scripts_of
from support.trainings import Planted, batch, recorded

pytestmark = pytest.mark.slow

FILES = {"test_clipping.py": "clipping.py"}
FAULT = {"AUTOTEST_FAULT": "training_faults:clipping"}
#: Per test: what is to blame in the graph, and how its message ends.
BLAMED = {
    "test_norm": ("clip_grad_norm_", WORDS),
    "test_groups": ("clip_grad_norm_", WORDS),
    "test_accumulating": ("clip_grad_norm_", WORDS),
    "test_scaler": ("clip_grad_norm_", WORDS),
    "test_beside": ("clip_grad_norm_", WORDS),
    "test_epsilon": ("Adam", "(rtol=0.0001, atol=1e-05)"),
    "test_rate": ("SGD", "; it moves 2 times as far as it should"),
    "test_schedule": ("StepLR", "; it moves 10 times as far as it should"),
}


@pytest.fixture(scope="module")
def wrong(shared_run: Callable[..., Outcome]) -> Outcome:
    """The bodies with all faults of what OneFlow's graphs clip by, and others."""
    return shared_run("clipping", FILES, target="oneflow", env=FAULT)


@pytest.mark.parametrize("name", BLAMED)
def test_graph(wrong: Outcome, name: str) -> None:
    """Each is told in its own phase and blamed on its part."""
    op, ending = BLAMED[name]
    assert {row for row in wrong.rows(name) if row[0].startswith("graph")} == {("graph_update", "value", op)}
    told = {message for message in wrong.messages(name) if message.startswith(f"{op}: m")}
    assert told
    assert all(message.endswith(ending) for message in told)


def test_sound(shared_run: Callable[..., Outcome]) -> None:
    """Without a fault OneFlow's graphs clip as PyTorch does."""
    run = shared_run("clipping-sound", FILES, target="oneflow")
    assert {name: rows for name in run.outcomes() if (rows := {row[0] for row in run.rows(name)})} == {
        "test_beside": {"eager_update"},  # RMSprop's eps is inside of its root
        "test_scaler": {"eager_update"},  # OneFlow's eager GradScaler takes other arguments
    }


def test_script(wrong: Outcome) -> None:
    """The script ends with 1 where the fault is planted, and with 0 where it is not."""
    assert_stand_where_planted(scripts_of(wrong, ["/clip_grad_norm_"]), "training_faults:clipping")


def two_layers(recording: Recording) -> Any:
    """The loss of two layers with an optimizer each, of which the second one's gradients are clipped."""
    first, second = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
    for one in (first, second):
        torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9)
    loss = torch.square(second(first(batch(recording)))).mean()
    torch.nn.utils.clip_grad_norm_(second.parameters(), 0.1)
    return loss


def moved(step: int, leaf: str, by: float) -> Callable[[Program, Observation], Observation]:
    """Adds to a parameter after a step, or to the loss at one where there is no `leaf`."""

    def change(program: Program, shown: Observation) -> Observation:
        assert program.training is not None
        parts = program.training.steps[step - 1].parts
        chosen = [
            id_
            for part in parts
            for id_, of in part.values.items()
            if (of.leaf, of.what) == ((f"{leaf}.weight", "parameter") if leaf else ("", "loss"))
        ]
        for id_ in chosen:
            seen = shown.outputs[id_]
            shown.outputs[id_] = replace(seen, data=seen.data + np.float32(by))
        return shown

    return change


def other_numbers(program: Program, shown: Observation) -> Observation:
    """As PyTorch, but for what was drawn at random."""
    assert program.random is not None
    for id_ in program.random.values & shown.outputs.keys():
        seen = shown.outputs[id_]
        shown.outputs[id_] = replace(seen, data=seen.data + np.float32(1))
    return shown


def sound(program: Program, shown: Observation) -> Observation:
    """As PyTorch."""
    return shown


def localized(
    *changes: Callable[[Program, Observation], Observation],
    then: Callable[[Program, Observation], Any] = sound,
    body: Callable[[Recording], Any] = two_layers,
) -> tuple[Divergence, list[Program]]:
    """What a graph with these changes is told by, and the Programs that it was asked then."""
    reference, rules = load_reference(), Rules()
    program = recorded(body, 2)
    program.random = randomness(reference, program)
    expected, eager, graph = (Replay(reference, program, side="reference").run() for _ in range(3))
    for change in changes:
        change(program, graph)
    target: Any = Planted(then)
    found = compare(program, expected, graph, rules, graph=True)
    sides = Sides(expected, eager, graph)
    [told] = localize(reference, target, program, found, rules, sides, graph=True)
    assert not any(clips(call) for asked in target.asked for call in asked.calls)
    return told, target.asked


def blamed(
    *changes: Callable[[Program, Observation], Observation],
    then: Callable[[Program, Observation], Any] = sound,
    body: Callable[[Recording], Any] = two_layers,
) -> tuple[str, bool, int]:
    """The op that is blamed, whether the message tells of no clipping, and how often the graph was asked again."""
    told, asked = localized(*changes, then=then, body=body)
    return told.op, told.difference.message.endswith(WORDS), len(asked)


def layer(number: int) -> str:
    """The number of a layer's module, as its leaves begin."""
    modules = [call for call in recorded(two_layers, 2).calls if call.kind == "module"]
    return str(modules[number].results()[0])


DIED = Death("crash", "died", 0, None, "")


@pytest.mark.parametrize("step", [1, 2])
def test_update(step: int) -> None:
    """An update before which gradients were clipped is asked again, once; one of another optimizer is not."""
    clipped = moved(step, layer(1), 1)
    assert blamed(clipped) == ("clip_grad_norm_", True, 1)
    assert blamed(clipped, then=clipped) == ("SGD", False, 1)
    assert blamed(moved(step, layer(0), 1)) == ("SGD", False, 0)


def test_what_follows() -> None:
    """A loss that comes of an update that has drifted is blamed as the update is; another loss on no clipping."""
    drift, loss = moved(1, layer(1), 1e-6), moved(2, "", 1)
    assert blamed(drift, loss) == ("clip_grad_norm_", True, 1)
    assert blamed(drift, loss, then=loss) == ("SGD", False, 1)
    assert blamed(loss) == ("program", False, 0)


def scaled(recording: Recording) -> Any:
    """The same with a scaler, in the backward of which gradients are greater."""
    first, second = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
    for one in (first, second):
        torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9)
    torch.amp.GradScaler("cpu", init_scale=8.0)
    loss = torch.square(second(first(batch(recording)))).mean()
    torch.nn.utils.clip_grad_norm_(second.parameters(), 0.1)
    return loss


def without_gradient(recording: Recording) -> Any:
    """Gradients of zeros, which are as great after the clipping as before."""
    loss = two_layers(recording)
    return loss * 0


@pytest.mark.parametrize(("body", "smaller"), [(two_layers, True), (scaled, False), (without_gradient, False)])
def test_smaller_loss(body: Callable[[Recording], Any], *, smaller: bool) -> None:
    """Without the clipping gradients are as small as with it, where one knows how small that is."""
    _, [asked] = localized(moved(1, layer(1), 1), body=body)
    assert asked.training is not None
    [step] = asked.training.steps
    seen = Replay(load_reference(), asked, side="reference").run().outputs
    gradients = [seen[id_].data for part in step.parts if part.name == "backward" for id_ in part.values]
    norm = np.linalg.norm([np.linalg.norm(one) for one in gradients[-2:]])
    assert np.isfinite(norm)
    assert (abs(norm - 0.1) < 1e-3) == smaller


def test_random() -> None:
    """What is drawn at random differs without the clipping, too, and says nothing."""

    def body(recording: Recording) -> Any:
        loss = two_layers(recording)
        return loss, torch.rand(2) * loss

    assert blamed(moved(1, layer(1), 1), then=other_numbers, body=body) == ("clip_grad_norm_", True, 1)


@pytest.mark.parametrize("answer", [DIED, GraphRefusal(True, None, (), "no such graph")])
def test_no_answer(answer: Any) -> None:
    """Where the graph says nothing without the clipping, nothing is said of it."""
    assert blamed(moved(1, layer(1), 1), then=lambda program, shown: answer) == ("SGD", False, 1)
