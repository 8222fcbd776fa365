"""A body that trains becomes a Program of steps, or is told why it is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dual_object.errors import ArgumentError
from dual_object.program.program import Program
from dual_object.program.shortened import first_forward, truncated
from dual_object.program.training import Shown
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded

STEP = """\
    t2.zero_grad(set_to_none=True)
    t5.backward()
    t6, t7 = gradients(t2)
    t8 = torch.nn.utils.clip_grad_norm_([t0, t1], 1.0)
    t9, t10 = gradients(t2)
    rates(t2)  # [0.1]
    t2.step()
    t11, t12 = parameters(t2)
    (t13,), (t14,) = states(t2)
    t3.step()
    rates(t2)  # [0.05]
"""


def whole(recording: Recording) -> Any:
    """A model, an optimizer with a state, a schedule and clipping."""
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    loss = layer(batch(recording)).mean()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    return loss


def test_program() -> None:
    """The text is that of a loop, step after step, in which gradients are clipped after the backward."""
    text = str(recorded(whole))
    assert text.startswith("def program(torch, x, x_2):\n    m0 = torch.nn.Linear(2, 1)\n")
    assert STEP in text
    assert text.count("backward()") == text.count("clip_grad_norm_") == text.count("= m0(x") == 2


def test_losses_of_a_run_that_ends() -> None:
    """What ends a run in its second step leaves the loss of the first to see, and nothing else."""
    program = recorded(whole)
    assert program.training is not None
    [first], [second] = program.training.losses()
    whole_run = Replay(load_reference(), program).run()
    assert {first, second} <= set(whole_run.outputs)
    last = max(index for index, call in enumerate(program.calls) if call.op == "mean")
    program.calls[last] = replace(program.calls[last], op="no_such")
    ended = Replay(load_reference(), program).run()
    assert ended.ended
    assert list(ended.outputs) == [first]
    assert ended.outputs[first].data.tobytes() == whole_run.outputs[first].data.tobytes()


def test_steps() -> None:
    """Each step knows its batch and what it shows, in order."""
    training = recorded(whole).training
    assert training is not None
    first, second = training.steps
    assert [part.name for part in first.parts] == ["forward", "backward", "clip", "start", "update", "schedule"]
    assert [part.name for part in second.parts] == ["forward", "backward", "clip", "update", "schedule"]
    assert len(first.inputs) == len(second.inputs) == 1
    assert first.inputs != second.inputs
    shown = [list(part.values.values()) for part in first.parts]
    weight, bias = "0.weight", "0.bias"
    assert shown[:2] == [[Shown("loss")], [Shown("gradient", weight), Shown("gradient", bias)]]
    assert shown[4] == [
        Shown("parameter", weight),
        Shown("parameter", bias),
        Shown("momentum_buffer", weight),
        Shown("momentum_buffer", bias),
    ]


def test_replay() -> None:
    """It replays to what it was recorded as, stored and read again, too, and its batches differ."""
    program = recorded(whole, 3)
    arrays: list[Any] = []
    again = Program.from_json(program.to_json(arrays), arrays)
    assert again.training == program.training
    runs = [Replay(load_reference(), one, side="reference").run() for one in (program, again)]
    assert not runs[0].failures
    for id_, seen in runs[0].outputs.items():
        assert seen.data.tobytes() == runs[1].outputs[id_].data.tobytes()
    assert len({x.data.tobytes() for x in program.inputs}) == 3


ACCUMULATING = """\
    t2.zero_grad(set_to_none=True)
    t5 = t4 / 2
    t5.backward()
    t6 = m0(x_2)
    t7 = t6.mean()
    t8 = t7 / 2
    t8.backward()
    t9, t10 = gradients(t2)
    t2.step()
