"""The text of a short script: both frameworks are imported, the calls are made and their results printed, no more."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autotest.compare.kinds import DEADLY, KINDS, PHASES
from autotest.repro.lines import arrays
from autotest.repro.lines.graph import graph_text
from autotest.repro.lines.source import Source
from autotest.repro.lines.targets import RECIPES
from autotest.repro.lines.wrapping import wrapped
from autotest.repro.unscripted import Unscripted
from autotest.repro.wanted import Result, Wanted, wanted
from dual_object.adapters.oneflow.configurations import code
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.strides import memory_of
from dual_object.program.values import Array, Ref
from dual_object.replay.asked.executors import asked_executor

#: A script of one call that compares no gradient has at most so many lines.
MOST_LINES = 12
#: ... and so many more where its graph is configured.
CONFIGURED_LINES = 4
#: What runs on both sides is written once, for this name.
SIDE = "framework"
#: What is printed of a tensor, by what is compared of it.
_FACTS = {
    "values": ".numpy()",
    "dtype": ".dtype",
    "shape": ".shape",
    "strides": ".stride()",
    "offset": ".storage_offset()",
    "device": ".device.type",
    "requires_grad": ".requires_grad",
    "is_leaf": ".is_leaf",
}
#: The part of an observation in which a phase's step shows, where it is not known more closely.
_PARTS = {"forward": "output", "backward": "gradient", "second": "second", "state": "buffer"}
#: What a framework makes of such literals if it is not told a dtype.
_IMPLIED = {"f": "float32", "i": "int64", "b": "bool"}


class Lean(Source):
    """The parts of a short script that has a function for the program."""

    def tensor(self, data: Array, dtype: str, name: str, requires_grad: bool = False) -> str:
        """A tensor; its dtype is left out where its values imply it."""
        grad = ", requires_grad=True" if requires_grad else ""
        if data.size and _IMPLIED.get(data.dtype.kind) == dtype:
            return f"torch.tensor({self.array(data, name)}{grad})"
        return super().tensor(data, dtype, name, requires_grad)

    def input(self, x: Input, name: str, requires_grad: bool) -> list[str]:
        """As in the long script, but without a helper for strides."""
        if x.strides is None or x.offset:
            return super().input(x, name, requires_grad)
        made = f"{name} = torch.from_numpy({self._strided(x.data, x.strides)})"
        made += ".to(torch.bfloat16)" if x.dtype == "bfloat16" else ""
        return [made, *([f"{name}.requires_grad = True"] if requires_grad else [])]

    def cotangent(self, id_: int, data: Array, expression: str) -> str:
        """As in the long script, but by the dtype that its values have."""
        return self.tensor(data, data.dtype.name, f"cotangent of {self.name(id_)}")

    def laid(self, id_: int, data: Array, expression: str) -> str:
        """As in the long script, but without a helper for strides."""
        strides = self.program.cotangent_strides.get(id_)
        return self.cotangent(id_, data, "") if strides is None else f"torch.from_numpy({self._strided(data, strides)})"

    def _strided(self, data: Array, strides: Sequence[int]) -> str:
        """An expression of NumPy's for values with these strides."""
        order = sorted(range(data.ndim), key=lambda axis: -strides[axis])
        packed, dtype = data.transpose(order), f'"{data.dtype.name}"'
        if data.size and np.empty(packed.shape, "?").strides == tuple(strides[axis] for axis in order):
            back = tuple(int(axis) for axis in np.argsort(order))
            turned = ".T" if back == tuple(reversed(range(data.ndim))) else f".transpose{back}"
            return f"np.array({self.literal(packed)}, {dtype}){turned}"
        memory = memory_of(data, strides)
        steps = tuple(stride * data.itemsize for stride in strides)
        return f"np.lib.stride_tricks.as_strided(np.array({self.literal(memory)}, {dtype}), {data.shape}, {steps})"

    def load(self, call: Call) -> list[str]:
        """A module's state by its own method."""
        if not call.state or type(call.out) is not Ref:
            return []
        name = self.name(call.out.id)
        state = ", ".join(
            f'"{key}": {self.tensor(value, value.dtype.name, f"{name}.{key}")}' for key, value in call.state.items()
        )
        return [f"{name}.load_state_dict({{{state}}})"]


