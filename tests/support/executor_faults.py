"""Faults to plant in what an executor has made: `AUTOTEST_FAULT=executor_faults:doubled`."""

from __future__ import annotations

import time
from typing import Any


def doubled(adapter: Any) -> None:
    """Whatever is compiled gives its first result twice as large; gradients follow."""
    executor = adapter.executor
    compile_rightly = executor.compile

    def compile_wrongly(module: Any, inputs: Any) -> Any:
        compiled = compile_rightly(module, inputs)
        run = compiled._function

        def wrong(*given: Any) -> Any:
            results = run(*given)
            if isinstance(results, list):
                return [(2 * first, *others) for first, *others in results]
            first, *others = results
            return (2 * first, *others)

        compiled._function = wrong
        return compiled

    executor.compile = compile_wrongly


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
