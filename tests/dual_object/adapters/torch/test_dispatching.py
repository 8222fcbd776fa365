"""Modes of PyTorch's dispatcher."""

from __future__ import annotations

import subprocess
import sys

#: Whether Dynamo is there after a mode of ours has seen an operator, and after one of PyTorch's own.
SEEN = """
import sys
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from dual_object.adapters.torch.dispatching import DispatchMode

def seen_by(base):
    class Mode(base):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            return op(*args, **(kwargs or {}))
    with Mode():
        torch.ones(2).relu()
    return "torch._dynamo" in sys.modules

print(seen_by(DispatchMode), seen_by(TorchDispatchMode))
"""


def test_dynamo_is_not_imported() -> None:
    """Which takes seconds, in every process that runs kernels."""
    done = subprocess.run([sys.executable, "-c", SEEN], check=True, capture_output=True, text=True)  # noqa: S603 - our own
    assert done.stdout == "False True\n"