class Brief(Lean):
    """The parts of a short script whose calls stand by themselves: values have the program's own names."""

    def paths(self) -> dict[int, str]:
        """Each returned value by its name."""
        return {id_: self.name(id_) for id_ in super().paths()}

    def backward(self) -> list[str]:
        """The backward of one tensor by its method; one from ones by their name."""
        starts = self.starts()
        if self.wanted.second or len(starts) != 1 or self.program.cotangent_strides:
            return super().backward()
        [(path, (id_, data))] = starts.items()
        start = f"torch.ones_like({path})" if (data == 1).all() else self.cotangent(id_, data, "")
        return [f"{path}.backward({start})"]

    def statements(self) -> list[str]:
        """The program's own lines, without the frame of a function."""
        lines = self.program_text().split("\n")[1:]
        if lines[-1].startswith("    return "):
            lines = lines[:-1]
        return [line.removeprefix("    ").partition("  # ")[0] for line in lines if line != "    pass"]


def short_text(row: Mapping[str, Any], program: Program, shown: Mapping[str, Any] | None) -> str:
    """The short script of a divergence that has a script: `row` and `shown` as for that. Raises Unscripted where there
    can be none.
    """
    want = wanted(row, shown)
    if program.training is not None:
        raise Unscripted("it trains, which takes more lines")
    if want.part is None:
        want = replace(want, part="input" if row["kind"] == "mutation" else _PARTS[PHASES[row["phase"]].step])
    source: Lean = Brief(program, want)
    if source.elements > arrays.MOST_INLINE:
        raise Unscripted(f"its inputs have {source.elements} elements, more than {arrays.MOST_INLINE}")
    if want.kind == "random":
        raise Unscripted("it shows in many results together")
    if source.customs():
        raise Unscripted("it calls functions of its test")
    if asked_executor(row["target"]) is not None:
        raise Unscripted("both sides are PyTorch")
    if row["target"] not in RECIPES:
        raise Unscripted("its target is a class of its own, which takes more lines")
    module = RECIPES[row["target"]].module
    if module == "torch":
        raise Unscripted("both sides are PyTorch")
    source, lines = _graph(program, want, module) if want.graph else _eager(program, want, module)
    head = ["import torch", f"import {module}"]
    if any("np." in line for line in lines):
        head.insert(0, "import numpy as np")
    text = "\n".join([*sorted(source.imports), *head, *lines]) + "\n"
    longest = MOST_LINES + CONFIGURED_LINES * bool(want.configuration)
    if not want.backward and len(program.ops()) == 1 and text.count("\n") > longest:
        raise Unscripted(f"its inputs are too long for a script of {longest} lines")
    return text


def _eager(program: Program, want: Wanted, module: str) -> tuple[Lean, list[str]]:
    """The lines that do the same on both sides and print what each shows."""
    source = Brief(program, want)
    body = [*source.input_lines(requires_grad=True)]
    name = f"{SIDE}.__name__"
    if source.refusal:
        refused = [*source.statements(), f'print({name}, "accepts it")']
        body += ["try:", *_indented(refused), "except Exception as error:"]
        body.append(f'    print({name}, "raises", type(error).__name__)')
    else:
        body += source.statements()
        if want.backward and program.cotangents:
            body += source.backward()
        body.append(_print(name, source.results(), want))
    loop = [f"for {SIDE} in (torch, {module}):", *_indented(wrapped([_renamed(line, SIDE) for line in body]))]
    helpers = [line for text in source.helpers() for line in ["", *text.split("\n")]]
    return source, [*helpers, "", *loop]


def _graph(program: Program, want: Wanted, module: str) -> tuple[Lean, list[str]]:
    """The lines that print what PyTorch shows, and what a static graph of the target does."""
    source = Lean(program, want)
    backward = want.backward and program.cotangents
    calls_alone = not (source.module_names() or backward or want.again) and program.outputs is not None
    function = ["", *_ending_in_a_call(source.program_text().split("\n")), ""]
    return source, [*function, *(_graph_of_calls(source, module) if calls_alone else _graph_of_all(source, module))]


