"""The names of PyTorch that it does not promise to keep, all in one place: `missing()` says which this version lacks.

Each is imported at its first use: Dynamo alone takes five seconds.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType, ModuleType
from typing import Any

_DYNAMO = "torch._dynamo"

#: What is used, by the module that has it: dotted names below that.
NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "torch._dynamo": ("reset", "mark_dynamic", "config.suppress_errors"),
        "torch._dynamo.utils": ("counters",),
        "torch._dynamo.exc": ("Unsupported", "UserError", "BackendCompilerFailed", "InternalTorchDynamoError"),
        "torch._inductor.config": ("compile_threads", "emulate_precision_casts", "cpp.vec_isa_ok"),
        "torch._inductor.cpu_vec_isa": ("valid_vec_isa_list.cache_clear",),
        "torch.fx.experimental.proxy_tensor": ("make_fx",),
        "torch.fx.experimental.symbolic_shapes": ("ConstraintViolationError",),
        "torch.export": ("export",),
        "torch._subclasses.fake_tensor": ("FakeTensorMode",),
        "torch._prims.context": ("TorchRefsMode",),
        "torch._lazy.ts_backend": ("init",),
        "torch._C": ("_jit_clear_class_registry",),
        "torch.jit._recursive": ("concrete_type_store", "ConcreteTypeStore"),
        "torch.jit._state": ("_clear_class_state",),
        "torch.onnx._internal.exporter._errors": ("DispatchError",),
    }
)


def missing() -> list[str]:
    """The names that this version of PyTorch lacks, in full."""
    return [f"{module}.{name}" for module, names in NAMES.items() for name in names if not _has(module, name)]


def _has(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@contextlib.contextmanager
def dynamo_left_out() -> Iterator[None]:
    """While it lasts, functions that PyTorch hides from Dynamo, such as nearly all that infer shapes, run as they are:
    the first call of one imports Dynamo, a second of work, to tell it what nobody is going to ask. Where Dynamo is
    there already, or is asked for anything else, it is the real one.
    """
    if _DYNAMO in sys.modules:
        yield
        return
    stand_in = _NoDynamo()
    sys.modules[_DYNAMO] = stand_in
    try:
        yield
    finally:
        stand_in.leave()


class _NoDynamo(ModuleType):
    def __init__(self) -> None:
        super().__init__(_DYNAMO)
        self._hidden: list[Callable[..., Any]] = []

    def disable(self, function: Callable[..., Any], *args: Any, **options: Any) -> Callable[..., Any]:
        self._hidden.append(function)
        return function

    def leave(self) -> None:
        if sys.modules.get(_DYNAMO) is self:
            del sys.modules[_DYNAMO]
        for function in self._hidden:  # each keeps what it was given, and shall ask the real one again
            vars(function).pop("__dynamo_disable", None)
        self._hidden.clear()

    def __getattr__(self, name: str) -> Any:
        self.leave()
        return getattr(importlib.import_module(_DYNAMO), name)


def prepare_dynamo() -> None:
    """Import Dynamo, quietly, with one thread for Inductor's compilations: each worker is one already."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    quieten()
    importlib.import_module("torch._dynamo")


@contextlib.contextmanager
def processor_trusted() -> Iterator[None]:
    """Have Inductor take the processor's word for which vector instructions it has. It would compile and load something
    for each set of them, which with a cold cache takes 10 s; unless an environment says what it is to do.

    What is compiled inside shows whether the compiler knows these instructions: where it raises, they are tried after
    all when the next is compiled.
    """
    config = importlib.import_module("torch._inductor.config").cpp
    if getattr(config, "vec_isa_ok", False) is not None:
        yield
        return
    config.vec_isa_ok = True
    try:
        yield
    except Exception:
        config.vec_isa_ok = None
        if _has("torch._inductor.cpu_vec_isa", "valid_vec_isa_list.cache_clear"):
            importlib.import_module("torch._inductor.cpu_vec_isa").valid_vec_isa_list.cache_clear()
        raise


