"""The executor that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from dual_object.adapters.torch.executors.captured import Export, ExportDecomp, Fx, MakeFx, Script, Trace
from dual_object.adapters.torch.executors.compiled import TorchCompile
from dual_object.adapters.torch.executors.executor import Executor
from dual_object.adapters.torch.executors.iree import Iree
from dual_object.adapters.torch.executors.moved import Fake, Lazy, Meta, Refs
from dual_object.adapters.torch.executors.onnx_runtime import OnnxRuntime
from dual_object.replay.asked.executors import AskedExecutor

#: By name; all others are backends of `torch.compile`.
_MADE: Mapping[str, Callable[[AskedExecutor], Executor]] = MappingProxyType(
    {
        "fx": Fx,
        "make_fx": MakeFx,
        "trace": Trace,
        "script": Script,
        "export": Export,
        "export_decomp": ExportDecomp,
        "lazy": Lazy,
        "refs": Refs,
        "meta": Meta,
        "fake": Fake,
        "onnxruntime": OnnxRuntime,
        "iree": Iree,
    }
)


def make_executor(asked: AskedExecutor) -> Executor:
    """An executor, with its options; it imports what it needs of PyTorch."""
    return _MADE.get(asked.name, TorchCompile)(asked)


__all__ = ["make_executor"]