def _ending_in_a_call(lines: list[str]) -> list[str]:
    """A function that returns its last call, where it gave that a name only to return it."""
    name, is_bound, call = lines[-2].strip().partition(" = ")
    return [*lines[:-2], f"    return {call}"] if is_bound and lines[-1] == f"    return {name}" else lines


def _graph_of_calls(source: Lean, module: str) -> list[str]:
    """For a graph that is made of the calls alone."""
    tensors = [line.partition(" = ") for line in source.input_lines(requires_grad=False)]
    given = ", ".join(expression for _, _, expression in tensors)
    lines = [f"class Graph({module}.nn.Graph):"]
    configured = [f"        {line}" for line in code(source.wanted.configuration, module)]
    if configured:
        lines += ["    def __init__(self):", "        super().__init__()", *configured, ""]
    lines.append("    def build(self, *inputs):")
    lines += [f"        return program({module}, *inputs)", ""]
    results = source.results()
    for side, label, call in (("torch", "torch", "program(torch, {})"), (module, f"{module} graph", "Graph()({})")):
        made = call.format(_renamed(given, side))
        if len(results) > 1:
            lines.append(f"out = {made}")
            made = "out"
        shown = [result._replace(expression=result.expression.replace("out", made, 1)) for result in results]
        lines += wrapped([_print(f'"{label}"', shown, source.wanted)])
    return lines


def _graph_of_all(source: Lean, module: str) -> list[str]:
    """For a graph with modules, a backward or a second call, which needs what it needs in the long script."""
    body = ["def run(torch):", *_indented(wrapped(source.body())), "", *wrapped(graph_text(source)), ""]
    for label, run in (("torch", "run(torch)"), (f"{module} graph", f"run_graph({module})")):
        printed = _print(f'"{label}", name', [Result("", "shown")], source.wanted)
        body += [f"for name, shown in {run}.items():", f"    {printed}"]
    return body


def _print(label: str, results: Sequence[Result], want: Wanted) -> str:
    """The statement that prints results behind a label."""
    answers = [result for result in results if result.plain]
    printed = [label, *(_printed(result, want) for result in answers or results)]
    return f"print({', '.join(printed)}{', flush=True' if want.kind in DEADLY else ''})"


def _printed(result: Result, want: Wanted) -> str:
    """The expressions that print a result: what is compared of it, as both frameworks spell it alike."""
    name, expression, plain = result
    if plain:
        return expression
    if not name and expression.startswith("{"):  # the buffers or gradients of a module, by name
        key, _, rest = expression.partition(": ")
        value, _, names = rest.partition(" for ")
        return f"{key}: {_fact(value, want)} for {names}"
    return _fact(expression, want)


def _fact(tensor: str, want: Wanted) -> str:
    kind = KINDS.get(want.kind)
    if want.kind in ("grad_missing", "grad_extra"):
        return f"{tensor} is None"
    if want.kind == "structure":
        return f"type({tensor}).__name__"
    if kind is not None and kind.ends:
        return f"tuple({tensor}.shape)"  # that it comes so far is all that there is to see
    facts = kind.compared if kind is not None and kind.compared else ("values",)
    detached = "" if tensor.endswith(".grad") or facts != ("values",) else ".detach()"
    return ", ".join(f"{tensor}{detached}{_FACTS[fact]}" for fact in facts)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]


def _renamed(code: str, side: str) -> str:
    """Code for a framework of another name: each `torch` that is a name by itself."""
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    attribute = [False, *(token.string == "." for token in tokens)]
    places = [
        token.start[1]
        for token, after_dot in zip(tokens, attribute, strict=False)
        if token.type == tokenize.NAME and token.string == "torch" and not after_dot
    ]
    for place in reversed(places):
        code = f"{code[:place]}{side}{code[place + len('torch') :]}"
    return code


__all__ = ["MOST_LINES", "SIDE", "short_text"]
