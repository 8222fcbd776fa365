"""The dual object: it proxies each call to the reference, at once, and to the target, when the recorded Program is
replayed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol

import numpy as np

from dual_object.errors import ArgumentError, RawTargetNeeded
from dual_object.program.calls import CallKind
from dual_object.program.global_layouts import MOVES, READS, stand_in
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.record.names import unknown_name
from dual_object.replay.adapter import Adapter
from dual_object.replay.replay import OPERATORS, Replay


class Recorder(Protocol):
    """What a dual object asks of the recording that it belongs to."""

    program: Program
    target: str
    stepper: Replay | None

    @property
    def reference(self) -> Adapter:
        """The reference's adapter."""

    def hold(self, value: Any, frame: FrameType) -> None:
        """Note that a raw value of the reference's is given away to what runs in `frame`."""

    def call(
        self,
        kind: CallKind,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        receiver: DualObject | None = None,
        annotated: Any = None,
    ) -> Any:
        """Run one call on the reference and record it."""


class DualObject:
    """One value of a case on both sides: a tensor, a module, or another object that a framework returned.

    Everything a tensor or module can do, a dual object can: methods, attributes, operators, calls. What has a plain
    Python value (`bool`, `int`, `len`, `.shape`, `.item()` ...) gives the reference's and leaves a host read in the
    Program.
    """

    __slots__ = ("__weakref__", "_recording", "_ref", "_value")

    _recording: Recorder
    _ref: Ref
    _value: Any

    __array_ufunc__ = None  # NumPy scalars on the left must ask our reflected operators

    def __init__(self, recording: Recorder, ref: Ref, value: Any) -> None:
        set_slot = object.__setattr__
        set_slot(self, "_recording", recording)
        set_slot(self, "_ref", ref)
        set_slot(self, "_value", value)

    @property
    def reference(self) -> Any:
        """The reference's own object."""
        self._recording.hold(self._value, sys._getframe(1))
        return self._value

    @property
    def pytorch(self) -> Any:
        """The reference's own object."""
        self._recording.hold(self._value, sys._getframe(1))
        return self._value

    @property
    def target(self) -> Any:
        """The target's own object; the test then runs inline, in this process."""
        stepper = self._recording.stepper
        if stepper is None:
            raise RawTargetNeeded("the body uses a raw target object")
        self._recording.program.inline = "the body uses a raw target object"
        if self._ref.id not in stepper.values.by_id:
            raise stepper.lacking()
        return stepper.values.by_id[self._ref.id]

    def __getattr__(self, name: str) -> Any:
        # Refused early, for deepcopy, pickle and pytest ask for dunders and would recurse.
        if name.startswith("__"):
            raise AttributeError(name)
        record = self._recording
        if name == record.target:
            return self.target
        if name == "data_ptr":
            raise ArgumentError(
                "data_ptr gives an address, which is another on each side: which tensors share memory is compared "
                "anyway, and x.pytorch.data_ptr() is PyTorch's own"
            )
        try:
            value = getattr(self._value, name)
        except AttributeError as error:
            if name not in MOVES and name not in READS:
                raise unknown_name(error, self._value, type(self._value).__name__, name) from None
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
        def leave() -> None:
            self._value.__exit__(*exc_info)  # that of `torch.autocast` returns False, which is no value of the body's

        self._recording.call("exit", "exit", leave, (), {}, receiver=self)

    def __repr__(self) -> str:
        return f"dual({self._value!r})"

    def __format__(self, spec: str) -> str:
        return format(self._value, spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self.detach().numpy()
        return array if dtype is None else np.asarray(array, dtype=dtype)

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


def _of_tensors(name: str) -> Callable[[Any, Any], Any]:
    apply = _binary(name)
    return lambda self, other: apply(self, _no_array(name, other))


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    function = OPERATORS[name]

    def apply(self: DualObject, other: Any) -> Any:
        return self._recording.call("operator", name, function, (_no_array(name, other), self), {})

    return apply


#: How an array becomes a dual object.
OF_AN_ARRAY = "dual_tensor(pytorch.from_numpy(...)), where pytorch is your own `import torch as pytorch`"


def _no_array(name: str, other: Any) -> Any:
    """The operand. Raises ArgumentError for an array of NumPy's: it is NumPy that would compute, not PyTorch."""
    if isinstance(other, np.ndarray):
        raise ArgumentError(
            f"{name.rstrip('_')} was given a raw numpy.ndarray, but should be given a dual object: "
            f"make it one with {OF_AN_ARRAY}"
        )
    return other


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
        setattr(cls, f"__{plain}__", _of_tensors(name))
        setattr(cls, f"__r{plain}__", _reflected(name))
        if f"i{plain}" in OPERATORS:
            setattr(cls, f"__i{plain}__", _of_tensors(f"i{plain}"))
    for name in _COMPARISONS:
        setattr(cls, f"__{name}__", _of_tensors(name))
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
