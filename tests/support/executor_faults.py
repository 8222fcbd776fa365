"""Faults to plant in what an executor has made: `AUTOTEST_FAULT=executor_faults:doubled`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any


def doubled(adapter: Any) -> None:
    """Whatever is compiled gives its first result twice as large; gradients follow."""
    _change(adapter, lambda first: 2 * first)


def widened(adapter: Any) -> None:
    """Whatever is compiled gives its first result as float64."""
    _change(adapter, lambda first: first.double())


def _change(adapter: Any, change: Callable[[Any], Any]) -> None:
    executor = adapter.executor
    compile_rightly = executor.compile

    def compile_wrongly(module: Any, inputs: Any) -> Any:
        compiled = compile_rightly(module, inputs)
        run = compiled._function

        def wrong(*given: Any) -> Any:
            results = run(*given)
            if isinstance(results, list):
                return [(change(first), *others) for first, *others in results]
            first, *others = results
            return (change(first), *others)

        compiled._function = wrong
        return compiled

    executor.compile = compile_wrongly


def counted(adapter: Any) -> None:
    """Right; whatever is compiled adds a line to the file `COMPILED`: of how many Programs it is."""
    executor = adapter.executor
    compile_silently = executor.compile

    def compile_counted(module: Any, inputs: Any) -> Any:
        with open(os.environ["COMPILED"], "a") as file:
            file.write(f"{len(getattr(module, 'members', [module]))}\n")
        return compile_silently(module, inputs)

    executor.compile = compile_counted


def deadly_together(adapter: Any) -> None:
    """As `counted`, but to compile several Programs ends the process."""
    counted(adapter)
    executor = adapter.executor
    compile_counted = executor.compile

    def compile_deadly(module: Any, inputs: Any) -> Any:
        compiled = compile_counted(module, inputs)
        if hasattr(module, "members"):
            os.abort()
        return compiled

    executor.compile = compile_deadly


def deadly(adapter: Any) -> None:
    """Compiling ends the process."""

    def compile_deadly(module: Any, inputs: Any) -> Any:
        os.abort()

    adapter.executor.compile = compile_deadly


def slow(adapter: Any) -> None:
    """Compiling takes 0.6 seconds."""
    executor = adapter.executor
    compile_fast = executor.compile

    def compile_slowly(module: Any, inputs: Any) -> Any:
        time.sleep(0.6)
        return compile_fast(module, inputs)

    executor.compile = compile_slowly


def lost(adapter: Any) -> None:
    """Whatever is compiled gives zeros."""
    executor = adapter.executor
    compile_rightly = executor.compile

    def compile_wrongly(module: Any, inputs: Any) -> Any:
        compiled = compile_rightly(module, inputs)
        run = compiled._function
        compiled._function = lambda *given: run(*given) * 0
        return compiled

    executor.compile = compile_wrongly


def doubled_aot_eager(adapter: Any) -> None:
    """The same in the executor aot_eager alone."""
    _in(adapter, doubled, "aot_eager")


def doubled_dynamo(adapter: Any) -> None:
    """The same in eager and in aot_eager."""
    _in(adapter, doubled, "eager", "aot_eager")


def doubled_eager(adapter: Any) -> None:
    """The same in eager, of which aot_eager shows nothing."""
    _in(adapter, doubled, "eager")


def doubled_and_widened(adapter: Any) -> None:
    """The same in eager; in aot_eager the first result is float64."""
    _in(adapter, doubled, "eager")
    _in(adapter, widened, "aot_eager")


def ends_eager(adapter: Any) -> None:
    """Compiling ends the process in eager."""
    _in(adapter, deadly, "eager")


def _in(adapter: Any, fault: Any, *executors: str) -> None:
    if adapter.executor.name in executors:
        fault(adapter)
