"""A repro script: one divergence as a program that needs the two frameworks and NumPy, and judges by itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autotest.compare.difference import Rules
from autotest.compare.kinds import DEADLY, KINDS
from autotest.compare.tolerance import tolerance
from autotest.repro.executors import executor_script
from autotest.repro.lines.arrays import FILE_NAME
from autotest.repro.lines.graph import graph_text, shown_in_graph
from autotest.repro.lines.source import Source
from autotest.repro.lines.targets import recipe
from autotest.repro.lines.wrapping import wrapped
from autotest.repro.obstacles import obstacle
from autotest.repro.templating import public, template
from autotest.repro.translated import SPEECHES, translated_script
from autotest.repro.unscripted import Unscripted
from autotest.repro.wanted import wanted
from autotest.workers.launch import TARGET_PYTHON
from dual_object.adapters.oneflow.configurations import computes_in
from dual_object.program.precision import is_wide
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, leaves
from dual_object.replay.asked.executors import EXECUTORS, AskedExecutor, asked_executor
from dual_object.replay.observation import FAMILIES
from reports.text.evidence import stages_words

#: A target that has not ended by then hangs; less than what one repro may take to be verified.
DEADLINE = 20
_DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
#: What random is compared by so many samples.
SAMPLES = 1000
#: What is compared of each result for a kind that another version has told of.
_ALL = ("dtype", "shape", "device", "strides", "requires_grad", "values")
#: Facts that are told only where they are compared, and how a script asks a tensor for them.
_FACTS = {
    "device": "value.device.type",
    "strides": "tuple(stride for stride, size in zip(value.stride(), value.shape) if size > 1)",
    "offset": "value.storage_offset()",
    "requires_grad": "value.requires_grad",
    "is_leaf": "value.is_leaf",
}


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, and the arrays that stand in a file beside it (none where all are inline)."""

    text: str
    arrays: Mapping[str, Array]


def script(
    row: Mapping[str, Any],
    program: Program,
    rules: Rules,
    shown: Mapping[str, Any] | None,
    environment: Mapping[str, str],
) -> Script:
    """The repro of a divergence: `row` as the records have it, `shown` what of `program` shows it (None: unknown).
    Raises Unscripted.
    """
    reason = obstacle(row, program)
    if reason is not None:
        raise Unscripted(reason)
    executor = asked_executor(row["target"])
    if executor is not None:
        return _of_executor(executor, row, program, rules, shown, environment)
    speech = SPEECHES.get(row["target"])
    if speech is not None:
        head = _head(row, rules, environment, ())
        text = translated_script(head, row, program, rules, wanted(row, shown), speech, DEADLINE)
        return Script(_parsed(text), {})
    known = recipe(row["target"])
    assert known is not None, "otherwise there is an obstacle"
    own = [row["target"].partition(":")[0]] if known.adapted else []
    want = wanted(row, shown)
    in_graph = want.graph and program.training is not None
    if in_graph:  # the reference trains without a graph: only what the target runs is made of another text
        program = shown_in_graph(program)
        want = replace(want, graph=False)
    if in_graph or (program.training is not None and want.part in ("gradient", "second")):
        # A training returns what it shows, its gradients, too.
        key = want.key if want.part == "output" else ""
        want = replace(want, backward=False, part="output", key=key)
    if not is_wide(program):
        rules = rules.computed_in(computes_in(want.configuration))
    source = Source(program, want)
    checked = KINDS[row["kind"]].compared if row["kind"] in KINDS else _ALL
    text = source.program_text()
    body = source.body()
    made_graph = graph_text(source) if source.wanted.graph or in_graph else []
    graph = "\n".join(wrapped(made_graph))
    samples = SAMPLES if source.sampled else 0
    values = {
        **_head(row, rules, environment, {*source.own_modules(), *own}),
        "adapted": known.adapted,
        "file": FILE_NAME if source.file else "",
        "deadly": row["kind"] in DEADLY,
        "memory": row.get("memory_limit"),
        "samples": samples,
        "deadline": DEADLINE,
        "imports": sorted(source.imports),
        "custom_imports": source.custom_imports(),
        "strided": source.strided,
        "load": source.loads,
        "helpers": source.helpers(),
        "program": text,
        "body": wrapped(body),
        "graph": graph,
        "facts": [(name, how) for name, how in _FACTS.items() if name in checked],
        "devices": _devices(program),
        "checked": checked,
        "host": bool(source.hosts()),
        "refusal": source.refusal,
        "families": ", ".join(f'"{name}"' for name in sorted(FAMILIES)),
        "import_target": known.imports,
        "target": known.module,
    }
    made = template("repro.py.j2")
    rendered = made.render(numpy=False, **values)
    if "np." in rendered:
        rendered = made.render(numpy=True, **values)
    return Script(_parsed(rendered), source.file)


def _parsed(text: str) -> str:
    """A script's text, which Python reads; raises Unscripted."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise Unscripted(f"its program has no text that Python reads: {error.msg} in {error.text!r}") from None
    return text


def _of_executor(
    executor: AskedExecutor,
    row: Mapping[str, Any],
    program: Program,
    rules: Rules,
    shown: Mapping[str, Any] | None,
    environment: Mapping[str, str],
) -> Script:
    """The repro of what an executor of PyTorch does otherwise than PyTorch."""
    values = _head(row, rules, environment, Source(program, wanted(row, shown)).own_modules())
    try:
        text, beside = executor_script(executor, program, wanted(row, shown), values)
    except ValueError as error:
        raise Unscripted(str(error)) from None
    return Script(_parsed(text), beside)


def _head(
    row: Mapping[str, Any], rules: Rules, environment: Mapping[str, str], own_modules: Collection[str]
) -> dict[str, Any]:
    """What every script's text has of its divergence, whatever runs it."""
    return {
        "title": public(row["message"].partition("\n")[0]).replace("\\", "/").replace('"""', "'''"),
        "fingerprint": row["fingerprint"],
        "versions": versions(row["target"], environment),
        "stages": stages_words(row.get("stages") or {}),
        "own_modules": ", ".join(sorted(own_modules)),
        "sign": row["kind"] == "sign",
        "tolerance": _tolerance(rules),
        "tolerances": [f'"{name}": {tuple(tolerance(name, "cpu", None, None)[:2])}' for name in _DTYPES],
    }


def _tolerance(rules: Rules) -> str:
    """The expression of a tensor's relative and absolute tolerance."""
    if rules.rtol is not None and rules.atol is not None:
        return f"({rules.rtol}, {rules.atol})"
    return "by dtype"


def _devices(program: Program) -> str:
    """The devices, other than the CPU, that the program names."""
    named = [leaf for call in program.calls for leaf in (*leaves(call.args), *leaves(call.kwargs))]
    devices = {leaf.spec for leaf in named if type(leaf) is Device and not leaf.spec.startswith("cpu")}
    devices |= {leaf for leaf in named if type(leaf) is str and leaf.startswith("cuda")}
    return ", ".join(sorted(devices))


def versions(target: str, environment: Mapping[str, str]) -> str:
    """The versions that showed the divergence, in words."""
    asked = asked_executor(target)
    below = EXECUTORS[asked.name].packages if asked is not None else ()
    names = dict.fromkeys([target, "torch", *below, "numpy", "python", TARGET_PYTHON])
    packages = [f"{name} {environment[name]}" for name in names if name in environment]
    return ", ".join([*packages, *([environment["platform"]] if "platform" in environment else [])])


__all__ = ["DEADLINE", "Script", "Unscripted", "script", "versions"]
