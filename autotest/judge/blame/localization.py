"""Localization: which call of a divergent case diverges when it runs alone, on the reference's own values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from autotest.compare.difference import Difference, Names, Rules, failure_difference, in_world
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.kinds import Phase, in_graph
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import compare
from autotest.compare.training import step_of
from autotest.judge.blame.batches import by_batches
from autotest.judge.blame.clipping import by_clipping
from autotest.judge.blame.otherwise import Agreed
from autotest.workers.alone import GraphResult, run_alone, run_graph_alone
from autotest.workers.protocol import Death, GraphFailure, Target
from dual_object.program.data_parallel import wraps
from dual_object.program.global_layouts import together, world_size
from dual_object.program.program import Program
from dual_object.program.shortened import first_forward, later_forward, truncated
from dual_object.program.unrolled import unrolled
from dual_object.replay.adapter import Adapter, GraphRefusal, Reference
from dual_object.replay.isolation import isolate, isolate_refused, waves
from dual_object.replay.observation import Capture, Failure, Observation, failure_kind
from dual_object.replay.randomness import randomness
from dual_object.replay.replay import Replay


def _own(place: str, differences: list[Difference]) -> list[Difference]:
    """What one process agrees on with itself."""
    return differences


def localize(
    reference: Adapter,
    target: Target,
    program: Program,
    differences: Sequence[Difference],
    rules: Rules,
    sides: Sides,
    *,
    graph: bool,
    agreed: Agreed = _own,
) -> list[Divergence]:
    """The divergences behind `differences`: one per call that diverges alone.

    A difference that names its call keeps it. One in what the body has read (`x.item()`) names the read, and comes of a
    call before: it is looked for like those without a call. What no call shows alone is blamed on the Program as a
    whole, once per phase, or on the read. `sides` are what `program` showed. What is run again is `agreed` on with the
    other ranks, which have to run it, too.
    """
    if program.training is not None:
        return _of_training(reference, target, program, differences, rules, sides, graph=graph, agreed=agreed)
    settled = [
        Divergence(d, program, d.call, sides=sides) for d in differences if d.call is not None and d.part != "host"
    ]
    open_ = [d for d in differences if d.call is None or d.part == "host"]
    if not open_:
        return _distinct(settled)
    only = only_call(program)
    if only is not None and all(d.call is None for d in open_):
        return _distinct([*settled, *(Divergence(d, program, only, sides=sides) for d in open_)])
    phases = {d.phase for d in open_}
    for whole in _taken_apart(reference, program, sides.reference):
        isolated = list(each_alone(reference, target, whole, rules, graph=graph))
        if any(d.difference.phase in phases or not program.cotangents for d in isolated):
            return _distinct([*settled, *isolated])
    if settled:
        return _distinct(settled)
    # A layout that no call gives alone comes of a result that lies in another lawful way before it; a graph's is held
    # against the same framework's own, where none is another.
    return _distinct([Divergence(d, program, d.call, sides=sides) for d in open_ if graph or d.kind != "layout"])


def _taken_apart(reference: Adapter, program: Program, expected: Observation | None) -> Iterator[Program]:
    """The Programs whose calls are asked one by one: that with the parts of its Sequentials, where the reference gives
    what was `expected` of the Program, then the Program itself. Several ranks ask for the latter alone: what one has
    found, another may not have, and all have to ask for the same.
    """
    parts = unrolled(program) if world_size() == 1 else None
    if parts is not None and expected is not None:
        if program.random is not None:
            parts.random = randomness(cast("Reference", reference), parts)
        shown = Replay(reference, parts, side="reference").run()
        pairs = ((shown.outputs.get(id_), seen) for id_, seen in expected.outputs.items())
        if all(given is not None and given.data.tobytes() == seen.data.tobytes() for given, seen in pairs):
            yield parts
    yield program


def like(program: Program, found: Divergence) -> Program:
    """Another case's Program in the form of that in which `found` blames a call, which then has the same index in both:
    with its Sequentials taken apart where they are so there.
    """
    index = found.call
    if index is None:
        return program

    def before(one: Program) -> list[tuple[str, str]]:
        return [(call.kind, call.op) for call in one.calls[: index + 1]]

    if before(program) == before(found.program):
        return program
    return unrolled(program if program.training is None else first_forward(program)) or program


def _of_training(
    reference: Adapter,
    target: Target,
    program: Program,
    differences: Sequence[Difference],
    rules: Rules,
    sides: Sides,
    *,
    graph: bool,
    agreed: Agreed,
) -> list[Divergence]:
    """The divergences behind those of a training: of a forward or backward as of any other, in the Program that
    differentiates the loss of one batch; else of the call that brings the part about, after as few steps as show it.
    What a graph's update is wrong by may be the clipping before it, or what it accumulates.
    """
    told: list[Divergence] = []
    if graph:
        differences = by_clipping(reference, target, program, differences, rules, sides, agreed=agreed)
    differences = by_batches(reference, target, program, differences, rules, graph=graph, agreed=agreed)
    for difference in differences:
        number, part = step_of(program, difference)
        if difference.blamed:
            told.append(Divergence(difference, truncated(program, number), difference.call, sides=sides))
            continue
        if number == 1 and part is not None and part.name in ("forward", "backward") and difference.key:
            forward = first_forward(program)
            in_first = _of_forward(reference, target, forward, rules, graph=graph, agreed=agreed)
            if in_first:
                return in_first
        in_later = _of_later_forward(reference, target, program, difference, rules, sides, graph=graph, agreed=agreed)
        if in_later:
            return in_later
        if not graph and part is not None and part.name == "backward" and difference.key:
            # What it starts from is right, and so is each op where it was asked: left is what averages the gradients.
            wrapper = next((index for index, call in enumerate(program.calls) if wraps(call)), difference.call)
            difference = replace(difference, call=wrapper)
        told.append(Divergence(difference, truncated(program, number), difference.call, sides=sides))
    return _distinct(told)


def _of_later_forward(
    reference: Adapter,
    target: Target,
    program: Program,
    difference: Difference,
    rules: Rules,
    sides: Sides,
    *,
    graph: bool,
    agreed: Agreed,
) -> list[Divergence]:
    """The divergences of a later step's forward and backward on the parameters that the target has before it; none
    where they show nothing there, so that what differs is what has drifted, and none of a training that ranks share.
    """
    training, shown = program.training, sides.graph if graph else sides.eager
    assert training is not None, "it trains"
    number, part = step_of(program, difference)
    if part is None or part.name not in ("forward", "backward") or not difference.key:
        return []
    if number == 1 or shown is None or training.ranks > 1:
        return []
    updates = [one for one in training.steps[number - 2].parts if one.name == "update"]
    if difference.call not in (None, part.call, *(one.call for one in updates)):  # something else is known to be wrong
        return []
    parameters = ((id_, of.leaf) for one in updates for id_, of in one.values.items() if of.what == "parameter")
    state = {leaf: shown.outputs[id_].data for id_, leaf in parameters if id_ in shown.outputs}
    for batch in range(training.accumulate):
        forward = later_forward(program, number, batch, state)
        found = _of_forward(reference, target, forward, rules, graph=graph, agreed=agreed)
        if found:
            return found
    return []


def _of_forward(
    reference: Adapter, target: Target, forward: Program, rules: Rules, *, graph: bool, agreed: Agreed
) -> list[Divergence]:
    forward.cotangents = waves(reference, forward)
    expected, eager = Replay(reference, forward, side="reference").run(), run_alone(target, forward)
    if not isinstance(eager, Observation):
        return []
    sides = Sides(expected, eager)
    if not graph:
        differences = eager_differences(reference, forward, expected, eager, rules)
    else:
        result = run_graph_alone(target, forward, expected.gradient_keys())
        if not isinstance(result, Observation):
            return []
        sides.graph = result
        differences = compare(forward, eager, result, rules, graph=True)
    differences = agreed("a forward", differences)
    return localize(reference, target, forward, differences, rules, sides, graph=graph) if differences else []


def of_death(program: Program, death: Death, phase: Phase) -> Divergence:
    """A worker's end as a divergence of the Program that it ran, in `phase` or, where it says so, in the backward."""
    if death.backward:
        phase = "eager_backward"
    call = only_call(program) if death.call is None else death.call
    difference = Difference(
        in_world(program, phase), death.cause, "the program", f"the target {death.sentence()}", call=call
    )
    return Divergence(difference, program, call, last_words=death.last_words or None)


