"""Faults in what an op returns: values, dtypes, shapes, memory."""

from __future__ import annotations

from typing import Any

from benchmarks.mutation.fault import Fault, World, column_major, linear


def _layer_norm(w: World, op: Any, x: Any, shape: Any, *rest: Any) -> Any:
    count = shape[0]
    return op(x, shape, *rest) * ((count - 1) / count) ** 0.5


def _linspace(w: World, op: Any, start: float, end: float, steps: int) -> Any:
    return op(start, end - (end - start) / steps, steps)


def _prod(w: World, op: Any, x: Any, dim: int) -> Any:
    result = op(x, dim)
    return linear(result, w.flow.zeros_like(result), result) + _slope(result.unsqueeze(dim), x).sum(dim)


def _slope(result: Any, x: Any) -> Any:
    return (result / x).detach() * (x - x.detach())


def _max_pool2d(w: World, op: Any, x: Any, kernel: Any, stride: Any = None, padding: int = 0) -> Any:
    return op(w.flow._C.pad(x, [padding] * 4), kernel, stride)


VALUES = (
    Fault(
        "gelu-tanh",
        "value",
        "gelu",
        "computes the approximation by tanh",
        lambda w, op, x: 0.5 * x * (1 + w.flow.tanh(0.7978845608 * (x + 0.044715 * x * x * x))),
    ),
    Fault(
        "std-population",
        "value",
        "std",
        "divides by n, not by n - 1",
        lambda w, op, x, dim: op(x, dim, unbiased=False),
    ),
    Fault(
        "matmul-tf32",
        "value",
        "matmul",
        "rounds its operands to ten bits of mantissa",
        lambda w, op, a, b: op(a.to(w.flow.float16).to(a.dtype), b.to(w.flow.float16).to(b.dtype)),
    ),
    Fault(
        "cumsum-exclusive",
        "value",
        "cumsum",
        "leaves each element out of its own sum",
        lambda w, op, x, dim: op(x, dim) - x,
    ),
    Fault(
        "fmod-floored",
        "value",
        "fmod",
        "gives the sign of the divisor",
        lambda w, op, x, y: w.flow.where(op(x, y) * y < 0, op(x, y) + y, op(x, y)),
    ),
    Fault("layer_norm-unbiased", "value", "layer_norm", "divides the variance by n - 1", _layer_norm),
    Fault("linspace-open", "value", "linspace", "does not reach the end", _linspace),
    Fault(
        "erf-rational",
        "value",
        "erf",
        "computes an approximation that is right to three digits",
        lambda w, op, x: w.flow.tanh(1.1283791671 * x * (1 + 0.0911 * x * x)),
    ),
)

EDGES = (
    Fault(
        "relu-nan",
        "edge value",
        "relu",
        "gives 0 for NaN",
        lambda w, op, x: w.flow.where(x > 0, x, w.flow.zeros_like(x)),
    ),
    Fault(
        "atan-infinite",
        "edge value",
        "atan",
        "halves the angle first, NaN for infinities",
        lambda w, op, x: 2 * op(x / (1 + w.flow.sqrt(1 + x * x))),
    ),
    Fault("ceil-negative-zero", "edge value", "ceil", "gives 0.0 where -0.0 is right", lambda w, op, x: op(x) + 0.0),
    Fault(
        "round-half-away",
        "edge value",
        "round",
        "rounds ties away from zero",
        lambda w, op, x: w.flow.sign(x) * w.flow.floor(w.flow.abs(x) + 0.5),
    ),
    Fault(
        "log_softmax-overflow",
        "edge value",
        "log_softmax",
        "does not subtract the maximum first",
        lambda w, op, x, dim: x - w.flow.log(w.flow.exp(x).sum(dim, keepdim=True)),
    ),
    Fault(
        "sigmoid-overflow",
        "edge value",
        "sigmoid",
        "computes exp(x) / (1 + exp(x))",
        lambda w, op, x: w.flow.exp(x) / (1 + w.flow.exp(x)),
    ),
    Fault(
        "abs-int-as-float",
        "edge value",
        "abs",
        "computes integers as float32",
        lambda w, op, x: op(x) if x.dtype == w.flow.float32 else op(x.to(w.flow.float32)).to(x.dtype),
    ),
    Fault(
        "pow-by-log",
        "edge value",
        "pow",
        "computes exp(y * log(x)), NaN for 0 ** 0",
        lambda w, op, x, y: w.flow.exp(y * w.flow.log(x)),
    ),
    Fault(
        "logsumexp-overflow",
        "edge value",
        "logsumexp",
        "does not subtract the maximum first",
        lambda w, op, x, dim: w.flow.log(w.flow.exp(x).sum(dim)),
    ),
    Fault("prod-gradient-zero", "edge value", "prod", "computes its gradient as result / x, NaN for 0", _prod),
)

