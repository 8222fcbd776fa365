"""Faults for the OpInfo suite: `AUTOTEST_FAULT=opinfo_faults:planted` calls `planted` with the worker's adapter."""

from __future__ import annotations

from typing import Any

import torch

from dual_object.errors import MissingOp


def planted(adapter: Any) -> None:
    """`torch.cumsum` is wrong, and `torch.diff` is not there."""
    real = torch.cumsum
    torch.cumsum = lambda *args, **kwargs: real(*args, **kwargs) + 1
    resolve = adapter.resolve

    def resolving(path: str) -> Any:
        if path == "diff":
            raise MissingOp("torch has no 'diff'")
        return resolve(path)

    adapter.resolve = resolving
