"""Faults to plant in a target worker: `AUTOTEST_FAULT=faults:NAME` calls NAME with the worker's adapter.

Each fault changes one op of PyTorch, so that one run can carry many of them: a body is red by the one op it calls.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dual_object.replay.adapter import GraphError, GraphRequest

Op = Callable[..., Any]


def _replace(home: Any, name: str, change: Callable[[Op], Op]) -> None:
    setattr(home, name, change(getattr(home, name)))


def _after(change: Callable[[Any], Any]) -> Callable[[Op], Op]:
    """The op with its result changed."""
    return lambda op: lambda *args, **kwargs: change(op(*args, **kwargs))


def _raising(error: Exception) -> Callable[[Op], Op]:
    def change(op: Op) -> Op:
        def planted(*args: Any, **kwargs: Any) -> Any:
            raise error

        return planted

    return change


def _doubled_gradient(result: Any) -> Any:
    """The same values with twice the gradient."""
    return result.detach() + 2 * (result - result.detach())


def _victim(name: str, x: Any) -> bool:
    """Whether `x` is the input that this fault has chosen: the first it met in the whole run, in any worker."""
    path = Path(os.environ["AUTOTEST_ONCE"]) / f"victim-{name}"
    words = str(x.tolist())
    if not path.exists():
        path.write_text(words)
    return path.read_text() == words


def wrong(adapter: Any) -> None:
    """One fault of each kind that a living target can show."""
    importlib.import_module("torch.fx.experimental.proxy_tensor")  # before any op is taken away from it
    _eager(adapter)
    _second_derivatives()
    _modes()
    _refusals()
    _graphs(adapter)


def _eager(adapter: Any) -> None:
    _replace(torch, "sin", _after(lambda result: result + 0.5))
    _replace(torch, "cos", _after(lambda result: result + float("nan")))
    _replace(torch, "log", _after(lambda result: -result))
    _replace(torch, "tan", _after(lambda result: result.unsqueeze(0)))
    _replace(torch, "atan", _after(lambda result: result.double()))
    _replace(torch, "sinh", _after(lambda result: result.detach()))
    _replace(torch, "cosh", _after(_doubled_gradient))
    _replace(torch, "chunk", _after(lambda result: result[:-1]))
    _replace(torch, "asinh", _after(lambda result: (result, result)))
    _replace(torch.Tensor, "view_as", lambda op: lambda x, other: op(x, other) + 0 * other)
    _replace(torch.Tensor, "mul_", lambda op: lambda x, other: x * other)
    _replace(torch.Tensor, "numel", _after(lambda result: result + 1))

    def mutating(op: Op) -> Op:
        def planted(x: Any) -> Any:
            result = op(x)
            x.detach().add_(1)
            return result

        return planted

    _replace(torch, "acos", mutating)
    _standing()

    away: list[Any] = []  # what the fault has sent to another device

    def sent(result: Any) -> Any:
        away.append(result)
        return result

    def describe(real: Op) -> Op:
        def planted(tensor: Any) -> Any:
            dtype, shape, device, requires_grad = real(tensor)
            return dtype, shape, "cuda:1" if any(tensor is t for t in away) else device, requires_grad

        return planted

    _replace(torch, "asin", _after(sent))
    _replace(adapter, "describe", describe)

    class RaisingBackward(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            raise RuntimeError("planted in backward")

    _replace(torch, "atanh", _after(RaisingBackward.apply))

    def state(op: Op) -> Op:
        def planted(module: Any, x: Any) -> Any:
            result = op(module, x)
            module.running_var.data.add_(1)  # past the version counter, which backward checks
            return result

        return planted

    _replace(torch.nn.BatchNorm1d, "forward", state)
    _replace(torch, "sigmoid", _after(lambda result: result * 1.5))
    _replace(torch, "hypot", _after(lambda result: result + 1))


def _standing() -> None:
    """Faults that no value shows: of layout, aliasing, identity, leafness, structure and state."""

    def mutating(op: Op) -> Op:
        def planted(x: Any, weight: Any) -> Any:
            result = op(x, weight)
            weight.data.add_(1)
            return result

        return planted

    _replace(torch, "ceil", _after(lambda result: result.t().contiguous().t()))
    _replace(torch, "abs", _after(lambda result: result.detach().requires_grad_()))
    _replace(torch, "round", _after(lambda result: result + 0.0))  # of negative zeros it leaves none
    _replace(torch, "movedim", _after(lambda result: result.clone(memory_format=torch.preserve_format)))
    _replace(torch, "clone", lambda op: lambda x: x.view(x.shape))
    _replace(torch.Tensor, "sub_", _after(lambda result: result.view(result.shape)))
    _replace(torch, "sort", _after(tuple))
    _replace(torch, "unbind", _after(list))
    _replace(torch.Tensor, "item", lambda op: lambda x: x.detach().reshape(()))
    _replace(torch.nn.functional, "linear", mutating)

    def frozen(op: Op) -> Op:
        def planted(module: Any, *args: Any, **kwargs: Any) -> None:
            op(module, *args, **kwargs)
            module.bias.requires_grad = False
            module.register_buffer("extra", torch.zeros(1))

        return planted

    _replace(torch.nn.LayerNorm, "__init__", frozen)

    def keyless(op: Op) -> Op:
        def planted(module: Any, *args: Any, **kwargs: Any) -> None:
            op(module, *args, **kwargs)
            del module.num_batches_tracked

        return planted

    _replace(torch.nn.BatchNorm3d, "__init__", keyless)

    def renamed(op: Op) -> Op:
        def planted(module: Any) -> Any:
            return {key.replace("bias", "beta"): value for key, value in op(module).items()}

        return planted

    _replace(torch.nn.GroupNorm, "state_dict", renamed)

    def unsaved(op: Op) -> Op:
        def planted(module: Any, *args: Any, **kwargs: Any) -> None:
            op(module, *args, **kwargs)
            module.register_buffer("running_mean", module.running_mean, persistent=False)

        return planted

    _replace(torch.nn.InstanceNorm1d, "__init__", unsaved)

    def using(op: Op) -> Op:
        def planted(x: Any) -> Any:
            result = op(x)
            x.detach().zero_()  # as workspace
            return result

        return planted

    _replace(torch, "deg2rad", using)


def _identity(forward: Op, backward: Op) -> Any:
    """What gives its argument, with these changes."""

    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return forward(x.clone())

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return backward(gradient)

    return Identity.apply


def _second_derivatives() -> None:
    def raising(gradient: Any) -> Any:
        raise RuntimeError("planted in the second backward")

    def without_graph(gradient: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError("The gradient function for op planted_grad is not found.")
        return gradient

    def same(tensor: Any) -> Any:
        return tensor

    def given(change: Op) -> Callable[[Op], Op]:
        """The op with its argument changed."""
        return lambda op: lambda x: op(change(x))

    _replace(torch, "erf", given(_identity(same, _identity(same, lambda gradient: 2 * gradient))))
    _replace(torch, "rsqrt", given(_identity(same, lambda gradient: gradient.detach())))
    _replace(torch, "tanh", given(_identity(same, _identity(same, raising))))
    _replace(torch, "reciprocal", given(_identity(same, without_graph)))


def _modes() -> None:
    """Modes that a call, or a backward, leaves switched in the process."""

    def switching(gradient: Any) -> Any:
        torch.set_default_dtype(torch.float64)
        return gradient

    _replace(torch, "lgamma", _after(lambda result: torch.set_default_dtype(torch.float64) or result))
    _replace(torch, "digamma", _after(_identity(lambda x: x, switching)))


def _refusals() -> None:
    _replace(torch, "acosh", _raising(RuntimeError("planted")))
    _replace(torch, "mv", lambda op: lambda matrix, vector: matrix.sum(1))
    _replace(torch, "dot", _raising(KeyError("planted")))
    _replace(torch, "mm", lambda op: lambda a, b: op(a, b) if a.shape[1] == b.shape[0] else a)
    _replace(torch, "outer", _refusing_otherwise)
    _replace(torch, "erfinv", _raising(NotImplementedError("no kernel for erfinv")))
    del torch.erfc


def _refusing_otherwise(op: Op) -> Op:
    def planted(*args: Any) -> Any:
        try:
            return op(*args)
        except RuntimeError:
            raise KeyError("planted") from None

    return planted


def _graphs(adapter: Any) -> None:
    def in_graph(change: Callable[[Any], Any]) -> Callable[[Op], Op]:
        return _after(lambda result: change(result) if adapter.phase == "graph" else result)

    _replace(torch, "sqrt", in_graph(lambda result: result + 0.5))
    _replace(torch, "exp", in_graph(_doubled_gradient))
    _replace(torch, "expm1", in_graph(lambda result: result.double()))
    _replace(torch, "log1p", lambda op: lambda x: _raise_in_graph(adapter) or op(x))
    _replace(torch.Tensor, "div_", in_graph(lambda result: result.clone()))
    floored: list[bool] = []  # refused only after another call of the same graph
    _replace(torch, "floor", _after(lambda result: floored.append(True) or result))
    _replace(torch, "trunc", lambda op: lambda x: (floored and _raise_in_graph(adapter)) or op(x))

    def state(op: Op) -> Op:
        def planted(module: Any, x: Any) -> Any:
            result = op(module, x)
            if adapter.phase == "graph":
                module.running_mean.data.add_(1)
            return result

        return planted

    _replace(torch.nn.BatchNorm2d, "forward", state)

    def graph(real: Op) -> Op:
        def planted(request: GraphRequest) -> Any:
            floored.clear()
            ops = {op for program in request.programs for op in program.ops()}
            if len(request.programs) > 1 and "log2" in ops:
                raise GraphError(("RuntimeError",), "planted for more than one", poisoned=False)
            if "log10" in ops:
                raise GraphError(("RuntimeError",), "building plan got error", poisoned=True)
            results = real(request)
            if len(results) > 1:
                for program, seen in zip(request.programs, results, strict=True):
                    if "exp2" in program.ops():
                        for shown in seen.outputs.values():
                            shown.data = shown.data + 1
            return results

        return planted

    _replace(adapter, "graph", graph)


def again(adapter: Any) -> None:
    """Graphs that are right when they are called first."""
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

    def baked(op: Op) -> Op:
        def planted(x: Any) -> Any:
            if adapter.phase != "graph":
                return op(x)
            with disable_proxy_modes_tracing():  # what is computed here is a constant of the graph
                return op(x.detach()) + 0 * x.detach()

        return planted

    _replace(torch, "sin", baked)

    def graph(real: Op) -> Op:
        def planted(request: GraphRequest) -> Any:
            results = real(request)
            values = request.again or [None] * len(results)
            for program, seen, again in zip(request.programs, results, values, strict=True):
                ops, second = program.ops(), seen.again
                if second is None or again is None:
                    continue
                if "cos" in ops:
                    second.outputs = seen.outputs
                if "exp" in ops:
                    second.gradients = seen.gradients
                if "BatchNorm1d" in ops:
                    second.buffers = seen.buffers
                if "tan" in ops or ("log2" in ops and len(results) > 1):
                    for shown in second.outputs.values():
                        shown.data = again[0]
            return results

        return planted

    _replace(adapter, "graph", graph)
    # Wrong where the second values are: at most 0.9 * 0.7071.
    _replace(torch, "log10", lambda op: lambda x: op(x) + (x.max() <= 0.64) * 1.0)


def randoms(adapter: Any) -> None:
    """Random ops with another distribution, stuck ones, and a gradient that does not follow."""
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

    functional = torch.nn.functional
    _replace(functional, "dropout", lambda op: lambda x, p, **named: op(x, 1 - p, **named))
    _replace(functional, "rrelu", lambda op: lambda x, *a, **k: _doubled_gradient(op(x, *a, **k)))
    stuck = torch.rand(3, 4)
    _replace(torch, "rand", lambda op: lambda *sizes: stuck[: sizes[0], : sizes[1]].clone())
    _replace(torch, "bernoulli", _after(lambda result: result.double()))
    _replace(torch, "multinomial", lambda op: lambda x, n, replacement: op(x, n, replacement=True))

    def baked(op: Op) -> Op:
        def planted(*sizes: Any) -> Any:
            if adapter.phase != "graph":
                return op(*sizes)
            with disable_proxy_modes_tracing():
                return op(*sizes)

        return planted

    _replace(torch, "randn", baked)


def _raise_in_graph(adapter: Any) -> None:
    if adapter.phase == "graph":
        raise RuntimeError("planted while the graph is built")


def lawful(adapter: Any) -> None:
    """Answers as good as the reference's where that leaves a choice; and beside each, one that is not."""

    def last(op: Op) -> Op:
        return lambda x: x.numel() - 1 - op(x.flip(0))

    _replace(torch, "argsort", lambda op: lambda x: op(x, descending=True).flip(0))
    _replace(torch, "argmin", lambda op: lambda x: last(op)(x) - 1)

    class Slope(torch.autograd.Function):
        """A ReLU with a slope of its own at zero."""

        @staticmethod
        def forward(ctx: Any, x: Any, at_zero: float) -> Any:
            ctx.save_for_backward(x)
            ctx.at_zero = at_zero
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            return gradient * ((x > 0) + ctx.at_zero * (x == 0)), None

    _replace(torch, "relu", lambda op: lambda x: Slope.apply(x, 1.0))
    _replace(torch.nn.functional, "relu6", lambda op: lambda x: Slope.apply(x, 2.0))
    _replace(torch, "sum", lambda op: lambda x: op(x.double().flip(0)).float())
    _replace(torch, "mean", lambda op: lambda x: op(x) * 1.01)
    _replace(
        torch, "sort", lambda op: lambda x: type(found := op(x, descending=True))([part.flip(0) for part in found])
    )


