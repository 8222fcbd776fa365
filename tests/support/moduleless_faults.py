"""Faults to plant in a target without modules: `AUTOTEST_FAULT=moduleless_faults:linear_gradient`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_LINEAR = "nn.functional.linear"


def linear_gradient(adapter: Any) -> None:
    """The gradients of `linear` are half as large again; its values are right."""
    _change(adapter, _LINEAR, lambda y: y + (y - y.detach()) * 0.5)


def linear_deadly(adapter: Any) -> None:
    """`linear` ends the process."""
    _change(adapter, _LINEAR, lambda y: os.abort())


def linear_refused(adapter: Any) -> None:
    """`linear` raises."""

    def refuse(y: Any) -> Any:
        raise NotImplementedError("no kernel for linear")

    _change(adapter, _LINEAR, refuse)


def statistics_kept(adapter: Any) -> None:
    """`batch_norm` writes nothing to the statistics that it is given."""
    batch_norm = adapter.resolve("nn.functional.batch_norm")

    def keeping(x: Any, mean: Any, variance: Any, **options: Any) -> Any:
        return batch_norm(x, mean.clone(), variance.clone(), **options)

    adapter._resolved["nn.functional.batch_norm"] = keeping


def _change(adapter: Any, path: str, change: Callable[[Any], Any]) -> None:
    function = adapter.resolve(path)
    adapter._resolved[path] = lambda *args, **kwargs: change(function(*args, **kwargs))


def linear_everywhere(adapter: Any) -> None:
    """`linear` is wrong for whoever calls it, the layer included."""
    import torch

    linear = torch.nn.functional.linear
    torch.nn.functional.linear = lambda *args, **kwargs: linear(*args, **kwargs) * 1.5
