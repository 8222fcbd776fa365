"""The dual `torch`: what test bodies call instead of PyTorch, and functions and objects of two sides joined."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from dual_object.errors import ArgumentError, RawTargetNeeded
from dual_object.program.global_layouts import MOVES
from dual_object.record.data_parallel import DataParallel
from dual_object.record.dual import DualObject
from dual_object.record.names import unknown_name
from dual_object.record.own_containers import CONTAINERS, holds_own
from dual_object.record.own_module import OwnModule
from dual_object.record.recording import recording

#: Gives what is called instead of a function of the framework, None where that is itself.
intercepted: ContextVar[Callable[[Any], Callable[..., Any] | None]] = ContextVar("intercepted")


class DualNamespace:
    """The framework's root (`torch`) or a module below it, resolved when something is called."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._members: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name == "__version__" and not self._path:
            return importlib.import_module("torch").__version__
        if name.startswith("__"):
            raise AttributeError(name)
        member = self._members.get(name)
        if member is None:
            member = self._member(name)
            self._members[name] = member
        return member

    def _member(self, name: str) -> Any:
        path = f"{self._path}.{name}" if self._path else name
        if path == "set_default_device":
            raise ArgumentError("torch.set_default_device(...) moves what the harness makes, too: give calls a device=")
        if path == "compile":
            raise ArgumentError(
                "torch.compile(...) compiles for PyTorch alone: leave it out of the body, and run the test on what it "
                "compiles to, as with --target torch:inductor"
            )
        if path.startswith("testing.assert_"):
            raise ArgumentError(
                f"torch.{path}(...) holds two results of one side together: "
                "return both, and each is held to the target's"
            )
        member: Any = importlib.import_module("torch")
        for part in path.split("."):
            if member is sys.modules["torch"] and part in MOVES:  # `torch.to_global(x, ...)`
                return DualFunction(path, MOVES[part])
            try:
                member = getattr(member, part)
            except AttributeError as error:
                raise unknown_name(error, member, ".".join(filter(None, ("torch", self._path))), part) from None
        if inspect.ismodule(member):
            return type(self)(path)
        if member is sys.modules["torch"].nn.parallel.DistributedDataParallel:
            return DataParallel
        return DualFunction(path, member) if callable(member) else member

    def __repr__(self) -> str:
        return f"<dual namespace {'.'.join(filter(None, ('torch', self._path)))}>"


class DualFunction:
    """A function or class of the framework, by its path."""

    __slots__ = ("_container", "_dual_path", "_function", "_kind", "_members")

    def __init__(self, path: str, function: Any) -> None:
        self._dual_path = path
        self._function = function
        self._members: dict[str, Any] = {}
        torch = sys.modules["torch"]
        is_module = inspect.isclass(function) and issubclass(function, torch.nn.Module)
        self._kind: Any = "module" if is_module else "function"
        #: What it is where it is to hold a module of a class of the test's own.
        self._container = CONTAINERS.get(path)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call of the function, or the construction of the module."""
        instead = intercepted.get(None)
        other = None if instead is None else instead(self)
        if other is not None:
            return other(*args, **kwargs)
        if self._container is not None:
            args = tuple(list(arg) if isinstance(arg, Iterator) else arg for arg in args)
            if holds_own(args):
                return self._container(*args, **kwargs)
        record = recording(f"torch.{self._dual_path}")
        return record.call(self._kind, self._dual_path, self._function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            member = getattr(self._function, name)
        except AttributeError as error:
            raise unknown_name(error, self._function, f"torch.{self._dual_path}", name) from None
        return DualFunction(f"{self._dual_path}.{name}", member) if callable(member) else member

    @property
    def __name__(self) -> str:  # what `functools.wraps` and messages ask for
        return self._dual_path.rpartition(".")[2]

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        torch = sys.modules["torch"]
        if self._function is torch.nn.Module:
            return (OwnModule,)
        base = f"base=torch.{self._dual_path}, but should be"
        apart = "write one class per framework and join them with dual(reference=..., target=...)"
        if self._kind == "module":
            raise ArgumentError(f"{base} torch.nn.Module, whose forward calls a torch.{self._dual_path}; or {apart}")
        raise ArgumentError(f"{base} a class of one framework: {apart}")

    def __instancecheck__(self, instance: Any) -> bool:
        if isinstance(instance, OwnModule):
            return self._function is sys.modules["torch"].nn.Module or type(instance) is self._container
        return isinstance(instance._value if type(instance) is DualObject else instance, self._function)

    @property
    def name(self) -> str:
        """The path below the framework's root."""
        return self._dual_path

    @property
    def pytorch(self) -> Any:
        """The reference's own function or class."""
        return self._function

    @property
    def oneflow(self) -> Any:
        """The target's own function or class, for an inline run; raises MissingOp."""
        stepper = recording(f"torch.{self._dual_path}").stepper
        if stepper is None:
            raise RawTargetNeeded("the body uses a raw target object")
        return stepper.adapter.resolve(self._dual_path)

    def __repr__(self) -> str:
        return f"<dual torch.{self._dual_path}>"


