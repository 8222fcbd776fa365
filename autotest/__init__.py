"""op-autotest: checks that a framework's ops behave like PyTorch's, eagerly and in a static graph, forward and
backward.

Names are imported when they are first used, so that a pytest session without an `@autotest` test pays nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotest.api.contract import contract
    from autotest.api.decorator import autotest
    from autotest.api.global_tensors import (
        GlobalScope,
        all_cpu_placement,
        all_cuda_placement,
        all_placement,
        all_sbp,
        globaltest,
        is_global,
        placement,
        random_cpu_placement,
        random_gpu_placement,
        random_placement,
        random_sbp,
        sbp,
    )
    from autotest.api.hazard import hazard
    from autotest.api.mutated import mutated
    from autotest.api.programs.random_program import random_program
    from autotest.api.tensors import choice_tensor, dual_tensor, random_device, random_dtype, random_tensor
    from autotest.errors import (
        AutotestError,
        BodyTimeoutError,
        DivergenceError,
        EnvironmentFault,
        HazardError,
        RejectionError,
        UsageError,
    )
    from autotest.kernels.running import judge_kernel
    from dual_object.record.dual import DualObject
    from dual_object.record.namespace import GetDualObject, dual, torch
    from generators import (
        Nothing,
        constant,
        each,
        nothing,
        oneof,
        random,
        random_bool,
        random_or_nothing,
        random_size,
        tuple,  # noqa: F401 - reachable by name, kept out of `__all__`
    )

_HOMES = {
    "autotest.api.decorator": ("autotest",),
    "autotest.errors": (
        "AutotestError",
        "BodyTimeoutError",
        "DivergenceError",
        "EnvironmentFault",
        "HazardError",
        "RejectionError",
        "UsageError",
    ),
    "autotest.api.global_tensors": (
        "GlobalScope",
        "all_cpu_placement",
        "all_cuda_placement",
        "all_placement",
        "all_sbp",
        "globaltest",
        "is_global",
        "placement",
        "random_cpu_placement",
        "random_gpu_placement",
        "random_placement",
        "random_sbp",
        "sbp",
    ),
    "autotest.api.contract": ("contract",),
    "autotest.api.hazard": ("hazard",),
    "autotest.api.mutated": ("mutated",),
    "autotest.kernels.running": ("judge_kernel",),
    "autotest.api.programs.random_program": ("random_program",),
    "autotest.api.tensors": ("choice_tensor", "dual_tensor", "random_device", "random_dtype", "random_tensor"),
    "dual_object.record.namespace": ("GetDualObject", "dual", "torch"),
    "dual_object.record.dual": ("DualObject",),
    "generators": (
        "Nothing",
        "constant",
        "each",
        "nothing",
        "oneof",
        "random",
        "random_bool",
        "random_or_nothing",
        "random_size",
        "tuple",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# `tuple` is left out: a star import must not replace the builtin.
__all__ = [
    "AutotestError",
    "BodyTimeoutError",
    "DivergenceError",
    "DualObject",
    "EnvironmentFault",
    "GetDualObject",
    "GlobalScope",
    "HazardError",
    "Nothing",
    "RejectionError",
    "UsageError",
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "autotest",
    "choice_tensor",
    "constant",
    "contract",
    "dual",
    "dual_tensor",
    "each",
    "globaltest",
    "hazard",
    "is_global",
    "judge_kernel",
    "mutated",
    "nothing",
    "oneof",
    "placement",
    "random",
    "random_bool",
    "random_cpu_placement",
    "random_device",
    "random_dtype",
    "random_gpu_placement",
    "random_or_nothing",
    "random_placement",
    "random_program",
    "random_sbp",
    "random_size",
    "random_tensor",
    "sbp",
    "torch",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'autotest' has no attribute {name!r}")
    if home not in sys.modules:
        from autotest.shadows import check_shadows

        check_shadows()
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
