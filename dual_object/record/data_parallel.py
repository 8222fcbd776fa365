"""`torch.nn.parallel.DistributedDataParallel(model)` in the body of a training.

On the reference the model stays as it is, for one process has the whole batch; a target has several ranks, each with
its part of the batch, and its own wrapper averages their gradients.
"""

from __future__ import annotations

from typing import Any

from dual_object.errors import ArgumentError
from dual_object.program.data_parallel import WRAPPER, unchanged
from dual_object.record.dual import DualObject
from dual_object.record.own_module import OwnModule
from dual_object.record.recording import recording


class DataParallel(OwnModule):
    """A wrapped model: a module of the framework, or one of a class of the test's own.

    Raises ArgumentError where the body is no training, and for other arguments than one model.
    """

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        name = f"torch.{WRAPPER}"
        record = recording(name)
        if not record.trains:
            raise ArgumentError(
                f"{name} is used in a body that does not train, but should be in a training: @autotest(train=5)"
            )
        if args or kwargs:
            given = ", ".join([*(repr(arg) for arg in args), *kwargs])
            raise ArgumentError(
                f"{name} was given {given}, but should be given the model alone: PyTorch and the target have other "
                "options there"
            )
        held = list(_held(module))
        if not held:
            raise ArgumentError(f"{name} was given {module!r}, but should be given a module")
        super().__init__()
        self.module = module
        self._wrapped = record.call("function", WRAPPER, unchanged, (held,), {})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model computes."""
        return self._wrapped(self.module(*args, **kwargs))


def _held(module: Any) -> list[Any]:
    """The framework's modules, and parameters of the test's own classes, that a model is made of."""
    if isinstance(module, OwnModule):
        own = [parameter for _, parameter in module._own_parameters()]
        return [*own, *(part for child in module.children() for part in _held(child))]
    return [module] if type(module) is DualObject else []


__all__ = ["DataParallel"]
