"""Each part of a training's step is compared, and only the first that differs is told."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Rules
from autotest.compare.divergence import op_of
from autotest.compare.observations import compare, graph_differences
from autotest.compare.training import shown_in_step, step_of
from dual_object.program.program import Program
from dual_object.program.training import Part
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import PLAIN_PARTS, Failure, Observation
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded

Shows = tuple[Program, Observation]


@pytest.fixture(scope="module")
def shows() -> Shows:
    """Two steps with every part, and what PyTorch shows of them."""

    def body(recording: Recording) -> Any:
        layer, unused = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.Adam([*layer.parameters(), *unused.parameters()], lr=0.1)
        torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        torch.amp.GradScaler("cpu", init_scale=8.0)
        loss = layer(batch(recording)).mean()
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        return loss

    program = recorded(body)
    return program, Replay(load_reference(), program, side="reference").run()


@pytest.fixture(scope="module")
def normalized() -> Shows:
    """Two steps of a layer with statistics."""

    def body(recording: Recording) -> Any:
        layer, norm = torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1)
        torch.optim.SGD([*layer.parameters(), *norm.parameters()], lr=0.1)
        return torch.square(norm(layer(batch(recording)))).mean()

    program = recorded(body)
    return program, Replay(load_reference(), program, side="reference").run()


def part(program: Program, step: int, name: str) -> Part:
    """A part of a step, counted from 1."""
    assert program.training is not None
    return next(part for part in program.training.steps[step - 1].parts if part.name == name)


def told(shows: Shows, change: Callable[[Program, Observation], None], *, graph: bool = False) -> list[Any]:
    """Phase, kind, message and step of what differs once `change` was made."""
    program, expected = shows
    actual = copy.deepcopy(expected)
    change(program, actual)
    differences = compare(program, expected, actual, Rules(), graph=graph)
    return [(one.phase, one.kind, one.message, step_of(program, one)[0]) for one in differences]


def moved(step: int, name: str, what: str) -> Callable[[Program, Observation], None]:
    """Adds 1 to the first tensor of that name in a part of a step, and to all of the parts after it."""

    def change(program: Program, actual: Observation) -> None:
        chosen = next(id_ for id_, of in part(program, step, name).values.items() if of.what == what)
        for id_ in actual.outputs:
            if id_ >= chosen:
                actual.outputs[id_].data = actual.outputs[id_].data + 1

    return change


TENSORS = [
    (1, "forward", "loss", "eager_forward", "loss at step 1 differs in 1 of 1 element"),
    (2, "backward", "gradient", "eager_backward", "gradient of m0.weight at step 2 differs in 2 of 2 elements"),
    (1, "clip", "gradient", "eager_update", "clipped gradient of m0.weight at step 1 differs in 2 of 2 elements"),
    (2, "update", "parameter", "eager_update", "m0.weight after step 2 differs in 2 of 2 elements"),
    (1, "update", "exp_avg", "eager_update", "exp_avg of m0.weight after step 1 differs in 2 of 2 elements"),
]


@pytest.mark.parametrize(("step", "name", "what", "phase", "words"), TENSORS)
def test_tensors(shows: Shows, step: int, name: str, what: str, phase: str, words: str) -> None:
    """What differs is told of the first part alone."""
    differences = told(shows, moved(step, name, what))
    assert differences[0][:2] == (phase, "value")
    assert differences[0][2].startswith(words)
    assert {number for *_, number in differences} == {step}
    assert {found[0] for found in differences} == {phase}


@pytest.mark.parametrize(("step", "name", "what"), [row[:3] for row in TENSORS])
def test_what_a_difference_is_of(shows: Shows, step: int, name: str, what: str) -> None:
    """Its part of a step, and what that shows."""
    program, expected = shows
    actual = copy.deepcopy(expected)
    moved(step, name, what)(program, actual)
    found = [shown_in_step(program, one) for one in compare(program, expected, actual, Rules())]
    assert found[0] == (name, what)
    assert {part for part, _ in found} == {name}


def test_what_no_part_shows(shows: Shows, normalized: Shows) -> None:
    """A learning rate is read, and a buffer no part's; of a Program that does not train nothing is asked."""
    program, expected = shows
    actual = copy.deepcopy(expected)
    [rates] = part(program, 1, "schedule").hosts
    actual.hosts[rates] = [0.5]
    [found] = compare(program, expected, actual, Rules())
    assert shown_in_step(program, found) == ("schedule", "host")
    program, expected = normalized
    actual = copy.deepcopy(expected)
    actual.buffers.clear()
    assert {shown_in_step(program, one) for one in compare(program, expected, actual, Rules())} == {("", "buffer")}
    assert shown_in_step(Program(), found) == ("", "")


