"""IREE: a module as iree-turbine imports it into MLIR, compiled for the CPU by LLVM, and run by IREE's own runtime."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.executors.executor import NO_LIMITS, NotCaptured, Whole
from dual_object.adapters.torch.executors.exported import arrays, decomposed, exported, loaded, tensors
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.observation import GraphPart

#: The compiler as a user calls it, but that float64 stays what it is.
_ARGUMENTS = ("--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false")
#: How a pass of the compiler says that it has no lowering for an op, or not for these operands.
_NO_LOWERING = ("failed to legalize operation", "unimplemented")
_NAME = re.compile(r'<\{name = "([^"]+)"')


class CompilationError(Exception):
    """`iree-compile` has ended with an error: its first diagnostic in one line."""


class Iree:
    """`iree.turbine.aot.export`, `iree-compile` with the backend `llvm-cpu`, and the runtime's driver `local-sync`.

    Values alone are shown: what comes back is in the runtime's own memory.
    """

    takes_batches = False
    shows: frozenset[GraphPart] = frozenset({"values"})
    zero_gradients = False
    limits = NO_LIMITS

    def __init__(self, asked: AskedExecutor) -> None:
        from iree import compiler, runtime
        from iree.turbine import aot

        private.quieten()
        self.name = asked.name
        self._aot = aot
        self._compiler = compiler
        self._runtime = runtime
        self._config = runtime.Config("local-sync")

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Whole:
        """Export the module, import that into MLIR, compile it, and load it."""
        program = decomposed(exported(module, inputs), self._aot.current_aot_decompositions())
        try:
            imported = str(self._aot.export(program).mlir_module)
        except NotImplementedError as error:
            raise NotCaptured(error) from error
        context = self._runtime.SystemContext(config=self._config)
        context.add_vm_module(self._runtime.VmModule.copy_buffer(context.instance, self._compiled(imported)))
        main = context.modules.module["main"]

        def run(given: Sequence[torch.Tensor]) -> Any:
            results = main(*arrays(given))
            return tensors(results if isinstance(results, tuple) else [results])

        return loaded(run, inputs)

    def _compiled(self, imported: str) -> bytes:
        try:
            made: bytes = self._compiler.compile_str(
                imported, input_type="torch", target_backends=["llvm-cpu"], extra_args=[*_ARGUMENTS]
            )
        except self._compiler.CompilerToolError as error:
            told = CompilationError(diagnostic(str(error)))
            if str(told).startswith(_NO_LOWERING):
                raise NotCaptured(told) from error
            raise told from None
        return made


def diagnostic(text: str) -> str:
    """The first error of the compiler, without the names of values; where it died, that, with the signal."""
    code = re.search(r"^Error code: (-?\d+)", text, re.MULTILINE)
    if code is not None and int(code[1]) < 0:
        return f"iree-compile was ended by signal {-int(code[1])}"
    said = next((line.partition("error: ")[2] for line in text.splitlines() if "error: " in line), "it said nothing")
    name = _NAME.search(said)
    return re.split(r": %|: \"|: ins\(", said)[0] + (f" ({name[1]})" if name else "")


__all__ = ["CompilationError", "Iree", "diagnostic"]
