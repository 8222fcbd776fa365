"""Faults for the OpInfo suite: `AUTOTEST_FAULT=opinfo_faults:planted` calls `planted` with the worker's adapter."""

from __future__ import annotations

from typing import Any

import torch

from dual_object.errors import MissingOp


def _wrong(op: Any) -> Any:
    return lambda *args, **kwargs: op(*args, **kwargs) + 1


def planted(adapter: Any) -> None:
    """`torch.cumsum` is wrong, an alias of `torch.abs`, `torch.logsumexp` of two arguments, and the layers
    Tanhshrink, and Softplus where it has its defaults; `torch.sgn` of complex zeros, the layer Tanh of NaN, and
    BatchNorm1d without a momentum from its second batch on; and `torch.diff` is not there.
    """
    torch.cumsum = _wrong(torch.cumsum)
    torch.absolute = _wrong(torch.absolute)
    real = torch.logsumexp
    torch.logsumexp = lambda *args, **kwargs: real(*args, **kwargs) + (len(args) + len(kwargs) == 2)
    torch.nn.Tanhshrink.forward = _wrong(torch.nn.Tanhshrink.forward)
    softplus = torch.nn.Softplus.forward
    torch.nn.Softplus.forward = lambda self, x: softplus(self, x) + (self.beta == 1.0)
    sgn = torch.sgn
    torch.sgn = lambda x: torch.where(x == 0, 1, sgn(x)) if x.is_complex() else sgn(x)
    tanh = torch.nn.Tanh.forward
    torch.nn.Tanh.forward = lambda self, x: tanh(self, x).nan_to_num()
    norm = torch.nn.BatchNorm1d.forward

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        if self.momentum is None and self.num_batches_tracked:
            self.running_mean += 1
        return norm(self, x)

    torch.nn.BatchNorm1d.forward = forward
    resolve = adapter.resolve

    def resolving(path: str) -> Any:
        if path == "diff":
            raise MissingOp("torch has no 'diff'")
        return resolve(path)

    adapter.resolve = resolving
