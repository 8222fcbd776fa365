"""Comparison of a training, step by step: what differs first, for all that follows comes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.compare.difference import Difference, Names, Rules, failure_difference, tensor_difference, unlike
from autotest.compare.kinds import Phase
from dual_object.program.owners import owner
from dual_object.program.program import Program
from dual_object.program.training import Part, Shown, Step, StepPart, outer_schedules, prepares
from dual_object.program.values import Array, Ref, Tree
from dual_object.replay.observation import Observation

#: The phases of the parts of a step, eagerly and in a graph.
_PHASES: MappingProxyType[StepPart, tuple[Phase, Phase]] = MappingProxyType(
    {
        "forward": ("eager_forward", "graph_forward"),
        "backward": ("eager_backward", "graph_backward"),
        "clip": ("eager_update", "graph_update"),
        "start": ("eager_update", "graph_update"),
        "update": ("eager_update", "graph_update"),
        "scale": ("eager_update", "graph_update"),
        "schedule": ("eager_update", "graph_update"),
    }
)
#: By what share of itself a parameter must move for the way to be told from its rounding; and how much the ways of one
#: factor may differ.
_FAR, _ALIKE = 1e-4, 2e-2
#: Learning rates and scales are computed in Python's own float64 on both sides.
_EXACT = 1e-9


def training_differences(
    program: Program, expected: Observation, actual: Observation, rules: Rules, *, graph: bool
) -> Iterator[Difference]:
    """The differences of the first part of a step that has any.

    A graph clips inside of itself, and shows neither learning rates nor scales; one that accumulates may show no
    gradients.
    """
    training = program.training
    assert training is not None, "it trains"
    for failure in actual.failures:
        phase: Phase = "graph_forward" if graph else _phase_of_call(program, failure.call)
        yield failure_difference(program, failure, phase)
    if actual.ended:
        return
    names = Names(program)
    drift: int | None = None
    for number, step in enumerate(training.steps, 1):
        for part in step.parts:
            if graph and (part.name == "clip" or (part.name == "backward" and "gradients" not in actual.shows)):
                continue
            differences = [*_of_tensors(program, part, number, expected, actual, rules, names, graph=graph)]
            if not graph:
                differences += _of_numbers(program, part, number, expected, actual)
            if graph and part.name == "update":
                differences = _of_length(program, number, part, differences, expected, actual)
            if drift and part.name in ("forward", "backward"):
                differences = [replace(one, call=drift) for one in differences]
            if part.name == "backward":
                if graph:
                    differences = _of_scale(step, part, differences, expected, actual)
                else:
                    differences = _of_zeroing(program, number, part, differences, expected, actual, rules)
            if differences:
                yield from differences
                return
        drift = _drift(step, expected, actual)
    yield from _of_buffers(program, expected, actual, rules, names, graph=graph)


def _drift(step: Step, expected: Observation, actual: Observation) -> int | None:
    """The call of the last update of a step that has left something otherwise, be it by less than the tolerance: what
    is computed from there on differs because of it.
    """
    for part in reversed(step.parts):
        if part.name == "update":
            both = ((expected.outputs.get(id_), actual.outputs.get(id_)) for id_ in part.values)
            if any(left and right and left.data.tobytes() != right.data.tobytes() for left, right in both):
                return part.call
    return None


def _of_scale(
    step: Step, part: Part, differences: list[Difference], expected: Observation, actual: Observation
) -> list[Difference]:
    """The differences of a graph's gradients; where all that differ are what they should be times one factor, and the
    loss is scaled, they say so, and are blamed on the scaler, of which a graph shows nothing itself.
    """
    scale = next((one.call for one in step.parts if one.name == "scale"), None)
    if scale is None or any(one.kind != "value" for one in differences):
        return differences
    factors: list[Array] = []
    for one in differences:
        given, due = (side.outputs[int(one.key)].data.astype(np.float64) for side in (actual, expected))
        told = np.isfinite(given) & np.isfinite(due) & (due != 0)
        factors.append(given[told] / due[told])
    factor = _common(factors)
    if factor is None:
        return differences
    words = f"; it is {factor:.4g} times as great"
    return [replace(one, message=one.message + words, call=scale) for one in differences]


def _of_zeroing(
    program: Program,
    number: int,
    part: Part,
    differences: list[Difference],
    expected: Observation,
    actual: Observation,
    rules: Rules,
) -> list[Difference]:
    """The differences of gradients; where each that differs is what it should be and what it was at the step before,
    they say so, and are blamed on the `zero_grad` of their optimizer. A graph has none.
    """
    told: list[Difference] = []
    for one in differences:
        id_ = int(one.key)
        before = _gradient_before(program, number, part.values[id_].leaf, actual) if one.kind == "value" else None
        if before is None:
            return differences
        due = expected.outputs[id_]
        if unlike(replace(due, data=due.data + before), actual.outputs[id_], rules) is not None:
            return differences
        call = _zeroing(program, number, part.values[id_].leaf)
        told.append(replace(one, message=f"{one.message}; that of the step before is added to it", call=call))
    return told


def uncleared(program: Program, differences: Sequence[Difference]) -> bool:
    """Whether a training differs in nothing but gradients to which those of the step before are added."""
    calls = [None if one.call is None else program.calls[one.call].op for one in differences]
    return {*calls} == {"zero_grad"}


def _gradient_before(program: Program, number: int, leaf: str, actual: Observation) -> Array | None:
    """A parameter's gradient at the end of the step before, as far as that was shown."""
    training = program.training
    assert training is not None, "it trains"
    earlier = training.steps[number - 2].parts if number > 1 else ()
    gradients = [id_ for part in earlier for id_, of in part.values.items() if (of.what, of.leaf) == ("gradient", leaf)]
    seen = actual.outputs.get(gradients[-1]) if gradients else None
    return None if seen is None else seen.data


