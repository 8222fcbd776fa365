"""Judging as a function, for a program that makes kernels: `judge_kernel`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from autotest.errors import UsageError
from autotest.kernels.claims import claimed, op_path, shapes_of
from autotest.kernels.findings import Verdict
from autotest.kernels.judge import IMPORTS, KernelJudge
from autotest.kernels.questions import Asking
from autotest.workers.forking.forks import Forks
from dual_object.errors import TargetError
from dual_object.replay.adapter import load_reference

Level = Literal["quick", "full"]

#: Two threads that want the same judge make it once.
_MAKING = threading.Lock()


def judge_of(asking: Asking, timeout: float | None, memory: int | None) -> KernelJudge:
    """The judge of an op, whose questions are made once. Raises UsageError where PyTorch has no samples of the op."""
    with _MAKING:
        return _made(asking, timeout, memory)


@cache
def _made(asking: Asking, timeout: float | None, memory: int | None) -> KernelJudge:
    reference = load_reference()
    reference.use_one_thread()
    try:
        return KernelJudge(reference, asking, timeout=timeout, memory=memory, forks=_forks())
    except TargetError as error:
        raise UsageError(str(error)) from None


@cache
def _forks() -> Forks:
    """What forks the processes of kernels; they end with this process."""
    return Forks(IMPORTS)


def judge_kernel(
    kernel: Callable[..., Any] | str,
    like: Callable[..., Any] | str | None = None,
    *,
    dtypes: Sequence[str] = (),
    shapes: Sequence[str] = (),
    gradients: bool = True,
    level: Level = "quick",
    budget: float | None = None,
    delegates: bool = False,
    sandbox: bool = False,
    device: str = "cpu",
    vmap: bool = False,
    compile: bool = False,
    threads: bool = False,
    timeout: float | None = 20.0,
    memory: int | None = None,
) -> Verdict:
    """Whether a function is an op of PyTorch: `judge_kernel("mykernels.py:softmax", like=torch.softmax).accepted`.

    The kernel runs in a process of its own, which never has PyTorch's answers. May be called by several threads at
    once.

    Args:
        kernel: a function of a file, `"FILE.py:function"`, or a source text, whose last function is meant.
        like: the op, or its name; by default the op that is called as the function.
        dtypes: those that the kernel claims, such as `("float32",)`; empty: all that the op takes.
        shapes: those of the first tensor that it claims, such as `("n,128",)`: a number is that size, a letter any
            size; empty: all that the op takes.
        gradients: whether it is differentiable.
        level: `quick` asks some 150 questions, `full` about four times as many.
        budget: seconds after which no more is asked; None: everything is.
        delegates: whether it may call the op itself.
        sandbox: whether its process has no network, and no files that it may write to but temporary ones of its own, by
            bubblewrap.
        device: what it is asked on, `cpu` or `cuda`; the answers that it should give are always made on the CPU.
        vmap, compile, threads: whether it claims to be right under `torch.func.vmap`, under `torch.compile` (with the
            backend `aot_eager`), and on several threads at once; it is asked so only then.
        timeout: seconds that one question may take; None: as many as it likes.
        memory: bytes that its process may hold; None: the share that one worker has of the machine's.

    Raises:
        UsageError: there is no such op or function.
        EnvironmentFault: the kernel's file cannot be imported, or there is no bubblewrap, or no such device.
    """
    if level not in ("quick", "full"):
        raise UsageError(f"level={level!r}, but should be 'quick' or 'full'")
    told = {"vmap": vmap, "compile": compile, "threads": threads}
    with claimed(kernel, delegates=delegates) as made:
        path = op_path(load_reference(), like, made)
        asking = Asking(path, tuple(dtypes), gradients, level == "full", shapes_of(shapes))
        claims = tuple(name for name, claims in told.items() if claims)
        claiming = replace(made, sandbox=sandbox, device=device, claims=claims)
        return judge_of(asking, timeout, memory).judge(claiming, budget)


__all__ = ["judge_kernel", "judge_of"]