def _hungry() -> None:
    """Take memory without end; where nobody ends that, no more than a machine has."""
    held = [bytes(1)]
    while len(held) < 128:
        held.append(b"x" * (32 << 20))
    raise MemoryError("planted: nobody ended it")


def deadly(adapter: Any) -> None:
    """Faults that end or stop the worker, each for one case's input, so that a test's other cases can stand."""

    def fatal(name: str, end: Callable[[], None]) -> None:
        def change(op: Op) -> Op:
            def planted(x: Any) -> Any:
                if _victim(name, x):
                    end()
                return op(x)

            return planted

        _replace(torch, name, change)

    fatal("sin", _check_failed)
    fatal("cos", lambda: os.kill(os.getpid(), signal.SIGSEGV))
    fatal("tan", lambda: ctypes.PyDLL(None).sleep(1000))  # C code that holds the interpreter's lock
    fatal("cosh", lambda: _abort_soon(adapter))
    fatal("erf", _hungry)

    def lose() -> None:
        adapter.synchronize = failing

    def failing() -> None:
        raise RuntimeError("planted error: device-side assert triggered")

    fatal("tanh", lose)

    def overwrite() -> None:
        adapter.read = overwritten

    def overwritten(tensors: list[Any]) -> None:
        raise MemoryError("planted error: a size that was overwritten")

    fatal("atan", overwrite)

    # Before anything is traced: a first trace imports so much that it can outlast these tests' deadline.
    def graph(real: Op) -> Op:
        def planted(request: GraphRequest) -> Any:
            ops = {op for program in request.programs for op in program.ops()}
            if "exp" in ops:
                os.abort()
            if "log1p" in ops:
                time.sleep(1000)
            if "expm1" in ops:
                _hungry()
            return real(request)

        return planted

    _replace(adapter, "graph", graph)


