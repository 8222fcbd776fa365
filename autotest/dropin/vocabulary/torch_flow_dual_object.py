"""What a test file gets of the harness's module `torch_flow_dual_object`."""

from __future__ import annotations

import collections.abc
import copy
import functools
import gc
import inspect
import os
import warnings

import numpy as np
import oneflow as flow
import torch as torch_original

from autotest.dropin import notes
from autotest.dropin.cases import size_limit
from autotest.dropin.checkers import (
    check_basetype_equality,
    check_equality,
    check_nonetype_equality,
    check_tensor_equality,
    equality_checker,
)
from autotest.dropin.decorator import autotest
from autotest.dropin.duals.namespace import torch
from autotest.dropin.duals.pairs import GetDualObject
from autotest.dropin.errors import BothDoNotSupportError, OneFlowGraphBuildOrRunError, PyTorchDoesNotSupportError
from autotest.dropin.generators import Nothing, choice_pytorch_tensor, generator, random_pytorch_tensor
from autotest.dropin.lacking import computed
from autotest.dropin.levels import aligns_exceptions
from autotest.dropin.notes import (
    clear_note_fake_program,
    get_args,
    get_fake_program_more_detail,
    get_tensor_shape,
    note_print_args,
    note_print_kwargs,
    print_note_fake_program,
    to_string,
)
from autotest.dropin.options import running_options
from autotest.dropin.placements import GlobalScope, broadcast, globaltest, is_global
from autotest.dropin.randomness import rng
from autotest.dropin.raw import (
    check_eager_graph_tensor,
    get_args_copy,
    get_functional_graph_res,
    get_global_test_device,
    get_module_graph_test,
    get_oneflow_eager_res,
    get_pytorch_oneflow_res,
    get_pytorch_oneflow_tensor_res,
    get_tensor_graph_res,
    oneflow_eager_run_with_graph_check,
    oneflow_tensor_eager_run_with_graph_check,
    torch_tensor_to_flow,
)
from autotest.dropin.state import state
from autotest.dropin.tensors import choice_tensor, random_tensor
from dual_object.record.dual import DualObject

from . import profiler as auto_profiler

__getattr__ = computed(
    __name__,
    {
        "align_exception": aligns_exceptions,
        "call_pytorch": notes.last_receiver,
        "call_tensor_id": notes.called_ids,
        "counter": notes.count,
        "dual_modules_to_test": notes.modules,
        "dual_objects_to_test": notes.duals,
        "extra_input_tensor": notes.made_tensors,
        "global_atol": lambda: running_options().atol,
        "global_backward": lambda: running_options().auto_backward,
        "global_check_allclose": lambda: running_options().check_allclose,
        "global_rtol": lambda: running_options().rtol,
        "note_pytorch_args": notes.positional,
        "note_pytorch_kwargs": notes.keywords,
        "note_pytorch_method_names": notes.method_names,
        "postulate": lambda: [".rand", ".Tensor"],
        "profiled_method_name": lambda: state().profiled,
        "tensor_size_limit_mb": size_limit,
        "testing": lambda: notes.recorded() is not None,
        "testing_graph": lambda: notes.recorded() is not None and running_options().check_graph,
        "torch_type2checker": lambda: state().checkers,
        "vis_parameters": notes.parameters,
        "vis_tensor": notes.input_tensors,
    },
)

__all__ = ["autotest", "choice_tensor", "globaltest", "random_tensor"]
