"""What a test file gets of the harness's module `generators`."""

from __future__ import annotations

import inspect
import os
import typing
from collections import namedtuple
from itertools import product
from typing import Any, Dict, Optional, Sequence, Tuple, Union  # noqa: UP035 - the names that the harness has

import numpy as np
import oneflow as flow
import torch

from autotest.dropin.dtypes import random_dtype, random_pytorch_dtype
from autotest.dropin.generators import (
    NoneType,
    Nothing,
    add,
    choice_pytorch_tensor,
    constant,
    convert_torch_object_to_flow,
    cpu_device,
    data_generator,
    generator,
    gpu_device,
    mul,
    neg,
    nothing,
    oneof,
    pack,
    py_tuple,
    random,
    random_bool,
    random_device,
    random_or_nothing,
    random_pytorch_tensor,
    tensor_converter,
    torch_to_flow_converter,
    tuple,
)
from autotest.dropin.lacking import computed
from autotest.dropin.placements import (
    GlobalScope,
    all_cpu_placement,
    all_cuda_placement,
    all_placement,
    all_sbp,
    broadcast,
    is_global,
    random_cpu_placement,
    random_gpu_placement,
    random_placement,
    random_sbp,
)
from autotest.dropin.randomness import random_util, rng
from autotest.dropin.state import state

TEST_MODULE, TEST_FLOW, TEST_TENSOR = range(3)

__getattr__ = computed(
    __name__,
    {
        "annotation2default_generator": lambda: state().generators,
        "annotation2torch_to_flow_converter": lambda: state().converters,
    },
)

__all__ = [
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "choice_pytorch_tensor",
    "constant",
    "cpu_device",
    "gpu_device",
    "nothing",
    "oneof",
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
]
