"""A target whose static graph has configurations, each with a fault: PyTorch, as `configured:Adapter`.

`sound` and `half` are right; the others do otherwise to Programs with one op, which their name begins with, or with a
module. `log` is wrong in every graph, and no graph counts batches. The module is found as the planted faults are, in
the folder of `faults.py`.
"""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from dual_object.adapters.torch.adapter import Adapter as Torch
from dual_object.program.program import Program
from dual_object.replay.adapter import Configuration, GraphError, GraphRefusal, GraphRequest, TargetInfo
from dual_object.replay.observation import Observation

CONFIGURATIONS = (
    Configuration("sound", "changes nothing"),
    Configuration("half", "rounds as float16 does", "float16"),
    Configuration("sin_rounds", "rounds as float16 does, and does not say so"),
    Configuration("sin_wrong", "adds one"),
    Configuration("sin_again", "adds one at the second call"),
    Configuration("cos_raises", "refuses one op"),
    Configuration("tan_fails", "fails as a whole"),
    Configuration("exp_aborts", "ends the process"),
    Configuration("modules_wrong", "adds one where there is a module", of_modules=True),
)


class Adapter(Torch):
    """PyTorch whose graphs may be built under `CONFIGURATIONS`."""

    def info(self) -> TargetInfo:
        """As PyTorch, with the configurations."""
        return dataclasses.replace(super().info(), name="configured", configurations=CONFIGURATIONS)

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """What PyTorch's own graph gives, and then the fault; a file `graphs` has a line for each graph."""
        results = super().graph(request)
        name = request.configuration
        with (Path(os.environ.get("AUTOTEST_ONCE", ".")) / "graphs").open("a") as lines:
            ops = " ".join(sorted({op for program in request.programs for op in program.ops()}))
            lines.write(f"{name or 'plain'}: {ops}\n")
        wrong = [seen for program, seen in zip(request.programs, results, strict=True) if "log" in program.ops()]
        _change(wrong, lambda data: data + 1)
        _change_buffer(results, "num_batches_tracked")
        if name == "half":
            _change(results, _rounded)
            return results
        op = name.partition("_")[0]
        struck = [seen for program, seen in zip(request.programs, results, strict=True) if op in program.ops()]
        if name == "sin_rounds":
            _change(struck, _rounded)
        elif name == "sin_wrong":
            _change(struck, lambda data: data + 1)
        elif name == "sin_again":
            _change((seen.again for seen in struck if isinstance(seen, Observation)), lambda data: data + 1)
        elif name == "modules_wrong":
            _change(results, lambda data: data + 1)
            _change_buffer(results, "running_mean")
        elif name == "cos_raises":
            return [_refusal(program, op) or seen for program, seen in zip(request.programs, results, strict=True)]
        elif name == "tan_fails" and struck:
            raise GraphError(("RuntimeError",), "planted", poisoned=False)
        elif name == "exp_aborts" and struck:
            os.kill(os.getpid(), signal.SIGABRT)
        return results


def _refusal(program: Program, op: str) -> GraphRefusal | None:
    calls = [index for index, call in enumerate(program.calls) if call.op == op]
    return GraphRefusal(False, calls[0], ("RuntimeError",), "planted") if calls else None


def _rounded(data: Any) -> Any:
    exact = torch.from_numpy(data)
    return exact.half().to(exact.dtype).numpy()


def _change(results: Iterable[Any], change: Any) -> None:
    for seen in results:
        if isinstance(seen, Observation):
            for shown in seen.outputs.values():
                shown.data = change(shown.data)


def _change_buffer(results: Iterable[Any], name: str) -> None:
    for seen in results:
        if isinstance(seen, Observation):
            for key, shown in seen.buffers.items():
                if key.endswith(f".{name}"):
                    shown.data = shown.data + 1
