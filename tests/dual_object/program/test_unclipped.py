"""A training without its clipping: what is left, and that it is what one that never clipped does."""

from __future__ import annotations

from typing import Any

import pytest

from dual_object.program.program import Program
from dual_object.program.training import Training
from dual_object.program.unclipped import unclipped
from dual_object.program.values import Ref
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded


def trained(accumulate: int = 1, *, clips: bool, factor: float = 1.0) -> Program:
    """Two steps of two layers with an optimizer and a schedule each, whose gradients are clipped or not."""

    def body(recording: Recording) -> Any:
        layers = [torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)]
        for layer in layers:
            torch.optim.lr_scheduler.ExponentialLR(torch.optim.SGD(layer.parameters(), lr=0.1), gamma=0.5)
        y = layers[1](layers[0](batch(recording)))
        loss = torch.square(y).mean()
        if clips:
            for layer in layers:
                torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.1)
        return (loss, y) if factor == 1 else (loss * factor, y)

    return recorded(body, 2, accumulate)


def shown(program: Program) -> Observation:
    """What PyTorch shows."""
    return Replay(load_reference(), program, side="reference").run()


def training_of(program: Program) -> Training:
    """Its steps."""
    assert program.training is not None
    return program.training


def tensors(program: Program, *names: str) -> list[Any]:
    """What the parts of these names show, in order."""
    seen = shown(program)
    parts = [part for step in training_of(program).steps for part in step.parts if part.name in names]
    return [seen.outputs[id_].data.tolist() for part in parts for id_ in part.values]


@pytest.mark.parametrize("accumulate", [1, 2])
def test_without_clipping(accumulate: int) -> None:
    """It does what a training that does not clip does, and shows no more."""
    program, plain = unclipped(trained(accumulate, clips=True)), trained(accumulate, clips=False)
    names = ("forward", "backward", "update")
    assert tensors(program, *names) == tensors(plain, *names)
    assert not any("clip" in call.op for call in program.calls)
    for one, other in zip(training_of(program).steps, training_of(plain).steps, strict=True):
        assert [(part.name, [*part.values.values()]) for part in one.parts] == [
            (part.name, [*part.values.values()]) for part in other.parts
        ]
    assert [*program.outputs] == [Ref(id_) for id_ in training_of(program).shown()]


def test_parts_keep_their_calls() -> None:
    """Each part's call, the reads of its numbers and the ends of steps are where these calls are now."""
    before = trained(clips=True)
    after = unclipped(before, 0.5)
    for one, other in zip(training_of(before).steps, training_of(after).steps, strict=True):
        kept = [part for part in one.parts if part.name != "clip"]
        for was, now in zip(kept, other.parts, strict=True):
            assert (was.name, was.values) == (now.name, now.values)
            indices = [(was.call, now.call), *zip(was.hosts, now.hosts, strict=True)]
            for old, new in indices:
                assert (old is None) == (new is None)
                assert old is None or new is None or before.calls[old].op == after.calls[new].op
        assert before.calls[one.end - 1] is after.calls[other.end - 1]
    first, *_ = training_of(after).steps
    assert {after.calls[index].op for part in first.parts for index in part.hosts} == {"rates"}


@pytest.mark.parametrize("accumulate", [1, 2])
def test_smaller_loss(accumulate: int) -> None:
    """By a factor the gradients are smaller, and the loss that is shown is the same."""
    program, scaled = trained(accumulate, clips=True), trained(accumulate, clips=False, factor=0.25)
    smaller = unclipped(program, 0.25)
    assert tensors(smaller, "backward", "update") == tensors(scaled, "backward", "update")
    loss, *_ = tensors(smaller, "forward")
    assert loss == tensors(program, "forward")[0]
    training = training_of(smaller)
    assert [training.loss] in [call.results() for call in smaller.calls[training.start : training.forward]]