def shrinkable(adapter: Any) -> None:
    """Faults that need little, something, or something that is gone when the case runs again."""
    _replace(torch, "sin", _after(lambda result: result + 0.5))
    _replace(torch, "tan", lambda op: lambda x: op(x) + (1.0 if x.numel() >= 6 and (x > 0.5).any() else 0.0))
    _replace(torch, "cosh", _after(_doubled_gradient))
    _replace(torch, "mm", lambda op: lambda a, b: op(a, b) if a.shape[1] == b.shape[0] else a)
    _replace(torch, "cos", _after(lambda result: _check_failed()))
    _replace(torch, "sinh", _after(lambda result: time.sleep(1000)))
    _replace(torch, "erf", _after(lambda result: _hungry()))

    met: list[bool] = []

    def fickle(result: Any) -> Any:
        met.append(True)
        return result + 1 if len(met) == 1 else result.unsqueeze(0)

    _replace(torch, "asinh", _after(fickle))

    def graph(real: Op) -> Op:
        def planted(request: GraphRequest) -> Any:
            results = real(request)
            for program, seen in zip(request.programs, results, strict=True):
                if "exp" in program.ops():
                    for shown in seen.outputs.values():
                        shown.data = shown.data + 1
            return results

        return planted

    _replace(adapter, "graph", graph)


