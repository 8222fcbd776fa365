"""The executors of PyTorch by name, as a target asks for one: `torch:inductor`, `torch:aot_eager,dynamic`.

Nothing here imports PyTorch: a command line is checked before anything is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dual_object.errors import TargetError

#: What a target's name begins with where it names an executor.
PREFIX = "torch:"
#: What may follow a name of the `torch.compile` family, and what it means.
_COMPILE_OPTIONS = ("dynamic", "fullgraph", "mark_dynamic")


@dataclass(frozen=True, slots=True)
class ExecutorRow:
    """An executor: what it is in words, and the options that it takes."""

    words: str
    options: tuple[str, ...] = ()


EXECUTORS: Mapping[str, ExecutorRow] = MappingProxyType(
    {
        "fx": ExecutorRow("torch.fx.symbolic_trace"),
        "trace": ExecutorRow("torch.jit.trace"),
        "script": ExecutorRow("torch.jit.script"),
        "eager": ExecutorRow("torch.compile with backend eager: Dynamo alone", _COMPILE_OPTIONS),
        "aot_eager": ExecutorRow("torch.compile with backend aot_eager: Dynamo and AOTAutograd", _COMPILE_OPTIONS),
        "aot_eager_decomp_partition": ExecutorRow(
            "the same with Inductor's decompositions and partitioner", _COMPILE_OPTIONS
        ),
        "inductor": ExecutorRow("torch.compile as it is", (*_COMPILE_OPTIONS, "emulate_precision_casts")),
        "export": ExecutorRow("torch.export.export"),
        "export_decomp": ExecutorRow("the same, decomposed to the core ATen ops; forward only"),
    }
)


@dataclass(frozen=True, slots=True)
class AskedExecutor:
    """What a target's name asks for; `target` is that name."""

    target: str
    name: str
    options: frozenset[str] = frozenset()


def asked_executor(target: str) -> AskedExecutor | None:
    """The executor that `target` asks for, None where it asks for none; raises TargetError for an executor or option
    that there is not.
    """
    if not target.startswith(PREFIX):
        return None
    name, *options = target.removeprefix(PREFIX).split(",")
    if name not in EXECUTORS:
        raise TargetError(f"executor={name!r}, but should be one of {', '.join(EXECUTORS)} [--target torch:EXECUTOR]")
    known = EXECUTORS[name].options
    for option in options:
        if option not in known:
            takes = f"one of {', '.join(known)}" if known else f"left out: {name} takes none"
            raise TargetError(f"option={option!r}, but should be {takes} [--target torch:{name},OPTION]")
    return AskedExecutor(target, name, frozenset(options))


__all__ = ["EXECUTORS", "PREFIX", "AskedExecutor", "ExecutorRow", "asked_executor"]
