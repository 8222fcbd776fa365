"""The executor that is asked for."""

from __future__ import annotations

from dual_object.adapters.torch.executors.captured import Export, ExportDecomp, Fx, MakeFx, Script, Trace
from dual_object.adapters.torch.executors.compiled import TorchCompile
from dual_object.adapters.torch.executors.executor import Executor
from dual_object.replay.executors import AskedExecutor

_AHEAD = {
    "fx": Fx,
    "make_fx": MakeFx,
    "trace": Trace,
    "script": Script,
    "export": Export,
    "export_decomp": ExportDecomp,
}


def make_executor(asked: AskedExecutor) -> Executor:
    """An executor, with its options; it imports what it needs of PyTorch."""
    made = _AHEAD.get(asked.name)
    return TorchCompile(asked) if made is None else made(asked)


__all__ = ["make_executor"]
