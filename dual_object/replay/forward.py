"""A Program as the method `forward` of a module: the source that PyTorch's own executors are given.

```python
def forward(self, x, y):
    t0 = torch.matmul(x, y)
    t1 = self.m2(t0)
    t2 = t1.shape
    return (t1, t2)
```

It is what a person would have written: real calls, modules as attributes of `self`, reads of plain values as far as the
executor can give them back.
"""

from __future__ import annotations

import builtins
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from dual_object.program.calls import Call
from dual_object.program.printing import lines
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref, refs
from dual_object.replay.replay import OPERATORS, import_function
from dual_object.replay.tracing import setup_calls

#: What the text calls otherwise than by the names of the Program's values.
_TAKEN = frozenset({"self", "torch"})


@dataclass(frozen=True, slots=True)
class Forward:
    """The method of one Program.

    Attributes:
        text: its source; it returns one tuple.
        calls: by line of it, from the first: the index of the call that stands there, None where none does.
        names: what the text means by names of its own: operators, arrays, functions of custom ops.
        modules: the names that it has for modules, below `self`, by number of the module.
        returned: numbers of the values that it returns first.
        hosts: indices of the calls whose plain values it returns after those.
    """

    text: str
    calls: tuple[int | None, ...]
    names: dict[str, Any]
    modules: dict[int, str]
    returned: tuple[int, ...]
    hosts: tuple[int, ...]

    @property
    def names_of_results(self) -> list[str]:
        """What the text calls that which it returns, in order."""
        return [name for name in self.text.rstrip().rpartition("return (")[2].rstrip(",)").split(", ") if name]


def forward(program: Program, *, hosts: bool) -> Forward:
    """The method of `program`, whose modules have been made and configured before; `hosts`: it gives back what the body
    read to Python (`x.item()`), too.
    """
    made = _Made(program)
    setup = set(setup_calls(program))
    kept: list[tuple[int, Call]] = []
    read: dict[int, int] = {}
    for index, call in enumerate(program.calls):
        if index in setup or call.raises:
            continue
        if call.out is not None and not refs(call.out):
            if not hosts:
                continue
            read[index] = next(made.free)
            call = replace(call, out=Ref(read[index]))
        kept.append((index, made.named(call)))
    returned = [id_ for id_ in _shown(program) if id_ not in made.modules]
    printed = Program(
        inputs=[replace(x, name="") if x.name in _TAKEN else x for x in program.inputs],
        calls=[call for _, call in kept],
        outputs=tuple(map(Ref, (*returned, *read.values()))),
    )
    header, *body = lines(printed, made.array, {id_: f"self.{name}" for id_, name in made.modules.items()})
    shown = "\n".join(line.text for line in body)
    made.operators(call.op for _, call in kept if call.kind == "operator" and f"{call.op}(" in shown)
    text = [header.text.replace("def program(torch", "def forward(self", 1), *(line.text for line in body)]
    calls = [None, *(None if line.call is None else kept[line.call][0] for line in body)]
    return Forward("\n".join(text) + "\n", tuple(calls), made.names, made.modules, tuple(returned), tuple(read))


def _shown(program: Program) -> Iterator[int]:
    """Numbers of all values that an observation is made of, each once."""
    yield from dict.fromkeys([*refs(program.outputs), *program.watched, *program.cotangents, *program.leaves])


@dataclass
class _Made:
    """The names that a text needs besides those of its values."""

    program: Program
    names: dict[str, Any] = field(default_factory=lambda: {"OrderedDict": OrderedDict})
    modules: dict[int, str] = field(init=False)
    free: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.modules = {id_: f"m{id_}" for call in self.program.modules() for id_ in call.results()}
        self.free = self.program.free()

    def array(self, data: Array) -> str:
        """The name of an array."""
        return self._name("array", data.copy())

    def named(self, call: Call) -> Call:
        """The call as the text has it: what it calls by a bare name means that function."""
        if call.kind == "custom":
            assert call.custom is not None
            side = call.custom[1]
            function = import_function(side) if isinstance(side, str) else side
            return replace(call, op=self._name(call.op.rpartition(".")[2], function))
        return call

    def operators(self, ops: Iterable[str]) -> None:
        """Take in those operators that are called by name and that Python does not have under it; its own `iter` does
        where a statement takes apart what it gives.
        """
        own = {"iter", *(op for op in OPERATORS if OPERATORS[op] is getattr(builtins, op, None))}
        self.names.update({op: OPERATORS[op] for op in ops if op not in own})

    def _name(self, stem: str, value: Any) -> str:
        name = f"{stem}_{len(self.names)}"
        self.names[name] = value
        return name


__all__ = ["Forward", "forward"]
