"""What a test file gets of the harness's module `profiler`."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable, Iterable, List, Optional, Tuple  # noqa: UP035 - the names that the harness has

import oneflow
import oneflow as flow
import torch

from autotest.dropin.lacking import computed
from autotest.dropin.profiling import (
    END_TO_END,
    RUN_NUM,
    WARMUP_NUM,
    ProfResult,
    compose,
    profile,
    profile_dual_object,
    run_flow,
    run_torch,
    set_hardware_info_list,
    set_profiler_hook,
)
from autotest.dropin.state import Hardware as HardwareInfo
from autotest.dropin.state import state


def _dual_object_module() -> Any:
    from . import torch_flow_dual_object

    return torch_flow_dual_object


__getattr__ = computed(
    __name__,
    {
        "dual_object_module": _dual_object_module,
        "profiled_framework": lambda: state().frameworks,
        "_hardware_info_list": lambda: state().hardware,
        "_profiler_hook": lambda: state().hook,
        "PROF_VERBOSE": lambda: "ONEFLOW_PROFILE_VERBOSE" in os.environ,
    },
)

__all__ = ["profile", "profile_dual_object", "profiled_framework", "set_profiler_hook"]