def test_batches() -> None:
    """What one batch of a step gives is told as that batch's; a graph that accumulates may show no gradients."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        y = layer(batch(recording))
        return y.mean(), y

    program = recorded(body, accumulate=2)
    assert program.training is not None
    both = program, Replay(load_reference(), program, side="reference").run()
    loss, y = program.training.returned(program.training.steps[1])[1]

    def change(program: Program, actual: Observation) -> None:
        for id_ in (loss, y):
            actual.outputs[id_].data = actual.outputs[id_].data + 1

    messages = [message.partition(" differs")[0] for _, _, message, _ in told(both, change)]
    assert messages == ["loss at batch 2 of step 2", "t16 at batch 2 of step 2"]

    def without_gradients(program: Program, actual: Observation) -> None:
        for step in (1, 2):
            for id_ in part(program, step, "backward").values:
                del actual.outputs[id_]

    def unshown(program: Program, actual: Observation) -> None:
        without_gradients(program, actual)
        actual.shows = PLAIN_PARTS - {"gradients"}

    assert [kind for _, kind, _, _ in told(both, without_gradients, graph=True)] == ["grad_missing"] * 2
    assert told(both, unshown, graph=True) == []


def test_failed_backward_of_a_batch() -> None:
    """Each backward of a step that accumulates belongs to the backward."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        return layer(batch(recording)).mean()

    program = recorded(body, 1, accumulate=2)
    backwards = [index for index, call in enumerate(program.calls) if call.op == "backward"]
    expected = Replay(load_reference(), program, side="reference").run()
    for call in backwards:
        actual = copy.deepcopy(expected)
        actual.failures.append(Failure(call, "exception", ("RuntimeError",), "planted"))
        [difference] = [one for one in compare(program, expected, actual, Rules()) if one.kind == "exception"]
        assert difference.phase == "eager_backward"


def test_drift(shows: Shows) -> None:
    """What a step computes from parameters that have drifted is blamed on their update, else on itself."""
    program, expected = shows

    def called(*changes: tuple[int, str, float]) -> str | None:
        actual = copy.deepcopy(expected)
        for step, name, by in changes:
            id_ = next(iter(part(program, step, name).values))
            actual.outputs[id_].data = actual.outputs[id_].data + np.float32(by)
        difference = compare(program, expected, actual, Rules())[0]
        return None if difference.call is None else op_of(program, difference.call)

    assert called((2, "forward", 1)) is None
    assert called((1, "update", 1e-6), (2, "forward", 1)) == "GradScaler"
    assert called((2, "backward", 1)) == "backward"
    assert called((1, "update", 1e-6), (2, "backward", 1)) == "GradScaler"


def test_alike(shows: Shows) -> None:
    """What does not differ is not told."""
    assert told(shows, lambda program, actual: None) == []
    assert told(shows, lambda program, actual: None, graph=True) == []


def test_numbers(shows: Shows) -> None:
    """Learning rates and scales are compared to the last digits, which graphs do not show."""

    def rate(program: Program, actual: Observation) -> None:
        actual.hosts[part(program, 1, "schedule").hosts[0]] = [0.05000001]

    def scale(program: Program, actual: Observation) -> None:
        actual.hosts[part(program, 2, "scale").hosts[0]] = 16.0

    message = "the learning rate after step 1 is 0.05000001, but should be 0.05"
    assert told(shows, rate) == [("eager_update", "value", message, 1)]
    assert told(shows, rate, graph=True) == []
    message = "the scale after step 2 is 16.0, but should be 8.0"
    assert told(shows, scale) == [("eager_update", "value", message, 2)]


