"""The framework SKELETON as a target: `autotest run --target SKELETON:Adapter`.

What is marked `@unfilled` is to be written; the rest will do until the framework has more to show. docs/targets.md says
what each member does, docs/new-target.md writes a whole one.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as framework  # stands in for the framework: import that

from dual_object.adapter import GraphRefusal, GraphRequest, TargetInfo, unfilled
from dual_object.adapters.dialect import Dialect
from dual_object.program.program import Program
from dual_object.program.values import Array, Device
from dual_object.replay.adapter import DTYPES, Aspect


def relu(input: Any) -> Any:
    """A function that the table names, for what the framework has no function of its own for."""
    return framework.maximum(input, 0)


class Adapter:
    """SKELETON."""

    name = "SKELETON"
    #: The class of neural network modules: without any, layers are lowered to functions.
    module_type = type("NoModule", (), {})
    #: The op types that Programs have run, where that can be told.
    touched: frozenset[str] = frozenset()
    #: What the framework does not have, or what cannot be told of it: take away what it does have.
    lacks: frozenset[Aspect] = frozenset(
        {"layout", "sharing", "standing", "inputs", "modules", "second", "random", "exceptions"}
    )

    def __init__(self) -> None:
        self.dialect = Dialect.load(self.name, Path(__file__).with_suffix(".json"), framework, globals())

    @property
    @unfilled
    def tensor_type(self) -> Any:
        """The class of tensors."""
        raise NotImplementedError

    def info(self) -> TargetInfo:
        """Name, versions, devices and dtypes; what the table says of names."""
        environment = {self.name: framework.__version__, "python": platform.python_version()}
        return TargetInfo(self.name, environment, ("cpu",), DTYPES, translations=self.dialect.translations())

    def registry(self) -> Sequence[str]:
        """The names of all op types that are registered; none where there is no such registry."""
        return ()

    def resolve(self, path: str) -> Any:
        """The dtype of this name, or what the table has for a function of PyTorch."""
        return getattr(framework, path) if path in DTYPES else self.dialect.resolve(path)

    def attribute(self, receiver: Any, name: str) -> Any:
        """What the table has for a method or an attribute of a tensor; of another object, what that has."""
        own = not isinstance(receiver, self.tensor_type)
        return getattr(receiver, name) if own else self.dialect.attribute(receiver, name)

    @unfilled
    def tensor(self, data: Array, dtype: str) -> tuple[Any, bool]:
        """A tensor of these values, of the dtype that is called so, and whether it shares memory with `data`."""
        raise NotImplementedError

    def device(self, spec: str) -> Any:
        """What the framework's functions take as the device `cpu`, `cuda`, `cuda:1`."""
        return Device(spec)

    @unfilled
    def encode(self, value: Any) -> Any:
        """`Name("float32")` for the framework's dtype of that name; any other value as it is."""
        raise NotImplementedError

    @unfilled
    def describe(self, tensor: Any) -> tuple[str, tuple[int, ...], str, bool]:
        """PyTorch's name of a tensor's dtype, its shape, its device, and whether it wants a gradient."""
        raise NotImplementedError

    def place(self, tensor: Any) -> tuple[tuple[int, ...] | None, int, bool]:
        """Strides, offset, and whether it is a leaf; asked for where `layout` and `standing` are not lacking."""
        return None, 0, True

    def storage(self, tensor: Any) -> int | None:
        """Where its memory starts; asked for where `sharing` is not lacking."""
        return None

    @unfilled
    def read(self, tensors: Sequence[Any]) -> list[Array]:
        """The values of all these tensors, as NumPy's arrays of the same shapes; bfloat16 as float32."""
        raise NotImplementedError

    def load_state(self, module: Any, state: dict[str, Array]) -> None:
        """Set the parameters and buffers of a module; asked for where `modules` are not lacking."""

    def parameters(self, module: Any) -> dict[str, Any]:
        """Parameters by name; asked for where `modules` are not lacking."""
        return {}

    def buffers(self, module: Any) -> dict[str, Any]:
        """Buffers by name; asked for where `modules` are not lacking."""
        return {}

    def saved(self, module: Any) -> list[str]:
        """The keys of what a module saves; asked for where `modules` are not lacking."""
        return []

    def synchronize(self) -> None:
        """Wait until all that was asked for has run, where the framework does not."""

    @unfilled
    def gradients(self, program: Program, keys: Sequence[str], order: Literal[1, 2]) -> Mapping[str, Any]:
        """Gradients of a whole Program, by leaf; with a tape want_grad, backward, gradient, forget_gradient instead."""
        raise NotImplementedError

    def graph(self, request: GraphRequest) -> Sequence[Any]:
        """Run programs in static graphs: `dual_object.replay.tracing.run` does what all of them share."""
        return [GraphRefusal(True, None, (), f"{self.name} has no static graph") for _ in request.programs]
