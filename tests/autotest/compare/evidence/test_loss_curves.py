"""The losses of a training on each side, and where the sides part."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.evidence.loss_curves import Trained, loss_curves, parting
from autotest.compare.observations import compare
from dual_object.program.program import Program, Randomness
from dual_object.program.training import Part
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded

Change = Callable[[Observation], None]


@pytest.fixture(scope="module")
def shows() -> tuple[Program, Observation]:
    """Three steps with every part and a layer with statistics, and what PyTorch shows of them."""

    def body(recording: Recording) -> Any:
        layer, norm = torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1)
        optimizer = torch.optim.Adam([*layer.parameters(), *norm.parameters()], lr=0.1)
        torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        torch.amp.GradScaler("cpu", init_scale=8.0)
        loss = torch.square(norm(layer(batch(recording)))).mean()
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        return loss

    program = recorded(body, steps=3)
    return program, Replay(load_reference(), program, side="reference").run()


def part(program: Program, step: int, name: str) -> Part:
    """A part of a step, counted from 1."""
    assert program.training is not None
    return next(part for part in program.training.steps[step - 1].parts if part.name == name)


def losses(program: Program) -> list[int]:
    """Numbers of the losses."""
    assert program.training is not None
    return [id_ for ids in program.training.losses() for id_ in ids]


def with_losses(program: Program, seen: Observation, *values: float | None, dtype: str = "float32") -> Observation:
    """The observation with other losses; None: with none."""
    made = copy.deepcopy(seen)
    for id_, value in zip(losses(program), values, strict=True):
        if value is None:
            del made.outputs[id_]
        else:
            made.outputs[id_] = replace(made.outputs[id_], data=np.array(value, dtype), dtype=dtype)
    return made


def somewhere(phase: Any = "eager_forward") -> Difference:
    """A difference that is nowhere in a step."""
    return Difference(phase, "batch_only", "the program", "the program differs")


def test_curves(shows: tuple[Program, Observation]) -> None:
    """Each side has a loss for each step, in the digits that its dtype has."""
    program, seen = shows
    sides = Sides(*(with_losses(program, seen, *values) for values in ((0.1, 0.2, 0.3), (0.1, 0.2, 0.5), (1, 2, 3))))
    assert loss_curves(Trained(program, sides, somewhere())) == {
        "reference": [0.1, 0.2, 0.3],
        "eager": [0.1, 0.2, 0.5],
        "graph": [1.0, 2.0, 3.0],
        "parting": None,
        "words": [],
    }


def test_batches() -> None:
    """The loss of a step is the mean of its batches', where it shows them all; what parts in one names it."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        return torch.square(layer(batch(recording))).mean()

    program = recorded(body, steps=2, accumulate=2)
    seen = Replay(load_reference(), program, side="reference").run()
    assert len(losses(program)) == 4
    reference = with_losses(program, seen, 1, 2, 4, 8)
    eager, graph = with_losses(program, seen, 1, 2, 4, 9), with_losses(program, seen, 1, float("inf"), 4, None)
    [first] = compare(program, reference, eager, Rules())
    assert loss_curves(Trained(program, Sides(reference, eager, graph), first)) == {
        "reference": [1.5, 6.0],
        "eager": [1.5, 6.5],
        "graph": ["inf", None],
        "parting": {"step": 2, "words": "at step 2, in the forward: loss of batch 2"},
        "words": [
            "graph: no loss in 1 of 2 steps, first in step 2",
            "graph: a loss that is not finite in 1 of 2 steps, first in step 1",
        ],
    }


def test_losses_that_are_none(shows: tuple[Program, Observation]) -> None:
    """What is missing, not finite or of another dtype has a sentence, and a place in its curve."""
    program, seen = shows
    reference = with_losses(program, seen, 0.5, 0.25, float("inf"))
    eager = with_losses(program, seen, 0.5, float("nan"), float("-inf"), dtype="float16")
    graph = with_losses(program, seen, 0.5, None, None)
    assert loss_curves(Trained(program, Sides(reference, eager, graph), somewhere())) == {
        "reference": [0.5, 0.25, "inf"],
        "eager": [0.5, "nan", "-inf"],
        "graph": [0.5, None, None],
        "parting": None,
        "words": [
            "reference: a loss that is not finite in 1 of 3 steps, first in step 3",
            "eager: a loss that is not finite in 2 of 3 steps, first in step 2",
            "eager: losses are float16, but float32 on the reference",
            "graph: no loss in 2 of 3 steps, first in step 2",
        ],
    }


def test_side_without_losses(shows: tuple[Program, Observation]) -> None:
    """A target that died has no curve, and a graph that nobody has asked for is not missed."""
    program, seen = shows
    curves = loss_curves(Trained(program, Sides(seen), somewhere()))
    assert curves is not None
    assert (curves["eager"], curves["graph"]) == (None, None)
    assert curves["words"] == ["eager: no loss in any step"]
    curves = loss_curves(Trained(program, Sides(seen, seen), somewhere("graph_forward")))
    assert curves is not None
    assert curves["words"] == ["graph: no loss in any step"]


