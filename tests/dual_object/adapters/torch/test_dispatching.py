"""Modes of PyTorch's dispatcher."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Whether Dynamo is asked for when a mode of ours sees an operator, and when one of PyTorch's own does.
SEEN = """
import sys
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from dual_object.adapters.torch.dispatching import DispatchMode

sys.modules["torch._dynamo"] = None  # an import of it is refused

def asks(base):
    class Mode(base):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            return op(*args, **(kwargs or {}))
    try:
        with Mode():
            torch.ones(2).relu()
    except ImportError as refused:
        return refused.name
    return None

print(asks(DispatchMode), asks(TorchDispatchMode))
"""


@pytest.mark.slow
def test_dynamo_is_not_imported() -> None:
    """Which takes seconds, in every process that runs kernels."""
    done = subprocess.run([sys.executable, "-c", SEEN], check=True, capture_output=True, text=True)  # noqa: S603 - our own
    assert done.stdout == "None torch._dynamo\n"
