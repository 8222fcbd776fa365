"""The script of a divergence of `torch:EXECUTOR`: the program's module as it is, and as the executor captured it."""

from __future__ import annotations

import math
import operator
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from autotest.compare.kinds import KINDS
from autotest.repro.lines.source import Source
from autotest.repro.lines.wrapping import wrapped
from autotest.repro.templating import template
from autotest.repro.wanted import Wanted
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.asked.executors import EXECUTORS, AskedExecutor
from dual_object.replay.forward import Forward, forward


def executor_script(
    asked: AskedExecutor, program: Program, wanted: Wanted, values: Mapping[str, Any]
) -> tuple[str, Mapping[str, Array]]:
    """The script's text, and the arrays that stand in a file beside it; `values` are what every script has in its head.
    Raises ValueError where it has no text.
    """
    executor = EXECUTORS[asked.name]
    whole = wanted.kind == "unsupported"  # where the graph breaks at a read to Python, the text has to have that
    method = forward(program, hosts=wanted.part == "host" or (whole and executor.reads))
    source = Source(program, wanted)
    modules = {source.name(id_): name for id_, name in method.modules.items() if f"self.{name}" in method.text}
    backward = wanted.backward and not executor.forward_only
    rendered = {
        "constants": list(_constants(source, method)),
        "forward": wrapped([line for line in method.text.rstrip().split("\n") if not line.lstrip().startswith("#")]),
        "modules": modules,
        "setup": wrapped(source.setup_lines()),
        "inputs": wrapped(source.input_lines(requires_grad=True)),
        "again": wrapped(source.input_lines(requires_grad=True, again=True)) if wanted.again else [],
        "input_names": [source.name(x.id) for x in program.inputs],
        "results": method.names_of_results,
        "starts": wrapped(list(_starts(source, method))) if backward else [],
        "capture": executor.capture(asked.options, whole=whole),
        "kinds": ["structure"] if wanted.part == "host" else sorted(_kinds(wanted.kind)),
        "target": asked.target,
        "packages": ", ".join(f'"{package}"' for package in executor.packages),
        "runtime": f"{asked.name}.py.j2",
        "leaves": executor.leaves,
        "load": source.loads,
        "strided": source.strided,
        "file": "inputs.safetensors" if source.file else "",
        "imports": sorted(source.imports),
    }
    return template("executor.py.j2").render({**values, **rendered}), source.file


def _kinds(kind: str) -> set[str]:
    """Which kinds of difference mean that this divergence stands: of numbers, each other's."""
    numbers = {"value", "nonfinite", "sign"}
    raising = {name for name, row in KINDS.items() if row.ends}
    return numbers if kind in numbers else raising if kind in raising else {kind}


def _constants(source: Source, method: Forward) -> Iterator[str]:
    """The lines that define what the method calls by names of its own."""
    for name, value in method.names.items():
        if isinstance(value, np.ndarray):
            yield f"{name} = {source.numpy(value, name)}"
        elif value is OrderedDict:
            if "OrderedDict(" in method.text:
                yield "from collections import OrderedDict"
        elif name in ("copy", "deepcopy"):
            yield f"from copy import {name}"
        elif name == "trunc" and value is math.trunc:
            yield "from math import trunc"
        elif value is getattr(operator, name, None):
            yield f"from operator import {name}"
        else:
            path = f"{value.__module__}.{value.__qualname__}"
            if "<" in path or "." in value.__qualname__:
                raise ValueError(f"its op {path} cannot be imported")
            yield f"from {value.__module__} import {value.__qualname__} as {name}"


def _starts(source: Source, method: Forward) -> Iterator[str]:
    """The lines that fill `starts` with the results from which the backward starts, and their cotangents."""
    places = {id_: position for position, id_ in enumerate(method.returned)}
    for id_, data in source.program.cotangents.items():
        if id_ in places:
            result = f"results[{places[id_]}]"
            yield f"starts.append(({result}, {source.laid(id_, data, f'{result}.dtype')}))"


__all__ = ["executor_script"]
