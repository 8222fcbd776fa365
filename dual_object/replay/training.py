"""Looks at a training after a part of its step: copies of gradients, parameters and an optimizer's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Trains(Protocol):
    """What an adapter has besides where its framework has optimizers."""

    def trained(self, optimizer: Any) -> list[Any]:
        """The parameters that an optimizer updates, group by group."""

    def state(self, optimizer: Any, parameter: Any) -> Mapping[str, Any]:
        """The tensors of a parameter's shape that an optimizer keeps for it, by the names that PyTorch has for them."""

    def rates(self, optimizer: Any) -> list[float]:
        """The learning rate of each group of parameters."""


def gradients(adapter: Trains, optimizer: Any) -> list[Any]:
    """Copies of the gradients of all parameters, None where there is none."""
    return [None if parameter.grad is None else _copy(parameter.grad) for parameter in adapter.trained(optimizer)]


def parameters(adapter: Trains, optimizer: Any) -> list[Any]:
    """Copies of all parameters."""
    return [_copy(parameter) for parameter in adapter.trained(optimizer)]


def states(adapter: Trains, optimizer: Any) -> list[dict[str, Any]]:
    """Copies of what the optimizer keeps for each parameter that it has just updated: what it has made for others in
    advance is its own affair.
    """
    kept = (
        {} if parameter.grad is None else adapter.state(optimizer, parameter)
        for parameter in adapter.trained(optimizer)
    )
    return [{name: _copy(tensor) for name, tensor in sorted(state.items())} for state in kept]


def rates(adapter: Trains, optimizer: Any) -> list[float]:
    """The learning rates of all groups."""
    return adapter.rates(optimizer)


def _copy(tensor: Any) -> Any:
    return tensor.detach().clone()


#: The calls of kind `training`, by their names.
LOOKS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {look.__name__: look for look in (gradients, parameters, states, rates)}
)


def look(adapter: Any, name: str, optimizer: Any) -> Any:
    """What a call of kind `training` gives; raises NotImplementedError where the framework has no optimizers."""
    if not isinstance(adapter, Trains):
        raise NotImplementedError(f"{adapter.name} has no optimizers")
    return LOOKS[name](adapter, optimizer)


__all__ = ["LOOKS", "Trains", "look"]
