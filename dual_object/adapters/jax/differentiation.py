"""Gradients of whole Programs, of first and second order: one function of the leaves, compiled where that can be.

PyTorch's gradients of complex numbers are the conjugates of JAX's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp

from dual_object.adapters.jax.ops.shared import Array
from dual_object.adapters.jax.tensor import Tensor
from dual_object.adapters.jax.traced import JaxAdapter, Run, depends_on_values, inputs
from dual_object.program.program import Program
from dual_object.replay.tracing import TraceRefused

#: Arrays by leaf key.
Leaves = dict[str, Array]


class Differentiated:
    """A Program whose outputs are a function of its leaves.

    Attributes:
        reached: the keys of the leaves that an output with a cotangent comes of, once the function has been called.
    """

    def __init__(self, adapter: JaxAdapter, program: Program, keys: Sequence[str]) -> None:
        self._adapter, self._program = adapter, program
        self._keys = [key for key in keys if "." not in key]
        self.reached: set[str] = set()

    def leaves(self, arrays: Sequence[Array]) -> Leaves:
        """The leaves, for inputs that are these: what they are, and zeros for those that the body makes."""
        given = {str(x.id): array for x, array in zip(self._program.inputs, arrays, strict=True)}
        made = [int(key) for key in self._keys if key not in given]
        shapes = jax.eval_shape(lambda *own: self._made(own, made), *arrays) if made else {}
        zeros = {str(id_): jnp.zeros(shape.shape, shape.dtype) for id_, shape in shapes.items()}
        own = {key: given[key] for key in self._keys if key in given}
        return {key: leaf for key, leaf in {**own, **zeros}.items() if jnp.issubdtype(leaf.dtype, jnp.inexact)}

    def _made(self, arrays: Sequence[Array], made: Sequence[int]) -> dict[int, Array]:
        run = Run(self._adapter, self._program, arrays)
        tensors = {id_: run.tensor(id_) for id_ in made}
        return {id_: tensor.array for id_, tensor in tensors.items() if tensor is not None}

    def run(self, arrays: Sequence[Array], leaves: Leaves) -> Run:
        """The run with these leaves."""
        ids = [str(x.id) for x in self._program.inputs]
        own = [leaves.get(key, array) for key, array in zip(ids, arrays, strict=True)]
        added = {int(key): leaf for key, leaf in leaves.items() if key not in ids}
        return Run(self._adapter, self._program, own, [*leaves], added)

    def gradients(
        self, arrays: Sequence[Array], leaves: Leaves, cotangents: Mapping[int, Array]
    ) -> tuple[Leaves, dict[int, Array]]:
        """The gradients of `leaves`, and what the body returns."""

        def outputs(leaves: Leaves) -> tuple[dict[int, Array], dict[int, Array]]:
            run = self.run(arrays, leaves)
            tensors = {id_: run.tensor(id_) for id_ in cotangents}
            starts = {id_: tensor for id_, tensor in tensors.items() if tensor is not None and tensor.leaves}
            self.reached.update(*(tensor.leaves for tensor in starts.values()))
            return {id_: tensor.array for id_, tensor in starts.items()}, run.returned()

        return pulled(outputs, leaves, cotangents)

    def seconds(
        self,
        arrays: Sequence[Array],
        leaves: Leaves,
        cotangents: Mapping[int, Array],
        second_cotangents: Mapping[str, Array],
    ) -> Leaves:
        """The gradients of the first gradients."""

        def firsts(leaves: Leaves) -> tuple[Leaves, Any]:
            gradients, returned = self.gradients(arrays, leaves, cotangents)
            return {key: gradient for key, gradient in gradients.items() if key in second_cotangents}, returned

        return pulled(firsts, leaves, second_cotangents)[0]


def pulled(
    function: Callable[[Leaves], tuple[Mapping[Any, Array], Any]], leaves: Leaves, cotangents: Mapping[Any, Array]
) -> tuple[Leaves, Any]:
    """The gradients of a function's first result, from these cotangents, by PyTorch's convention; its second result."""
    results, pull, more = jax.vjp(function, leaves, has_aux=True)
    starts = {key: jnp.conj(cotangents[key].astype(result.dtype)) for key, result in results.items()}
    [gradients] = pull(starts)
    return {key: jnp.conj(gradient) for key, gradient in gradients.items()}, more


def derivatives(adapter: JaxAdapter, program: Program, keys: Sequence[str], order: Literal[1, 2]) -> dict[str, Tensor]:
    """The gradients of the leaves at `keys`, or theirs. Raises what the framework raises, or TraceRefused."""
    whole = Differentiated(adapter, program, keys)
    arrays = inputs(adapter, program)
    leaves = whole.leaves(arrays)
    cotangents = {id_: jnp.asarray(data) for id_, data in program.cotangents.items()}
    seconds = {key: jnp.asarray(data) for key, data in program.second_cotangents.items()}

    def first(arrays: Any, leaves: Leaves, cotangents: Any, seconds: Any) -> Leaves:
        return whole.gradients(arrays, leaves, cotangents)[0]

    function = first if order == 1 else whole.seconds
    try:
        found = jax.jit(function)(arrays, leaves, cotangents, seconds)
    except TraceRefused as refused:
        if not depends_on_values(refused.failure):
            raise
        found = function(arrays, leaves, cotangents, seconds)
    return {
        key: Tensor(gradient, adapter.namespace, frozenset({key}))
        for key, gradient in found.items()
        if key in whole.reached
    }


__all__ = ["Differentiated", "derivatives"]
