"""`@profile(torch.op)`: calls of the op are timed on both frameworks, in loops, with fixed numbers of threads.

OneFlow's own profiler aborts its CUDA build on a machine without a GPU, so clocks are read here.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autotest.dropin.notes import get_args, to_string
from autotest.dropin.state import Hardware, state
from autotest.run.session import running_session
from dual_object.record.namespace import intercepted

WARMUP_NUM = 10
RUN_NUM = 1000
END_TO_END = "end-to-end"


@dataclass(frozen=True)
class ProfResult:
    """What the calls of one op took on one framework and device: seconds on the clock and of the processor, each per
    call.
    """

    num: int
    kind: str
    device: str
    thread_num: int | None
    op_name: str
    args_description: str
    additional_description: str | None
    wall: float
    cpu: float


def profile(op: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Time the calls of `op` that a function makes, and tell of them at the end of the run."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _profiled(op):
                return function(*args, **kwargs)

        return run

    return decorate


@contextmanager
def _profiled(op: Any) -> Iterator[None]:
    names = state().profiled
    names.append(op.name)
    token = intercepted.set(_intercept)
    try:
        yield
    finally:
        intercepted.reset(token)
        names.pop()


def _intercept(op: Any) -> Callable[..., Any] | None:
    """What is called instead of `op`: its timed twin, where it is to be timed."""
    return profile_dual_object(op) if op.name in state().profiled else None


def profile_dual_object(op: Any) -> Callable[..., Any]:
    """`op`, timed: takes what `op` takes and `profile_description`; gives the results, passed through the hook.

    There is one result per framework and device of the hardware list, None where a framework is not profiled or a
    device is not there.
    """

    def timed(*args: Any, profile_description: str | None = None, **kwargs: Any) -> Any:
        torch_args, torch_kwargs, flow_args, flow_kwargs = get_args(op.pytorch, *args, **kwargs)
        described = to_string(*args, **kwargs)
        sides = (
            ("oneflow", run_flow, op.oneflow, flow_args, flow_kwargs),
            ("pytorch", run_torch, op.pytorch, torch_args, torch_kwargs),
        )
        results: list[ProfResult | None] = []
        for framework, run, function, its_args, its_kwargs in sides:
            for device, threads in state().hardware:
                result = None
                if framework in state().frameworks and _has(device):
                    result = run(
                        function, its_args, its_kwargs, device, threads, op.name, described, profile_description
                    )
                results.append(result)
        state().tables.append(_table(op.name, described, profile_description, results))
        return state().hook(results)

    return timed


def run_torch(
    op: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    device: str,
    num_threads: int | None,
    op_name: str,
    args_description: str,
    additional_description: str | None = None,
) -> ProfResult:
    """Time an op of PyTorch."""
    import torch

    before = torch.get_num_threads()
    if num_threads is not None:
        torch.set_num_threads(num_threads)
    try:
        wall, cpu = _time(op, *_on(device, args, kwargs, torch.Tensor), _waiting(torch, device))
    finally:
        torch.set_num_threads(before)
    return ProfResult(
        _run_num(), "PyTorch", device, num_threads, op_name, args_description, additional_description, wall, cpu
    )


def run_flow(
    op: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    device: str,
    num_threads: int | None,
    op_name: str,
    args_description: str,
    additional_description: str | None = None,
) -> ProfResult:
    """Time an op of the target."""
    adapter = running_session().inline.adapter
    if num_threads is not None:  # OneFlow tells no number that could be set back; runs have one thread as well
        adapter.resolve("set_num_threads")(num_threads)
    wall, cpu = _time(op, *_on(device, args, kwargs, adapter.tensor_type), adapter.synchronize)
    return ProfResult(
        _run_num(), "OneFlow", device, num_threads, op_name, args_description, additional_description, wall, cpu
    )


def set_hardware_info_list(hardware_info_list: list[Hardware]) -> None:
    """Time on these devices and numbers of threads."""
    state().hardware = hardware_info_list


def set_profiler_hook(hook: Callable[[list[Any]], Any]) -> None:
    """Give the results of a profiled call to `hook`; the call returns what it returns."""
    state().hook = hook


def compose(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """The functions as one, the last one called first."""
    first, *others = reversed(functions)

    def composed(*args: Any, **kwargs: Any) -> Any:
        result = first(*args, **kwargs)
        for function in others:
            result = function(result)
        return result

    return composed


def _run_num() -> int:
    return int(os.environ.get("ONEFLOW_PROFILE_RUN_NUM", RUN_NUM))


def _time(
    op: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], wait: Callable[[], Any]
) -> tuple[float, float]:
    """Seconds per call, on the clock and of the processor."""
    for _ in range(int(os.environ.get("ONEFLOW_PROFILE_WARMUP_NUM", WARMUP_NUM))):
        op(*args, **kwargs)
    wait()
    count = _run_num()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        op(*args, **kwargs)
    wait()
    return (time.perf_counter() - wall) / count, (time.process_time() - cpu) / count


def _on(
    device: str, args: Sequence[Any], kwargs: dict[str, Any], tensor: type[Any]
) -> tuple[list[Any], dict[str, Any]]:
    def there(value: Any) -> Any:
        return value.to(device) if isinstance(value, tensor) else value

    return [there(arg) for arg in args], {name: there(arg) for name, arg in kwargs.items()}


def _waiting(torch: Any, device: str) -> Callable[[], Any]:
    synchronize: Callable[[], Any] = torch.cuda.synchronize
    return synchronize if device == "cuda" else lambda: None


def _has(device: str) -> bool:
    import torch

    return device == "cpu" or torch.cuda.is_available()


def _table(op: str, args: str, description: str | None, results: Sequence[ProfResult | None]) -> str:
    """The results of one profiled call in lines."""
    from reports.words.literals import literal_lines

    title = f"{op}({args})" if description is None else f"{op}({args}): {description}"
    lines = literal_lines(title, "utf-8")
    lines.append(f"  {'framework':<10}{'device':<8}{'threads':>8}{'calls':>8}{'wall us/call':>14}{'CPU us/call':>14}")
    for result in results:
        if result is not None:
            threads = "-" if result.thread_num is None else result.thread_num
            lines.append(
                f"  {result.kind:<10}{result.device:<8}{threads:>8}{result.num:>8,}"
                f"{result.wall * 1e6:>14.1f}{result.cpu * 1e6:>14.1f}"
            )
    return "\n".join(lines)