def test_no_finite_loss(shows: tuple[Program, Observation]) -> None:
    """A side of which every loss is no number still has a curve."""
    program, seen = shows
    curves = loss_curves(Trained(program, Sides(seen, with_losses(program, seen, *[float("nan")] * 3)), somewhere()))
    assert curves is not None
    assert curves["eager"] == ["nan"] * 3
    assert curves["words"] == ["eager: a loss that is not finite in every step"]


def test_loss_of_another_shape(shows: tuple[Program, Observation]) -> None:
    """What is no single number is no loss."""
    program, seen = shows
    eager = copy.deepcopy(seen)
    eager.outputs[losses(program)[1]].data = np.zeros(2, np.float32)
    curves = loss_curves(Trained(program, Sides(seen, eager), somewhere()))
    assert curves is not None
    assert curves["words"] == ["eager: no loss in 1 of 3 steps, first in step 2"]


def test_random_losses(shows: tuple[Program, Observation]) -> None:
    """Losses that are random are not held beside each other."""
    program, seen = shows
    random = Randomness((), frozenset(losses(program)), frozenset(), frozenset(), frozenset(), frozenset())
    trained = Trained(replace(program, random=random), Sides(seen, seen), somewhere())
    assert loss_curves(trained) is None
    assert Divergence(somewhere(), program, None, trained=trained).evidence()["losses"] is None


def moved(name: str, what: str, step: int) -> Callable[[Program], Change]:
    """Adds 1 to the first tensor of that name in a part of a step, and to all that come after it."""

    def of(program: Program) -> Change:
        chosen = next(id_ for id_, shown in part(program, step, name).values.items() if shown.what == what)

        def change(actual: Observation) -> None:
            for id_ in actual.outputs:
                if id_ >= chosen:
                    actual.outputs[id_].data = actual.outputs[id_].data + 1

        return change

    return of


def read(name: str, step: int, value: Any) -> Callable[[Program], Change]:
    """Gives what a part of a step is read as."""
    return lambda program: lambda actual: actual.hosts.update({part(program, step, name).hosts[0]: value})


def failed(op: str) -> Callable[[Program], Change]:
    """Ends the run in the last call of that op."""

    def of(program: Program) -> Change:
        call = max(index for index, call in enumerate(program.calls) if call.op == op)

        def change(actual: Observation) -> None:
            actual.failures.append(Failure(call, "exception", ("RuntimeError",), "no more"))
            actual.ended = True

        return change

    return of


def buffer(program: Program) -> Change:
    """Adds 1 to a buffer."""

    def change(actual: Observation) -> None:
        [key] = [key for key in actual.buffers if key.endswith("running_mean")]
        actual.buffers[key].data = actual.buffers[key].data + 1

    return change


@pytest.mark.parametrize(
    ("change", "step", "words"),
    [
        (moved("forward", "loss", 2), 2, "at step 2, in the forward: loss"),
        (moved("backward", "gradient", 3), 3, "at step 3, in the backward: gradient of m0.weight"),
        (moved("clip", "gradient", 1), 1, "at step 1, after the clipping: clipped gradient of m0.weight"),
        (moved("update", "parameter", 3), 3, "at step 3, after the update: parameter m0.weight"),
        (moved("update", "exp_avg", 2), 2, "at step 2, after the update: exp_avg of m0.weight"),
        (read("scale", 1, 4.0), 1, "at step 1, after the scaler's update: the scale"),
        (read("schedule", 2, [0.5]), 2, "at step 2, after the schedule: the learning rate"),
        (buffer, 3, "at step 3, at the end: buffer m1.running_mean"),
        (failed("optim.Adam"), 1, "before step 1: optim.Adam"),
        (failed("square"), 3, "at step 3, in the forward: square"),
        (failed("backward"), 3, "at step 3, in the backward: backward"),
    ],
)
def test_parting(
    shows: tuple[Program, Observation], change: Callable[[Program], Change], step: int, words: str
) -> None:
    """The first step that parts is told with its part and what parts in it."""
    program, seen = shows
    actual = copy.deepcopy(seen)
    change(program)(actual)
    first = compare(program, seen, actual, Rules())[0]
    assert parting(program, first) == {"step": step, "words": words}


def test_parting_by_a_death(shows: tuple[Program, Observation]) -> None:
    """A target that dies parts at the call that it was at; where that is not known, or chance decides, nowhere."""
    program, _ = shows
    call = max(index for index, call in enumerate(program.calls) if call.op == "square")
    death = Difference("eager_forward", "crash", "the program", "the target crashed with SIGSEGV", call)
    assert parting(program, death) == {
        "step": 3,
        "words": "at step 3, in the forward: the target crashed with SIGSEGV",
    }
    assert parting(program, replace(death, call=None)) is None
    assert parting(program, replace(death, kind="random")) is None


def test_evidence(shows: tuple[Program, Observation]) -> None:
    """The evidence of a divergence has the curves of the training that it came up in, and else none."""
    program, seen = shows
    trained = Trained(program, Sides(seen, seen), somewhere())
    told = Divergence(somewhere(), program, None, trained=trained).evidence()
    assert told["losses"] == loss_curves(trained)
    assert "losses" not in Divergence(somewhere(), program, None).evidence()