def _zeroing(program: Program, number: int, leaf: str) -> int:
    """The `zero_grad` of a step after the first, of the optimizer that a parameter belongs to."""
    training = program.training
    assert training is not None, "it trains"
    step = training.steps[number - 1]
    updates = (part for part in step.parts if part.name == "update")
    update = next(part.call for part in updates if any(of.leaf == leaf for of in part.values.values()))
    assert update is not None, "updates are calls"
    optimizer, calls = {*program.calls[update].operands()}, program.calls
    own = (index for index in range(training.steps[number - 2].end, step.end) if calls[index].op == "zero_grad")
    return next(index for index in own if optimizer.intersection(calls[index].operands()))


def _common(factors: list[Array]) -> float | None:
    """The one number that all factors are; None where they are several, too few to tell, or not positive."""
    found = np.concatenate([*factors, np.empty(0)])
    if len(found) < 2 or found[0] <= 0 or np.ptp(found) > _ALIKE * found[0]:
        return None
    return float(np.median(found))


def _of_length(
    program: Program, number: int, part: Part, differences: list[Difference], expected: Observation, actual: Observation
) -> list[Difference]:
    """The differences of a graph's update; where all that differs moves in the right direction, but by a factor, they
    say so, and are blamed on what the length of their step depends on, where that is one thing besides the optimizer: a
    schedule, clipping or a scaler. Of these a graph shows nothing itself.

    At the first step momentum and the like may be such a factor, too: then only an optimizer without a state is not to
    blame.
    """
    training = program.training
    assert training is not None, "it trains"
    factor = _factor(program, number, part, differences, expected, actual)
    if factor is None:
        return differences
    words = f"; it moves {factor:.4g} times as far as it should"
    if training.accumulate > 1 and abs(factor - training.accumulate) <= _ALIKE * factor:
        words += ", once for each batch that it accumulates"
    leaves = {part.values[int(one.key)].leaf for one in differences}
    others = [one.call for one in training.steps[number - 1].parts if _sets_length(program, one, part, leaves)]
    plain = all(shown.what == "parameter" for shown in part.values.values())  # it keeps nothing from step to step
    call = others[0] if len(others) == 1 and (number > 1 or plain) else part.call
    return [replace(one, message=one.message + words, call=call) for one in differences]


def _sets_length(program: Program, other: Part, update: Part, leaves: Set[str]) -> bool:
    """Whether a part of a step besides its update is what the length of these leaves' update depends on: the scaler,
    what clips their optimizer's gradients, or its schedule.
    """
    if other.name == "schedule":
        assert other.call is not None, "it is a call of its own"
        assert update.call is not None, "it is a call of its own"
        optimizers = dict(outer_schedules(program.calls))
        given = {*program.calls[update.call].operands()}
        return any(optimizers.get(id_) in given for id_ in program.calls[other.call].operands())
    return other.name == "scale" or (other.name == "clip" and any(of.leaf in leaves for of in other.values.values()))


def _factor(
    program: Program, number: int, part: Part, differences: list[Difference], expected: Observation, actual: Observation
) -> float | None:
    """How many times as far as they should all parameters of an update have moved that differ; None where there is no
    one such number.
    """
    factors: list[Array] = []
    for difference in differences:
        shown = part.values[int(difference.key)]
        before = _before(program, number, part, shown, actual)
        if difference.kind != "value" or shown.what != "parameter" or before is None:
            return None
        after, wanted = (side.outputs[int(difference.key)].data.astype(np.float64) for side in (actual, expected))
        with np.errstate(invalid="ignore"):  # of infinities on both sides
            way, due = after - before, wanted - before
        far = np.isfinite(due) & (np.abs(due) > _FAR * np.abs(before))
        factors.append(way[far] / due[far])
    return _common(factors)