def _abort_soon(adapter: Any) -> None:
    """Abort from another thread a moment later, as an asynchronous kernel does; whoever synchronises waits for it."""

    def abort() -> None:
        time.sleep(0.1)
        os.abort()

    kernel = threading.Thread(target=abort)
    kernel.start()
    adapter.synchronize = kernel.join


def _check_failed() -> None:
    """End as glog's CHECK does: the useful line first, then a stack trace, then the signal."""
    os.write(2, b"\x1b[31mF20240101 12:00:00.0 7 op.cpp:3] Check failed: (2 == 3) sizes differ\x1b[m\n")
    os.write(2, b"*** Check failure stack trace: ***\n    @ 0x7f google::LogMessage::Fail()\n")
    os.abort()


def with_a_child(adapter: Any) -> None:
    """A target that has started a process of its own, whose number stands in the file `AUTOTEST_CHILD`."""
    child = subprocess.Popen(["/bin/sleep", "600"])
    Path(os.environ["AUTOTEST_CHILD"]).write_text(str(child.pid))


def dead_at_import(adapter: Any) -> None:
    """A target that does not survive its own import."""
    os.write(2, b"undefined symbol: planted\n")
    os._exit(7)


def killed_at_import(adapter: Any) -> None:
    """A target that is killed while it starts, so many times as the file `AUTOTEST_KILLS` has lines."""
    path = Path(os.environ["AUTOTEST_KILLS"])
    lines = path.read_text().splitlines()
    if lines:
        path.write_text("\n".join(lines[1:]))
        os.kill(os.getpid(), signal.SIGKILL)


