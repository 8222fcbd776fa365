"""A Program as the Python function that people read in the terminal, in the report and in a repro."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from dual_object.program.calls import Call, Input
from dual_object.program.values import Array, Device, Name, Named, Opaque, Placement, Ref, Sbp, Tree

_INPUT_NAMES = ("x", "y", "z", "w", "u", "v")

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_INPLACE = {
    f"i{name.rstrip('_')}": symbol + "="
    for name, symbol in _INFIX.items()
    if symbol not in ("==", "!=", "<", "<=", ">", ">=")
}
_PREFIX = {"neg": "-", "pos": "+", "invert": "~"}


class Printable(Protocol):
    """What of a Program is printed."""

    @property
    def inputs(self) -> Sequence[Input]:
        """The tensors that it starts from."""

    @property
    def calls(self) -> Sequence[Call]:
        """What it does, in order."""

    @property
    def outputs(self) -> Tree:
        """What it returns."""

    @property
    def cotangent_strides(self) -> Mapping[int, tuple[int, ...]]:
        """Strides of those outputs' cotangents that are not contiguous, by number."""

    @property
    def second_cotangents(self) -> Mapping[str, Array]:
        """Cotangents of second derivatives by leaf key; empty where there are none."""


@dataclass(frozen=True)
class _Nothing:
    inputs: Sequence[Input] = ()
    calls: Sequence[Call] = ()
    outputs: Tree = None
    cotangent_strides: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    second_cotangents: Mapping[str, Array] = field(default_factory=dict)


class Line(NamedTuple):
    """One printed line and the index of the call that it shows (None for the frame around the calls)."""

    text: str
    call: int | None


def text(program: Printable) -> str:
    """The Program as source text of `def program(torch, ...)`."""
    return "\n".join(line.text for line in lines(program))


def lines(
    program: Printable, array: Callable[[Array], str] | None = None, given: Mapping[int, str] | None = None
) -> list[Line]:
    """The printed Program line by line; `array` spells its arrays, by default by shape and dtype alone. `given` are the
    names of values that are there before it begins: the modules that a method `forward` finds in `self`.
    """
    return _Printer(program, array or _array_in_short, given or {}).lines()


def _array_in_short(array: Array) -> str:
    return f"array(shape={array.shape}, dtype={array.dtype})"


def _in_place(call: Call) -> bool:
    """Whether this is an in-place operator that left its result in its first operand."""
    return call.op in _INPLACE and (bool(call.raises) or call.out == call.args[0])