def _before(program: Program, number: int, part: Part, shown: Shown, actual: Observation) -> Array | None:
    """A parameter before a step: after the one before, or as it was made; None where nobody knows."""
    training = program.training
    if number > 1 and training is not None:
        earlier = (one.values for one in training.steps[number - 2].parts if one.name == part.name)
        id_ = next((id_ for values in earlier for id_, one in values.items() if one == shown), None)
        seen = None if id_ is None else actual.outputs.get(id_)
        return None if seen is None else seen.data
    module, _, name = shown.leaf.partition(".")
    made = next((call for call in program.modules() if call.out == Ref(int(module))), None)
    return None if made is None else made.state.get(name)


def earliest(program: Program, differences: list[Difference]) -> list[Difference]:
    """Those of the first part of a step that any rank has seen something in: what one rank does wrong shows on the
    others in later parts. Differences of a Program that does not train are as they were.
    """
    if program.training is None or not differences:
        return differences
    first = min(_when(program, difference) for difference in differences)
    return [difference for difference in differences if _when(program, difference) == first]


def later(program: Program, one: list[Difference], other: list[Difference]) -> list[Difference]:
    """Of the first differences of a training from each of two others, those that come later; `one` where both come at
    once.
    """
    return one if _when(program, one[0]) >= _when(program, other[0]) else other


def _when(program: Program, difference: Difference) -> tuple[int, int]:
    """The number of the step, and of its part, that a difference of a training is about."""
    training = program.training
    assert training is not None, "it trains"
    number, part = step_of(program, difference)
    step = training.steps[number - 1]
    last = len(step.parts) if difference.part == "buffer" else -1
    return number, last if part is None else step.parts.index(part)


def step_of(program: Program, difference: Difference) -> tuple[int, Part | None]:
    """The step, counted from 1, and the part that a difference is about; no part where a call before the first step
    failed, or an unknown one.
    """
    training = program.training
    assert training is not None, "it trains"
    if difference.part == "buffer":
        return len(training.steps), None
    for number, step in enumerate(training.steps, 1):
        for part in step.parts:
            shown = part.values if difference.part == "output" else part.hosts
            if difference.key and int(difference.key) in shown:
                return number, part
        if difference.call is not None and not difference.key and training.start <= difference.call < step.end:
            return number, _part_of_call(program, step, difference.call)
    return 1, None


def shown_in_step(program: Program, difference: Difference) -> tuple[str, str]:
    """The part of a step that a difference of a training is about, and what of it: `("update", "exp_avg")`; empty for a
    Program that does not train, and for what no part shows.
    """
    if program.training is None:
        return "", ""
    _, part = step_of(program, difference)
    if part is None:
        return "", difference.part
    shown = part.values.get(int(difference.key)) if difference.part == "output" and difference.key else None
    return part.name, difference.part if shown is None else shown.what


def _of_tensors(
    program: Program,
    part: Part,
    number: int,
    expected: Observation,
    actual: Observation,
    rules: Rules,
    names: Names,
    *,
    graph: bool,
) -> Iterator[Difference]:
    phase = _PHASES[part.name][graph]
    for id_, shown in part.values.items():
        wanted, given = expected.outputs.get(id_), actual.outputs.get(id_)
        if wanted is None:  # random, or nothing that the eager target had
            continue
        if given is None:
            where = _where(names, program, part, id_, number)
            kind = "grad_missing" if shown.what == "gradient" else "structure"
            message = f"{where} is missing, but should be a {wanted.dtype} tensor"
            yield Difference(phase, kind, where, message, part.call, key=str(id_), expected=wanted)
            continue
        way = unlike(wanted, given, rules)
        if way is not None:
            where = _where(names, program, part, id_, number)
            difference = tensor_difference(phase, where, way, "output", str(id_), wanted, given, rules)
            yield replace(difference, call=part.call)


def _of_buffers(
    program: Program, expected: Observation, actual: Observation, rules: Rules, names: Names, *, graph: bool
) -> Iterator[Difference]:
    """What differs in the buffers of modules once all steps are done, blamed on the module that each belongs to."""
    phase: Phase = "graph_state" if graph else "eager_forward"
    training = program.training
    assert training is not None, "it trains"
    nested = {id_ for call in program.modules() for id_ in call.operands()}  # in a container, which has their buffers
    for key, wanted in expected.buffers.items():
        where = f"buffer {names.leaf(key)} after step {len(training.steps)}"
        module, given = Ref(int(key.partition(".")[0])), actual.buffers.get(key)
        if _called(program, module) is None and module.id in nested:
            continue
        call = _of_owner(program, key)
        if given is None:
            message = f"{where} is missing, but should be a {wanted.dtype} tensor"
            yield Difference(phase, "structure", where, message, call, "buffer", key, wanted)
            continue
        way = unlike(wanted, given, rules)
        if way is not None:
            difference = tensor_difference(phase, where, way, "buffer", key, wanted, given, rules)
            yield replace(difference, call=call)