def quieten() -> None:
    """Have PyTorch log errors alone."""
    logging.getLogger("torch").setLevel(logging.ERROR)


def reset_dynamo() -> None:
    """Forget all that was compiled, and count from zero."""
    importlib.import_module("torch._dynamo").reset()
    _counters().clear()


def graph_breaks_raised() -> AbstractContextManager[Any]:
    """While it lasts Dynamo raises where a graph would break; where this version cannot, it breaks it."""
    if not _has("torch._dynamo", "error_on_graph_break"):  # as PyTorch 2.6
        return contextlib.nullcontext()
    raising: AbstractContextManager[Any] = importlib.import_module("torch._dynamo").error_on_graph_break(True)
    return raising


def unique_graphs() -> int:
    """How many graphs Dynamo has made since the last reset."""
    return int(_counters()["stats"].get("unique_graphs", 0))


def graph_breaks() -> list[str]:
    """The reasons of the graph breaks since the last reset, each in one line. Those that end a frame before anything
    else was in it, Dynamo counts apart.
    """
    reasons = [*_counters()["graph_break"], *_counters()["unimplemented"]]
    return list(dict.fromkeys(str(reason).strip().partition("\n")[0] for reason in reasons))


def frames_left() -> int:
    """How many functions Dynamo has left to Python since the last reset."""
    frames = _counters()["frames"]
    return int(frames.get("total", 0) - frames.get("ok", 0))


def _counters() -> Any:
    return importlib.import_module("torch._dynamo.utils").counters


def refusals() -> tuple[type[Exception], ...]:
    """What Dynamo raises where it does not take a program, by design; PyTorch 2.0 has the first alone."""
    named = (
        ("torch._dynamo.exc", "Unsupported"),
        ("torch._dynamo.exc", "UserError"),
        ("torch.fx.experimental.symbolic_shapes", "ConstraintViolationError"),
    )
    return tuple(getattr(importlib.import_module(module), name) for module, name in named if _has(module, name))


def make_fx(module: Any, inputs: tuple[Any, ...]) -> Any:
    """The graph of ATen ops of a callable."""
    return importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx(module)(*inputs)


def fake_mode() -> Any:
    """A mode of fake tensors, which makes them, too."""
    return importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode()


def refs_mode() -> Any:
    """A mode in which ops are PyTorch's references, as far as there are such."""
    return importlib.import_module("torch._prims.context").TorchRefsMode(strict=False)


def prepare_lazy() -> None:
    """Have tensors of the device lazy run by TorchScript."""
    importlib.import_module("torch._lazy")
    importlib.import_module("torch._lazy.ts_backend").init()


def forget_scripted() -> None:
    """Forget the classes that `torch.jit.script` has compiled: one that it left half done, it cannot compile again."""
    importlib.import_module("torch._C")._jit_clear_class_registry()
    recursive: Any = importlib.import_module("torch.jit._recursive")
    recursive.concrete_type_store = recursive.ConcreteTypeStore()
    importlib.import_module("torch.jit._state")._clear_class_state()


def no_onnx_function() -> type[Exception]:
    """What the converter to ONNX raises for an op that it has no function for."""
    error: type[Exception] = importlib.import_module("torch.onnx._internal.exporter._errors").DispatchError
    return error


def state_tables(module: Any) -> list[Any]:
    """The tables in which a module and those inside of it hold parameters and buffers by name, each once."""
    return [table for part in module.modules() for table in (part._parameters, part._buffers)]


def cause(error: Exception) -> Exception:
    """What a backend raised, out of what Dynamo wraps it in."""
    exc = importlib.import_module("torch._dynamo.exc")
    inner = getattr(error, "inner_exception", None)
    return inner if isinstance(error, exc.BackendCompilerFailed) and isinstance(inner, Exception) else error


def mark_dynamic(tensor: Any, dim: int) -> None:
    """Have Dynamo take the size of a dimension for one that changes."""
    importlib.import_module("torch._dynamo").mark_dynamic(tensor, dim)
