"""`@hazard`: a function handed to one of PyTorch's executors as it is, and called again with other tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autotest.errors import HazardError, UsageError
from autotest.options import TestOptions
from autotest.run.session import session_for
from dual_object.replay.executors import asked_executor

if TYPE_CHECKING:
    import pytest

    from dual_object.adapters.torch.executors.executor import Executor
    from dual_object.adapters.torch.hazards import Verdict

Making = Callable[[], Sequence[Any]]


def hazard(
    first: Making,
    *,
    other: Making,
    state: dict[str, Any] | None = None,
    changed: Mapping[str, Any] | None = None,
    known: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Callable[[pytest.FixtureRequest], None]]:
    """Make a test of a function of tensors: an executor captures it for the tensors of `first`, is called with those,
    and then with the tensors of `other`, for which the function may branch otherwise, loop longer, or write elsewhere.

    Results, what the arguments hold afterwards, gradients, strides, shared memory and `state` are compared with what
    the function itself comes to. `random`, `numpy.random` and PyTorch's generator begin alike in both. The test fails
    where the executor is silently wrong, or fails in another way than by saying that it cannot; it is skipped where
    the target is no `torch:EXECUTOR`.

    Args:
        first, other: make the arguments of a call, anew each time: a tuple of PyTorch's own tensors.
        state: a dict that the function reads or writes besides its tensors.
        changed: what is different in it at the second call.
        known: by the name of an executor, why it is wrong there: a documented limit, or an upstream issue. The test
            is then expected to fail.

    Raises UsageError.
    """
    for name, given in (("first", first), ("other", other)):
        if not callable(given):
            raise UsageError(f"{name}={given!r}, but should be a function that makes a call's tensors [@hazard(...)]")
    if state is not None and type(state) is not dict:
        raise UsageError(f"state={state!r}, but should be a dict [@hazard(...)]")

    def decorate(body: Callable[..., Any]) -> Callable[[pytest.FixtureRequest], None]:
        def run(request: pytest.FixtureRequest) -> None:
            __tracebackhide__ = True
            import pytest

            target = session_for("@hazard").options.target
            asked = asked_executor(target)
            if asked is None:
                pytest.skip(f"{target} takes no function as it is: it is for --target torch:EXECUTOR")
            verdict = verdict_of(run, target)
            request.node.user_properties.append(("hazard", verdict.outcome))
            if verdict.outcome in ("wrong", "error"):
                words = {"wrong": "is silently wrong", "error": "fails"}[verdict.outcome]
                message = f"{target} {words}: {verdict.detail}"
                reason = (known or {}).get(asked.name)
                if reason is not None:
                    pytest.xfail(f"{message}; {reason}")
                raise HazardError(message)

        run.autotest_options = TestOptions(n=1)  # type: ignore[attr-defined]  # what the plugin knows a test of ours by
        # Not by functools.wraps: pytest would take the tensors' names for those of fixtures.
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(run, name, getattr(body, name))
        run.posed = (body, first, other, {} if state is None else state, changed or {})  # type: ignore[attr-defined]
        return run

    return decorate


def verdict_of(test: Any, target: str) -> Verdict:
    """What the executor that `target` names makes of a test that `@hazard` has made."""
    from dual_object.adapters.torch.hazards import Hazard, judge

    return judge(Hazard(*test.posed), _executor(target))


@lru_cache
def _executor(target: str) -> Executor:
    """The executor of a target, made once in this process."""
    from dual_object.adapters.torch.executors import make_executor

    asked = asked_executor(target)
    assert asked is not None
    return make_executor(asked)


__all__ = ["hazard", "verdict_of"]
