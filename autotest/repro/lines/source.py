"""The source of a repro: a stored Program as lines of Python that need nothing of ours.

Over 500 lines, for what one part of a script asks for (a name, an import, an array in a file) the others print, too.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from autotest.repro.lines import arrays
from autotest.repro.lines.questions import STATE_KINDS, Question, functions, of_factor, of_memory, of_result, of_state
from autotest.repro.wanted import Result, Wanted
from dual_object.program.calls import Call, Input, op_name
from dual_object.program.printing import lines, names
from dual_object.program.program import Program
from dual_object.program.strides import sliced
from dual_object.program.values import Array, Named, Ref, Tree, leaves, refs
from dual_object.replay.second_call import other_inputs
from dual_object.replay.tracing import setup_calls, traced_calls

#: What a statement binds, up to its expression.
_BINDING = re.compile(r"[\w, ()]+ = ")
#: A statement that changes its operand in place and binds the operand's name anew.
_AUGMENTED = re.compile(r"\w+ \S+= ")
#: Kinds of calls that return nothing, or nothing that a program could mistake.
_SILENT = ("enter", "exit", "set", "get", "module")


class Source:
    """The parts of a script that are about one Program.

    `elements` is how many elements all its arrays have; `file` are those that stand in a file beside the script, none
    where all are inline; `imports` the lines that the printed program needs. Both fill while the parts are asked for.
    """

    def __init__(self, program: Program, wanted: Wanted) -> None:
        self.program = program
        self.wanted = wanted
        self.file: dict[str, Array] = {}
        self.imports: set[str] = set()
        self.strided = False
        self.loads = False
        self._names = names(program)
        self.elements = sum(array.size for array in self._all_arrays())
        self._outside = self.elements > arrays.MOST_INLINE

    def _all_arrays(self) -> Iterator[Array]:
        program = self.program
        yield from (x.data for x in program.inputs)
        for call in program.calls:
            yield from call.state.values()
            arguments = [*leaves(call.args), *leaves(call.kwargs)]
            yield from (leaf for leaf in arguments if isinstance(leaf, np.ndarray))
        if self.wanted.backward:
            yield from program.cotangents.values()

    # Names

    def name(self, id_: int) -> str:
        """A value as the printed Program names it."""
        return self._names.get(id_, f"v{id_}")

    def _modules(self) -> dict[int, Call]:
        return {call.out.id: call for call in self.program.modules() if type(call.out) is Ref}

    def module_names(self) -> list[str]:
        """The names of the modules that the program makes."""
        return [self.name(id_) for id_ in self._modules()]

    # Arrays

    def array(self, data: Array, name: str) -> str:
        """An array as an expression that NumPy and both frameworks take."""
        if self._outside:
            while self.file.get(name, data) is not data:
                name += "'"
            self.file[name] = data
            return f'ARRAYS["{name}"]'
        if arrays.shapeless(data):
            return f'np.zeros({data.shape}, "{data.dtype.name}")'
        return self.literal(data)

    def literal(self, data: Array) -> str:
        """The values of an array; what they need is imported."""
        text = arrays.literal(data)
        self.imports |= {f"from math import {word}" for word in ("inf", "nan") if word in text}
        return text

    def numpy(self, data: Array, name: str) -> str:
        """The same as an array of NumPy's."""
        text = self.array(data, name)
        return text if self._outside or arrays.shapeless(data) else f'np.array({text}, "{data.dtype.name}")'

    def tensor(self, data: Array, dtype: str, name: str, requires_grad: bool = False) -> str:
        """A tensor as an expression."""
        grad = ", requires_grad=True" if requires_grad else ""
        return f"torch.tensor({self.array(data, name)}, dtype=torch.{dtype}{grad})"

    def input_lines(self, *, requires_grad: bool, again: bool = False) -> list[str]:
        """The lines that make the inputs (`again`: those of the second call); in a graph they require their gradients
        inside of it alone.
        """
        statements: list[str] = []
        for x in other_inputs(self.program.inputs) if again else self.program.inputs:
            statements += self.input(x, self.name(x.id), x.requires_grad and requires_grad)
        return statements

    def input(self, x: Input, name: str, requires_grad: bool) -> list[str]:
        """The lines that make one input."""
        if x.strides is None and not x.offset:
            return [f"{name} = {self.tensor(x.data, x.dtype, name, requires_grad)}"]
        grad = [f"{name}.requires_grad = True"] if requires_grad else []
        part = sliced(x.data, x.strides, x.offset) if x.offset else None
        if part is not None:  # a slice of a longer tensor: only so it begins elsewhere than its memory
            return [f"{name} = {part.words(self.tensor(part.memory, x.dtype, name))}", *grad]
        self.strided = True
        made = f"{name} = torch.from_numpy(strided({self.numpy(x.data, name)}, {x.strides}))"
        if x.dtype == "bfloat16":
            made += ".to(torch.bfloat16)"
        return [made, *grad]

    # The program

    def program_text(self) -> str:
        """`def program(torch, x): ...`, as people saw it; below it returns what else is to be shown."""
        program, wanted = self.program, self.wanted
        setup = set(setup_calls(program)) if self._apart else set()
        kept = {*traced_calls(program)} if wanted.graph else set(range(len(program.calls)))
        cut = self._cut()
        printed: list[str] = []
        for line in lines(program, lambda array: self.numpy(array, "array")):
            index = line.call
            if index is None:
                if line.text.startswith("def "):
                    printed.append(f"def program({', '.join(['torch', *self.parameters()])}):")
                elif line.text.lstrip().startswith("return ") and cut is None:
                    printed.append(f"    return {self._returned(line.text.strip().removeprefix('return '))}")
                continue
            call = program.calls[index]
            if index in setup or (index not in kept and call.kind != "exit") or (cut is not None and index > cut):
                continue
            printed += self._line(line.text, index, call)
        extras = self.extras()
        if program.outputs is None and cut is None and extras:
            printed.append(f"    return {', '.join(extras)}")
        if len(printed) == 1:
            printed.append("    pass")
        return "\n".join(printed)

    def _line(self, text: str, index: int, call: Call) -> list[str]:
        indent = text[: len(text) - len(text.lstrip())]
        self._import_for(call, text)
        if call.raises and index != self._cut():
            self.imports.add("from contextlib import suppress")
            return [f"{indent}with suppress(Exception):", f"    {text}"]
        if index in self.hosts() and "  # " in text:
            return [f"{indent}{self.hosts()[index]} = {text.strip().partition('  # ')[0]}"]
        if index in self.asked():
            return [f"{indent}{line}" for line in self._keeping(text.strip(), index)]
        if type(call.out) is Ref and _bare(text) and call.kind not in _SILENT:
            text = f"{indent}{self.name(call.out.id)} = {text.strip()}"  # as a replay takes it: whatever came back
        return [text, *(indent + line for line in self.load(call))]

    def _keeping(self, statement: str, index: int) -> list[str]:
        """The statement of a call, so that what it returned is seen as it came."""
        result = f"r{index}"
        answers = [f"{answer} = {question.answer}" for answer, question in self.asked()[index].items()]
        bound = _BINDING.match(statement)
        if bound is not None:
            return [f"{result} = {statement[bound.end() :]}", *answers, f"{bound[0]}{result}"]
        if _AUGMENTED.match(statement):  # it binds the name of its operand anew
            name = statement.partition(" ")[0]
            return [f"before = {name}", statement, f"{result}, {name} = {name}, before", *answers, f"{name} = {result}"]
        out = self.program.calls[index].out
        return [f"{result} = {statement}", *answers, *([f"{self.name(out.id)} = {result}"] if type(out) is Ref else [])]

    def load(self, call: Call) -> list[str]:
        """The line that gives a new module its state."""
        if not call.state or type(call.out) is not Ref:
            return []
        self.loads = True
        name = self.name(call.out.id)
        state = ", ".join(f'"{key}": {self.array(value, f"{name}.{key}")}' for key, value in call.state.items())
        return [f"load(torch, {name}, {{{state}}})"]

    @property
    def sampled(self) -> bool:
        """Whether many results of the same modules are compared."""
        return self.wanted.kind == "random" and not self.wanted.backward

    @property
    def _apart(self) -> bool:
        """Whether modules are made before the program, which takes them."""
        return self.wanted.graph or self.sampled

    def setup_lines(self) -> list[str]:
        """What comes before a static graph, or before many results: the modules."""
        if not self._apart:
            return []
        setup = set(setup_calls(self.program))
        statements: list[str] = []
        for line in lines(self.program, lambda array: self.numpy(array, "array")):
            if line.call in setup and line.call is not None:
                call = self.program.calls[line.call]
                self._import_for(call, line.text)
                statements += [line.text.strip(), *self.load(call)]
        return statements

    def _cut(self) -> int | None:
        """The blamed call where the reference raises in it: the script ends with that."""
        call = self.wanted.call
        calls = self.program.calls
        if call is not None and call < len(calls) and calls[call].raises:
            return call
        return len(calls) - 1 if calls and calls[-1].raises and self.program.outputs is None else None

    @property
    def refusal(self) -> bool:
        """Whether the reference raises in the end."""
        return self._cut() is not None

    def parameters(self) -> list[str]:
        """What the program takes besides the framework: custom ops, modules of a graph, inputs."""
        modules = self.module_names() if self._apart else []
        return [*self.customs(), *modules, *(self.name(x.id) for x in self.program.inputs)]

    def customs(self) -> dict[str, tuple[str, str]]:
        """Custom ops by name: where reference and target have them, as `module:qualname`."""
        return {call.op: call.custom for call in self.program.calls if call.kind == "custom" and call.custom}

    def own_modules(self) -> list[str]:
        """The modules that the functions of custom ops are imported from."""
        return sorted({path.partition(":")[0] for sides in self.customs().values() for path in sides})

    def _import_for(self, call: Call, text: str) -> None:
        """Import what a printed operator is called by."""
        if call.kind != "operator" or hasattr(builtins, call.op) or f"{call.op}(" not in text:
            return
        if call.op in ("copy", "deepcopy"):
            self.imports.add(f"from copy import {call.op}")
        elif call.op == "trunc" and hasattr(math, call.op):
            self.imports.add("from math import trunc")
        elif hasattr(operator, call.op):
            self.imports.add(f"from operator import {call.op}")

    # What is shown

    def hosts(self) -> dict[int, str]:
        """Calls that give a plain value to Python, by index, and the names that the script gives these values."""
        if self.wanted.part not in ("host", None) or self.wanted.graph:
            return {}
        names: dict[int, str] = {}
        blamed = int(self.wanted.key) if self.program.training is not None and self.wanted.key else self.wanted.call
        for index, call in enumerate(self.program.calls):
            plain = call.out is not None and not refs(call.out) and not call.raises
            if plain and (self.wanted.part is None or blamed in (None, index)):
                names[index] = f"h{len(names)}"
        return names

    def asked(self) -> dict[int, dict[str, Question]]:
        """Questions about what calls return, by index of the call and by the name of the answer in the program."""
        if self.wanted.kind != "structure" or self.wanted.graph or self.refusal:
            return {}
        by_call: dict[int, dict[str, Question]] = {}
        count = itertools.count()
        for index, call in enumerate(self.program.calls):
            if call.kind in _SILENT or call.raises or self.wanted.op not in (op_name(call), "program"):
                continue
            questions = {f"a{next(count)}": question for question in of_result(call, f"r{index}", self._names)}
            if questions:
                by_call[index] = questions
        return by_call

    def _questions(self) -> list[Question]:
        """Questions that `run` itself can answer."""
        wanted = self.wanted
        if wanted.graph or self.refusal:
            return []
        questions: list[Question] = []
        if wanted.kind == "alias":
            questions += of_memory(self.program, self._names, self.paths())
        if wanted.kind == "random" and wanted.backward:
            questions += of_factor(self.program, self._names, self.paths())
        if wanted.kind == "structure" or (wanted.kind in STATE_KINDS and wanted.part in ("call", None)):
            questions += of_state({self.name(id_): call for id_, call in self._modules().items()}, wanted.op)
        return questions

    def helpers(self) -> list[str]:
        """The functions that looks and answers call."""
        return functions(self.program, self._questions())

    def extras(self) -> list[str]:
        """Values inside the program that it is to return besides its outputs, by name."""
        program, wanted = self.program, self.wanted
        if self.refusal:
            return []
        made: list[str] = []
        if wanted.part in ("output", None) and not wanted.graph:
            made += [self.name(id_) for id_ in program.watched]
        if wanted.part in ("gradient", "second", None) and wanted.backward and not wanted.graph:
            made += [self.name(id_) for id_ in program.leaves]
        if wanted.part in ("gradient", "second", "buffer", None) and not wanted.graph:
            made += [self.name(id_) for id_, call in self._modules().items() if call.state]
        if any(question.helper == "held" for question in self._questions()):
            made += self.module_names()
        outputs = {self.name(id_) for id_ in [*self.paths(), *(x.id for x in program.inputs)]}
        answers = [answer for questions in self.asked().values() for answer in questions]
        return [*dict.fromkeys(name for name in made if name not in outputs), *self.hosts().values(), *answers]

    def _returned(self, text: str) -> str:
        text = text.partition("  # ")[0]
        return ", ".join([text, *self.extras()])

    def paths(self) -> dict[int, str]:
        """Where each returned value lies, as an expression of what the program returned, `out`; a module is none."""
        by_id: dict[int, str] = {}
        modules = self._modules()

        def walk(tree: Tree, path: str) -> None:
            if type(tree) is Ref:
                if tree.id not in modules:
                    by_id.setdefault(tree.id, path)
            elif isinstance(tree, dict):
                for key, item in tree.items():
                    walk(item, f"{path}[{key!r}]")
            elif isinstance(tree, (tuple, list)):
                for position, item in enumerate(tree.items if isinstance(tree, Named) else tree):
                    walk(item, f"{path}[{position}]")

        walk(self.program.outputs, "out")
        return by_id

    def body(self) -> list[str]:
        """The lines that run the program on one framework and return what is to be shown."""
        program, wanted = self.program, self.wanted
        statements = self.input_lines(requires_grad=True)
        call = f"program({', '.join(['torch', *self.parameters()])})"
        if wanted.again:
            statements += [call, *self.input_lines(requires_grad=True, again=True)]
        extras = self.extras()
        returns = program.outputs is not None and not self.refusal
        target = ", ".join(["out", *extras] if returns else extras)
        statements.append(f"{target} = {call}" if target else call)
        if wanted.backward and program.cotangents and not self.refusal:
            statements += self.backward()
        statements.append(f"return {{{', '.join(result.item() for result in self.results())}}}")
        before = [*map(self._custom_line, self.customs()), *self.setup_lines()]
        if not self.sampled:
            return before + statements
        draw = ["def draw():", *(f"    {line}" for line in statements)]
        return [*before, "", *draw, "", "return stacked([draw() for _ in range(SAMPLES)])"]

    @staticmethod
    def _custom_line(name: str) -> str:
        """A custom op, of the side that runs: the target may be PyTorch, too."""
        return f'{name} = {alias(name, "torch")} if side == "torch" else {alias(name, "target")}'

    def custom_imports(self) -> list[str]:
        """The imports of custom ops' functions."""
        imports = []
        for name, sides in self.customs().items():
            for side, path in zip(("torch", "target"), sides, strict=True):
                module, _, qualname = path.partition(":")
                root, _, rest = qualname.partition(".")
                imports.append(f"from {module} import {root} as {alias(name, side)}" + (f"  # .{rest}" if rest else ""))
        return imports

    def starts(self) -> dict[str, tuple[int, Array]]:
        """The returned tensors that the backward starts from: expression, number and cotangent."""
        paths = self.paths()
        return {paths[id_]: (id_, array) for id_, array in self.program.cotangents.items() if id_ in paths}

    def cotangent(self, id_: int, data: Array, expression: str) -> str:
        """The array that the backward of a returned tensor starts from, of the dtype of `expression`."""
        text = self.array(data, f"cotangent of {self.name(id_)}")
        return f"torch.tensor({text}, dtype={expression})"

    def laid(self, id_: int, data: Array, expression: str) -> str:
        """A cotangent that lies in memory as the eager backward of the Program was given it."""
        strides = self.program.cotangent_strides.get(id_)
        if strides is None:
            return self.cotangent(id_, data, expression)
        self.strided = True
        laid = self.numpy(data, f"cotangent of {self.name(id_)}")
        return f"torch.from_numpy(strided({laid}, {strides})).to({expression})"

    def backward(self) -> list[str]:
        """The lines that run backward from what the program returned."""
        starts = self.starts()
        tensors = ", ".join(starts)
        cotangents = ", ".join(self.laid(id_, data, f"{path}.dtype") for path, (id_, data) in starts.items())
        if not self.wanted.second:
            return [f"torch.autograd.backward([{tensors}], [{cotangents}])"]
        second = self.program.second_cotangents
        firsts = ", ".join(f"{self.leaf(key, 'parameters')}.grad" for key in second)
        again = ", ".join(
            f"torch.tensor({self.array(data, f'second cotangent {key}')}, dtype=firsts[{position}].dtype)"
            for position, (key, data) in enumerate(second.items())
        )
        return [
            f"torch.autograd.backward([{tensors}], [{cotangents}], create_graph=True)",
            f"firsts = [{firsts}]",
            f"for leaf in [{', '.join([*self._leaf_tensors(), *(f'*{m}.parameters()' for m in self._stateful())])}]:",
            "    leaf.grad = None",
            f"torch.autograd.backward(firsts, [{again}])",
        ]

    def _leaf_tensors(self) -> list[str]:
        program = self.program
        return [self.name(id_) for id_ in (*(x.id for x in program.inputs if x.requires_grad), *program.leaves)]

    def _stateful(self) -> list[str]:
        return [self.name(id_) for id_, call in self._modules().items() if call.state]

    def leaf(self, key: str, kind: str) -> str:
        """The expression of a leaf or buffer by its key; `kind` is `parameters` or `buffers`."""
        id_, _, attribute = key.partition(".")
        name = self.name(int(id_))
        if not attribute:
            return name
        plain = all(part.isidentifier() for part in attribute.split("."))
        return f"{name}.{attribute}" if plain else f'dict({name}.named_{kind}())["{attribute}"]'

    def results(self) -> list[Result]:
        """What is shown."""
        part, key = self.wanted.part, self.wanted.key
        if self.refusal:
            return []
        shown: list[Result] = []
        if part in ("output", None):
            paths = self.paths()
            if not self.wanted.graph:
                paths |= {id_: self.name(id_) for id_ in self.program.watched if id_ not in paths}
            shown += [Result(self.name(id_), path) for id_, path in paths.items() if key in ("", str(id_))]
        if part in ("gradient", "second", None) and self.wanted.backward and self.program.cotangents:
            shown += self.gradients()
        shown += self.buffers()
        if part in ("input", None) and not self.wanted.graph:
            ids = [x.id for x in self.program.inputs if key in ("", str(x.id))]
            shown += [Result(f"{self.name(id_)} afterwards", self.name(id_)) for id_ in ids]
        hosts = {name: op_name(self.program.calls[index]) for index, name in self.hosts().items()}
        read = Counter(hosts.values())  # of several by one name, the last alone would be compared
        shown += [Result(f"{op} read by Python{f' into {at}' * (read[op] > 1)}", at, True) for at, op in hosts.items()]
        for questions in self.asked().values():
            shown += [Result(question.words, answer, plain=True) for answer, question in questions.items()]
        return [*shown, *(Result(question.words, question.answer, plain=True) for question in self._questions())]

    def graph_results(self) -> list[Result]:
        """The same of what a graph's `build` returns: outputs and gradients."""
        part, key, shown = self.wanted.part, self.wanted.key, list[Result]()
        if part in ("output", None):
            shown += [Result(self.name(id_), path) for id_, path in self.paths().items() if key in ("", str(id_))]
        if part in ("gradient", None) and self.wanted.backward and self.program.cotangents:
            shown += self.gradients()
        return shown

    def buffers(self) -> list[Result]:
        """The buffers to show."""
        part, key = self.wanted.part, self.wanted.key
        if part not in ("buffer", None) or (part is None and self.wanted.graph):  # those of a graph have a phase
            return []
        if key and part == "buffer":
            leaf = self.leaf(key, "buffers")
            return [Result(f"buffer {leaf}", leaf)]
        named = {path.rpartition(".")[2] for call in self.program.modules() for path in call.state} & self.wanted.facts
        alike = f" if key.endswith({(*sorted(named),)})" if named else ""  # others may differ for reasons of their own
        return [
            Result("", f'{{f"buffer {name}.{{key}}": buffer for key, buffer in {name}.named_buffers(){alike}}}')
            for name in self._stateful()
        ]

    def gradients(self) -> list[Result]:
        """The gradients to show."""
        which, key = "second gradient" if self.wanted.second else "gradient", self.wanted.key
        if key and self.wanted.part in ("gradient", "second"):
            leaf = self.leaf(key, "parameters")
            return [Result(f"{which} of {leaf}", f"{leaf}.grad")]
        leaves = [Result(f"{which} of {name}", f"{name}.grad") for name in self._leaf_tensors()]
        return leaves + [
            Result("", f'{{f"{which} of {name}.{{key}}": leaf.grad for key, leaf in {name}.named_parameters()}}')
            for name in self._stateful()
        ]


def _bare(text: str) -> bool:
    """Whether a line is an expression alone, which binds nothing."""
    [statement] = ast.parse(text.strip()).body
    return isinstance(statement, ast.Expr)


def alias(name: str, side: str) -> str:
    """What a script calls one side's function of a custom op."""
    return f"{name}_of_{side}"
