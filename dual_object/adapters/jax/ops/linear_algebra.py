"""Products, norms and linear algebra."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from dual_object.adapters.jax.ops.shared import Array, Detached, axes


def addmm(input: Array, mat1: Array, mat2: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    """A product of two matrices added, of both so many."""
    if (mat1.ndim, mat2.ndim) != (2, 2):
        raise ValueError(f"a product of {mat1.ndim} and {mat2.ndim} dimensions, but should be of 2 and 2")
    return _added(input, jnp.matmul(mat1, mat2), beta, alpha)


def baddbmm(input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    """A batch of products added, of both so many."""
    return _added(input, jnp.matmul(batch1, batch2), beta, alpha)


def addmv(input: Array, mat: Array, vec: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    """A product of a matrix and a vector added, of both so many."""
    return _added(input, jnp.matmul(mat, vec), beta, alpha)


def _added(input: Array, product: Array, beta: float, alpha: float) -> Array:
    """Both, of each so many; of nothing, NaNs do not count."""
    product = product if alpha == 1 else alpha * product
    if beta == 0:
        return product
    return (input if beta == 1 else beta * input) + product


def tensordot(a: Array, b: Array, dims: Any = 2) -> Array:
    """A sum of products over these dimensions; one of size 1 is as long as the other's."""
    ours, theirs = (range(a.ndim - dims, a.ndim), range(dims)) if isinstance(dims, int) else dims
    for one, other in zip(ours, theirs, strict=True):
        if a.shape[one] == 1:
            b = b.sum(other, keepdims=True, dtype=b.dtype)
        elif b.shape[other] == 1:
            a = a.sum(one, keepdims=True, dtype=a.dtype)
    return jnp.tensordot(a, b, (tuple(ours), tuple(theirs)))


def einsum(equation: str, *operands: Any) -> Array:
    """A sum of products, as its equation says."""
    return jnp.einsum(equation, *(operands[0] if isinstance(operands[0], (list, tuple)) else operands))


def cross(input: Array, other: Array, dim: int | None = None) -> Array:
    """The cross product along a dimension, by default the first of three elements."""
    return jnp.cross(input, other, axis=input.shape.index(3) if dim is None else dim)


def linalg_cross(input: Array, other: Array, *, dim: int = -1) -> Array:
    """The cross product along a dimension."""
    return jnp.cross(input, other, axis=dim)


def linear(input: Array, weight: Array, bias: Array = None) -> Array:
    """A product with a transposed weight, and a bias."""
    product = jnp.matmul(input, weight.T)
    return product if bias is None else product + bias


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Values weighed by how well their keys meet each query."""
    if dropout_p or enable_gqa:
        raise NotImplementedError("jax has no arguments 'dropout_p' and 'enable_gqa' of attention")
    weights = jnp.matmul(query, jnp.swapaxes(key, -1, -2)) * (query.shape[-1] ** -0.5 if scale is None else scale)
    seen = jnp.tril(jnp.ones(weights.shape[-2:], bool)) if is_causal else attn_mask
    if seen is not None and seen.dtype == bool:
        weights = jnp.where(seen, weights, -jnp.inf)
    elif seen is not None:
        weights = weights + seen
    return jnp.matmul(jax.nn.softmax(weights, -1), value)


def pairwise_distance(x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Array:
    """The norm of what is between vectors."""
    return jnp.linalg.norm(x1 - x2 + eps, p, -1, keepdim)


def norm(input: Array, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The norm of vectors, however many dimensions they lie in; the Frobenius norm is that of order 2.

    Raises ValueError for a Frobenius norm over more dimensions than a matrix has.
    """
    if p == "nuc":
        return jnp.linalg.norm(input, "nuc", axes(input, dim), keepdim)
    if p == "fro" and not isinstance(dim, int) and dim is not None and len(dim) > 2:
        raise ValueError(f"dim={dim}, but should be of two dimensions at most [p='fro']")
    return vector_norm(input, 2 if p is None or p == "fro" else p, dim, keepdim, dtype=dtype)


def vector_norm(
    x: Array, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Array | Detached:
    """The norm of vectors, however many dimensions they lie in."""
    given = x if dtype is None else x.astype(dtype)
    found = jnp.linalg.vector_norm(given, axis=axes(given, dim), keepdims=keepdim, ord=ord)
    return Detached(found) if ord == 0 else found  # a count has no gradient


def matrix_norm(A: Array, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Array:  # noqa: N803 - PyTorch's name
    """The norm of matrices."""
    return jnp.linalg.norm(A if dtype is None else A.astype(dtype), ord, tuple(dim), keepdim)


def linalg_norm(A: Array, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:  # noqa: N803 - PyTorch's name
    """The norm of vectors or of matrices, as the number of dimensions says."""
    if isinstance(dim, int) or ord is None or (dim is None and A.ndim != 2):
        return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)


__all__ = [
    "addmm",
    "addmv",
    "baddbmm",
    "cross",
    "einsum",
    "linalg_cross",
    "linalg_norm",
    "linear",
    "matrix_norm",
    "norm",
    "pairwise_distance",
    "scaled_dot_product_attention",
    "tensordot",
    "vector_norm",
]
