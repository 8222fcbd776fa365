"""What a test file gets for `from oneflow.test_utils.automated_test_util import *`."""

from __future__ import annotations

import os

from autotest.dropin.decorator import autotest
from autotest.dropin.dtypes import random_dtype, random_pytorch_dtype
from autotest.dropin.duals.namespace import torch
from autotest.dropin.generators import (
    choice_pytorch_tensor,
    constant,
    cpu_device,
    gpu_device,
    nothing,
    oneof,
    random,
    random_bool,
    random_device,
    random_or_nothing,
    random_pytorch_tensor,
)
from autotest.dropin.lacking import refuse
from autotest.dropin.placements import (
    all_cpu_placement,
    all_cuda_placement,
    all_placement,
    all_sbp,
    globaltest,
    random_cpu_placement,
    random_gpu_placement,
    random_placement,
    random_sbp,
)
from autotest.dropin.tensors import choice_tensor, random_tensor

from . import generators, global_scope, profiler, torch_flow_dual_object, util
from .profiler import profile

__getattr__ = refuse(__name__)

__all__ = [
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "autotest",
    "choice_pytorch_tensor",
    "choice_tensor",
    "constant",
    "cpu_device",
    "generators",
    "global_scope",
    "globaltest",
    "gpu_device",
    "nothing",
    "oneof",
    "os",
    "profile",
    "profiler",
    "random",
    "random_bool",
    "random_cpu_placement",
    "random_device",
    "random_dtype",
    "random_gpu_placement",
    "random_or_nothing",
    "random_placement",
    "random_pytorch_dtype",
    "random_pytorch_tensor",
    "random_sbp",
    "random_tensor",
    "torch",
    "torch_flow_dual_object",
    "util",
]