def test_rounding_of_numbers(shows: Shows) -> None:
    """The last digit of a learning rate is nobody's promise."""

    def rate(program: Program, actual: Observation) -> None:
        actual.hosts[part(program, 1, "schedule").hosts[0]] = [0.05000000000000001]

    assert told(shows, rate) == []


def test_missing(shows: Shows) -> None:
    """A gradient or a state that is not there is told by its own kind."""

    def gone(name: str, what: str) -> Callable[[Program, Observation], None]:
        def change(program: Program, actual: Observation) -> None:
            values = part(program, 1, name).values
            del actual.outputs[next(id_ for id_, of in values.items() if of.what == what)]

        return change

    message = "gradient of m0.weight at step 1 is missing, but should be a float32 tensor"
    assert told(shows, gone("backward", "gradient")) == [("eager_backward", "grad_missing", message, 1)]
    message = "exp_avg of m0.weight after step 1 is missing, but should be a float32 tensor"
    assert told(shows, gone("update", "exp_avg"), graph=True) == [("graph_update", "structure", message, 1)]


def test_buffers(normalized: Shows) -> None:
    """Buffers are compared once all steps are done, and blamed on their module."""

    def changed(program: Program, actual: Observation) -> None:
        [key] = [key for key in actual.buffers if key.endswith("running_mean")]
        actual.buffers[key].data = actual.buffers[key].data + 1

    def lost(program: Program, actual: Observation) -> None:
        actual.buffers.clear()

    program, _ = normalized
    [(phase, kind, message, step)] = told(normalized, changed)
    assert (phase, kind, step) == ("eager_forward", "value", 2)
    assert message.startswith("buffer m1.running_mean after step 2 differs in 1 of 1 element")
    [graph] = told(normalized, changed, graph=True)
    assert graph[0] == "graph_state"
    missing = told(normalized, lost)
    assert missing[0][2] == "buffer m1.running_mean after step 2 is missing, but should be a float32 tensor"
    actual = copy.deepcopy(normalized[1])
    changed(program, actual)
    [difference] = compare(program, normalized[1], actual, Rules())
    assert difference.call is not None
    assert op_of(program, difference.call) == "BatchNorm1d"


def test_buffers_in_a_sequential() -> None:
    """Those of a module that is called as a part of another are told once, by the name that they have there, and blamed
    on the module itself.
    """

    def body(recording: Recording) -> Any:
        model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1))
        torch.optim.SGD(model.parameters(), lr=0.1)
        return torch.square(model(batch(recording))).mean()

    def changed(program: Program, actual: Observation) -> None:
        for key in actual.buffers:
            if key.endswith("running_mean"):
                actual.buffers[key].data = actual.buffers[key].data + 1

    program = recorded(body)
    shows = program, Replay(load_reference(), program, side="reference").run()
    [(_, _, message, _)] = told(shows, changed)
    assert message.startswith("buffer m2.1.running_mean after step 2 differs in 1 of 1 element")
    actual = copy.deepcopy(shows[1])
    changed(program, actual)
    [difference] = compare(program, shows[1], actual, Rules())
    assert difference.call is not None
    assert program.calls[difference.call].op == "nn.BatchNorm1d"


def test_runs_of_one_target(shows: Shows) -> None:
    """Two runs that are wrong alike do not differ from one another."""
    program, expected = shows
    wrong, other = copy.deepcopy(expected), copy.deepcopy(expected)
    for run, rate in ((wrong, 0.5), (other, 0.75)):
        run.hosts[part(program, 1, "schedule").hosts[0]] = [rate]
        run.hosts[part(program, 1, "backward").hosts[0]] = [2]
    assert [*compare(program, wrong, wrong, Rules())] == []
    [difference] = compare(program, wrong, other, Rules())
    assert difference.message == "the learning rate after step 1 is 0.75, but should be 0.5"


def test_extra_gradient(shows: Shows) -> None:
    """So is a gradient of a parameter that leads to no loss."""

    def extra(program: Program, actual: Observation) -> None:
        actual.hosts[part(program, 1, "backward").hosts[0]] = [2]

    message = "gradient of parameter 2 of the optimizer at step 1 is a tensor, but there should be none"
    assert told(shows, extra) == [("eager_backward", "grad_extra", message, 1)]


