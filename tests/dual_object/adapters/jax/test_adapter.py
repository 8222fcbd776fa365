"""JAX in a spawned worker conforms: eager, gradients of whole Programs, all Programs of a request in one `jax.jit`."""

from __future__ import annotations

import importlib.util

import pytest

from support.adapter_conformance import AdapterConformance

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")


class TestJax(AdapterConformance):
    """JAX."""

    target = "jax"
    rtol = 1e-5
    atol = 1e-5
    refused = {"strided": "unmapped"}  # it asks whether a tensor is contiguous
