"""The static graph of the target `jax`: one `jax.jit` of all Programs of a request, gradients inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from dual_object.adapters.jax.differentiation import Differentiated, Leaves
from dual_object.adapters.jax.ops.shared import Array
from dual_object.adapters.jax.tensor import Tensor
from dual_object.adapters.jax.traced import JaxAdapter, Run, depends_on_values, inputs
from dual_object.program.program import Program
from dual_object.program.values import refs
from dual_object.replay.adapter import GraphError, GraphRefusal, GraphRequest
from dual_object.replay.observation import Observation, class_names, first_words
from dual_object.replay.reading import see
from dual_object.replay.tracing import TraceRefused, obstacle

#: Why a Program is no graph by design.
UNKNOWN = "jax.jit refuses what depends on values: they are not known while it traces"

#: What a member gives: its outputs by number, its gradients by key.
Given = tuple[dict[int, Array], Leaves]


@dataclass
class _Member:
    """One Program of a request."""

    adapter: JaxAdapter
    program: Program
    keys: Sequence[str]
    again: Sequence[Any] | None
    refusal: GraphRefusal | None = None

    def __post_init__(self) -> None:
        self.whole = Differentiated(self.adapter, self.program, self.keys)
        reason = obstacle(self.program)
        if reason is not None:
            self.refusal = GraphRefusal(True, None, (), reason)
        self.cotangents = {id_: jnp.asarray(data) for id_, data in self.program.cotangents.items()}

    def arguments(self, datas: Sequence[Any] | None = None) -> Any:
        """What the graph is called with."""
        return inputs(self.adapter, self.program, datas), self.cotangents

    def traced(self, arrays: Sequence[Array], cotangents: dict[int, Array]) -> Given:
        """What it gives; nothing where it is refused, now or before."""
        if self.refusal is not None:
            return {}, {}
        try:
            return self._traced(arrays, cotangents)
        except TraceRefused as refused:
            self.refusal = self._refused(refused)
        except Exception as error:
            self.refusal = GraphRefusal(False, None, class_names(error), first_words(error))
        return {}, {}

    def _traced(self, arrays: Sequence[Array], cotangents: dict[int, Array]) -> Given:
        if not self.keys:
            return Run(self.adapter, self.program, arrays).returned(), {}
        gradients, returned = self.whole.gradients(arrays, self.whole.leaves(arrays), cotangents)
        return returned, {key: gradient for key, gradient in gradients.items() if key in self.whole.reached}

    def _refused(self, refused: TraceRefused) -> GraphRefusal:
        failure = refused.failure
        if depends_on_values(failure):
            return GraphRefusal(True, failure.call, failure.classes, UNKNOWN, uncaptured=True)
        return refused.as_refusal()

    def observation(self, given: Given) -> Observation:
        """What one call of the graph has shown."""
        outputs, gradients = given
        tensors = [Tensor(array, self.adapter.namespace) for array in (*outputs.values(), *gradients.values())]
        readings = iter(see(self.adapter, tensors))
        seen = {id_: next(readings) for id_ in outputs}
        found = {key: next(readings) for key in gradients}
        shown = Observation(
            outputs={id_: seen[id_] for id_ in dict.fromkeys(refs(self.program.outputs)) if id_ in seen}
        )
        shown.gradients = {key: found.get(key) for key in self.keys}
        return shown


def compiled(adapter: JaxAdapter, request: GraphRequest) -> list[Observation | GraphRefusal]:
    """What each Program of a request shows in one compiled function. Raises GraphError where it fails as a whole."""
    count = len(request.programs)
    wanted, again = request.gradients or [()] * count, request.again or [None] * count
    members = [_Member(adapter, *own) for own in zip(request.programs, wanted, again, strict=True)]

    def traced(arguments: Any) -> Any:
        return [member.traced(*own) for member, own in zip(members, arguments, strict=True)]

    whole = jax.jit(traced)
    try:
        # Waited for here: what fails when it runs is told to whoever waits.
        given = jax.block_until_ready(whole([member.arguments() for member in members]))
        second = None
        if any(member.again is not None for member in members):
            second = jax.block_until_ready(whole([member.arguments(member.again) for member in members]))
    except Exception as error:
        raise GraphError(class_names(error), first_words(error), poisoned=False) from error
    results: list[Observation | GraphRefusal] = []
    for place, member in enumerate(members):
        if member.refusal is not None:
            results.append(member.refusal)
            continue
        shown = member.observation(given[place])
        if second is not None and member.again is not None:
            shown.again = member.observation(second[place])
        results.append(shown)
    return results


__all__ = ["UNKNOWN", "compiled"]
