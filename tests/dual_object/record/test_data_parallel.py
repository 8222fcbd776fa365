"""`DistributedDataParallel` in the body of a training: what is recorded, and which trainings ranks cannot share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dual_object.errors import ArgumentError
from dual_object.program.data_parallel import part_of
from dual_object.program.program import Program
from dual_object.program.shortened import first_forward
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording, current_recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.replay import Replay
from generators import Nothing
from support.trainings import batch, recorded

NAME = "torch.nn.parallel.DistributedDataParallel"
#: How the sentence about a loss or an output begins and ends.
PARTS = (
    "so 2 ranks with DistributedDataParallel compute another one: the loss should be a mean over the batch, and no "
    "call may mix its rows, as BatchNorm does in training, or draw at random"
)


@pytest.fixture(autouse=True)
def two_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the second of two ranks."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")


def wrapped(loss: Callable[[Any, Any], Any], layer: Callable[[], Any] | None = None) -> Callable[[Recording], Any]:
    """A body whose wrapped model is a layer; `loss` is given it and the batch."""

    def body(recording: Recording) -> Any:
        made = torch.nn.Linear(2, 1) if layer is None else layer()
        model = torch.nn.parallel.DistributedDataParallel(made)
        torch.optim.SGD(model.parameters(), lr=0.1)
        return loss(model, batch(recording))

    return body


MEAN = wrapped(lambda model, x: torch.square(model(x)).mean())


def test_program() -> None:
    """The wrapper is given what the model computes, and gradients stay where they are."""
    program = recorded(MEAN)
    text = str(program)
    assert "    t0 = torch.nn.parallel.DistributedDataParallel([m0])\n" in text
    assert "    t4 = m0(x)\n    t5 = t0(t4)\n    t6 = torch.square(t5)\n" in text
    assert text.count("zero_grad(set_to_none=False)") == 2
    assert program.training is not None
    assert program.training.ranks == 2


def test_own_classes_and_parameters() -> None:
    """A module class of the test's own is wrapped with the modules that it holds, those of its modules too, and its own
    parameters.
    """

    class Inner(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.layer(x), x

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.shift = Inner(), torch.nn.Parameter(torch.ones(1))

        def forward(self, x: Any) -> Any:
            y, _ = self.inner(x)
            return {"y": y + self.shift}

    program = recorded(wrapped(lambda model, x: model(x)["y"].mean(), Net))
    [call] = [call for call in program.calls if call.op == "nn.parallel.DistributedDataParallel"]
    assert len(call.operands()) == 2
    called = [again for again in program.calls if again.kind == "call" and again.args[0] == call.out]
    assert [list(again.args[1]) for again in called] == [["y"], ["y"]]


def test_training_of_one_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without other ranks nothing is shared."""
    monkeypatch.setenv("WORLD_SIZE", "1")
    training = recorded(MEAN).training
    assert training is not None
    assert training.ranks == 1


def test_round_trip() -> None:
    """A stored Program keeps how many ranks share it."""
    program = recorded(MEAN)
    arrays: list[Any] = []
    again = Program.from_json(program.to_json(arrays), arrays)
    assert again.training == program.training


def test_parts() -> None:
    """A rank has its part of each step's batch, and the whole of all else."""
    program = recorded(MEAN)
    assert [x.data.shape for x in program.inputs] == [(4, 2), (4, 2)]
    parts = [part_of(x, program, 1) for x in program.inputs]
    for x, part in zip(program.inputs, parts, strict=True):
        np.testing.assert_array_equal(part.data, x.data[2:])
    assert part_of(program.inputs[0], Program(program.inputs), 1) is program.inputs[0]


def test_first_forward_of_a_rank() -> None:
    """Alone, a rank differentiates the loss of its own part, without a wrapper."""
    forward = first_forward(recorded(MEAN))
    assert "DistributedDataParallel" not in str(forward)
    assert "t3 = m0(x)\n    t4 = torch.square(t3)\n    t5 = t4.mean()\n    return (t5,)" in str(forward)
    [x] = forward.inputs
    seen = Replay(load_reference(), forward, side="reference").run()
    [loss] = seen.outputs.values()
    np.testing.assert_allclose(loss.data, np.square(x.data.sum(1) * 0.5 + 0.5).mean(), rtol=1e-6)
    assert x.data.shape == (2, 2)


