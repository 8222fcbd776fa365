"""Comparison of two observations. Failures are data before they are text: `compare` returns Differences, the verdict
words them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autotest.compare.difference import Difference, Names, Part, Phase, Rules, allowed_between, in_world
from autotest.compare.metadata import entries, layout_words, saved, sharing, standing, stands_alike
from autotest.compare.tolerance import tolerance
from autotest.compare.values import close, value_difference
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.program.values import Device, Name, Ref, Tree
from dual_object.replay.observation import Failure, Observation, Seen, blinded


def compare(
    program: Program,
    expected: Observation,
    actual: Observation,
    rules: Rules,
    *,
    graph: bool = False,
    names: Names | None = None,
) -> list[Difference]:
    """All differences of `actual` from `expected`, in the order in which a reader wants them: forward, backward,
    state.
    """
    if program.random is not None:
        expected, actual = blinded(expected, program.random), blinded(actual, program.random)
    found = _compare(program, expected, actual, rules, graph, names)
    for difference in found:
        difference.phase = in_world(program, difference.phase)
    return found


def _compare(
    program: Program,
    expected: Observation,
    actual: Observation,
    rules: Rules,
    graph: bool,
    names: Names | None,
) -> list[Difference]:
    forward: Phase = "graph_forward" if graph else "eager_forward"
    backward: Phase = "graph_backward" if graph else "eager_backward"
    state: Phase = "graph_state" if graph else "eager_forward"
    found = list(_failures(program, actual, forward))
    if actual.ended:
        return found
    for id_, reference in expected.outputs.items():
        shown = actual.outputs.get(id_)
        if shown is None and graph and id_ in program.watched:
            continue  # a graph gives what the body returned, and no more
        if shown is None:
            names = names or Names(program)
            message = f"{names.value(id_)} is no tensor, but should be a {reference.dtype} tensor"
            found.append(Difference(forward, "structure", names.value(id_), message, key=str(id_), expected=reference))
        else:
            if not same(reference, shown, rules, signed=True):
                names = names or Names(program)
                found.append(_tensor(forward, names.value(id_), "output", str(id_), reference, shown, rules))
            # The reference has no global tensors: how its own ones stand says nothing of those.
            if not graph and not stands_alike(reference, shown, rules.check_layout) and not distributed(program):
                names = names or Names(program)
                where, key = names.value(id_), str(id_)
                layout = rules.check_layout and id_ not in program.watched  # how an intermediate lies, nobody sees
                found += [
                    Difference(forward, kind, where, f"{where} {words}", None, "output", key, reference, shown)
                    for kind, words in standing(reference, shown, layout)
                ]
    for index, words in actual.structures.items():
        if index not in expected.structures:  # what eager does, too, is no fault of the graph
            names = names or Names(program)
            op = program.calls[index].op
            found.append(Difference(forward, "structure", op, f"{op} {names.fill(words)}", call=index, part="call"))
    if not graph:
        if (expected.shared or actual.shared) and not distributed(program):
            names = names or Names(program)
            for id_, kind, words in sharing(expected, actual, names.value, rules.check_layout):
                where, both = names.value(id_), (expected.outputs[id_], actual.outputs[id_])
                found.append(Difference(forward, kind, where, f"{where} {words}", None, "output", str(id_), *both))
        if expected.states != actual.states or expected.saved != actual.saved:
            found += _states(program, expected, actual)
        if expected.parameters or actual.parameters:
            found += _parameters(program, expected, actual, rules)
        for call, value in actual.hosts.items():
            difference = _host(program, call, value, rules)
            if difference is not None:
                found.append(difference)
        found += _inputs(program, expected, actual, rules)
        if actual.backward_failure is not None:
            failure = actual.backward_failure
            words = f"backward raised {failure.classes[0]}: {failure.message}"
            found.append(Difference(backward, failure.kind, "backward", words))
            return found
    # A graph gives the gradients that it was asked for, and no more.
    keys = actual.gradients if graph else {**expected.gradients, **actual.gradients}
    for key in keys:
        gradient, wanted = actual.gradients.get(key), expected.gradients.get(key)
        if wanted is None and gradient is None:
            continue
        if wanted is not None and gradient is not None and same(wanted, gradient, rules):
            if graph or not rules.check_layout or wanted.strides == gradient.strides or not _promised(program, key):
                continue
            if not distributed(program):
                names = names or Names(program)
                where = f"gradient of {names.leaf(key)}"
                both, words = (wanted, gradient), layout_words(wanted, gradient)
                found.append(Difference(backward, "layout", where, f"{where} {words}", None, "gradient", key, *both))
            continue
        names = names or Names(program)
        found.append(_gradient(backward, "gradient", key, names, wanted, gradient, rules))
    if program.second_cotangents and not graph:
        names = names or Names(program)
        found += _second(program, names, expected, actual, rules)
    for key, reference in expected.buffers.items():
        buffer = actual.buffers.get(key)
        if buffer is None or not same(reference, buffer, rules):
            names = names or Names(program)
            where = f"buffer {names.leaf(key)}"
            if buffer is None:
                message = f"{where} is missing"
                found.append(Difference(state, "structure", where, message, part="buffer", key=key, expected=reference))
            else:
                found.append(_tensor(state, where, "buffer", key, reference, buffer, rules))
    return found


def _promised(program: Program, key: str) -> bool:
    """Whether PyTorch promises how the gradient of this leaf lies: as the leaf does, for every dense leaf; of tensors
    that only retain theirs it promises nothing.
    """
    return "." in key or int(key) not in program.leaves


def _gradient(
    phase: Phase, part: Part, key: str, names: Names, wanted: Seen | None, gradient: Seen | None, rules: Rules
) -> Difference:
    """The difference of two gradients that are not the same; one at most is missing."""
    where = f"{'second ' if part == 'second' else ''}gradient of {names.leaf(key)}"
    if gradient is None:
        message = f"{where} is missing, but should be a {wanted.dtype} tensor" if wanted else ""
        return Difference(phase, "grad_missing", where, message, part=part, key=key, expected=wanted)
    if wanted is None:
        message = f"{where} is a {gradient.dtype} tensor, but there should be none"
        return Difference(phase, "grad_extra", where, message, part=part, key=key, actual=gradient)
    return _tensor(phase, where, part, key, wanted, gradient, rules)


def _second(
    program: Program, names: Names, expected: Observation, actual: Observation, rules: Rules
) -> Iterator[Difference]:
    """What differs in the second derivatives; where that is because a first gradient cannot be differentiated again,
    this alone.
    """
    phase: Phase = "eager_second"
    if actual.second_failure is not None:
        failure = actual.second_failure
        words = f"differentiating twice raised {failure.classes[0]}: {failure.message}"
        yield Difference(phase, failure.kind, "second backward", words)
        return
    found: list[Difference] = []
    for key in {**expected.second, **actual.second}:
        wanted, gradient = expected.second.get(key), actual.second.get(key)
        if wanted is None or gradient is None:
            # Whether a second derivative that is zero everywhere, but for rounding, is made at all is each framework's
            # own affair.
            made = wanted or gradient
            if made is None or close(np.zeros_like(made.data), made.data, allowed_between(made, rules)):
                continue
        elif same(wanted, gradient, rules):
            continue
        found.append(_gradient(phase, "second", key, names, wanted, gradient, rules))
    firsts = ((key, actual.gradients.get(key)) for key in program.second_cotangents)
    ended = [key for key, first in firsts if first is not None and not first.requires_grad] if found else []
    for key in ended:
        where = f"gradient of {names.leaf(key)}"
        message = f"{where} has requires_grad False, but should have True: it cannot be differentiated again"
        yield Difference(phase, "grad_missing", where, message, part="second", key=key)
    if not ended:
        yield from found


def same(expected: Seen, actual: Seen, rules: Rules, *, signed: bool = False) -> bool:
    """Whether two tensors agree; the fast path, which nearly every comparison takes. `signed`: in the sign of zeros,
    too.
    """
    if (
        (rules.check_dtype and expected.dtype != actual.dtype)
        or expected.shape != actual.shape
        or expected.device != actual.device
    ):
        return False
    if not rules.check_allclose:
        return True
    left, right = expected.data, actual.data
    if left.dtype == right.dtype and left.tobytes() == right.tobytes():
        return True
    return close(left, right, allowed_between(expected, rules, signed=signed))


def _failures(program: Program, actual: Observation, phase: Phase) -> Iterator[Difference]:
    for failure in actual.failures:
        yield failure_difference(program, failure, phase)


def failure_difference(program: Program, failure: Failure, phase: Phase) -> Difference:
    """A call that ended otherwise than on the reference, as a Difference."""
    where = "the program"
    if failure.call is not None:
        call = program.calls[failure.call]
        where = call.op
        if failure.kind == "exception_class":
            message = f"{where} raised {failure.classes[0]}: {failure.message}; but should raise {call.raises[0]}"
            return Difference(phase, failure.kind, where, message, call=failure.call)
    if failure.kind in ("accepts_invalid", "structure"):
        message = f"{where} {failure.message}"
    else:
        message = f"{where} raised {failure.classes[0]}: {failure.message}"
    return Difference(phase, failure.kind, where, message, call=failure.call)


def _inputs(program: Program, expected: Observation, actual: Observation, rules: Rules) -> Iterator[Difference]:
    originals = {x.id: x for x in program.inputs}
    for id_ in expected.inputs.keys() | actual.inputs.keys():
        x = originals[id_]
        name = Names(program).value(id_)
        before = expected.inputs.get(id_, x.data)
        after = actual.inputs.get(id_, x.data)
        allowed = tolerance(x.dtype, "cpu", rules.rtol, rules.atol)
        if close(before, after, allowed):
            continue
        reference = Seen(x.dtype, x.data.shape, "cpu", x.requires_grad, before)
        shown = Seen(x.dtype, x.data.shape, "cpu", x.requires_grad, after)
        if id_ in expected.inputs and id_ in actual.inputs:
            yield _tensor("eager_forward", f"input {name} after the body", "input", str(id_), reference, shown, rules)
            continue
        if id_ in actual.inputs:
            was, should = "was changed", "keep its values"
        else:
            was, should = "kept its values", "be changed"
        yield Difference(
            "eager_forward",
            "mutation",
            f"input {name}",
            f"input {name} {was}, but should {should}",
            part="input",
            key=str(id_),
            expected=reference,
            actual=shown,
        )


def _states(program: Program, expected: Observation, actual: Observation) -> Iterator[Difference]:
    """What the modules hold otherwise, blamed on the modules' construction."""
    constructions = ("module", "custom")
    made = {c.out.id: i for i, c in enumerate(program.calls) if type(c.out) is Ref and c.kind in constructions}
    for id_ in {**expected.states, **actual.states, **expected.saved, **actual.saved}:
        call = made.get(id_)
        op = "the module" if call is None else program.calls[call].op.rpartition(".")[2]
        for key, kind, words in entries(op, expected.states.get(id_, {}), actual.states.get(id_, {})):
            yield Difference("eager_forward", kind, op, words, call, "call", f"{id_}.{key}")
        for key, words in saved(op, expected.saved.get(id_, ()), actual.saved.get(id_, ())):
            yield Difference("eager_forward", "structure", op, words, call, "call", f"{id_}.{key}")


