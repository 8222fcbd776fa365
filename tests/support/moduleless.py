"""PyTorch as a target that has no modules: `--target moduleless:Adapter`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dual_object.adapters.torch.adapter import Adapter as TorchAdapter
from dual_object.errors import MissingOp
from dual_object.replay.adapter import TargetInfo


class NoModule:
    """What no value of such a target is an instance of."""

    def __init__(self) -> None:
        raise TypeError("moduleless makes no modules")


class Adapter(TorchAdapter):
    """All functions of PyTorch, and no layer."""

    name = "moduleless"
    lacks = frozenset({"modules"})
    module_type: Any = NoModule

    def info(self) -> TargetInfo:
        """What PyTorch says, by its own name."""
        return replace(super().info(), name=self.name)

    def resolve(self, path: str) -> Any:
        """What PyTorch has there, but no class of modules."""
        found = super().resolve(path)
        if isinstance(found, type) and issubclass(found, torch.nn.Module):
            raise MissingOp(f"moduleless has no {path!r}")
        return found


class Wrong(Adapter):
    """Its `linear` has gradients that are half as large again."""

    def resolve(self, path: str) -> Any:
        """The others are PyTorch's."""
        found = super().resolve(path)
        return _half_again if path == "nn.functional.linear" else found


def _half_again(*args: Any, **kwargs: Any) -> torch.Tensor:
    y = torch.nn.functional.linear(*args, **kwargs)
    return y + (y - y.detach()) * 0.5
