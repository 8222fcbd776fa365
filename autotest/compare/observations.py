"""Comparison of two observations. Failures are data before they are text: `compare` returns Differences, the verdict
words them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from autotest.compare.difference import (
    Difference,
    Names,
    Part,
    Rules,
    Unlike,
    allowed_between,
    failure_difference,
    in_world,
    tensor_difference,
    unlike,
    unlike_besides,
)
from autotest.compare.hosts import host_difference
from autotest.compare.kinds import Phase
from autotest.compare.metadata import entries, layout_words, saved, sharing, standing, stands_alike
from autotest.compare.mismatch import Mismatch
from autotest.compare.training import later, training_differences, uncleared
from autotest.compare.values import close
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.program.values import Ref
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
    state. Of a graph those parts are compared that it shows (`actual.shows`). `names` are those of another Program that
    `program` is a part of.
    """
    if program.random is not None:
        expected, actual = blinded(expected, program.random), blinded(actual, program.random)
    if program.training is not None:
        return list(training_differences(program, expected, actual, rules, graph=graph))
    return list(_Comparison(program, expected, actual, rules, graph=graph, names=names).differences())


def graph_differences(
    program: Program,
    expected: Observation,
    eager: Observation,
    graph: Observation,
    rules: Rules,
    *,
    apart: bool = False,
) -> list[Difference]:
    """How a graph differs from eager; where it does as eager does, how it differs from what is `expected`.

    Where eager itself is `apart` from that, a graph is wrong in what differs from both: what it has in common with
    eager is no fault of its own, and what it has right is none at all. Of a training, in which all that follows a
    difference comes of it, as soon as it is no longer as either; but where it is not as eager because that has not
    cleared its gradients, this is told, of eager.
    """
    against_eager = [] if eager.ended else compare(program, eager, graph, rules, graph=True)
    if eager.ended or not apart:
        return against_eager or compare(program, expected, graph, rules, graph=True)
    if not against_eager:
        return []
    wrong = compare(program, expected, graph, rules, graph=True)
    if wrong and program.training is not None:
        of_eager = compare(program, graph, eager, rules)
        return of_eager if uncleared(program, of_eager) else later(program, against_eager, wrong)
    places = {(difference.part, difference.key) for difference in wrong}
    return [difference for difference in against_eager if (difference.part, difference.key) in places]