def _parameters(program: Program, expected: Observation, actual: Observation, rules: Rules) -> Iterator[Difference]:
    """Parameters that only one side changed, or that both changed otherwise."""
    for key in {**expected.parameters, **actual.parameters}:
        where = f"parameter {Names(program).leaf(key)}"
        wanted, shown = expected.parameters.get(key), actual.parameters.get(key)
        if wanted is not None and shown is not None:
            if not same(wanted, shown, rules):
                yield _tensor("eager_forward", f"{where} after the body", "buffer", key, wanted, shown, rules)
            continue
        was, should = ("kept its values", "be changed") if shown is None else ("was changed", "keep its values")
        message = f"{where} {was}, but should {should}"
        yield Difference("eager_forward", "mutation", where, message, None, "buffer", key, wanted, shown)


def _tensor(phase: Phase, where: str, part: Part, key: str, expected: Seen, actual: Seen, rules: Rules) -> Difference:
    """The difference of two tensors that are not the same."""
    kind, message = _attribute(where, expected, actual, rules) or ("", "")
    if not kind:
        allowed = allowed_between(expected, rules, signed=part == "output")
        kind, words = value_difference(expected.data, actual.data, allowed)
        message = f"{where} {words}"
    return Difference(phase, kind, where, message, part=part, key=key, expected=expected, actual=actual)


