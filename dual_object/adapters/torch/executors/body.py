"""A Program as an `nn.Module` whose method `forward` has real source: `inspect` and `torch.jit.script` find it."""

from __future__ import annotations

import itertools
import linecache
import re
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from dual_object.program.program import Program
from dual_object.replay.forward import forward

_numbers = itertools.count()


def module_of(text: str, names: dict[str, Any], about: str) -> tuple[torch.nn.Module, str]:
    """A module whose class has the `forward` that is defined in `text`, with `names` in its scope, and the name of the
    file that tracebacks and tracers say `text` stands in: `about` and a number.
    """
    file = f"<{about} {next(_numbers)}>"
    scope = {**names}
    exec(compile(text, file, "exec"), scope)  # noqa: S102 - our own text
    # A class of its own: what an executor keeps for the code of one, it keeps for no other.
    kind = type("Body", (torch.nn.Module,), {"forward": scope["forward"]})
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    weakref.finalize(kind, linecache.cache.pop, file, None)
    module: torch.nn.Module = kind()
    return module, file


class Body:
    """One Program as a module; `made` are the modules that the Program itself makes, by number.

    Attributes:
        module: called on the Program's inputs it gives what `source.returned` and then `source.hosts` say.
        source: its method `forward`.
    """

    def __init__(self, program: Program, made: Mapping[int, Any], *, hosts: bool) -> None:
        self.source = forward(program, hosts=hosts)
        text = self.source.text
        self.module, self._file = module_of(text, {"torch": torch, **self.source.names}, "program")
        for id_, name in self.source.modules.items():
            if re.search(rf"\bself\.{name}\b", text):
                setattr(self.module, name, made[id_])

    def call_of(self, error: BaseException) -> int | None:
        """The index of the call that an exception came out of, None where that cannot be told."""
        line, trace = 0, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._file:
                line = trace.tb_lineno
            trace = trace.tb_next
        if not line:  # a tracer tells of it in words
            told = re.findall(rf'File "{re.escape(self._file)}", line (\d+)', str(error))
            line = int(told[-1]) if told else 0
        calls = self.source.calls
        return calls[line - 1] if 0 < line <= len(calls) else None


class Batch(torch.nn.Module):
    """Many independent modules as one, which takes all their inputs and gives the results of each."""

    def __init__(self, modules: Sequence[torch.nn.Module], counts: Sequence[int]) -> None:
        super().__init__()
        self.members = torch.nn.ModuleList(modules)
        self.counts = list(counts)

    def forward(self, *inputs: torch.Tensor) -> list[Any]:
        """Run one after the other."""
        results = []
        start = 0
        for member, count in zip(self.members, self.counts):  # noqa: B905 - not every tracer knows `strict`
            results.append(member(*inputs[start : start + count]))
            start += count
        return results


__all__ = ["Batch", "Body", "module_of"]
