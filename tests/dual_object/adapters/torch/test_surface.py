"""The ops of PyTorch: what a report may reproach a run with not having tested."""

from __future__ import annotations

import pytest
import torch

from dual_object.adapters.torch.adapter import Adapter
from dual_object.adapters.torch.surface import op_paths


def test_each_path_is_an_op(reference: Adapter) -> None:
    """Every path leads to something that can be called; a class among them is a module."""
    paths = op_paths()
    assert paths == sorted({*paths})
    for path in paths:
        found = reference.resolve(path)
        assert callable(found), path
        assert not isinstance(found, type) or issubclass(found, torch.nn.Module), path


@pytest.mark.parametrize(
    "path",
    [
        "matmul",
        "arange",
        "Tensor.matmul",
        "Tensor.add_",
        "Tensor.new_ones",
        "nn.functional.relu",
        "nn.functional.hardswish",
        "linalg.inv",
        "special.erf",
        "fft.rfft",
        "nn.Linear",
        "nn.CrossEntropyLoss",
        "nn.LSTM",
    ],
)
def test_ops_are_listed(path: str) -> None:
    """Functions, methods, in-place forms, makers of tensors and modules are ops."""
    assert path in op_paths()


@pytest.mark.parametrize(
    "path",
    [
        "save",
        "manual_seed",
        "is_grad_enabled",
        "set_default_dtype",
        "autocast",
        "no_grad",
        "float32",
        "Tensor.backward",
        "Tensor.register_hook",
        "Tensor.cuda",
        "Tensor.data_ptr",
        "Tensor.__add__",
        "Tensor.shape",
        "nn.functional.handle_torch_function",
        "nn.Module",
        "nn.ModuleList",
        "nn.Sequential",
        "nn.RNNBase",
        "nn.DataParallel",
        "nn.SyncBatchNorm",
        "nn.Parameter",
    ],
)
def test_what_is_no_op_is_not_listed(path: str) -> None:
    """Settings, files, contexts, dtypes, autograd's own, memory and modules that only hold others are no ops."""
    assert path not in op_paths()