class _Comparison:
    """Two observations of one Program, held against each other part by part."""

    def __init__(
        self,
        program: Program,
        expected: Observation,
        actual: Observation,
        rules: Rules,
        *,
        graph: bool,
        names: Names | None,
    ) -> None:
        self.program = program
        self.expected = expected
        self.actual = actual
        self.rules = rules
        self.graph = graph
        self.shows = actual.shows
        if "values" not in self.shows:
            self.rules = replace(rules, check_allclose=False)
        self._names = names

    def differences(self) -> Iterator[Difference]:
        """All of them. What nearly every case lacks is not looked for at all: each look costs every case its time."""
        expected, actual = self.expected, self.actual
        for failure in actual.failures:
            if failure.kind == "mode" and failure.call is None:
                yield Difference(self.backward, failure.kind, "backward", f"backward {failure.message}")
            else:
                yield failure_difference(self.program, failure, self.forward)
        if actual.ended:
            return
        yield from self.outputs()
        if actual.structures:
            yield from self.structures()
        shows = self.shows
        if "sharing" in shows and (expected.shared or actual.shared):
            yield from self.memory()
        if "states" in shows and (expected.states != actual.states or expected.saved != actual.saved):
            yield from self.states()
        if "parameters" in shows and (expected.parameters or actual.parameters):
            yield from self.parameters()
        if "hosts" in shows and (expected.hosts or actual.hosts):
            yield from self.hosts()
        if "inputs" in shows and (expected.inputs or actual.inputs):
            yield from self.inputs()
        if actual.backward_failure is not None:
            yield self.failed_backward(actual.backward_failure)
            return
        if "gradients" in shows:
            yield from self.gradients()
        if "second" in shows and self.program.second_cotangents and not self.graph:
            yield from self.seconds()
        if "buffers" in shows and expected.buffers:
            yield from self.buffers()

    # What is worked out for a difference alone.

    @cached_property
    def names(self) -> Names:
        """How values are called."""
        return self._names or Names(self.program)

    @cached_property
    def distributed(self) -> bool:
        """Whether there are global tensors; the reference has none: how its own ones stand says nothing of those."""
        return distributed(self.program)

    @cached_property
    def forward(self) -> Phase:
        """The phase of outputs, and of all else that a body does."""
        return in_world(self.program, "graph_forward" if self.graph else "eager_forward")

    @cached_property
    def backward(self) -> Phase:
        """The phase of gradients."""
        return in_world(self.program, "graph_backward" if self.graph else "eager_backward")

    def tensors(
        self, phase: Phase, where: str, way: Unlike, part: Part, key: str, expected: Seen, actual: Seen
    ) -> Difference:
        """The difference of two tensors that are unlike."""
        return tensor_difference(phase, where, way, part, key, expected, actual, self.rules)

    # Forward.

    def outputs(self) -> Iterator[Difference]:
        """What differs in the tensors that the body returned, or that are watched."""
        rules, graph, actual = self.rules, self.graph, self.actual.outputs
        layout, standing_shown = rules.check_layout and "layout" in self.shows, "standing" in self.shows
        for id_, reference in self.expected.outputs.items():
            output = actual.get(id_)
            if output is None:
                if not (graph and id_ in self.program.watched):  # a graph gives what the body returned, no more
                    yield self.no_tensor(id_, reference)
                continue
            way = unlike(reference, output, rules, signed=True)
            if way is not None:
                yield self.tensors(self.forward, self.names.value(id_), way, "output", str(id_), reference, output)
            besides = unlike_besides(reference, output, rules) if way is not None and way.kind == "dtype" else None
            if besides is not None:
                yield self.tensors(self.forward, self.names.value(id_), besides, "output", str(id_), reference, output)
            if not stands_alike(reference, output, layout, grad=standing_shown) and not self.distributed:
                seen = layout and id_ not in self.program.watched  # how those lie, nobody sees
                for other in standing(reference, output, seen, grad=standing_shown):
                    where = self.names.value(id_)
                    yield self.tensors(self.forward, where, Unlike(*other), "output", str(id_), reference, output)

    def no_tensor(self, id_: int, reference: Seen) -> Difference:
        """The difference of an output that is none."""
        where = self.names.value(id_)
        message = f"{where} is no tensor, but should be a {reference.dtype} tensor"
        return Difference(self.forward, "structure", where, message, key=str(id_), expected=reference)

    def structures(self) -> Iterator[Difference]:
        """What calls return otherwise."""
        for index, words in self.actual.structures.items():
            if index not in self.expected.structures:  # what eager does, too, is no fault of the graph
                op = self.program.calls[index].op
                message = f"{op} {self.names.fill(words)}"
                yield Difference(self.forward, "structure", op, message, call=index, part="call")

    def memory(self) -> Iterator[Difference]:
        """What shares memory with something else on one side only."""
        if self.distributed:
            return
        layout = self.rules.check_layout and "layout" in self.shows
        for id_, kind, words in sharing(self.expected, self.actual, self.names.value, layout):
            both = (self.expected.outputs[id_], self.actual.outputs[id_])
            yield self.tensors(self.forward, self.names.value(id_), Unlike(kind, words), "output", str(id_), *both)

    def states(self) -> Iterator[Difference]:
        """What the modules hold otherwise, blamed on the modules' construction."""
        program, expected, actual = self.program, self.expected, self.actual
        constructions = ("module", "custom")
        made = {c.out.id: i for i, c in enumerate(program.calls) if type(c.out) is Ref and c.kind in constructions}
        for id_ in {**expected.states, **actual.states, **expected.saved, **actual.saved}:
            call = made.get(id_)
            op = "the module" if call is None else program.calls[call].op.rpartition(".")[2]
            for key, kind, words in entries(op, expected.states.get(id_, {}), actual.states.get(id_, {})):
                yield Difference(self.forward, kind, op, words, call, "call", f"{id_}.{key}")
            for key, words in saved(op, expected.saved.get(id_, ()), actual.saved.get(id_, ())):
                yield Difference(self.forward, "structure", op, words, call, "call", f"{id_}.{key}")

    def parameters(self) -> Iterator[Difference]:
        """Parameters that only one side changed by more than rounding, or that both changed otherwise."""
        expected, actual = self.expected.parameters, self.actual.parameters
        for key in {**expected, **actual}:
            where = f"parameter {self.names.leaf(key)}"
            wanted, parameter = expected.get(key), actual.get(key)
            if wanted is not None and parameter is not None:
                way = unlike(wanted, parameter, self.rules)
                if way is not None:
                    yield self.tensors(self.forward, f"{where} after the body", way, "buffer", key, wanted, parameter)
                continue
            changed = wanted or parameter
            assert changed is not None, "one of both has it"
            if self.as_it_started(key, changed):
                continue  # as a weight is that was divided by its norm and multiplied by it again
            message = f"{where} {_changed(actual=parameter is not None)}"
            yield Difference(self.forward, "mutation", where, message, None, "buffer", key, wanted, parameter)

    def as_it_started(self, key: str, parameter: Seen) -> bool:
        """Whether a parameter is what its module began with, but for rounding."""
        id_, _, name = key.partition(".")
        states = (call.state for call in self.program.modules() if call.results() == [int(id_)])
        start = next(states, {}).get(name)
        alike = start is not None and start.shape == parameter.data.shape
        return start is not None and alike and close(start, parameter.data, allowed_between(parameter, self.rules))

    def hosts(self) -> Iterator[Difference]:
        """What calls gave to Python that differs."""
        for call in sorted(self.expected.hosts.keys() | self.actual.hosts.keys()):
            recorded = self.program.calls[call].out
            wanted, given = self.expected.hosts.get(call, recorded), self.actual.hosts.get(call, recorded)
            difference = host_difference(self.program, call, wanted, given, self.rules, self.forward)
            if difference is not None:
                yield difference

    def inputs(self) -> Iterator[Difference]:
        """Inputs that only one side changed, or that both changed otherwise."""
        originals = {x.id: x for x in self.program.inputs}
        expected, actual = self.expected.inputs, self.actual.inputs
        for id_ in expected.keys() | actual.keys():
            x, where = originals[id_], f"input {self.names.value(id_)}"
            before, after = expected.get(id_, x.data), actual.get(id_, x.data)
            wanted = Seen(x.dtype, x.data.shape, "cpu", x.requires_grad, before)
            mismatch = Mismatch.between(before, after, allowed_between(wanted, self.rules))
            if mismatch is None:
                continue
            changed = Seen(x.dtype, x.data.shape, "cpu", x.requires_grad, after)
            if id_ in expected and id_ in actual:
                where = f"{where} after the body"
                way = Unlike(mismatch.kind, mismatch.words, mismatch)
            else:
                way = Unlike("mutation", _changed(actual=id_ in actual), mismatch)
            yield self.tensors(self.forward, where, way, "input", str(id_), wanted, changed)

    # Backward.

    def failed_backward(self, failure: Failure) -> Difference:
        """The difference of a backward that ended."""
        words = f"backward {failure.words}"
        return Difference(self.backward, failure.kind, "backward", words)

    def gradients(self) -> Iterator[Difference]:
        """What differs in the gradients; a graph gives those that it was asked for, and no more."""
        expected, actual = self.expected.gradients, self.actual.gradients
        for key in actual if self.graph else {**expected, **actual}:
            wanted, gradient = expected.get(key), actual.get(key)
            if wanted is None or gradient is None:
                if wanted is not gradient:
                    yield self.lone_gradient(self.backward, "gradient", key, wanted, gradient)
                continue
            way = unlike(wanted, gradient, self.rules)
            if way is None and self.lies_otherwise(key, wanted, gradient):
                way = Unlike("layout", layout_words(wanted, gradient))
            if way is not None:
                where = f"gradient of {self.names.leaf(key)}"
                yield self.tensors(self.backward, where, way, "gradient", key, wanted, gradient)

    def lies_otherwise(self, key: str, wanted: Seen, gradient: Seen) -> bool:
        """Whether the gradient of a leaf lies otherwise in memory than PyTorch promises: as the leaf does, for every
        dense leaf; of tensors that only retain theirs it promises nothing.
        """
        if "layout" not in self.shows or not self.rules.check_layout or wanted.strides == gradient.strides:
            return False
        return ("." in key or int(key) not in self.program.leaves) and not self.distributed

    def lone_gradient(
        self, phase: Phase, part: Part, key: str, wanted: Seen | None, gradient: Seen | None
    ) -> Difference:
        """The difference of a gradient that only one side has."""
        where = f"{'second ' if part == 'second' else ''}gradient of {self.names.leaf(key)}"
        if wanted is not None:
            message = f"{where} is missing, but should be a {wanted.dtype} tensor"
            return Difference(phase, "grad_missing", where, message, part=part, key=key, expected=wanted)
        assert gradient is not None
        message = f"{where} is a {gradient.dtype} tensor, but there should be none"
        return Difference(phase, "grad_extra", where, message, part=part, key=key, actual=gradient)

    def seconds(self) -> Iterator[Difference]:
        """What differs in the second derivatives; where that is because a first gradient cannot be differentiated
        again, this alone.
        """
        failure = self.actual.second_failure
        if failure is not None:
            words = f"differentiating twice {failure.words}"
            yield Difference("eager_second", failure.kind, "second backward", words)
            return
        differences = list(self.second_gradients())
        firsts = ((key, self.actual.gradients.get(key)) for key in self.program.second_cotangents)
        ended = [key for key, first in firsts if first is not None and not first.requires_grad] if differences else []
        for key in ended:
            where = f"gradient of {self.names.leaf(key)}"
            message = f"{where} has requires_grad False, but should have True: it cannot be differentiated again"
            yield Difference("eager_second", "grad_missing", where, message, part="second", key=key)
        if not ended:
            yield from differences

    def second_gradients(self) -> Iterator[Difference]:
        """What differs in them one by one."""
        for key in {**self.expected.second, **self.actual.second}:
            wanted, gradient = self.expected.second.get(key), self.actual.second.get(key)
            if wanted is not None and gradient is not None:
                way = unlike(wanted, gradient, self.rules)
                if way is not None:
                    where = f"second gradient of {self.names.leaf(key)}"
                    yield self.tensors("eager_second", where, way, "second", key, wanted, gradient)
                continue
            # Whether a second derivative that is zero everywhere, but for rounding, is made at all is each framework's
            # own affair.
            made = wanted or gradient
            zero = made is None or close(np.zeros_like(made.data), made.data, allowed_between(made, self.rules))
            if not zero:
                yield self.lone_gradient("eager_second", "second", key, wanted, gradient)

    # State.

    def buffers(self) -> Iterator[Difference]:
        """What differs in the buffers of modules."""
        phase: Phase = "graph_state" if self.graph else self.forward
        for key, reference in self.expected.buffers.items():
            buffer = self.actual.buffers.get(key)
            if buffer is None:
                where = f"buffer {self.names.leaf(key)}"
                message = f"{where} is missing"
                yield Difference(phase, "structure", where, message, part="buffer", key=key, expected=reference)
                continue
            way = unlike(reference, buffer, self.rules)
            if way is not None:
                where = f"buffer {self.names.leaf(key)}"
                yield self.tensors(phase, where, way, "buffer", key, reference, buffer)


def _changed(*, actual: bool) -> str:
    """The words of what only one side has changed."""
    return "was changed, but should keep its values" if actual else "kept its values, but should be changed"