def test_clipping_in_a_graph(shows: Shows) -> None:
    """A graph clips inside of itself: what it clips to shows in its parameters alone."""

    def clipped(program: Program, actual: Observation) -> None:
        for id_ in part(program, 1, "clip").values:
            del actual.outputs[id_]

    assert told(shows, clipped, graph=True) == []
    assert len(told(shows, clipped)) == 2


@pytest.mark.parametrize(
    ("op", "phase", "step"),
    [
        ("optim.Adam", "eager_update", 1),
        ("nn.Linear", "eager_forward", 1),
        ("mean", "eager_forward", 1),
        ("scale", "eager_backward", 1),
        ("backward", "eager_backward", 1),
        ("nn.utils.clip_grad_norm_", "eager_update", 1),
        ("update", "eager_update", 1),
        ("rates", "eager_update", 1),
    ],
)
def test_failures(shows: Shows, op: str, phase: str, step: int) -> None:
    """A call that fails is told in the phase of its part."""
    program, expected = shows
    index = next(index for index, call in enumerate(program.calls) if call.op == op)
    failed = Observation(failures=[Failure(index, "exception", ("RuntimeError",), "planted")], ended=True)
    [difference] = compare(program, expected, failed, Rules())
    assert (difference.phase, difference.message) == (phase, f"{op} raised RuntimeError: planted")
    assert step_of(program, difference)[0] == step


def prepared(*also: str, **options: float) -> Shows:
    """Two steps of an SGD, with a `schedule`, a `scaler` and `clipping` as is asked."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, **options)
        if "schedule" in also:
            torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        if "scaler" in also:
            torch.amp.GradScaler("cpu", init_scale=8.0)
        loss = torch.square(layer(batch(recording))).mean()
        if "clipping" in also:
            torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        return loss

    program = recorded(body)
    return program, Replay(load_reference(), program, side="reference").run()


def going(step: int, *, far: Callable[[Any], Any]) -> Callable[[Program, Observation], None]:
    """Has each parameter of a step go another way from where it was."""

    def change(program: Program, actual: Observation) -> None:
        for id_, of in part(program, step, "update").values.items():
            if of.what != "parameter":
                continue
            seen, before = actual.outputs[id_], np.float32(0.5)  # where every parameter starts
            if step > 1:
                earlier = part(program, step - 1, "update").values
                before = actual.outputs[next(id_ for id_, one in earlier.items() if one == of)].data
            seen.data = (before + far(seen.data - before)).astype(np.float32)

    return change


TWICE = "; it moves 2 times as far as it should"


@pytest.mark.parametrize(
    ("also", "options", "step", "op"),
    [
        ((), {}, 1, "SGD"),
        (("schedule",), {}, 1, "ExponentialLR"),
        (("scaler",), {}, 1, "GradScaler"),
        (("clipping",), {}, 2, "clip_grad_norm_"),
        (("clipping", "schedule"), {}, 2, "SGD"),
        # Nesterov's first step without it is such a factor as well.
        (("schedule",), {"momentum": 0.9}, 1, "SGD"),
        (("schedule",), {"momentum": 0.9}, 2, "ExponentialLR"),
    ],
)
def test_length_of_a_step(also: tuple[str, ...], options: dict[str, float], step: int, op: str) -> None:
    """A graph shows neither rates nor scales: what makes a step too long is blamed by its factor."""
    program, expected = prepared(*also, **options)
    actual = copy.deepcopy(expected)
    going(step, far=lambda way: 2 * way)(program, actual)
    found = compare(program, expected, actual, Rules(), graph=True)
    assert {op_of(program, one.call) for one in found if one.call is not None} == {op}
    assert {one.message.partition(")")[2] for one in found} == {TWICE}
    eagerly = compare(program, expected, actual, Rules())
    assert not any(TWICE in one.message for one in eagerly)


def test_length_of_a_step_of_one_of_two() -> None:
    """Each optimizer has its own schedule, and each layer its own clipping: those of the other are not to blame."""

    def found(*, schedules: bool, longer: int) -> set[str]:
        def body(recording: Recording) -> Any:
            layers = [torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)]
            first, second = (torch.optim.SGD(layer.parameters(), lr=0.1) for layer in layers)
            if schedules:
                torch.optim.lr_scheduler.ExponentialLR(first, gamma=0.5)
                torch.optim.lr_scheduler.StepLR(second, step_size=1, gamma=0.5)
            loss = torch.square(layers[1](layers[0](batch(recording)))).mean()
            if not schedules:
                torch.nn.utils.clip_grad_norm_(layers[0].parameters(), 1.0)
                torch.nn.utils.clip_grad_value_(layers[1].parameters(), 1.0)
            return loss

        program = recorded(body)
        expected = Replay(load_reference(), program, side="reference").run()
        assert program.training is not None
        updates = [one for one in program.training.steps[1].parts if one.name == "update"]
        before = [one for one in program.training.steps[0].parts if one.name == "update"][longer]
        actual = copy.deepcopy(expected)
        for id_, earlier in zip(updates[longer].values, before.values, strict=True):
            seen, old = actual.outputs[id_], actual.outputs[earlier].data
            seen.data = (old + 2 * (seen.data - old)).astype(np.float32)
        differences = compare(program, expected, actual, Rules(), graph=True)
        return {op_of(program, one.call) for one in differences if one.call is not None}

    assert found(schedules=True, longer=0) == {"ExponentialLR"}
    assert found(schedules=True, longer=1) == {"StepLR"}
    assert found(schedules=False, longer=0) == {"clip_grad_norm_"}
    assert found(schedules=False, longer=1) == {"clip_grad_value_"}


@pytest.mark.parametrize(
    ("also", "far", "op", "words"),
    [
        (("scaler",), lambda gradient: 64 * gradient, "GradScaler", "; it is 64 times as great"),
        (("scaler",), lambda gradient: gradient + 1, "backward", ""),
        (("scaler",), lambda gradient: -gradient, "backward", ""),
        (("schedule",), lambda gradient: 64 * gradient, "backward", ""),
    ],
)
def test_scale_of_gradients(also: tuple[str, ...], far: Callable[[Any], Any], op: str, words: str) -> None:
    """A graph shows no scale of its loss: gradients that are too great by one factor are told as the scaler's."""
    program, expected = prepared(*also)
    actual = copy.deepcopy(expected)
    for id_ in part(program, 1, "backward").values:
        actual.outputs[id_].data = far(actual.outputs[id_].data).astype(np.float32)
    found = compare(program, expected, actual, Rules(), graph=True)
    assert {op_of(program, one.call) for one in found if one.call is not None} <= {op}
    assert {one.message.partition(")")[2] for one in found} == {words}
    assert not any("times as great" in one.message for one in compare(program, expected, actual, Rules()))


