"""ONNX Runtime: a module as `torch.onnx.export` makes a model of it, run on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_unflatten

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.executors.executor import NO_LIMITS, NotCaptured, Whole
from dual_object.adapters.torch.executors.exported import arrays, exported, innermost, loaded, tensors
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.observation import GraphPart


class OnnxRuntime:
    """`torch.onnx.export` and an `InferenceSession`. Values alone are shown: a model shares no memory, and writes to
    nothing that it is given.
    """

    takes_batches = True
    shows: frozenset[GraphPart] = frozenset({"values"})
    zero_gradients = False
    limits = NO_LIMITS

    def __init__(self, asked: AskedExecutor) -> None:
        import onnxruntime

        private.quieten()
        self.name = asked.name
        self._runtime = onnxruntime
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = 1
        self._options.log_severity_level = 4  # it raises whatever it logs as an error

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Whole:
        """Export the module, convert that to a model, and load it."""
        program = exported(module, inputs)
        model = model_of(program)
        try:
            session = self._runtime.InferenceSession(model, self._options, providers=["CPUExecutionProvider"])
        except self._runtime.capi.onnxruntime_pybind11_state.NotImplemented as error:
            raise NotCaptured(error) from error
        names = [x.name for x in session.get_inputs()]

        def run(given: Sequence[torch.Tensor]) -> Any:
            results = tensors(session.run(None, dict(zip(names, arrays(given), strict=True))))
            return tree_unflatten(results, program.call_spec.out_spec)

        return loaded(run, inputs)


def model_of(program: torch.export.ExportedProgram) -> bytes:
    """The model of an exported program. Raises NotCaptured where there is no ONNX function for an op, else what the
    converter tripped over.
    """
    try:
        made = torch.onnx.export(program, dynamo=True, verbose=False)
    except torch.onnx.OnnxExporterError as error:
        cause = innermost(error)
        if isinstance(cause, (private.no_onnx_function(), NotImplementedError)):
            raise NotCaptured(cause) from error
        raise cause from None
    assert made is not None, "it writes no file"
    model: bytes = made.model_proto.SerializeToString()
    return model


__all__ = ["OnnxRuntime", "model_of"]
