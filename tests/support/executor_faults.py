"""Faults to plant in what an executor has made: `AUTOTEST_FAULT=executor_faults:doubled`."""

from __future__ import annotations

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
