"""The target `torch` with overrides: kernels in the place of some of its ops, in this process alone."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from dual_object.adapters.torch.adapter import Adapter as Torch
from dual_object.adapters.torch.kernels.dispatched import Dispatched, install, operator
from dual_object.adapters.torch.kernels.loading import load_kernel
from dual_object.adapters.torch.kernels.samples.sample import leaves
from dual_object.adapters.torch.kernels.watching.auditing import Auditor
from dual_object.adapters.torch.kernels.watching.guard import Guard
from dual_object.errors import MissingOp, TargetError
from dual_object.program.program import Program
from dual_object.replay.adapter import Aspect, GraphRefusal, GraphRequest, TargetInfo
from dual_object.replay.asked.kernels import OVERRIDES
from dual_object.replay.observation import Observation

#: Why a Program has no static graph.
EAGER_ALONE = "the kernel of a public function runs eagerly alone: nothing says what a trace of it is"


class Asked(NamedTuple):
    """An override: the op below torch, where its kernel is, the dtypes that it is called with (none: all), what it is
    known not to take, and whether it may call the op itself.
    """

    op: str
    file: str
    function: str
    dtypes: Sequence[str]
    gaps: Sequence[str]
    delegates: bool

    @property
    def below(self) -> bool:
        """Whether it stands for an operator of the dispatcher."""
        return self.op.startswith("aten.")

    @property
    def name(self) -> str:
        """The op, as people type it."""
        return self.op if self.below else f"torch.{self.op}"

    @property
    def words(self) -> str:
        """The kernel, and what is said of it."""
        dtypes = f" for {', '.join(self.dtypes)}" if self.dtypes else ""
        gaps = f"; known gaps: {', '.join(self.gaps)}" if self.gaps else ""
        return f"{self.file}:{self.function}{dtypes}{gaps}"


class Adapter(Torch):
    """PyTorch with overrides: of public functions for calls by that very name, of operators for whatever reaches them
    on the CPU.
    """

    #: Nobody promises of a kernel how its result lies.
    lacks: frozenset[Aspect] = frozenset({"layout"})

    def __init__(self) -> None:
        super().__init__()
        self._asked = [Asked(*one) for one in json.loads(os.environ[OVERRIDES])]
        self._kernels: dict[str, Callable[..., Any]] = {}
        self._library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]  # PyTorch's has none
        # Everything is looked up before anything stands for it: a kernel may take what it calls while it is imported.
        made = [(asked, self._made(asked)) for asked in self._asked]
        for asked, kernel in made:
            if asked.below:
                install(self._library, operator(asked.op), kernel)
            else:
                self._kernels[asked.op] = kernel

    def info(self) -> TargetInfo:
        """PyTorch's own, and each override."""
        info = super().info()
        told = {f"kernel for {asked.name}": asked.words for asked in self._asked}
        return dataclasses.replace(info, environment={**info.environment, **told})

    def resolve(self, path: str) -> Any:
        """The kernel at `path`, where there is one; else what PyTorch has."""
        kernel = self._kernels.get(path)
        return super().resolve(path) if kernel is None else kernel

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """As PyTorch; what calls the kernel of a public function has no graph."""
        refused = [self._calls_a_kernel(program) for program in request.programs]
        if not any(refused):
            return super().graph(request)
        able = [index for index, no in enumerate(refused) if not no]
        again, gradients = request.again, request.gradients
        results = super().graph(
            dataclasses.replace(
                request,
                programs=[request.programs[index] for index in able],
                gradients=None if gradients is None else [gradients[index] for index in able],
                again=None if again is None else [again[index] for index in able],
            )
        )
        found: dict[int, Observation | GraphRefusal] = dict(zip(able, results, strict=True))
        return [found.get(index, GraphRefusal(True, None, (), EAGER_ALONE)) for index in range(len(refused))]

    def _calls_a_kernel(self, program: Program) -> bool:
        return any(call.kind == "function" and call.op in self._kernels for call in program.calls)

    def _made(self, asked: Asked) -> Callable[..., Any]:
        own = operator(asked.op) if asked.below else self._public(asked)
        kernel = load_kernel(asked.file, asked.function)
        auditor = Auditor(str(Path(asked.file).parent))

        def watched(kernel: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
            random = asked.below and torch.Tag.nondeterministic_seeded in operator(asked.op).tags
            delegates = asked.delegates or asked.below  # an operator is watched by the dispatcher itself
            guard = Guard(asked.op, kernel, own, auditor, delegates=delegates, always=True, random=random)
            return _within(asked.dtypes, guard, own)

        if asked.below:
            return Dispatched(own, kernel, watched, delegates=asked.delegates)
        return watched(kernel, own)

    def _public(self, asked: Asked) -> Callable[..., Any]:
        try:
            own = super().resolve(asked.op)
        except MissingOp:
            own = None
        if not callable(own) or isinstance(own, type):
            raise TargetError(f"override='{asked.name}', but PyTorch has no such function [--override]")
        return own  # type: ignore[no-any-return]  # whatever is called


def _within(dtypes: Sequence[str], guard: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel where every tensor is of one of these dtypes, if there are any; else PyTorch's own op."""
    if not dtypes:
        return guard
    known = {getattr(torch, name) for name in dtypes}

    def within(*args: Any, **kwargs: Any) -> Any:
        given = [leaf.dtype for leaf in leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        return (guard if known.issuperset(given) else own)(*args, **kwargs)

    return within


__all__ = ["EAGER_ALONE", "Adapter"]
