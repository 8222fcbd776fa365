"""The executors of PyTorch by name, as a target asks for one: `torch:inductor`, `torch:aot_eager,dynamic`.

Nothing here imports PyTorch: a command line is checked before anything is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType

from dual_object.errors import TargetError
from dual_object.meant import did_you_mean

#: What a target's name begins with where it names an executor.
PREFIX = "torch:"
#: What stands between a target's name and the words in which its executor itself says that it takes no such Program.
REFUSES = "refuses it:"
#: What may follow a name of the `torch.compile` family, and what it means.
_COMPILE_OPTIONS = ("dynamic", "fullgraph", "mark_dynamic")
#: The lines of a script that raise where Dynamo does not make one graph of `module`.
_EXPLAINED = (
    "explained = torch._dynamo.explain(module)(*inputs)",
    r'breaks = [reason.reason.partition("\n")[0] for reason in explained.break_reasons]',
    "if breaks or explained.graph_count != 1:",
    """    raise RuntimeError(f"Dynamo's graphs: {explained.graph_count}, breaks: {'; '.join(breaks)}")""",
)


@dataclass(frozen=True, slots=True)
class ExecutorRow:
    """An executor: what it is in words, the options that it takes, and how a script captures a module with it.

    `code` is an expression of `module` and `inputs`, empty where a script has none; one of `torch.compile` ends where
    its options begin. `packages` are what it needs besides PyTorch, as they are installed: the extra that has them is
    called as it is. `leaves` are the files that a script writes beside itself: what the runtime was given.
    """

    words: str
    code: str = ""
    options: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()

    def capture(self, options: frozenset[str], *, whole: bool) -> list[str]:
        """The lines of a script that bind `captured`; `whole`: what does not come into one graph raises. `fullgraph` is
        not what asks for that: with it PyTorch takes `x.item()` into the graph, and without it breaks there.
        """
        if not self.options:
            lines = ["with torch.no_grad():", f"    captured = {self.code}"] if self.forward_only else []
            return lines or [f"captured = {self.code}"]
        settings = [name for name in ("dynamic", "fullgraph") if name in options]
        before = list(_EXPLAINED if whole and "fullgraph" not in options else ())
        if "emulate_precision_casts" in options:
            before += ["import torch._inductor.config", "torch._inductor.config.emulate_precision_casts = True"]
        return [*before, f"captured = {self.code}{''.join(f', {name}=True' for name in settings)})"]

    @property
    def forward_only(self) -> bool:
        """Whether nothing can be differentiated through what it captures."""
        return self.words.endswith("forward only")

    @property
    def reads(self) -> bool:
        """Whether what it captures gives back what the body read to Python (`x.item()`): it runs Python in between."""
        return bool(self.options)


EXECUTORS: Mapping[str, ExecutorRow] = MappingProxyType(
    {
        "fx": ExecutorRow("torch.fx.symbolic_trace: its Python, run on proxies", "torch.fx.symbolic_trace(module)"),
        "make_fx": ExecutorRow(
            "make_fx: the ATen ops of a run on example inputs",
            "torch.fx.experimental.proxy_tensor.make_fx(module)(*inputs)",
        ),
        "trace": ExecutorRow("torch.jit.trace", "torch.jit.trace(module, inputs, check_trace=False)"),
        "script": ExecutorRow("torch.jit.script", "torch.jit.script(module)"),
        "eager": ExecutorRow(
            "torch.compile with backend eager: Dynamo alone",
            'torch.compile(module, backend="eager"',
            _COMPILE_OPTIONS,
        ),
        "aot_eager": ExecutorRow(
            "torch.compile with backend aot_eager: Dynamo and AOTAutograd",
            'torch.compile(module, backend="aot_eager"',
            _COMPILE_OPTIONS,
        ),
        "aot_eager_decomp_partition": ExecutorRow(
            "the same with Inductor's decompositions and partitioner",
            'torch.compile(module, backend="aot_eager_decomp_partition"',
            _COMPILE_OPTIONS,
        ),
        "inductor": ExecutorRow(
            "torch.compile as it is",
            'torch.compile(module, backend="inductor"',
            (*_COMPILE_OPTIONS, "emulate_precision_casts"),
        ),
        "export": ExecutorRow("torch.export.export", "torch.export.export(module, inputs).module()"),
        "export_decomp": ExecutorRow(
            "the same, decomposed to the core ATen ops; forward only",
            "torch.export.export(module, inputs).run_decompositions().module()",
        ),
        "lazy": ExecutorRow("Lazy Tensor with its TorchScript backend"),
        "refs": ExecutorRow("torch._refs: ops written out in simpler ones; forward only"),
        "meta": ExecutorRow("the device meta: shapes, dtypes and strides without values; forward only"),
        "fake": ExecutorRow("fake tensors: the same, as tracers see it; forward only"),
        "onnxruntime": ExecutorRow(
            "torch.onnx.export, and ONNX Runtime on the CPU; forward only",
            "onnx_runtime(module, inputs)",
            packages=("onnx", "onnxscript", "onnxruntime"),
            leaves=("program.onnx",),
        ),
        "iree": ExecutorRow(
            "iree-turbine, iree-compile for the CPU, and IREE's runtime; forward only",
            "iree(module, inputs)",
            packages=("iree-base-compiler", "iree-base-runtime", "iree-turbine"),
            leaves=("program.torch.mlir", "program.linalg.mlir"),
        ),
    }
)


@dataclass(frozen=True, slots=True)
class AskedExecutor:
    """What a target's name asks for; `target` is that name."""

    target: str
    name: str
    options: frozenset[str] = frozenset()


def asked_executor(target: str) -> AskedExecutor | None:
    """The one executor that `target` asks for, None where it asks for none; raises TargetError for an executor or
    option that there is not.
    """
    if not target.startswith(PREFIX):
        return None
    if f",{PREFIX}" in target:
        raise TargetError(f"target={target!r}, but should be one of these executors alone [--target torch:EXECUTOR]")
    name, *options = target.removeprefix(PREFIX).split(",")
    if name not in EXECUTORS:
        raise TargetError(
            f"executor={name!r}, but should be one of {', '.join(EXECUTORS)}{did_you_mean(name, EXECUTORS)} "
            "[--target torch:EXECUTOR]"
        )
    known = EXECUTORS[name].options
    for option in options:
        if option not in known:
            takes = f"one of {', '.join(known)}" if known else f"left out: {name} takes none"
            raise TargetError(f"option={option!r}, but should be {takes} [--target torch:{name},OPTION]")
    return AskedExecutor(target, name, frozenset(options))


def versions_of(asked: AskedExecutor) -> dict[str, str]:
    """The versions of what an executor needs besides PyTorch. Raises TargetError where a package is not there."""
    needed = EXECUTORS[asked.name].packages
    found = {}
    for package in needed:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    absent = [package for package in needed if package not in found]
    if absent:
        raise TargetError(
            f"target {asked.target!r} needs {', '.join(absent)}, not installed here: make an environment of its own "
            f"with pip install 'op-autotest[{asked.name}]', and run it there [--target]"
        )
    return found


__all__ = ["EXECUTORS", "PREFIX", "REFUSES", "AskedExecutor", "ExecutorRow", "asked_executor", "versions_of"]