def _called(program: Program, module: Tree) -> int | None:
    """The first call of a module itself; None where its container alone is called."""
    used = (index for index, call in enumerate(program.calls) if call.kind == "call" and call.args[0] == module)
    return next(used, None)


def _of_owner(program: Program, key: str) -> int | None:
    """What a buffer is blamed on: the first call of the module that it belongs to, or its construction where its
    container alone is called.
    """
    made = owner(program, key)
    if made is None:
        return None
    called = _called(program, made.out)
    return next(index for index, call in enumerate(program.calls) if call is made) if called is None else called


def _of_numbers(
    program: Program, part: Part, number: int, expected: Observation, actual: Observation
) -> Iterator[Difference]:
    phase = _PHASES[part.name][False]
    for call in part.hosts:
        recorded = program.calls[call].out if part.name in _NUMBERS else []
        wanted: Any = expected.hosts.get(call, recorded)
        given: Any = actual.hosts.get(call, recorded)
        if part.name not in _NUMBERS:
            for place in (place for place in given if place not in wanted):
                where = f"gradient of parameter {place} of the optimizer at step {number}"
                message = f"{where} is a tensor, but there should be none"
                yield Difference(phase, "grad_extra", where, message, part.call, "host", str(call))
        elif not _near(wanted, given):
            where = f"{_NUMBERS[part.name]} {'at' if part.name == 'start' else 'after'} step {number}"
            message = f"{where} is {_shown(given)}, but should be {_shown(wanted)}"
            yield Difference(phase, "value", where, message, part.call, "host", str(call))


_NUMBERS: MappingProxyType[StepPart, str] = MappingProxyType(
    {"start": "the learning rate", "schedule": "the learning rate", "scale": "the scale"}
)


def _near(wanted: Tree, given: Tree) -> bool:
    if isinstance(wanted, (list, tuple)):
        return isinstance(given, (list, tuple)) and len(given) == len(wanted) and all(map(_near, wanted, given))
    if isinstance(wanted, float) and isinstance(given, (int, float)):
        return math.isclose(wanted, given, rel_tol=_EXACT, abs_tol=0.0)
    return bool(wanted == given)


def _shown(numbers: Tree) -> str:
    """`0.1`, of several groups `[0.1, 0.01]`."""
    if isinstance(numbers, (list, tuple)):
        return repr(numbers[0]) if len(numbers) == 1 else repr(list(numbers))
    return repr(numbers)


def _batch(program: Program, id_: int, number: int) -> str:
    """`batch 2 of ` where a step has several batches, each of which shows values of its own."""
    training = program.training
    assert training is not None, "it trains"
    if training.accumulate == 1:
        return ""
    batches = enumerate(training.returned(training.steps[number - 1]), 1)
    return next((f"batch {place} of " for place, ids in batches if id_ in ids), "")


def _where(names: Names, program: Program, part: Part, id_: int, number: int) -> str:
    """`loss at step 2`, `loss at batch 1 of step 2`, `gradient of m0.weight at step 2`, `m0.weight after step 2`."""
    shown, step = part.values[id_], f"{_batch(program, id_, number)}step {number}"
    if part.name == "forward":
        return f"{'loss' if shown.what == 'loss' else names.value(id_)} at {step}"
    leaf = names.leaf(shown.leaf) if shown.leaf else names.value(id_)
    if shown.what == "gradient":
        return f"{'clipped ' if part.name == 'clip' else ''}gradient of {leaf} at {step}"
    return f"{leaf if shown.what == 'parameter' else f'{shown.what} of {leaf}'} after {step}"


def _phase_of_call(program: Program, call: int | None) -> Phase:
    """The phase in which a call of an eager training failed."""
    training = program.training
    assert training is not None, "it trains"
    if call is None:
        return "eager_forward"
    step = next((step for step in training.steps if call < step.end), None)
    if step is None or call < training.start:  # where the optimizer is made
        return "eager_update" if prepares(program.calls[call]) else "eager_forward"
    part = _part_of_call(program, step, call)
    return _PHASES["forward" if part is None else part.name][False]


def _part_of_call(program: Program, step: Step, call: int) -> Part | None:
    """The part of a step that a call belongs to: what comes before the backward is the forward, but for what prepares
    the backward itself; what comes after a part's call looks at that part.
    """
    forward, backward, *_ = step.parts
    if program.calls[call].op in ("zero_grad", "scale", "backward"):
        return backward
    begun = [part for part in step.parts if part.call is not None and part.name != "start" and part.call <= call]
    return begun[-1] if begun else forward


__all__ = ["earliest", "shown_in_step", "step_of", "training_differences", "uncleared"]
