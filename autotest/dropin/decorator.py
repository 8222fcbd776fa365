"""`@autotest` as OneFlow's test files use it: on test methods, and on helpers that test methods call."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from autotest.dropin.dialect import AutoTestDialect
from autotest.dropin.options import ATOL, RTOL, DropInOptions, current_options

#: Arguments of OneFlow versions after 0.9.0 which ask for what is always done here.
LATER = frozenset({"include_complex", "check_grad_use_random_data", "graph_n"})


def autotest(
    n: int = 20,
    auto_backward: bool | str = True,
    rtol: float = RTOL,
    atol: float = ATOL,
    check_graph: bool | str = True,
    check_allclose: bool = True,
    check_dtype: bool = False,
    check_grad_use_random_data: bool = True,
    **later: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a body n times on fresh draws, on PyTorch and on the target, and compare all tensors that it made.

    `auto_backward="auto"` starts a backward from those results only that have a gradient; `check_graph=
    "ValidatedFalse"` runs no graph. Raises UsageError for values that cannot mean anything.
    """
    for name in later.keys() - LATER:
        warnings.warn(
            f"{name}={later[name]!r} is unknown here and changes nothing [@autotest(...)]", UserWarning, stacklevel=2
        )
    options = DropInOptions(
        n=n,
        auto_backward=bool(auto_backward),
        rtol=rtol,
        atol=atol,
        check_graph=bool(check_graph) and check_graph != "ValidatedFalse",
        check_allclose=bool(check_allclose),
        check_dtype=bool(check_dtype),
        check_grad_use_random_data=bool(check_grad_use_random_data),
        starts_where_it_can=auto_backward == "auto",
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            from autotest.run.runner import run_test

            token = current_options.set(options)
            try:
                run_test(function, options, functools.partial(function, *args, **kwargs), AutoTestDialect(options))
            finally:
                current_options.reset(token)

        run.autotest_options = options  # type: ignore[attr-defined]
        return run

    return decorate
