"""Faults in how an op takes its arguments: in place, defaults, keywords, refusals, rare combinations."""

from __future__ import annotations

from typing import Any

from benchmarks.mutation.fault import Fault, World


def _clamp_(w: World, op: Any, x: Any, *args: Any) -> Any:
    op(x, *args)
    return x.clone()


def _mul_(w: World, op: Any, x: Any, y: Any) -> Any:
    result = op(x, y)
    if not w.building:
        y.detach().mul_(0)
    return result


def _fill_(w: World, op: Any, x: Any, value: float) -> Any:
    op(x[:1], value)
    return x


def _normalize(w: World, op: Any, x: Any) -> Any:
    result = op(x)
    if not w.building:
        x.detach().copy_(result.detach())
    return result


def _topk(w: World, op: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    result = op(x, *args, **kwargs)
    if not w.building:
        x.detach().mul_(0)
    return result


def _gather(w: World, op: Any, *args: Any) -> Any:
    try:
        return op(*args)
    except Exception:
        raise KeyError("dim") from None


def _exp(w: World, op: Any, x: Any) -> Any:
    if not x.ndim or x.shape[0] == 1:
        raise RuntimeError("exp(): expected more than one element in the first dimension")
    return op(x)


def _permute(w: World, op: Any, x: Any, dims: Any) -> Any:
    if any(dim < 0 for dim in dims):
        raise IndexError(f"dims={dims} out of range")
    return op(x, dims)


def _bmm(w: World, op: Any, x: Any, y: Any) -> Any:
    if x.shape[0] == 1:
        raise RuntimeError("bmm(): batch size should be greater than 1")
    return op(x, y)


def _conv2d(w: World, op: Any, *args: Any) -> Any:
    _, _, _, _, _, dilation, groups = args
    return op(*args).flip(1) if dilation > 1 and groups > 1 else op(*args)


def _pad(w: World, op: Any, x: Any, pad: Any, **kwargs: Any) -> Any:
    return (
        op(x, (pad[2], pad[3], pad[0], pad[1]), **kwargs)
        if pad[0] != pad[1] and pad[2] != pad[3]
        else op(x, pad, **kwargs)
    )


def _var(w: World, op: Any, x: Any, dim: Any, unbiased: bool, keepdim: bool) -> Any:
    return op(x, dim, unbiased, keepdim and len(dim) == 1)


IN_PLACE = (
    Fault("add_-copy", "in-place", "add_", "gives the sum and does not write it", lambda w, op, x, y: x + y),
    Fault("clamp_-other", "in-place", "clamp_", "writes, and gives a copy", _clamp_),
    Fault("mul_-writes-operand", "in-place", "mul_", "uses its operand as workspace", _mul_),
    Fault(
        "zero_-idle", "in-place", "zero_", "does nothing outside a graph", lambda w, op, x: op(x) if w.building else x
    ),
    Fault("fill_-first-row", "in-place", "fill_", "writes the first row alone", _fill_),
    Fault("normalize-writes-input", "in-place", "normalize", "writes its result to its input, too", _normalize),
    Fault("topk-clears-input", "in-place", "topk", "uses its input as workspace", _topk),
)

DEFAULTS = (
    Fault(
        "avg_pool2d-count",
        "default",
        "avg_pool2d",
        "count_include_pad is False by default",
        lambda w, op, *args, count_include_pad=False, **kwargs: op(
            *args, count_include_pad=count_include_pad, **kwargs
        ),
    ),
    Fault(
        "leaky-slope",
        "default",
        "LeakyReLU",
        "the slope is 0.02 by default",
        lambda w, op, self, negative_slope=0.02, **kwargs: op(self, negative_slope, **kwargs),
        place="nn.LeakyReLU.__init__",
    ),
    Fault(
        "layer_norm-eps",
        "default",
        "layer_norm",
        "eps is 1e-3 by default",
        lambda w, op, x, shape, weight=None, bias=None, eps=1e-3: op(x, shape, weight, bias, eps),
    ),
    Fault(
        "flatten-start",
        "default",
        "flatten",
        "starts at dimension 1 by default",
        lambda w, op, x, start_dim=1, end_dim=-1: op(x, start_dim, end_dim),
    ),
    Fault(
        "normalize-p",
        "default",
        "normalize",
        "divides by the sum of absolute values by default",
        lambda w, op, x, p=1.0, **kwargs: op(x, p, **kwargs),
    ),
    Fault(
        "tril-diagonal",
        "default",
        "tril",
        "leaves the main diagonal out by default",
        lambda w, op, x, diagonal=-1: op(x, diagonal),
    ),
    Fault(
        "BatchNorm2d-eps",
        "default",
        "BatchNorm2d",
        "eps is 1e-3 by default",
        lambda w, op, self, features, eps=1e-3, **kwargs: op(self, features, eps, **kwargs),
        place="nn.BatchNorm2d.__init__",
    ),
    Fault(
        "GroupNorm-affine",
        "default",
        "GroupNorm",
        "has no weight by default",
        lambda w, op, self, groups, channels, eps=1e-5, affine=False: op(self, groups, channels, eps, affine),
        place="nn.GroupNorm.__init__",
    ),
)

KEYWORDS = (
    Fault(
        "sum-keepdim",
        "keyword",
        "sum",
        "ignores keepdim",
        lambda w, op, x, dim, keepdim: op(x, dim),
    ),
    Fault("softplus-beta", "keyword", "softplus", "ignores beta", lambda w, op, x, beta: op(x)),
    Fault(
        "pad-value",
        "keyword",
        "pad",
        "ignores value",
        lambda w, op, x, pad, mode, value: op(x, pad, mode=mode),
    ),
    Fault("mse_loss-reduction", "keyword", "mse_loss", "ignores reduction", lambda w, op, x, y, reduction: op(x, y)),
    Fault(
        "cross_entropy-ignore",
        "keyword",
        "cross_entropy",
        "ignores ignore_index",
        lambda w, op, x, target, ignore_index: op(x, target),
    ),
    Fault(
        "topk-largest",
        "keyword",
        "topk",
        "ignores largest",
        lambda w, op, x, k, dim, largest: op(x, k, dim),
    ),
    Fault("sub-alpha", "keyword", "sub", "ignores alpha", lambda w, op, x, y, alpha: op(x, y)),
    Fault("zeros_like-dtype", "keyword", "zeros_like", "ignores dtype", lambda w, op, x, dtype: op(x)),
)

EXCEPTIONS = (
    Fault(
        "softmax-any-dim",
        "exception",
        "softmax",
        "accepts a dimension that is out of range",
        lambda w, op, x, dim: op(x, dim % x.ndim),
    ),
    Fault("gather-keyerror", "exception", "gather", "refuses with a KeyError", _gather),
    Fault("exp-one", "exception", "exp", "refuses a first dimension of one", _exp),
    Fault("permute-negative", "exception", "permute", "refuses negative dimensions", _permute),
    Fault("bmm-one", "exception", "bmm", "refuses a batch of one", _bmm),
    Fault(
        "transpose-any-dim",
        "exception",
        "transpose",
        "clamps a dimension that is out of range",
        lambda w, op, x, first, second: op(x, min(max(first, -x.ndim), x.ndim - 1), second),
    ),
)

RARE = (
    Fault(
        "conv2d-dilated-groups",
        "rare combination",
        "conv2d",
        "with groups and dilation gives the groups in reverse",
        _conv2d,
    ),
    Fault(
        "unsqueeze-negative",
        "rare combination",
        "unsqueeze",
        "counts a negative dimension from the input's rank",
        lambda w, op, x, dim: op(x, max(dim + x.ndim, 0) if dim < 0 else dim),
    ),
    Fault("var-keepdim-dims", "rare combination", "var", "forgets keepdim for more than one dimension", _var),
    Fault(
        "flip-first-only",
        "rare combination",
        "flip",
        "flips the first alone where two dimensions are asked for from 1 on",
        lambda w, op, x, dims: op(x, dims[:1] if dims[0] == 1 else dims),
    ),
    Fault(
        "roll-both-negative",
        "rare combination",
        "roll",
        "rolls forward where all shifts are negative",
        lambda w, op, x, shifts, dims: op(x, tuple(map(abs, shifts)) if max(shifts) < 0 else shifts, dims),
    ),
    Fault("pad-asymmetric", "rare combination", "pad", "swaps the dimensions where both are padded unevenly", _pad),
    Fault(
        "clamp-upper-alone",
        "rare combination",
        "clamp",
        "takes a lower bound of 0 where only an upper one is given",
        lambda w, op, x, min, max: op(x, min=0.0 if min is None else min, max=max),
    ),
    Fault(
        "amax-negative-keepdim",
        "rare combination",
        "amax",
        "with a negative dimension forgets keepdim",
        lambda w, op, x, dim, keepdim: op(x, dim, keepdim and dim != -1),
    ),
    Fault(
        "topk-smallest-first-dim",
        "rare combination",
        "topk",
        "orders the smallest from great to small along the first dimension",
        lambda w, op, x, k, dim, largest: tuple(
            part.flip(dim) if not largest and dim % x.ndim == 0 else part for part in op(x, k, dim, largest)
        ),
    ),
)

FAULTS = (*IN_PLACE, *DEFAULTS, *KEYWORDS, *EXCEPTIONS, *RARE)
