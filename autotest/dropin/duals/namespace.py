"""The dual `torch` of OneFlow's harness, which is a dual object, too: it has both sides."""

from __future__ import annotations

import sys
from typing import Any

from dual_object.record.namespace import DualNamespace, dual


class AutoTestNamespace(DualNamespace):
    """`torch` or a module below it: `torch.pytorch` is PyTorch, `torch.nn.oneflow` is `oneflow.nn`."""

    @property
    def pytorch(self) -> Any:
        """PyTorch itself, or its module."""
        return self._module("torch")

    @property
    def oneflow(self) -> Any:
        """OneFlow itself, or its module."""
        return self._module("oneflow")

    def _module(self, root: str) -> Any:
        module: Any = sys.modules[root]
        for part in filter(None, self._path.split(".")):
            module = getattr(module, part)
        return module

    def _member(self, name: str) -> Any:
        if name == "broadcast_like" and not self._path:
            return dual(reference=broadcast_like, target=self.oneflow.broadcast_like, name=name)
        return super()._member(name)


def broadcast_like(x: Any, like: Any, *_: Any, **__: Any) -> Any:
    """What OneFlow's function of this name is in PyTorch."""
    return x.broadcast_to(like.size())


torch = AutoTestNamespace()

__all__ = ["AutoTestNamespace", "broadcast_like", "torch"]