class _Printer:
    def __init__(
        self,
        program: Printable,
        array: Callable[[Array], str] = _array_in_short,
        given: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.program = program
        self.array = array
        self.given = given
        self.names: dict[int, str] = {}
        self.contexts: dict[int, str] = {}
        self.entered = {call.args[0].id for call in program.calls if call.kind == "enter"}
        self.bound = {"m": 0, "t": 0}

    def lines(self) -> list[Line]:
        given = {x.name for x in self.program.inputs}
        inputs = [self._name_input(x.id, x.name, given) for x in self.program.inputs]
        printed = [Line(f"def program({', '.join(['torch', *inputs])}):", None)]
        printed += [Line(f"    # {note}", None) for note in map(self._lies, self.program.inputs) if note]
        depth = 1
        for index, call in enumerate(self.program.calls):
            if call.kind == "exit":
                if self._opens(printed[-1]):
                    printed.append(Line("    " * depth + "pass", index))
                depth -= 1
                continue
            for line in self._statement(call):
                printed.append(Line("    " * depth + line, index))
            if call.kind == "enter":
                depth += 1
        if self._opens(printed[-1]):  # a shrunk Program may leave out where it ends
            printed.append(Line("    " * depth + "pass", printed[-1].call))
        if self.program.outputs is not None:
            strided = [f"the cotangent of {self.value(Ref(id_))} is strided" for id_ in self.program.cotangent_strides]
            notes = [*strided, *(["differentiated twice"] if self.program.second_cotangents else [])]
            ending = f"  # {'; '.join(notes)}" if notes else ""
            printed.append(Line(f"    return {self.value(self.program.outputs)}{ending}", None))
        elif not self.program.calls:
            printed.append(Line("    pass", None))
        return printed

    def _opens(self, line: Line) -> bool:
        """Whether a block begins after it."""
        return line.call is not None and self.program.calls[line.call].kind == "enter"

    def _name_input(self, id_: int, name: str, given: Collection[str]) -> str:
        """The name that an input was given, else the next ordinary one that no input has."""
        if not name:
            ordinary = chain(_INPUT_NAMES, (f"x{number}" for number in count(len(_INPUT_NAMES))))
            taken = {*given, *self.names.values()}
            name = next(candidate for candidate in islice(ordinary, len(self.names), None) if candidate not in taken)
        self.names[id_] = name
        return name

    def _lies(self, x: Input) -> str:
        """How an input lies in memory, where it is not packed at the start of it."""
        lies = [f"strides {tuple(x.strides)} for shape {tuple(x.data.shape)}"] if x.strides is not None else []
        lies += [f"storage offset {x.offset}"] if x.offset else []
        return f"{self.names[x.id]} has {', '.join(lies)}" if lies else ""

    def _statement(self, call: Call) -> list[str]:
        expression = self._expression(call)
        if call.raises:
            return [f"{expression}  # raises {call.raises[0]}"]
        if call.kind == "enter":
            return [f"with {self.contexts[call.args[0].id]}:"]
        if type(call.out) is Ref and call.out.id in self.entered:
            self.contexts[call.out.id] = expression
            return []
        if call.kind == "set" or (call.kind == "operator" and (call.op == "setitem" or _in_place(call))):
            return [expression]
        if type(call.out) is Ref and (call.out.id in self.names or call.out.id in self.given):
            return [expression]
        pattern = self._pattern(call.out, module=call.kind == "module" or bool(call.state))
        if pattern is None:
            comment = "" if call.out is None else f"  # {self.value(call.out)}"
            return [expression + comment]
        return [f"{pattern} = {expression}{'.values()' if isinstance(call.out, dict) else ''}"]

    def _pattern(self, out: Tree, module: bool = False) -> str | None:
        """The assignment target that binds every value in `out`; None where there is none to bind."""
        kind = type(out)
        if kind is Ref:
            if out.id not in self.names:
                self.names[out.id] = self._fresh("m" if module else "t")
            return self.names[out.id]
        items = {tuple: out, list: out, Named: getattr(out, "items", ())}.get(kind)
        if kind is dict or kind is OrderedDict:
            items = tuple(out.values())
        if items is None:
            return None
        parts = [self._pattern(item) for item in items]
        if all(part is None for part in parts):
            return None
        spelled = [part if part is not None else "_" for part in parts]
        nested = [f"({part})" if ", " in part and not part.startswith("(") else part for part in spelled]
        return f"({nested[0]},)" if len(nested) == 1 else ", ".join(nested)

    def _fresh(self, letter: str) -> str:
        """The next name of a module or tensor that no input has: those of an isolated call are named `t3` as well."""
        taken = self.names.values()
        name = next(name for number in count(self.bound[letter]) if (name := f"{letter}{number}") not in taken)
        self.bound[letter] = int(name[1:]) + 1
        return name

    def _expression(self, call: Call) -> str:
        if call.kind in ("function", "module", "custom", "training"):
            owner = "torch." if call.kind in ("function", "module") else ""
            return f"{owner}{call.op}({self._arguments(call.args, call.kwargs)})"
        if call.kind == "operator":
            return self._operator(call)
        receiver = self._operand(call.args[0])
        if call.kind == "get":
            return f"{receiver}.{call.op}"
        if call.kind == "set":
            return f"{receiver}.{call.op} = {self.value(call.args[1])}"
        arguments = self._arguments(call.args[1:], call.kwargs)
        return f"{receiver}({arguments})" if call.kind == "call" else f"{receiver}.{call.op}({arguments})"

    def _operator(self, call: Call) -> str:
        name, args = call.op, call.args
        if name == "getitem":
            return f"{self._operand(args[0])}[{self._index(args[1])}]"
        if name == "setitem":
            return f"{self._operand(args[0])}[{self._index(args[1])}] = {self.value(args[2])}"
        if _in_place(call):
            return f"{self._operand(args[0])} {_INPLACE[name]} {self._operand(args[1])}"
        if name in _INPLACE:  # PyTorch's `x @= y` gives a new tensor
            return f"{self._operand(args[0])} {_INPLACE[name].removesuffix('=')} {self._operand(args[1])}"
        if name in _INFIX:
            return f"{self._operand(args[0])} {_INFIX[name]} {self._operand(args[1])}"
        if name in _PREFIX:
            return _PREFIX[name] + self._operand(args[0])
        return f"{name}({self._arguments(args, call.kwargs)})"

    def _index(self, index: Tree) -> str:
        if type(index) is tuple and index:
            spelled = [self._index_part(part) for part in index]
            return f"{spelled[0]}," if len(spelled) == 1 else ", ".join(spelled)
        return self._index_part(index)

    def _index_part(self, part: Tree) -> str:
        if type(part) is slice:
            ends = ["" if end is None else self.value(end) for end in (part.start, part.stop)]
            step = "" if part.step is None else f":{self.value(part.step)}"
            return f"{ends[0]}:{ends[1]}{step}"
        return self.value(part)

    def _arguments(self, args: tuple[Tree, ...], kwargs: dict[str, Tree]) -> str:
        spelled = [self.value(arg) for arg in args]
        spelled += [f"{key}={self.value(arg)}" for key, arg in kwargs.items()]
        return ", ".join(spelled)

    def _operand(self, tree: Tree) -> str:
        spelled = self.value(tree)
        return f"({spelled})" if spelled.startswith("-") else spelled

    def value(self, tree: Tree) -> str:
        """`tree` as a Python expression."""
        kind = type(tree)
        if kind is Ref:
            return self.names.get(tree.id) or self.given.get(tree.id, f"v{tree.id}")
        if kind is Name:
            return f"torch.{tree.path}"
        if kind is Device:
            return f'torch.device("{tree.spec}")'
        if kind is tuple or kind is Named:
            items = tree if kind is tuple else tree.items
            inside = ", ".join(self.value(item) for item in items)
            return f"({inside},)" if len(items) == 1 else f"({inside})"
        if kind is list:
            return f"[{', '.join(self.value(item) for item in tree)}]"
        if kind is dict or kind is OrderedDict:
            inside = ", ".join(f"{self.value(key)}: {self.value(item)}" for key, item in tree.items())
            return f"OrderedDict({{{inside}}})" if kind is OrderedDict else f"{{{inside}}}"
        if kind is str:
            return json.dumps(tree)
        if kind is float and tree != tree:
            return 'float("nan")'
        if kind is float and tree in (float("inf"), float("-inf")):
            return f'float("{tree}")'
        if tree is Ellipsis:
            return "..."
        if isinstance(tree, np.ndarray):
            return self.array(tree)
        if kind is Placement or kind is Sbp:
            return repr(tree)
        if kind is Opaque:
            return f"<{type(tree.value).__name__}>"
        return repr(tree)


def names(program: Printable) -> dict[int, str]:
    """The name of every value, as the printed Program spells it."""
    printer = _Printer(program)
    printer.lines()
    return printer.names


def show(tree: Tree) -> str:
    """A value without Refs as a Python expression."""
    return _Printer(_Nothing()).value(tree)
