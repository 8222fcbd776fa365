"""Faults of ops at their corners, each for the rows of the suites that go there; `family_faults.py` plants them."""

from __future__ import annotations

from typing import Any

import torch


def plant_unseen(adapter: Any) -> None:
    """Let a running least number pass over NaN."""
    least = torch.cummin
    torch.cummin = lambda x, dim: least(x.nan_to_num(float("inf")), dim)


def plant_widened(adapter: Any) -> None:
    """Let a tensor without dimensions count for the dtype of a choice."""
    choose = torch.where

    def where(condition: Any, x: Any, y: Any) -> Any:
        dtype = torch.promote_types(x.dtype, y.dtype)
        return choose(condition, x.to(dtype), y.to(dtype))

    torch.where = where


def plant_dry(adapter: Any) -> None:
    """Leave what takes no gradient as it is."""
    fill = torch.Tensor.masked_fill_
    torch.Tensor.masked_fill_ = lambda x, *given: fill(x, *given) if x.requires_grad else x


def plant_one_rank(adapter: Any) -> None:
    """Count dimensions of the second operand from the end of the first."""
    contract = torch.tensordot

    def tensordot(x: Any, y: Any, dims: Any) -> Any:
        if isinstance(dims, int):
            return contract(x, y, dims)
        return contract(x, y, (dims[0], [dim % x.ndim for dim in dims[1]]))

    torch.tensordot = tensordot


def plant_rootless(adapter: Any) -> None:
    """Give NaN for the root of a matrix that has none."""
    root = torch.linalg.cholesky

    def cholesky(x: Any) -> Any:
        try:
            return root(x)
        except RuntimeError:
            return x * float("nan")

    torch.linalg.cholesky = cholesky


def plant_singular(adapter: Any) -> None:
    """Take the gradient of a determinant from the inverse, which a singular matrix has not."""
    determinant = torch.det

    def det(x: Any) -> Any:
        return determinant(x) if determinant(x.detach()) else determinant(x) * torch.log1p(x.sum() * 0 - 1).exp()

    torch.det = det


def plant_rare(adapter: Any) -> None:
    """Forget where a loss begins to be linear."""
    loss = torch.nn.functional.huber_loss
    torch.nn.functional.huber_loss = lambda x, y, reduction="mean", delta=1.0: loss(x, y, reduction, 2 * delta)


def plant_disordered(adapter: Any) -> None:
    """Forget on which side to place where an order is given."""
    place = torch.searchsorted

    def searchsorted(boundaries: Any, values: Any, *, sorter: Any = None, right: bool = False, **named: Any) -> Any:
        return place(boundaries, values, sorter=sorter, right=right and sorter is None, **named)

    torch.searchsorted = searchsorted
