"""Losses."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from dual_object.adapters.jax.ops.shared import Array, floating


def _reduced(loss: Array, reduction: str) -> Array:
    """All of it, its mean or its sum. Raises ValueError for another word."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"reduction={reduction!r}, but should be 'none', 'mean' or 'sum'")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _word(size_average: Any, reduce: Any, reduction: str) -> str:
    """What the two older arguments mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def mse_loss(
    input: Array, target: Array, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:
    """The square of the distance."""
    return _reduced(jnp.square(input - target), _word(size_average, reduce, reduction))


def l1_loss(
    input: Array, target: Array, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:
    """The distance."""
    return _reduced(jnp.abs(input - target), _word(size_average, reduce, reduction))


def smooth_l1_loss(
    input: Array,
    target: Array,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Array:
    """The distance, squared where it is less than `beta`."""
    far = jnp.abs(input - target)
    loss = far if beta == 0 else jnp.where(far < beta, 0.5 * jnp.square(input - target) / beta, far - 0.5 * beta)
    return _reduced(loss, _word(size_average, reduce, reduction))


def huber_loss(input: Array, target: Array, reduction: str = "mean", delta: float = 1.0) -> Array:
    """Half the square of the distance, its multiple where that is greater than `delta`."""
    far = jnp.abs(input - target)
    return _reduced(jnp.where(far <= delta, 0.5 * jnp.square(input - target), delta * (far - 0.5 * delta)), reduction)


def binary_cross_entropy(
    input: Array,
    target: Array,
    weight: Array = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Array:
    """Of probabilities; a logarithm counts as no less than -100."""
    loss = -(target * jnp.maximum(jnp.log(input), -100) + (1 - target) * jnp.maximum(jnp.log1p(-input), -100))
    return _reduced(loss if weight is None else loss * weight, _word(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(
    input: Array,
    target: Array,
    weight: Array = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Array = None,
) -> Array:
    """Of logits."""
    positive = 1 if pos_weight is None else pos_weight
    loss = -(positive * target * jax.nn.log_sigmoid(input) + (1 - target) * jax.nn.log_sigmoid(-input))
    return _reduced(loss if weight is None else loss * weight, _word(size_average, reduce, reduction))


def kl_div(
    input: Array,
    target: Array,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Array:
    """The divergence of Kullback and Leibler, of logarithms."""
    loss = (
        jnp.exp(target) * (target - input) if log_target else jax.scipy.special.xlogy(target, target) - target * input
    )
    if reduction == "batchmean":
        return loss.sum() / input.shape[0]
    return _reduced(loss, _word(size_average, reduce, reduction))


def nll_loss(
    input: Array,
    target: Array,
    weight: Array = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Array:
    """The negative logarithm at each target's class."""
    classes = 0 if input.ndim == 1 else 1
    counted = target != ignore_index
    places = jnp.where(counted, target, 0)
    picked = jnp.take_along_axis(input, jnp.expand_dims(places, classes), classes).squeeze(classes)
    weights = jnp.ones(input.shape[classes], input.dtype) if weight is None else weight
    each = jnp.where(counted, weights[places], 0).astype(input.dtype)
    loss = jnp.where(counted, -picked * each, 0)
    word = _word(size_average, reduce, reduction)
    return loss.sum() / each.sum() if word == "mean" else _reduced(loss, word)


def cross_entropy(
    input: Array,
    target: Array,
    weight: Array = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Array:
    """Of logits, and of classes or of their probabilities."""
    classes = 0 if input.ndim == 1 else 1
    logs, word = jax.nn.log_softmax(input, classes), _word(size_average, reduce, reduction)
    count = input.shape[classes]
    shape = tuple(count if place == classes else 1 for place in range(input.ndim))
    weights = jnp.ones(shape, input.dtype) if weight is None else weight.reshape(shape)
    if floating(target):
        mixed = target * (1 - label_smoothing) + label_smoothing / count
        loss = -(mixed * logs * weights).sum(classes)
        return loss.sum() / max(loss.size, 1) if word == "mean" else _reduced(loss, word)
    exact = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=word)
    if not label_smoothing:
        return exact
    counted = target != ignore_index
    spread = jnp.where(counted, -(logs * weights).sum(classes), 0)
    if word == "mean":
        given = jnp.where(counted, weights.reshape(-1)[jnp.where(counted, target, 0)], 0)
        smooth = spread.sum() / given.sum()
    else:
        smooth = _reduced(spread, word)
    return (1 - label_smoothing) * exact + label_smoothing / count * smooth


def cosine_similarity(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    """The cosine of the angle between vectors, whose lengths count as no less than `eps`, with the gradients of what
    they are.
    """
    first, second = (_no_less(jnp.linalg.norm(x, axis=dim, keepdims=True), eps) for x in (x1, x2))
    return ((x1 / first) * (x2 / second)).sum(dim)


def _no_less(length: Array, eps: float) -> Array:
    return jnp.where(length < eps, eps + (length - lax.stop_gradient(length)), length)


__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_similarity",
    "cross_entropy",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
]
