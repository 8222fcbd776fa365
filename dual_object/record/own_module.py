"""Module classes of a test's own: `class Net(torch.nn.Module)` with the dual `torch`, recorded call by call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from dual_object.errors import ArgumentError, UnknownName
from dual_object.record.dual import DualObject

#: What each module of it can do as well, in place.
_EACH = ("to", "float", "double", "half", "bfloat16", "cpu", "cuda", "requires_grad_")


class OwnModule:
    """What a class that derives from the dual `torch.nn.Module` derives from.

    It is no module of either framework: its `__init__` and `forward` are Python that runs once per case, and what they
    call is recorded as if the body had called it. Modules of the framework that it holds as attributes are recorded
    modules, in the target's static graph as well. `train`, `eval`, `to` and the like reach these; whatever else a
    module has is asked of them.
    """

    training = True
    _made = False

    def __init__(self) -> None:
        """From here on it can hold modules and parameters."""
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises ArgumentError where PyTorch's would: a module or a parameter is set before `super().__init__()`."""
        if not self._made and (isinstance(value, OwnModule) or _holds(value, "module_type") or _is_parameter(value)):
            raise ArgumentError(
                f"{type(self).__name__} sets {name} before its __init__ has called super().__init__(), but should "
                "after: PyTorch's modules refuse it"
            )
        super().__setattr__(name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the class itself is to define."""
        raise ArgumentError(f"{type(self).__name__} has no forward, but should define what a call of it computes")

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Its modules, those of classes of the test's own too, by the names of the attributes that hold them."""
        for name, value in vars(self).items():
            if isinstance(value, OwnModule) or _holds(value, "module_type"):
                yield name, value

    def children(self) -> Iterator[Any]:
        """Its modules."""
        return (child for _, child in self.named_children())

    def modules(self) -> Iterator[Any]:
        """Itself, and all modules below it."""
        yield self
        for child in self.children():
            yield from child.modules()

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Its parameters and those of its modules, by dotted names; a shared one by the first of its names."""
        seen: set[int] = set()
        for name, parameter in self._all_parameters():
            if id(parameter._value) not in seen:
                seen.add(id(parameter._value))
                yield name, parameter

    def parameters(self) -> Iterator[Any]:
        """Its parameters and those of its modules."""
        return (parameter for _, parameter in self.named_parameters())

    def train(self, mode: bool = True) -> OwnModule:
        """Switch it and its modules to training."""
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> OwnModule:
        """Switch it and its modules to evaluation."""
        return self.train(False)

    def add_module(self, name: str, module: Any) -> None:
        """Hold a module as an attribute."""
        setattr(self, name, module)

    register_module = register_parameter = add_module

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Hold a tensor as an attribute."""
        setattr(self, name, tensor)

    def __getattr__(self, name: str) -> Any:
        if name in _EACH:
            return lambda *args, **kwargs: self._each(name, args, kwargs)
        cls = type(self).__name__
        if name.startswith("__") or not _known(name):
            raise AttributeError(f"{cls!r} object has no attribute {name!r}")
        held = next((child for child, _ in self.named_children()), "layer")
        raise UnknownName(
            f"{cls} has no {name}: a module class of a test is recorded call by call, and is no module itself. "
            f"Ask one that it holds, as in {cls.lower()}.{held}.{name}"
        )

    def _all_parameters(self) -> Iterator[tuple[str, Any]]:
        yield from self._own_parameters()
        for name, child in self.named_children():
            for inner, parameter in child.named_parameters():
                yield f"{name}.{inner}", parameter

    def _own_parameters(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in vars(self).items() if _is_parameter(value)]

    def _each(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OwnModule:
        for own, _ in self._own_parameters():
            raise ArgumentError(
                f"{type(self).__name__}.{name}(...) cannot reach its own parameter {own}: make that as it should be, "
                f"and call {name} on the modules that it holds"
            )
        for child in self.children():
            getattr(child, name)(*args, **kwargs)
        return self


def _holds(value: Any, kind: str) -> bool:
    """Whether a value is a dual object of the reference's `tensor_type` or `module_type`."""
    return type(value) is DualObject and isinstance(value._value, getattr(value._recording.reference, kind))


def _is_parameter(value: Any) -> bool:
    return _holds(value, "tensor_type") and type(value._value).__name__ == "Parameter"


def _known(name: str) -> bool:
    """Whether PyTorch's modules have this; it is imported, for its class was asked for."""
    return hasattr(sys.modules["torch"].nn.Module, name)