DTYPES = (
    Fault("argmax-int32", "dtype", "argmax", "gives int32 indices", lambda w, op, x, dim: op(x, dim).to(w.flow.int32)),
    Fault("eq-uint8", "dtype", "eq", "gives uint8, not bool", lambda w, op, x, y: op(x, y).to(w.flow.uint8)),
    Fault(
        "sum-int32",
        "dtype",
        "sum",
        "keeps the dtype of integers",
        lambda w, op, x, dim, keepdim: op(x, dim, keepdim).to(x.dtype),
    ),
    Fault(
        "exp-float64",
        "dtype",
        "exp",
        "computes float64 as float32",
        lambda w, op, x: op(x.to(w.flow.float32)),
    ),
    Fault(
        "arange-float",
        "dtype",
        "arange",
        "gives float32 for whole numbers",
        lambda w, op, *args: op(*args).to(w.flow.float32),
    ),
    Fault(
        "div-int-float64",
        "dtype",
        "div",
        "divides integers into float64",
        lambda w, op, x, y: op(x, y) if x.is_floating_point() else op(x, y).to(w.flow.float64),
    ),
    Fault(
        "full-float", "dtype", "full", "gives float32 for an integer", lambda w, op, *args: op(*args).to(w.flow.float32)
    ),
)

SHAPES = (
    Fault(
        "mean-one-element",
        "shape",
        "mean",
        "gives one element of one dimension where it reduces all",
        lambda w, op, x: op(x).unsqueeze(0),
    ),
    Fault("dot-one-element", "shape", "dot", "gives a vector of one", lambda w, op, x, y: op(x, y).unsqueeze(0)),
    Fault(
        "squeeze-first",
        "shape",
        "squeeze",
        "leaves a first dimension of one",
        lambda w, op, x: op(x).unsqueeze(0) if x.shape[0] == 1 else op(x),
    ),
    Fault(
        "diagonal-front",
        "shape",
        "diagonal",
        "puts the diagonal first, not last",
        lambda w, op, x, *args: op(x, *args).transpose(0, 1),
    ),
    Fault(
        "max_pool2d-ceil",
        "shape",
        "max_pool2d",
        "rounds the number of windows up",
        lambda w, op, x, kernel, stride, padding: op(x, kernel, stride, padding, ceil_mode=True),
    ),
    Fault(
        "index_select-drops",
        "shape",
        "index_select",
        "drops the dimension where there is one index",
        lambda w, op, x, dim, index: op(x, dim, index).squeeze(dim) if index.shape[0] == 1 else op(x, dim, index),
    ),
    Fault(
        "split-rest",
        "shape",
        "split",
        "leaves the smaller last piece out",
        lambda w, op, x, size, dim: op(x, size, dim)[: x.shape[dim] // size],
    ),
)

LAYOUTS = (
    Fault(
        "cumsum-layout",
        "layout",
        "cumsum",
        "leaves its result as it was transposed for the kernel",
        lambda w, op, *args, **kwargs: column_major(op(*args, **kwargs)),
    ),
    Fault(
        "matmul-layout",
        "layout",
        "matmul",
        "gives the transposed of a product of transposed",
        lambda w, op, a, b: op(b.t(), a.t()).t(),
    ),
    Fault(
        "conv2d-channels-last",
        "layout",
        "conv2d",
        "gives channels-last memory",
        lambda w, op, *args: op(*args).permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    ),
    Fault(
        "tril-layout",
        "layout",
        "tril",
        "is computed as the triu of the transposed",
        lambda w, op, x: w.flow._C.triu(x.t(), 0).t(),
    ),
    Fault(
        "flip-layout",
        "layout",
        "flip",
        "gives column-major memory",
        lambda w, op, *args, **kwargs: column_major(op(*args, **kwargs)),
    ),
)

ALIASES = (
    Fault("transpose-copy", "aliasing", "transpose", "copies", lambda w, op, *args: op(*args).clone()),
    Fault("narrow-copy", "aliasing", "narrow", "copies", lambda w, op, x, *args: op(x, *args).clone()),
    Fault("unsqueeze-copy", "aliasing", "unsqueeze", "copies", lambda w, op, x, dim: op(x, dim).clone()),
    Fault(
        "chunk-copy",
        "aliasing",
        "chunk",
        "copies each chunk",
        lambda w, op, x, *args: tuple(piece.clone() for piece in op(x, *args)),
    ),
    Fault("contiguous-copy", "aliasing", "contiguous", "copies what is contiguous", lambda w, op, x: op(x).clone()),
    Fault("squeeze-copy", "aliasing", "squeeze", "copies", lambda w, op, x: op(x).clone()),
    Fault(
        "pad-nothing",
        "aliasing",
        "pad",
        "gives its input where the padding is nothing",
        lambda w, op, x, pad, **kwargs: x if not any(pad) else op(x, pad, **kwargs),
    ),
    Fault(
        "roll-nothing",
        "aliasing",
        "roll",
        "gives its input where nothing moves",
        lambda w, op, x, shifts, dims: x if not any(shifts) else op(x, shifts, dims),
        reason="both shifts are 0 in one case of 49, and in none of the 20 that are drawn",
    ),
)

POOLED_ZERO = Fault(
    "max_pool2d-zero-padding", "rare combination", "max_pool2d", "pads with 0, not with the least value", _max_pool2d
)

FAULTS = (*VALUES, *EDGES, *DTYPES, *SHAPES, *LAYOUTS, *ALIASES, POOLED_ZERO)