"""


def accumulating(recording: Recording) -> Any:
    """A loss, and what it is computed from."""
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    y = layer(batch(recording))
    return y.mean(), y


def test_batches() -> None:
    """A step that accumulates differentiates the mean of its batches' losses, each in its turn, and shows them all."""
    program = recorded(accumulating, 2, accumulate=2)
    training = program.training
    assert training is not None
    assert ACCUMULATING in str(program)
    assert str(program).count("zero_grad") == str(program).count(".step()") == 2
    assert len({x.data.tobytes() for x in program.inputs}) == 4
    first, second = training.steps
    assert training.batches(second) == [(second.inputs[0],), (second.inputs[1],)]
    assert [len(ids) for ids in training.returned(first)] == [2, 2]
    shown = [first.parts[0].values[id_] for ids in training.returned(first) for id_ in ids]
    assert shown == [Shown("loss"), Shown("output")] * 2
    arrays: list[Any] = []
    assert Program.from_json(program.to_json(arrays), arrays).training == training
    alone = first_forward(program)
    assert [x.id for x in alone.inputs] == [*training.batches(first)[0]]
    assert str(alone).splitlines()[-1] == "    return (t4, t3)"


def test_scaled_batches() -> None:
    """What is scaled is the loss of a batch as it is divided."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        torch.amp.GradScaler("cpu", init_scale=8.0)
        return layer(batch(recording)).mean()

    lines = [line.strip() for line in str(recorded(body, 1, accumulate=2)).splitlines()]
    assert [line for line in lines if " / 2" in line or ".scale(" in line] == [
        "t6 = t5 / 2",
        "t7 = t3.scale(t6)",
        "t10 = t9 / 2",
        "t11 = t3.scale(t10)",
    ]


def test_constant_beside_batches() -> None:
    """What is no batch's own cannot be shown once for each."""

    def body(recording: Recording) -> Any:
        layer, x = torch.nn.Linear(2, 1), batch(recording)
        constant = torch.square(x)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        return layer(x).mean(), constant

    assert recorded(body).training is not None
    with pytest.raises(ArgumentError) as refusal:
        recorded(body, accumulate=3)
    assert str(refusal.value) == (
        "the body returns a tensor that is not computed from its batch, but should not where a step has 3 batches, "
        "each with outputs of its own"
    )


def test_shortened() -> None:
    """A training of fewer steps is the beginning of one of more; its first forward only differentiates."""
    long, short = recorded(whole, 3), recorded(whole, 2)
    assert str(truncated(long, 2)) == str(short)
    assert str(first_forward(long)).splitlines()[-1] == "    return (t5,)"
    assert "backward" not in str(first_forward(long))


def test_scaler_and_two_optimizers() -> None:
    """Each optimizer is updated through the scaler, which is updated once."""

    def body(recording: Recording) -> Any:
        first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        torch.optim.SGD(first.parameters(), lr=0.1)
        torch.optim.Adam(second.parameters(), lr=0.1)
        torch.amp.GradScaler("cpu", init_scale=8.0)
        return second(first(batch(recording))).sum()

    program = recorded(body, 1)
    assert program.training is not None
    assert [part.name for part in program.training.steps[0].parts] == [
        "forward",
        "backward",
        "update",
        "update",
        "scale",
    ]
    assert str(program).count(".update()") == 1


def test_regions() -> None:
    """A region of the body is entered and left at each step."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        x = batch(recording)
        with torch.no_grad():
            scale = torch.square(x).mean()
        return layer(x).mean() * scale

    program = recorded(body, 3)
    assert str(program).count("with torch.no_grad():") == 3
    assert not Replay(load_reference(), program, side="reference").run().failures


def test_returned() -> None:
    """All that the body returns is shown, in containers, too; its loss is the first."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        y = layer(batch(recording))
        return {"loss": y.mean(), "rest": [(y, y + 1)]}

    program = recorded(body, 1)
    assert program.training is not None
    assert [*program.training.steps[0].parts[0].values.values()] == [Shown("loss"), Shown("output"), Shown("output")]