class CustomDual:
    """A dual op made of two functions, one per side."""

    __slots__ = ("_name", "_pair", "_paths", "_reason")

    def __init__(self, name: str, reference: Any, target: Any) -> None:
        self._name = name
        self._pair = (reference, target)
        paths = [import_path(side) for side in self._pair]
        self._paths = None if None in paths else (paths[0], paths[1])
        self._reason = f"{name} calls a function that cannot be imported by name (a lambda or closure)"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call of both functions."""
        record = recording(self._name)
        custom: tuple[Any, Any] | None = self._paths
        if custom is None:
            if record.stepper is None:
                raise RawTargetNeeded(self._reason)
            record.program.inline = self._reason
            custom = self._pair
        return record.call("custom", self._name, self._pair[0], args, kwargs, custom=custom)

    def __repr__(self) -> str:
        return f"<dual {self._name}>"


def import_path(function: Any) -> str | None:
    """`module:qualname` under which `function` can be imported again, None where it cannot."""
    # The qualified name of `torch.relu` is `_VariableFunctionsClass.relu`, under which nothing finds it.
    names = [getattr(function, "__qualname__", None), getattr(function, "__name__", None)]
    homes = [getattr(function, "__module__", None), "torch", "torch.nn.functional", "oneflow"]
    for name in dict.fromkeys(name for name in names if name and "<" not in name):
        for home in homes:
            member: Any = sys.modules.get(home) if home and home != "__main__" else None
            for part in name.split(".") if member is not None else ():
                member = getattr(member, part, None)
            if member is function:
                return f"{home}:{name}"
    return None


def dual(*, reference: Any, target: Any, name: str = "") -> Any:
    """A dual op of your own: `reference` takes the reference's objects, `target` the target's.

    Functions and classes that can be imported by name are replayed everywhere; with a lambda or closure the test
    runs inline and eager only.

    Raises:
        ArgumentError: one of the two is no callable.
    """
    for side, function in (("reference", reference), ("target", target)):
        if not callable(function):
            raise ArgumentError(f"{side}={function!r}, but should be a function or a class [dual({name or '...'})]")
    return CustomDual(name or getattr(reference, "__name__", "custom"), reference, target)


def GetDualObject(name: str, pytorch: Any, oneflow: Any) -> Any:  # noqa: N802 - the name that AutoTest files use
    """Join a PyTorch object and its counterpart in the target into one dual object.

    Modules (the frameworks themselves) give a dual root, functions and classes a dual op. A pair of tensors or other
    objects becomes a value of the running case; since the target's object lives in this process, the test then runs
    inline.
    """
    if inspect.ismodule(pytorch):
        _, _, path = pytorch.__name__.partition(".")
        return DualNamespace(path)
    if inspect.isroutine(pytorch) or inspect.isclass(pytorch):
        return dual(reference=pytorch, target=oneflow, name=name or getattr(pytorch, "__name__", "custom"))
    record = recording(f"GetDualObject({name!r})")
    return record.adopt(name, pytorch, oneflow)


torch = DualNamespace()
