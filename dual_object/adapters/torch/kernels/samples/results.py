"""What of a result is promised: whether it is a view, and what of it is unique.

Of the factors of a matrix, columns may be multiplied by -1, or by any complex number of length 1: `-Q` and `-R` are as
good as `Q` and `R`. Their magnitudes are unique, and their product is the matrix; so these are shown instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dual_object.adapters.torch.kernels.naming import schemas


def unique(path: str) -> Callable[[Any], Any]:
    """What is shown of a dual result of the op at `path`: itself, or what of it is unique."""
    return _FACTORS.get(path, lambda result: result)


def factorises(path: str) -> bool:
    """Whether the op gives factors of a matrix; what those of one with infinities or NaN are, nobody says."""
    return path in _FACTORS


def views(path: str) -> bool:
    """Whether PyTorch says in a schema that a result of the op may be a view: others may give copies instead."""
    return any(
        returned.alias_info is not None and not returned.alias_info.is_write
        for schema in schemas(path)
        for returned in schema.returns
    )


def adds_in_any_order(path: str) -> bool:
    """Whether PyTorch's own op, or its gradient, is not the same twice on a GPU, where threads add up, or write to one
    place, in the order of chance.
    """
    return path.removeprefix("nn.functional.") in _BY_CHANCE


def _eigh(result: Any) -> Any:
    values, vectors = result
    return values, vectors.abs(), (vectors * values.unsqueeze(-2)) @ vectors.mH


def _eig(result: Any) -> Any:
    values, vectors = result
    return values, vectors.abs()


def _qr(result: Any) -> Any:
    q, r = result
    if q.pytorch.dim() < r.pytorch.dim():  # of mode `r` there is no Q
        return q, r.abs()
    # Columns beyond A's are any that make Q a rotation.
    return q[..., : min(r.pytorch.shape[-2:])].abs(), r.abs(), q @ r, q.mH @ q


def _svd(result: Any) -> Any:
    u, values, vh = result
    rank = values.pytorch.shape[-1]
    product = (u[..., :rank] * values.unsqueeze(-2)) @ vh[..., :rank, :]
    return u[..., :rank].abs(), values, vh[..., :rank, :].abs(), product, u.mH @ u, vh @ vh.mH


def _older_svd(result: Any) -> Any:
    u, values, v = result
    return _svd((u, values, v.mH))


_FACTORS: dict[str, Callable[[Any], Any]] = {
    "linalg.eigh": _eigh,
    "linalg.eig": _eig,
    "linalg.qr": _qr,
    "linalg.svd": _svd,
    "qr": _qr,
    "svd": _older_svd,
}
#: As the documentation of `torch.use_deterministic_algorithms` has it, and what is made of these.
_BY_CHANCE = frozenset(
    {
        *(f"{name}{n}d" for name in ("conv", "conv_transpose", "max_unpool") for n in (1, 2, 3)),
        *("pad", "max_pool3d", "avg_pool3d", "fractional_max_pool2d", "fractional_max_pool3d"),
        *("adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d", "interpolate", "grid_sample"),
        *("cumsum", "histc", "bincount", "median", "repeat_interleave"),
        *("index_put", "index_add", "index_copy", "index_select", "put", "take", "gather", "take_along_dim"),
        *("scatter", "scatter_add", "scatter_reduce", "embedding", "embedding_bag"),
        *("nll_loss", "cross_entropy", "ctc_loss"),
    }
)
__all__ = ["adds_in_any_order", "factorises", "unique", "views"]