def localize_death(reference: Adapter, target: Target, divergence: Divergence) -> Divergence:
    """What `of_death` gave, with the call that ends the worker when it runs alone; the call that it was at is tried
    first.

    This costs one more worker. A target that hung is not run again: the whole deadline would pass once more.
    """
    program, noted, difference = divergence.program, divergence.call, divergence.difference
    if difference.kind == "timeout" or only_call(program) is not None or together(program):
        return divergence
    if noted is not None and program.calls[noted].raises:
        refused = call_alone(reference, program, noted)
        tried = [] if refused is None else [(noted, refused)]
    else:
        tried = [(index, alone) for index, alone, _ in isolate(reference, program)]
        tried.sort(key=lambda candidate: candidate[0] != noted)
    for index, alone in tried:
        if _ends(target, alone, difference):
            return replace(divergence, call=index, alone=alone, difference=replace(difference, call=index))
    return divergence


def _ends(target: Target, alone: Program, difference: Difference) -> bool:
    """Whether a Program ends the worker in a phase and a way."""
    answer = run_alone(target, alone)
    if isinstance(answer, Death):
        backward = difference.phase == "eager_backward"
        return answer.cause == difference.kind and answer.backward == backward
    if answer.ended or not in_graph(difference.phase):
        return False
    ended = run_graph_alone(target, alone, answer.gradient_keys())
    return isinstance(ended, Death) and ended.cause == difference.kind