def _attribute(where: str, expected: Seen, actual: Seen, rules: Rules) -> tuple[str, str] | None:
    """Kind and words of two tensors that differ before any of their values is looked at."""
    for kind, left, right in (
        ("dtype", expected.dtype, actual.dtype),
        ("shape", expected.shape, actual.shape),
        ("device", expected.device, actual.device),
    ):
        if left != right and (kind != "dtype" or rules.check_dtype):
            return kind, f"{where} has {kind} {right}, but should have {left}"
    return None


def _host(program: Program, index: int, value: Tree, rules: Rules) -> Difference | None:
    """The difference of a host read from the recorded one; None where floats agree within tolerance."""
    from dual_object.program.printing import show

    call = program.calls[index]
    expected = call.out
    if type(expected) is type(value) is float:
        if close(np.array(expected), np.array(value), tolerance("float32", "cpu", rules.rtol, rules.atol)):
            return None
        kind = "value"
    elif isinstance(expected, np.ndarray) and isinstance(value, np.ndarray) and expected.shape == value.shape:
        allowed = tolerance(str(expected.dtype), "cpu", rules.rtol, rules.atol)
        if close(expected, value, allowed):
            return None
        kind, words = value_difference(expected, value, allowed)
        both = [Seen(str(array.dtype), array.shape, "cpu", False, array) for array in (expected, value)]
        return Difference(
            "eager_forward",
            kind,
            call.op,
            f"{call.op} {words}",
            call=index,
            part="host",
            expected=both[0],
            actual=both[1],
        )
    else:
        if _close_trees(expected, value, rules):
            return None
        kind = _host_kind(call.op, expected, value)
    message = f"{call.op} gives {show(value)}, but should give {show(expected)}"
    return Difference("eager_forward", kind, call.op, message, call=index, part="host")


def _close_trees(expected: Tree, actual: Tree, rules: Rules) -> bool:
    """Whether nested lists or tuples of numbers (`tolist()`) agree within tolerance."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, (list, tuple)) and not hasattr(expected, "_fields"):
        return len(expected) == len(actual) and all(
            _close_trees(left, right, rules) for left, right in zip(expected, actual, strict=True)
        )
    if isinstance(expected, float):
        return close(np.array(expected), np.array(actual), tolerance("float32", "cpu", rules.rtol, rules.atol))
    return bool(expected == actual)


def _host_kind(op: str, expected: Tree, actual: Tree) -> str:
    if isinstance(expected, Name) and isinstance(actual, Name):
        return "dtype" if op == "dtype" else "layout"
    if isinstance(expected, Device) and isinstance(actual, Device):
        return "device"
    if op in ("shape", "size", "dim", "ndim", "len", "numel", "nelement"):
        return "shape"
    if op in ("stride", "is_contiguous", "storage_offset"):
        return "layout"
    if op in ("requires_grad", "is_leaf", "retains_grad"):
        return "requires_grad"
    return "value" if type(expected) is type(actual) else "structure"