def normalized() -> Any:
    """A layer before a batch norm."""
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


def two() -> Any:
    """Two layers, of which one may be left out."""
    return torch.nn.ModuleList([torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            wrapped(lambda model, x: model(x).sum()),
            f"the loss of a batch is not the mean of those of its parts, {PARTS}",
        ),
        (
            wrapped(lambda model, x: torch.square(model(x)).mean(), normalized),
            "the forward changes running_mean, which each of 2 ranks with DistributedDataParallel does by its own "
            "part of the batch, and so otherwise than one process: call eval() on the module before",
        ),
        (
            wrapped(lambda model, x: torch.softmax(model(x), 0).square().mean()),
            f"the loss of a batch is not the mean of those of its parts, {PARTS}",
        ),
        (
            wrapped(lambda model, x: (model(x).mean(), x.t())),
            f"the output of a batch is not made of those of its parts, {PARTS}",
        ),
        (
            wrapped(lambda model, x: model(x).reshape(4, 1).mean()),
            "a rank's part of the batch cannot be computed: shape '[4, 1]' is invalid for input of size 2; with "
            "DistributedDataParallel the body should not fix the size of the batch, as in reshape(4, -1)",
        ),
        (
            wrapped(lambda model, x: model.module[0](x).mean(), two),
            "the loss gives 2 of the optimizers' parameters no gradient, but should give each one: with "
            "DistributedDataParallel the ranks would wait for it",
        ),
    ],
)
def test_trainings_that_ranks_cannot_share(body: Callable[[Recording], Any], sentence: str) -> None:
    """Where ranks lawfully compute something else than one process, the test is told."""
    with pytest.raises(ArgumentError) as caught:
        recorded(body)
    assert str(caught.value) == sentence


def test_batch_norm_with_running_statistics() -> None:
    """What does not mix rows may be shared, and asking leaves the buffers as they were."""
    program = recorded(wrapped(lambda model, x: torch.square(model(x)).mean(), lambda: normalized().eval()))
    assert program.training is not None
    assert program.training.ranks == 2


def test_batch_that_ranks_cannot_share() -> None:
    """Each rank needs as many rows as the others."""

    def body(recording: Recording) -> Any:
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        torch.optim.SGD(model.parameters(), lr=0.1)
        return model(recording.input(np.ones((3, 2), np.float32), "float32", name="x")).mean()

    with pytest.raises(ArgumentError) as caught:
        recorded(body)
    assert str(caught.value) == (
        "x has shape (3, 2), but should have a first dimension that 2 ranks can share: with DistributedDataParallel "
        "each has its part of the batch. Make what all of them need whole before the optimizer, as by torch.ones(...)"
    )


@pytest.mark.parametrize(
    ("wrap", "sentence"),
    [
        (
            lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1), find_unused_parameters=True),
            f"{NAME} was given find_unused_parameters, but should be given the model alone: PyTorch and the target "
            "have other options there",
        ),
        (
            lambda: torch.nn.parallel.DistributedDataParallel(5),
            f"{NAME} was given 5, but should be given a module",
        ),
    ],
)
def test_what_is_wrapped(wrap: Callable[[], Any], sentence: str) -> None:
    """It is given one model."""
    with pytest.raises(ArgumentError) as caught:
        recorded(lambda recording: wrap())
    assert str(caught.value) == sentence


def test_body_that_does_not_train() -> None:
    """A wrapper is for trainings."""
    recording = Recording(load_reference(), draw_state=lambda name, data: data, omitted=Nothing)
    token = current_recording.set(recording)
    try:
        with pytest.raises(ArgumentError) as caught:
            torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    finally:
        current_recording.reset(token)
    assert str(caught.value) == (
        f"{NAME} is used in a body that does not train, but should be in a training: @autotest(train=5)"
    )