def test_length_of_an_update_that_sums() -> None:
    """As many times as far as it accumulates batches."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        return torch.square(layer(batch(recording))).mean()

    program = recorded(body, accumulate=2)
    expected = Replay(load_reference(), program, side="reference").run()
    actual = copy.deepcopy(expected)
    going(1, far=lambda way: 2 * way)(program, actual)
    found = compare(program, expected, actual, Rules(), graph=True)
    assert {one.message.partition(")")[2] for one in found} == {f"{TWICE}, once for each batch that it accumulates"}


def keeping(*leaves: str, drift: float = 0, besides: float = 0) -> set[tuple[str | None, str]]:
    """What is blamed, by the receiver of its call, and how the message ends, where the second step adds gradients of
    these layers to those of the first.
    """

    def body(recording: Recording) -> Any:
        layers = [torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)]
        for layer in layers:
            torch.optim.SGD(layer.parameters(), lr=0.1)
        return torch.square(layers[1](layers[0](batch(recording)))).mean()

    program = recorded(body)
    expected = Replay(load_reference(), program, side="reference").run()
    actual = copy.deepcopy(expected)
    first, second = (part(program, step, "backward").values for step in (1, 2))
    modules = {f"m{place}": call.results()[0] for place, call in enumerate(program.modules())}
    for before, (id_, of) in zip(first, second.items(), strict=True):
        if of.leaf in {f"{modules[leaf.partition('.')[0]]}.{leaf.partition('.')[2]}" for leaf in leaves}:
            actual.outputs[id_].data = actual.outputs[id_].data + actual.outputs[before].data + np.float32(besides)
    moved_by = next(iter(part(program, 1, "update").values))
    actual.outputs[moved_by].data = actual.outputs[moved_by].data + np.float32(drift)
    told = set()
    for one in compare(program, expected, actual, Rules()):
        assert one.call is not None
        op = op_of(program, one.call)
        optimizer = program.calls[one.call].args[0] if op == "zero_grad" else None
        made = [call.out for call in program.calls if call.op == "optim.SGD"]
        told.add((f"{op} {made.index(optimizer)}" if optimizer in made else op, one.message.partition(")")[2]))
    return told


ADDED = "; that of the step before is added to it"


@pytest.mark.parametrize("drift", [0, 1e-6])
def test_gradients_that_are_kept(drift: float) -> None:
    """What the step before has left in a gradient is blamed on the zero_grad of its optimizer."""
    assert keeping("m0.weight", "m0.bias", drift=drift) == {("zero_grad 0", ADDED)}
    assert keeping("m1.weight", drift=drift) == {("zero_grad 1", ADDED)}
    assert keeping("m0.bias", "m1.bias", drift=drift) == {("zero_grad 0", ADDED), ("zero_grad 1", ADDED)}
    other = "SGD" if drift else "backward"
    assert keeping("m0.weight", drift=drift, besides=0.1) == {(other, "")}


@pytest.mark.parametrize(
    "far", [lambda way: -way, lambda way: way + 0.1 * np.arange(1, way.size + 1), lambda way: way / 0]
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_another_way_has_no_length(far: Callable[[Any], Any]) -> None:
    """Backwards, aside, or nowhere: the optimizer's own."""
    shows = prepared("schedule")
    assert all("as far as" not in message for _, _, message, _ in told(shows, going(1, far=far), graph=True))


