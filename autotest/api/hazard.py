"""`@hazard`: a function handed to one of PyTorch's executors as it is, and called again with other tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from autotest.errors import HazardError, UsageError
from autotest.options import TestOptions
from autotest.run.session import running_session
from autotest.workers.protocol import Death
from autotest.workers.supervisor import Supervisor
from dual_object.replay.asked.executors import asked_executor

if TYPE_CHECKING:
    import pytest

    from dual_object.adapters.torch.hazards import Outcome, Verdict

Making = Callable[[], Sequence[Any]]
#: What makes a test fail, in words.
_RED: Mapping[str, str] = MappingProxyType(
    {
        "wrong": "is silently wrong",
        "error": "fails",
        "crash": "ends its process",
        "timeout": "hangs",
        "out_of_memory": "takes too much memory",
    }
)


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
    the target is no `torch:EXECUTOR`. All of it runs in a process of its own, which imports the test's file and finds
    the test by its name; an abort there, or a hang until the case's deadline, is a verdict like any other.

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

            session = running_session()
            new: list[str] = []
            expected: list[str] = []
            for target in session.stages:
                asked = asked_executor(target)
                if asked is None:
                    pytest.skip(f"{target} takes no function as it is: it is for --target torch:EXECUTOR")
                if session.options.isolate == "never":
                    verdict = _verdict_here(run, session.inline.stages().get(target, session.inline).adapter)
                else:
                    verdict = verdict_of(session.functions, request.path, request.node.originalname, target)
                request.node.user_properties.append(("hazard", verdict.outcome))
                if verdict.outcome in _RED:
                    message = f"{target} {_RED[verdict.outcome]}: {verdict.detail}"
                    reason = (known or {}).get(asked.name)
                    new += [message] if reason is None else []
                    expected += [] if reason is None else [f"{message}; {reason}"]
            if new:
                raise HazardError("\n".join(new))
            if expected:
                pytest.xfail("\n".join(expected))

        run.autotest_options = TestOptions(n=1)  # type: ignore[attr-defined]  # what the plugin knows a test of ours by
        # Not by functools.wraps: pytest would take the tensors' names for those of fixtures.
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(run, name, getattr(body, name))
        run.hazard = (body, first, other, {} if state is None else state, changed or {})  # type: ignore[attr-defined]
        return run

    return decorate


def verdict_of(target: Supervisor, file: Path, test: str, stage: str) -> Verdict:
    """What one of a target's executors makes of a test of a file that `@hazard` has made. The target's process imports
    the file: whatever becomes of that process is a verdict. Raises UsageError, HazardError.
    """
    from dual_object.adapters.torch.hazards import Verdict

    answer = target.hazard(str(file), test, stage)
    if isinstance(answer, Death):
        return Verdict(answer.cause, answer.sentence())
    outcome, detail = answer
    return Verdict(cast("Outcome", outcome), detail)


def _verdict_here(test: Any, adapter: Any) -> Verdict:
    """The same in this process, for a debugger."""
    from dual_object.adapters.torch.hazards import Hazard, judge

    return judge(Hazard(*test.hazard), adapter.executor)


__all__ = ["hazard", "verdict_of"]
