"""Obstacles: why a divergence has no repro script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotest.compare.fingerprint import configuration_of
from autotest.compare.kinds import DEADLY, KINDS, in_graph
from autotest.repro.lines.targets import RECIPES, recipe
from autotest.repro.translated.speech import SPEECHES
from dual_object.adapters.oneflow.configurations import NAMES
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.replay import tracing
from dual_object.replay.asked.executors import EXECUTORS, REFUSES, AskedExecutor, asked_executor

#: What a script asks a framework's own tensors for, and cannot ask those of a class of the user's.
_UNREAD = frozenset({"device", "strides", "offset", "is_leaf"})


def obstacle(row: Mapping[str, Any], program: Program) -> str | None:
    """Why a divergence has no script, if it has none; `row` is as the records have it."""
    target = row["target"]
    if row["kind"] == "batch_only":
        return "it shows only in a static graph that other cases share"
    if row.get("override"):
        return "kernels stand for ops of its target (--override), which run beside no reference"
    executor = asked_executor(target)
    if executor is not None:
        return _executor_obstacle(row, program, executor)
    if target in SPEECHES:
        return "it trains, which takes more than calls" if program.training is not None else program.inline
    known = recipe(target)
    if known is None:
        return (
            f"target {target!r} is not one that a script knows how to import "
            f"({', '.join([*RECIPES, *SPEECHES])}, package.module:Class)"
        )
    graph = in_graph(row["phase"])
    if row["phase"] == "graph_backward" and row["kind"] == "random":
        return "it is the gradient of a random call in a static graph"
    if graph and row["kind"] == "structure" and program.training is None:
        return "what a call returned inside of a static graph cannot be asked outside of it"
    if graph and known.graph is None:
        return f"a script builds no static graph of {target}"
    asked = _UNREAD & {*KINDS[row["kind"]].compared} if row["kind"] in KINDS else _UNREAD
    configuration = configuration_of(row["fingerprint"])
    if configuration and configuration not in NAMES:
        return f"a script does not know the configuration {configuration} of {target}'s graphs"
    if known.adapted and asked:
        return f"a script does not ask {target} for {', '.join(sorted(asked))}"
    if program.inline is not None:
        return program.inline
    if program.training is not None and program.training.ranks > 1:
        return "several ranks share its batches, and a script is one process"
    if distributed(program):
        return "it has global tensors, which a script of one process has not"
    for call in program.calls:
        if call.custom and not all(isinstance(side, str) and "<" not in side for side in call.custom):
            return f"its custom op {call.op} cannot be imported"
    return tracing.obstacle(program) if graph and program.training is None else None


def _executor_obstacle(row: Mapping[str, Any], program: Program, executor: AskedExecutor) -> str | None:
    """The same for a target that runs PyTorch itself, and differs in graphs alone."""
    if row["kind"] in DEADLY:
        return "its script would end with the process that it ends"
    if row["kind"] == "random":
        return "it shows in many results together"
    if not in_graph(row["phase"]):
        return f"outside of a graph {executor.target} is PyTorch itself"
    if "mark_dynamic" in executor.options:
        return "a script does not mark dimensions as dynamic"
    if not EXECUTORS[executor.name].code:
        return f"a script does not run a program on {executor.target}"
    known = EXECUTORS[executor.name].reads or f"{executor.target} {REFUSES}" in row["message"]
    if row["kind"] == "unsupported" and not known:
        return f"{executor.target} makes a graph of it without a word, and is known to make a wrong one"
    return tracing.obstacle(program)
