"""The dual object: it proxies each call to the reference, at once, and to the target, when the recorded Program is
replayed.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from dual_object.errors import ArgumentError, RawTargetNeeded
from dual_object.globals import MOVES, READS, stand_in
from dual_object.recording import Recording, recording
from dual_object.replay import OPERATORS
from dual_object.values import Ref

#: Gives what is called instead of a function of the framework, None where that is itself.
intercepted: ContextVar[Callable[[Any], Callable[..., Any] | None]] = ContextVar("intercepted")


class DualObject:
    """One value of a case on both sides: a tensor, a module, or another object that a framework returned.

    Everything a tensor or module can do, a dual object can: methods, attributes, operators, calls. What has a plain
    Python value
    (`bool`, `int`, `len`, `.shape`, `.item()` ...) gives the reference's and leaves a host read in the Program.
    """

    __slots__ = ("__weakref__", "_recording", "_ref", "_value")

    _recording: Recording
    _ref: Ref
    _value: Any

    __array_ufunc__ = None  # NumPy scalars on the left must ask our reflected operators

    def __init__(self, recording: Recording, ref: Ref, value: Any) -> None:
        set_slot = object.__setattr__
        set_slot(self, "_recording", recording)
        set_slot(self, "_ref", ref)
        set_slot(self, "_value", value)

    @property
    def reference(self) -> Any:
        """The reference's own object."""
        return self._value

    @property
    def pytorch(self) -> Any:
        """The reference's own object."""
        return self._value

    @property
    def target(self) -> Any:
        """The target's own object; the test then runs inline, in this process."""
        stepper = self._recording.stepper
        if stepper is None:
            raise RawTargetNeeded("the body uses a raw target object")
        self._recording.program.inline = "the body uses a raw target object"
        if self._ref.id not in stepper.values.by_id:
            failure = stepper.seen.failures[-1].message if stepper.seen.failures else "it was never computed"
            raise RuntimeError(f"the target has no value here: {failure}")
        return stepper.values.by_id[self._ref.id]

    def __getattr__(self, name: str) -> Any:
        # Refused early, for deepcopy, pickle and pytest ask for dunders and would recurse.
        if name.startswith("__"):
            raise AttributeError(name)
        record = self._recording
        if name == record.target:
            return self.target
        try:
            value = getattr(self._value, name)
        except AttributeError:
            if name not in MOVES and name not in READS:
                raise
            value = stand_in(record.program, self._ref.id, self._value, name)
        if callable(value) and not isinstance(value, (record.reference.tensor_type, record.reference.module_type)):
            return DualMethod(self, name, value)
        return record.call("get", name, lambda: value, (), {}, receiver=self)

    def __setattr__(self, name: str, value: Any) -> None:
        target = self._value
        self._recording.call("set", name, lambda new: setattr(target, name, new), (value,), {}, receiver=self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call a module, or any callable object that a framework returned."""
        value = self._value
        annotated = value.forward if hasattr(value, "forward") else value
        op = type(value).__name__
        return self._recording.call("call", op, value, args, kwargs, receiver=self, annotated=annotated)

    def __enter__(self) -> Any:
        entered = self._recording.call("enter", "enter", self._value.__enter__, (), {}, receiver=self)
        return self if entered is None else entered

    def __exit__(self, *exc_info: Any) -> None:
        self._recording.call("exit", "exit", lambda: self._value.__exit__(*exc_info), (), {}, receiver=self)

    def __repr__(self) -> str:
        return f"dual({self._value!r})"

    def __format__(self, spec: str) -> str:
        return format(self._value, spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        found = self.detach().numpy()
        return found if dtype is None else np.asarray(found, dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter(_operate("iter", self))

    def __index__(self) -> Any:
        return _operate("index", self)

    def __contains__(self, item: Any) -> Any:
        return _operate("contains", self, item)

    def __deepcopy__(self, memo: Any) -> Any:
        return _operate("deepcopy", self)

    def __copy__(self) -> Any:
        return _operate("copy", self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self._value)})

    __hash__ = object.__hash__


def _operate(name: str, *args: Any) -> Any:
    """Record an operator on whichever of `args` is dual."""
    dual = next(arg for arg in args if type(arg) is DualObject)
    return dual._recording.call("operator", name, OPERATORS[name], args, {})


def _unary(name: str) -> Callable[[Any], Any]:
    function = OPERATORS[name]

    def apply(self: DualObject) -> Any:
        return self._recording.call("operator", name, function, (self,), {})

    return apply


def _binary(name: str) -> Callable[..., Any]:
    function = OPERATORS[name]

    def apply(self: DualObject, *others: Any) -> Any:
        return self._recording.call("operator", name, function, (self, *others), {})

    return apply


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    function = OPERATORS[name]

    def apply(self: DualObject, other: Any) -> Any:
        return self._recording.call("operator", name, function, (other, self), {})

    return apply


_ARITHMETIC = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
]
_COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
_UNARY = ["neg", "pos", "abs", "invert", "bool", "int", "float", "complex", "len", "trunc", "reversed"]


def _install(cls: type) -> None:
    """Give the class its magic methods, once, from the table of operators."""
    for name in _ARITHMETIC:
        plain = name.rstrip("_")
        setattr(cls, f"__{plain}__", _binary(name))
        setattr(cls, f"__r{plain}__", _reflected(name))
        if f"i{plain}" in OPERATORS:
            setattr(cls, f"__i{plain}__", _binary(f"i{plain}"))
    for name in _COMPARISONS:
        setattr(cls, f"__{name}__", _binary(name))
    for name in _UNARY:
        setattr(cls, f"__{name}__", _unary(name))
    for name in ("getitem", "setitem", "delitem", "divmod", "round"):
        setattr(cls, f"__{name}__", _binary(name))


_install(DualObject)


class DualMethod:
    """A method of a dual object, bound."""

    __slots__ = ("_dual", "_function", "_name")

    def __init__(self, dual: DualObject, name: str, function: Callable[..., Any]) -> None:
        self._dual = dual
        self._name = name
        self._function = function

    @property
    def __name__(self) -> str:  # what `functools.wraps` and messages ask for
        return self._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call of the method."""
        dual = self._dual
        return dual._recording.call("method", self._name, self._function, args, kwargs, receiver=dual)

    def __repr__(self) -> str:
        return f"dual({self._function!r})"


class DualNamespace:
    """The framework's root (`torch`) or a module below it, resolved when something is called."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._members: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        member = self._members.get(name)
        if member is None:
            member = self._member(name)
            self._members[name] = member
        return member

    def _member(self, name: str) -> Any:
        path = f"{self._path}.{name}" if self._path else name
        found: Any = importlib.import_module("torch")
        for part in path.split("."):
            if found is sys.modules["torch"] and part in MOVES:  # `torch.to_global(x, ...)`
                return DualFunction(path, MOVES[part])
            found = getattr(found, part)  # the reference's own AttributeError: its message names what is near
        if inspect.ismodule(found):
            return DualNamespace(path)
        return DualFunction(path, found) if callable(found) else found

    def __repr__(self) -> str:
        return f"<dual namespace {'.'.join(filter(None, ('torch', self._path)))}>"


class DualFunction:
    """A function or class of the framework, by its path."""

    __slots__ = ("_dual_path", "_found", "_kind", "_members")

    def __init__(self, path: str, found: Any) -> None:
        self._dual_path = path
        self._found = found
        self._members: dict[str, Any] = {}
        torch = sys.modules["torch"]
        is_module = inspect.isclass(found) and issubclass(found, torch.nn.Module)
        self._kind: Any = "module" if is_module else "function"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call of the function, or the construction of the module."""
        instead = intercepted.get(None)
        other = None if instead is None else instead(self)
        if other is not None:
            return other(*args, **kwargs)
        record = recording(f"torch.{self._dual_path}")
        return record.call(self._kind, self._dual_path, self._found, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._found, name)
        return DualFunction(f"{self._dual_path}.{name}", found) if callable(found) else found

    @property
    def __name__(self) -> str:  # what `functools.wraps` and messages ask for
        return self._dual_path.rpartition(".")[2]

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise ArgumentError(
            f"base=torch.{self._dual_path}, but should be a class of one framework: "
            "write one class per framework and join them with dual(reference=..., target=...)"
        )

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance._value if type(instance) is DualObject else instance, self._found)

    @property
    def name(self) -> str:
        """The path below the framework's root."""
        return self._dual_path

    @property
    def pytorch(self) -> Any:
        """The reference's own function or class."""
        return self._found

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
            found: Any = sys.modules.get(home) if home and home != "__main__" else None
            for part in name.split(".") if found is not None else ():
                found = getattr(found, part, None)
            if found is function:
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
    objects becomes a value
    of the running case; since the target's object lives in this process, the test then runs inline.
    """
    if inspect.ismodule(pytorch):
        _, _, path = pytorch.__name__.partition(".")
        return DualNamespace(path)
    if inspect.isroutine(pytorch) or inspect.isclass(pytorch):
        return dual(reference=pytorch, target=oneflow, name=name or getattr(pytorch, "__name__", "custom"))
    record = recording(f"GetDualObject({name!r})")
    return record.adopt(name, pytorch, oneflow)
