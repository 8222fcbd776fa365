"""`@autotest`: a test body becomes n cases."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar, overload

from autotest.cases.places import bracketed, defined_at
from autotest.errors import UsageError
from autotest.options import Coverage, GradOrder, GraphBackward, Inputs, Lacking, Refusals, TestOptions
from dual_object.meant import meant

F = TypeVar("F", bound=Callable[..., Any])


@overload
def autotest(body: F, /) -> F: ...
@overload
def autotest(
    *,
    n: int = 20,
    auto_backward: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    check_graph: bool = True,
    check_allclose: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_grad_use_random_data: bool = True,
    graph_backward: GraphBackward = "share",
    missing: Lacking = "fail",
    unsupported: Lacking = "fail",
    refusals: Refusals = "sample",
    inputs: Inputs | None = None,
    coverage: Coverage = "each",
    seed: int | None = None,
    grad_order: GradOrder = 1,
    because: str | None = None,
    fullgraph: bool = False,
    train: int | None = None,
    accumulate: int = 1,
    graph_configs: str | tuple[str, ...] = (),
) -> Callable[[F], F]: ...


def autotest(body: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Run a test body n times on fresh draws, on PyTorch and on the target, and compare.

    Args:
        body: the function or method, when used without parentheses. Options are given by name.
        n: drawn cases, each compared eagerly.
        auto_backward: compare the gradients of all leaves, under a cotangent that both sides share.
        rtol, atol: both or neither; they replace the dtype's own tolerance.
        check_graph: run every case again in the target's static graph.
        check_allclose: compare values.
        check_dtype: compare dtypes.
        check_layout: compare strides.
        check_grad_use_random_data: draw the cotangent; False: ones.
        graph_backward: cases whose graph runs backward: "share" (every fourth, at least three), "all" or "none".
        missing: "fail"; "count": an op that the target lacks is counted and does not fail the test.
        unsupported: "fail"; "count": a call that the target says it does not support, such as of one dtype, is counted
            and does not fail the test.
        refusals: "all": the target must refuse what PyTorch refuses of the laid-out cases; "sample": they are left out.
        inputs: how wild tensors are: "plain", "standard" or "edge"; None: what the run is asked for.
        coverage: what the cases that are laid out before those n cover: "each" corner of values, layouts, sizes, dtypes
            and arguments that the body leaves open, each two of its arguments too ("arguments"), each two of all of
            them ("pairs"), or "none".
        seed: what the cases are drawn from, whatever the run is asked for; None: the run's.
        grad_order: 2: differentiate the gradients again, eagerly, each under a random cotangent of its own.
        because: the case that needs an rtol and atol wider than the dtype's own.
        fullgraph: fail where an executor (`--target torch:EXECUTOR`) does not capture a case in one graph.
        train: steps of a training, eagerly and in the target's training graph: the body makes a model and an optimizer,
            and returns the loss of one step. None: no training.
        accumulate: batches of each of these steps, whose gradients it updates by are their mean.
        graph_configs: configurations of the target's static graph, by their names, or "all": each case's graph is built
            again under each, and must give what the plain one gives.

    Raises:
        UsageError: an option cannot mean anything, the body is async or a class, or a test of its name stands above it.
    """
    if body is not None and not callable(body):
        raise UsageError(f"@autotest({body!r}): options are given by name, as in @autotest(n={body!r})")
    _refuse_unknown(options)
    checked = TestOptions(**options)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function):
            raise UsageError(
                f"{function.__qualname__} is a class, but @autotest should stand above a function: "
                "put it above each of the class's test methods"
            )
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(
                f"{function.__qualname__} is async, but should be a plain function: "
                "cases are recorded one call after the other"
            )
        _refuse_namesake(function)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            _check_call(function, args, kwargs)
            from autotest.run.runner import run_test

            run_test(function, checked, functools.partial(function, *args, **kwargs))

        run.autotest_options = checked  # type: ignore[attr-defined]
        return run

    return decorate if body is None else decorate(body)


def _refuse_namesake(function: Callable[..., Any]) -> None:
    """Raise UsageError where the module or class that a test stands in has one of its name already, which would never
    run. A line that runs again, as in a loop or when a module is imported anew, makes the same test.
    """
    if not inspect.isfunction(function):
        return
    frame = sys._getframe(1)
    while frame.f_code.co_filename != function.__code__.co_filename and frame.f_back is not None:
        frame = frame.f_back
    earlier: Any = frame.f_locals.get(function.__name__)
    before = inspect.unwrap(earlier) if hasattr(earlier, "autotest_options") else None
    if not inspect.isfunction(before) or before.__code__.co_filename != function.__code__.co_filename:
        return
    first, second = before.__code__.co_firstlineno, function.__code__.co_firstlineno
    if first != second:
        raise UsageError(
            f"{function.__qualname__} is there twice, at lines {first} and {second}, and only the last would run: "
            "give one of both another name"
        )


def _check_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise UsageError where pytest cannot call what @autotest stands above, and the other tests of its file run."""
    __tracebackhide__ = True
    if isinstance(function, (staticmethod, classmethod)):
        kind, own = type(function).__name__, function.__func__
        raise UsageError(
            f"{own.__qualname__} is a {kind}, but @autotest should stand above a function: "
            f"put @{kind} above @autotest{bracketed(defined_at(own))}"
        )
    if hasattr(function, "autotest_options"):
        own = inspect.unwrap(function)
        raise UsageError(
            f"{own.__qualname__} is decorated by @autotest twice: take one of both off{bracketed(defined_at(own))}"
        )
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(
            f"{function.__qualname__} cannot be called as it is here: {error}; a method takes self, "
            f"or has @staticmethod above @autotest{bracketed(defined_at(function))}"
        ) from None


def _refuse_unknown(options: dict[str, Any]) -> None:
    known = TestOptions.__dataclass_fields__
    for name, value in options.items():
        if name not in known:
            near = "n" if name == "cases" else meant(name, known)  # as the command has it
            should = near or f"one of {', '.join(known)}"
            raise UsageError(f"{name}={value!r}, but should be {should} [@autotest(...)]")
