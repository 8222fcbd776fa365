"""A Program as a function of arrays, which JAX's transformations can be handed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dual_object.adapters.jax.namespace import Namespace
from dual_object.adapters.jax.ops.shared import Array
from dual_object.adapters.jax.tensor import Tensor
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import Adapter
from dual_object.replay.observation import Failure
from dual_object.replay.replay import Replay
from dual_object.replay.tracing import returned_tensors, run_calls, traced_calls

#: What JAX raises where a value must be known while it is traced.
_UNKNOWN = frozenset(
    {
        "ConcretizationTypeError",
        "NonConcreteBooleanIndexError",
        "TracerArrayConversionError",
        "TracerIntegerConversionError",
    }
)


class JaxAdapter(Adapter, Protocol):
    """The adapter, as its parts need it."""

    namespace: Namespace


class Run:
    """One run of a Program on arrays, which may be tracers.

    Args:
        arrays: what the inputs are, in order.
        keys: the leaves that are to be differentiated.
        added: by number, what is added to leaves that the body makes; zeros, by which they can be differentiated.

    Raises TraceRefused where a call fails.
    """

    def __init__(
        self,
        adapter: JaxAdapter,
        program: Program,
        arrays: Sequence[Array],
        keys: Sequence[str] = (),
        added: Mapping[int, Array] | None = None,
    ) -> None:
        self.replay = Replay(adapter, program)
        values = self.replay.values
        for x, array in zip(program.inputs, arrays, strict=True):
            key = str(x.id)
            values.place(x.id, Tensor(array, adapter.namespace, frozenset({key} if key in keys else ())))
        made = _made_leaves(program)

        def after(index: int) -> None:
            for id_ in made.get(index, ()):
                leaf = values.by_id[id_]
                if added is not None and id_ in added:
                    leaf.begin(leaf.array + added[id_], leaf.leaves | {str(id_)})

        run_calls(self.replay, traced_calls(program), after)

    def tensor(self, id_: int) -> Tensor | None:
        """The tensor of this number, None where it is none."""
        found = self.replay.values.by_id.get(id_)
        return found if isinstance(found, Tensor) else None

    def returned(self) -> dict[int, Array]:
        """What the body returns, by number."""
        return {id_: self.replay.values.by_id[id_].array for id_ in returned_tensors(self.replay)}


def _made_leaves(program: Program) -> dict[int, list[int]]:
    """The leaves that the body makes, by the index of the call after which each is one."""
    indices: dict[int, list[int]] = {}
    for id_ in program.leaves:
        made = [index for index, call in enumerate(program.calls) if id_ in call.results()]
        asked = [
            index
            for index, call in enumerate(program.calls)
            if call.op in ("requires_grad_", "requires_grad", "retain_grad") and call.args and call.args[0] == Ref(id_)
        ]
        for index in (asked or made)[:1]:
            indices.setdefault(index, []).append(id_)
    return indices


def inputs(adapter: JaxAdapter, program: Program, datas: Sequence[Any] | None = None) -> list[Array]:
    """The inputs of a Program as arrays, or others in their place."""
    given = [x.data for x in program.inputs] if datas is None else datas
    return [adapter.tensor(data, x.dtype)[0].array for x, data in zip(program.inputs, given, strict=True)]


def depends_on_values(failure: Failure) -> bool:
    """Whether a call failed since a value must be known that is not known yet while it is traced."""
    return not _UNKNOWN.isdisjoint(failure.classes)


__all__ = ["JaxAdapter", "Run", "depends_on_values", "inputs"]