def of_refusal(program: Program, refusal: GraphRefusal | GraphFailure) -> Divergence:
    """A static graph's refusal as a divergence of the Program that it refused; of a training, of its first step, of
    which its graph is built.
    """
    call = refusal.call if isinstance(refusal, GraphRefusal) else None
    if program.training is not None and call is not None:
        program = truncated(program, 1)
    call = only_call(program) if call is None else call
    kind = failure_kind(refusal.classes, refusal.message)
    failure = Failure(call, kind, refusal.classes, refusal.message)
    return Divergence(failure_difference(program, failure, "graph_forward"), program, call)


def capture_of(result: GraphResult | None) -> Capture | None:
    """How a Program came into its graph; None where that is not told."""
    if isinstance(result, Observation):
        return result.capture
    if isinstance(result, GraphRefusal) and result.uncaptured:
        return Capture("refused", (result.message,))
    return None


def of_capture(program: Program, result: GraphResult | None) -> Divergence | None:
    """A Program that did not come whole into its graph, as a divergence where that was asked for; None where it did."""
    capture = capture_of(result)
    if capture is None or capture.outcome not in ("broken", "refused"):
        return None
    message = f"is not captured in one graph: {'; '.join(capture.reasons)}"
    call = only_call(program)
    where = "the program" if call is None else program.calls[call].op
    return Divergence(Difference("graph_forward", "unsupported", where, f"{where} {message}", call=call), program, call)


def of_refused_draw(
    reference: Adapter, target: Target, program: Program, answer: Observation | Death
) -> list[Divergence]:
    """How the target's answer to a refused draw differs from a refusal."""
    if isinstance(answer, Death):
        return [localize_death(reference, target, of_death(program, answer, "eager_forward"))]
    return [
        Divergence(failure_difference(program, failure, in_world(program, "eager_forward")), program, failure.call)
        for failure in answer.failures
    ]


def call_alone(reference: Adapter, program: Program, index: int) -> Program | None:
    """One call as a Program of its own, one that the reference refuses included; None where it cannot stand alone."""
    if program.calls[index].raises:
        return isolate_refused(reference, program, index)
    return next((alone for position, alone, _ in isolate(reference, program) if position == index), None)


def only_call(program: Program) -> int | None:
    """The index of the one call that computes, None where there are more."""
    computing = [
        index
        for index, call in enumerate(program.calls)
        if call.kind not in ("module", "get", "set", "enter", "exit") and (call.results() or call.out is None)
    ]
    return computing[0] if len(computing) == 1 else None


def _distinct(divergences: Sequence[Divergence]) -> list[Divergence]:
    """One divergence per phase, kind, call and buffer: the first that came."""
    firsts: dict[tuple[str, str, int | None, str], Divergence] = {}
    for divergence in divergences:
        difference = divergence.difference
        firsts.setdefault((difference.phase, difference.kind, divergence.call, difference.buffer), divergence)
    return list(firsts.values())


def each_alone(
    reference: Adapter, target: Target, program: Program, rules: Rules, *, graph: bool
) -> Iterator[Divergence]:
    """The divergences of the calls of a Program that diverge when each runs alone, on the reference's own values."""
    names = Names(program)
    isolated = list(isolate(reference, program))
    eager = target.eager([alone for _, alone, _ in isolated])
    for (index, alone, expected), answer in zip(isolated, eager, strict=True):
        if not isinstance(answer, Observation):
            continue
        sides = Sides(expected, answer)
        if not graph:
            differences = eager_differences(reference, alone, expected, answer, rules, names=names)
        elif answer.ended:
            continue
        else:
            result = run_graph_alone(target, alone, answer.gradient_keys())
            if not isinstance(result, Observation) or not compare(alone, expected, result, rules, graph=True):
                continue
            sides.graph = result
            # What eager does wrong already is no fault of the graph: it is held against eager.
            differences = compare(alone, answer, result, rules, graph=True, names=names)
        for difference in differences:
            yield Divergence(replace(difference, call=None), program, index, alone, sides)