def broken_adapter(adapter: Any) -> None:
    """A fault of the harness itself: the adapter fails where no call of the target is to blame, once."""
    real = adapter.synchronize

    def planted() -> None:
        adapter.synchronize = real
        raise ZeroDivisionError("planted")

    adapter.synchronize = planted


def telling(adapter: Any) -> None:
    """A target that has a registry, and tells what ran; its surface fails as `AUTOTEST_SURFACE` says."""
    adapter.touched = set()
    adapter.registry = lambda: ("square_type", "neg_type", "idle_type")

    def noting(name: str) -> Callable[[Op], Op]:
        def change(op: Op) -> Op:
            def planted(*args: Any, **kwargs: Any) -> Any:
                adapter.touched.add(name)
                return op(*args, **kwargs)

            return planted

        return change

    _replace(torch, "square", noting("square_type"))
    _replace(torch, "neg", noting("neg_type"))
    if "AUTOTEST_SURFACE" in os.environ:
        adapter.registry = {"hang": lambda: time.sleep(600), "die": os.abort, "fail": lambda: 1 // 0}[
            os.environ["AUTOTEST_SURFACE"]
        ]


def float32(adapter: Any) -> None:
    """Ops that are wrong in float32, and right, wrong or absent in float64."""

    def narrow(op: Op) -> Op:
        return lambda x: op(x) + 0.5 * (x.dtype == torch.float32)

    def alone(op: Op) -> Op:
        def planted(x: Any) -> Any:
            if x.dtype == torch.float64:
                raise NotImplementedError("no kernel for float64")
            return op(x) + 0.5

        return planted

    _replace(torch, "cos", narrow)
    _replace(torch, "exp", alone)
    for op in ("sin", "sinh"):
        _replace(torch, op, _after(lambda result: result + 0.5))
    _replace(torch, "argmax", _after(lambda result: result + 1))
    _replace(torch, "tan", _after(lambda result: result + (0.5 if result.dtype == torch.float32 else float("nan"))))