def test_further_group() -> None:
    """A group that is added to an optimizer is added once, before the first step."""

    def body(recording: Recording) -> Any:
        first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
        optimizer.add_param_group({"params": second.parameters(), "lr": 0.2})
        return second(first(batch(recording))).mean()

    program = recorded(body)
    assert str(program).count("add_param_group") == 1
    assert program.training is not None
    assert program.calls[program.training.start - 1].op == "add_param_group"
    shown = program.training.steps[1].parts[2].values.values()
    assert [of.leaf for of in shown] == ["0.weight", "0.bias", "1.weight", "1.bias"]


def _none(recording: Recording) -> Any:
    return torch.nn.Linear(2, 1)(batch(recording)).mean()


def _not_scalar(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return layer(batch(recording))


def _no_gradient(recording: Recording) -> Any:
    torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.1)
    return batch(recording).mean()


def _too_early(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    loss = layer(batch(recording)).mean()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return loss


def _nothing(recording: Recording) -> Any:
    torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.1)


def _backward(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    loss = layer(batch(recording)).mean()
    loss.backward()
    return loss


def _update(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.zero_grad()
    return layer(batch(recording)).mean()


def _groups(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.param_groups[0]["lr"] = 0.2
    return layer(batch(recording)).mean()


def _rates(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(torch.optim.SGD(layer.parameters(), lr=0.1), gamma=0.5)
    schedule.get_last_lr()
    return layer(batch(recording)).mean()


def _late_layer(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return torch.nn.BatchNorm1d(1)(layer(batch(recording))).mean()


def _frozen(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    layer.weight.requires_grad_(False)
    torch.optim.SGD([layer.weight], lr=0.1)
    return layer(batch(recording)).mean()


def _two_scalers(recording: Recording) -> Any:
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    torch.amp.GradScaler("cpu")
    torch.amp.GradScaler("cpu")
    return layer(batch(recording)).mean()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            _groups,
            "the body reads param_groups, but should only make its optimizers, schedules and scaler: give them there "
            "what groups and steps have of their own, as in "
            'torch.optim.SGD([{"params": model.parameters(), "lr": 0.1}])',
        ),
        (
            _rates,
            "the body calls get_last_lr, but should only make its optimizers, schedules and scaler: give them there "
            "what groups and steps have of their own, as in "
            'torch.optim.SGD([{"params": model.parameters(), "lr": 0.1}])',
        ),
        (
            _late_layer,
            "torch.nn.BatchNorm1d is made after the optimizer, but should be made before it: "
            "what follows the last optimizer, schedule or scaler belongs to each step",
        ),
        (
            _frozen,
            "the loss gives no parameter of an optimizer a gradient, but should come of one that requires it",
        ),
        (_two_scalers, "the body makes 2 scalers, but should make at most one: its loss is scaled once"),
        (
            _backward,
            "the body calls backward, but a training calls it at each step: return the loss, and leave "
            "zero_grad, backward, step and update to the training",
        ),
        (
            _update,
            "the body calls zero_grad, but a training calls it at each step: return the loss, and leave "
            "zero_grad, backward, step and update to the training",
        ),
        (
            _none,
            "the body makes no optimizer, but a training should have one, as in "
            "torch.optim.SGD(model.parameters(), lr=0.1)",
        ),
        (
            _not_scalar,
            "the body returned a float32 tensor of shape (4, 1), but should return a scalar loss first, "
            "which the parameters lead to",
        ),
        (
            _no_gradient,
            "the body returned a float32 tensor of shape () without a gradient, but should return a scalar loss first, "
            "which the parameters lead to",
        ),
        (
            _too_early,
            "the loss is computed before torch.optim.SGD is made, but should be computed after it: "
            "what follows the last optimizer, schedule or scaler belongs to each step",
        ),
        (_nothing, "the body returned no tensor, but should return its loss first"),
    ],
)
def test_no_training(body: Callable[[Any], Any], message: str) -> None:
    """What is no step of a training is told as such."""
    with pytest.raises(ArgumentError) as refusal:
        recorded(body)
    assert str(refusal.value) == message
