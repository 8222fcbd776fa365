"""JAX: immutable arrays in cells that can be written to, gradients of whole Programs, its compiler as static graph.

Raises TargetError where JAX is not installed.
"""

from __future__ import annotations

import importlib.util

from dual_object.errors import TargetError

if importlib.util.find_spec("jax") is None:
    raise TargetError(
        "target 'jax' is not installed in this environment, but should be: pip install jax, "
        "or name an interpreter that has it [--target-python]"
    )
