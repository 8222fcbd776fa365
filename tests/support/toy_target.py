"""A target that needs NumPy alone: a few functions, a table of their names, and gradients of whole Programs.

It is run by an interpreter that has no PyTorch, and says so if it has.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dual_object.adapter import GraphRefusal, GraphRequest, TargetInfo
from dual_object.errors import MissingOp, UnmappedOp
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, Name
from dual_object.replay.adapter import Aspect
from dual_object.replay.replay import Replay

#: That of the package beside it, where there is one.
VERSION = importlib.import_module("toy_package").VERSION if importlib.util.find_spec("toy_package") else np.__version__
DTYPES = ("float32", "float64", "int32", "int64", "bool", "complex128")
#: A step along the imaginary axis: the derivative of an analytic function comes without rounding.
STEP = 1e-30


def aborting(x: Any) -> Any:
    """End the process, as a framework's failed assertion does."""
    os.abort()


TABLE: dict[str, Any] = {
    "exp": np.exp,
    "sin": np.sin,
    "cos": lambda x: np.cos(x) * (1.001 if x.size else 1) if VERSION < "2" else np.cos(x),  # wrong
    "mul": np.multiply,
    "sum": np.sum,
    "asinh": aborting,
    "rand": np.zeros,
    "tan": None,  # a row for what NumPy does not have
}


class Adapter:
    """NumPy behind the Protocol."""

    name = "toy"
    #: What NumPy computes of arrays without dimensions is a number of its own.
    tensor_type = (np.ndarray, np.generic)
    module_type = type("NoModule", (), {})
    touched: frozenset[str] = frozenset()
    lacks: frozenset[Aspect] = frozenset({"layout", "sharing", "standing", "modules", "second", "random", "exceptions"})

    def info(self) -> TargetInfo:
        """Versions; `torch` tells whether this process could import it, which it must not."""
        environment = {"toy": VERSION, "python": platform.python_version()}
        if importlib.util.find_spec("torch") is not None:
            environment["torch"] = "within reach"
        translations = {"cos": "renamed to cosine", "tan": "renamed to tangent", "asinh": "arguments input=x"}
        return TargetInfo("toy", environment, ("cpu",), DTYPES, translations=translations)

    def registry(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def resolve(self, path: str) -> Any:
        """A function of the table, or a dtype."""
        if path in DTYPES:
            return np.dtype(path)
        if path not in TABLE:
            raise UnmappedOp(f"toy's table has no {path!r}")
        if TABLE[path] is None:
            raise MissingOp(f"toy has no {path!r}")
        return lambda *args, **kwargs: np.asarray(TABLE[path](*args, **kwargs))

    def attribute(self, receiver: Any, name: str) -> Any:
        """The shape, or a function of the table, given the receiver first."""
        if name == "shape":
            return receiver.shape
        function = self.resolve(name)
        return lambda *args, **kwargs: function(receiver, *args, **kwargs)

    def tensor(self, data: Array, dtype: str) -> tuple[Array, bool]:
        """A copy."""
        return data.astype(dtype), False

    def device(self, spec: str) -> str:
        """As it is."""
        return spec

    def encode(self, value: Any) -> Any:
        """dtypes by name."""
        if isinstance(value, np.dtype):
            return Name(value.name)
        return Device(value) if value == "cpu" else value

    def describe(self, tensor: Array) -> tuple[str, tuple[int, ...], str, bool]:
        """As NumPy says; no array wants a gradient."""
        return tensor.dtype.name, tensor.shape, "cpu", False

    def place(self, tensor: Array) -> tuple[None, int, bool]:
        """Nowhere in particular."""
        return None, 0, True

    def storage(self, tensor: Array) -> None:
        """Unknown."""

    def read(self, tensors: Sequence[Array]) -> list[Array]:
        """Copies."""
        return [np.array(tensor) for tensor in tensors]

    def load_state(self, module: Any, state: dict[str, Array]) -> None:
        """There are no modules."""
        raise KeyError(module)

    def parameters(self, module: Any) -> dict[str, Any]:
        """There are no modules."""
        return {}

    buffers = parameters

    def saved(self, module: Any) -> list[str]:
        """There are no modules."""
        return []

    def synchronize(self) -> None:
        """NumPy is synchronous."""

    def gradients(self, program: Program, keys: Sequence[str], order: Literal[1, 2]) -> dict[str, Array]:
        """One run for each element of each leaf, a step away from its value."""
        found = {}
        playing = set(program.cotangents)
        for call in reversed(program.calls):
            if playing & set(call.results()):
                playing.update(call.operands())
        for x in program.inputs:
            if str(x.id) in keys and x.id in playing:
                found[str(x.id)] = gradient = np.zeros(x.data.shape, x.data.dtype)
                for index in np.ndindex(x.data.shape):
                    gradient[index] = self._slope(program, x.id, index)
        return found

    def _slope(self, program: Program, id_: int, index: tuple[int, ...]) -> float:
        replay = Replay(self, program)
        replay.advance(0)
        moved = replay.values.by_id[id_].astype("complex128")
        moved[index] += STEP * 1j
        replay.values.place(id_, moved)
        for position, call in enumerate(program.calls):
            replay.step(position, call)
        outputs = program.cotangents.items()
        return sum(float((replay.values.by_id[out].imag * dy).sum()) for out, dy in outputs) / STEP

    def graph(self, request: GraphRequest) -> list[GraphRefusal]:
        """None."""
        return [GraphRefusal(True, None, (), "toy has no static graph") for _ in request.programs]