def test_what_is_infinite_on_both_sides_has_no_length() -> None:
    """Nothing is computed of it, and no warning given."""
    program, expected = prepared("schedule")
    weight = next(iter(part(program, 1, "update").values))
    expected.outputs[weight].data = np.array([[np.inf, 1.0]], np.float32)
    actual = copy.deepcopy(expected)
    actual.outputs[weight].data = np.array([[np.inf, 2.0]], np.float32)
    [found] = compare(program, expected, actual, Rules(), graph=True)
    assert found.message.endswith("(rtol=0.0001, atol=1e-05)")


#: Steps at which eager and the graph first part from PyTorch, 0: never, and the one at which the graph is told wrong.
APART = [(1, 0, 0), (1, 2, 2), (2, 1, 1), (2, 2, 0)]


@pytest.mark.parametrize(("eager_at", "graph_at", "told_at"), APART)
def test_graph_of_a_training_that_is_wrong_eagerly(shows: Shows, eager_at: int, graph_at: int, told_at: int) -> None:
    """A graph that is right where eager is wrong is told by its own first fault: where it is as neither of them."""
    program, expected = shows
    eager, graph = copy.deepcopy(expected), copy.deepcopy(expected)
    for actual, step in ((eager, eager_at), (graph, graph_at)):
        if step:
            moved(step, "update", "parameter")(program, actual)
    found = graph_differences(program, expected, eager, graph, Rules(), apart=True)
    assert {step_of(program, one)[0] for one in found} == ({told_at} if told_at else set())
    assert {one.phase for one in found} <= {"graph_update"}


@pytest.mark.parametrize("besides", [0, 0.1])
def test_graph_that_clears_what_eager_does_not(besides: float) -> None:
    """A graph that is as eager at first, which is wrong, and then as neither: eager is told where its gradients are the
    graph's and those of the step before.
    """

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        return torch.square(layer(batch(recording))).mean()

    program = recorded(body)
    expected = Replay(load_reference(), program, side="reference").run()
    graph = copy.deepcopy(expected)
    moved(1, "update", "parameter")(program, graph)
    eager = copy.deepcopy(graph)
    for before, id_ in zip(part(program, 1, "backward").values, part(program, 2, "backward").values, strict=True):
        eager.outputs[id_].data = eager.outputs[id_].data + eager.outputs[before].data + np.float32(besides)
    found = graph_differences(program, expected, eager, graph, Rules(), apart=True)
    told = {(one.phase, None if one.call is None else op_of(program, one.call)) for one in found}
    assert told == ({("graph_backward", "backward")} if besides else {("eager_backward", "zero_grad")})
