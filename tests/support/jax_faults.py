"""Faults planted in the target `jax`, in its own interpreter: `AUTOTEST_FAULT=jax_faults:NAME`. Imports no more than
that has.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def _plant(adapter: Any, path: str, function: Any) -> None:
    adapter.namespace.dialect._found[path] = function


def wrong_sine(adapter: Any) -> None:
    """A value that is wrong everywhere."""
    _plant(adapter, "sin", lambda input: jnp.sin(input) * 1.001)


def wrong_slope(adapter: Any) -> None:
    """A right value with a wrong gradient."""
    sine = jax.custom_jvp(jnp.sin)
    sine.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), tangents[0] * jnp.cos(primals[0]) * 1.001))
    _plant(adapter, "sin", sine)


def wrong_bend(adapter: Any) -> None:
    """A right value and gradient with a wrong second derivative."""
    slope = jax.custom_jvp(jnp.cos)
    slope.defjvp(lambda primals, tangents: (jnp.cos(primals[0]), tangents[0] * jnp.sin(primals[0])))
    sine = jax.custom_jvp(jnp.sin)
    sine.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), tangents[0] * slope(primals[0])))
    _plant(adapter, "sin", sine)


def wrong_when_compiled(adapter: Any) -> None:
    """A value that is wrong in a graph alone."""
    _plant(adapter, "sin", lambda input: jnp.sin(input) * (1.001 if isinstance(input, jax.core.Tracer) else 1))


def failing_when_run(adapter: Any) -> None:
    """A call that is traced and compiled, and fails when the compiled code runs."""

    def fail(input: Any) -> Any:
        raise RuntimeError("no sine today")

    _plant(adapter, "sin", lambda input: jax.pure_callback(fail, jax.ShapeDtypeStruct(input.shape, input.dtype), input))
