"""Kinds of ops by their plain names: small letters without underscores."""

from __future__ import annotations

from dual_object.program.calls import Call, op_name

#: Ops whose elements are sums, by how their names begin: of products, of elements, of what a window or a cell sees.
_PRODUCTS = (
    *("addbmm", "addmm", "addmv", "baddbmm", "bilinear", "bmm", "cosine", "dot", "einsum", "inner", "inv", "linear"),
    *("matmul", "mm", "multihead", "mv", "scaleddot", "tensordot", "vdot"),
)
_TOTALS = ("cumsum", "embeddingbag", "indexadd", "nansum", "scatteradd", "std", "sum", "var")
_LAYERS = ("conv", "gru", "interpolate", "lstm", "rnn", "upsampl")
#: Sums that are divided by how many they are of, and so are smaller than what was added up.
_AVERAGES = ("adaptiveavg", "avgpool", "mean", "nanmean")
_SUMS = (*_PRODUCTS, *_TOTALS, *_LAYERS, *_AVERAGES)
#: More sums, which a framework has as PyTorch has them: only who writes one from scratch may add up otherwise.
_MORE_SUMS = frozenset(
    (
        *("addr", "cdist", "chainmatmul", "corrcoef", "cov", "cross", "cumulativetrapezoid", "det", "dist", "fold"),
        *("matrixexp", "matrixpower", "multidot", "pairwisedistance", "pdist", "pinv", "scatterreduce", "solve"),
        *("trace", "trapezoid", "trapz", "vecdot"),
    )
)
_TRANSFORMS = ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")
#: What the name of such an op may contain.
_SUMS_INSIDE = ("loss", "norm")
#: Sums whose root is taken at last.
_ROOTS = ("std",)
#: Ops that normalise, and then scale and shift.
_NORMALISES = ("batchnorm", "groupnorm", "instancenorm", "layernorm", "rmsnorm")
#: Ops that multiply many elements with each other.
_MULTIPLIES = ("cumprod", "prod")
#: Ops that add what they are given, or products of it.
_ADDS = ("add", "addcdiv", "addcmul", "lerp", "rsub", "sub")
#: Ops between two of their operands, as one of several formulas has it.
_INTERPOLATES = frozenset(("lerp",))
#: Ops that choose among elements: of 0.0 and -0.0, which are equal, either may be the one.
_CHOICES = (
    *("amax", "amin", "aminmax", "cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian"),
    *("nanquantile", "quantile", "sort", "topk"),
)
#: Those of them that choose the first, as PyTorch promises; reduced over all, they share their gradient out evenly.
_CHOOSES_FIRST = frozenset(("amax", "amin", "argmax", "argmin", "max", "min"))


def plain_name(op: str) -> str:
    """The plain name of an op."""
    return op.lower().replace("_", "")


def sums(name: str) -> bool:
    """Whether each element of the result is a sum of many."""
    return name.startswith(_SUMS) or any(part in name for part in _SUMS_INSIDE)


def sums_from_scratch(name: str) -> bool:
    """Whether each element is a sum of many, of whose order who writes the op anew is free."""
    return sums(name) or name in _MORE_SUMS or name.startswith(_TRANSFORMS)


def averages(name: str) -> bool:
    """Whether such a sum is divided by how many it is of."""
    return name.startswith(_AVERAGES)


def roots(name: str) -> bool:
    """Whether each element of the result is the root of such a sum: greater than the result, and squared."""
    return name.startswith(_ROOTS)


def normalises(name: str) -> bool:
    """Whether it normalises, and then scales and shifts what comes of it."""
    return name.endswith(_NORMALISES)


def multiplies(name: str) -> bool:
    """Whether each element of the result is a product of many."""
    return name.startswith(_MULTIPLIES)


def adds(name: str) -> bool:
    """Whether it adds its operands, or products of them."""
    return name in _ADDS


def interpolates(name: str) -> bool:
    """Whether it goes from one operand to another, by one of several formulas."""
    return name in _INTERPOLATES


def chooses(name: str) -> bool:
    """Whether it chooses among elements."""
    return name.startswith(_CHOICES)


def unordered_along(call: Call) -> int | None:
    """The dimension along which a call's results may come in any order, since it asks for none: `topk(x, 2,
    sorted=False)`; None for all other calls.
    """
    if plain_name(op_name(call)) != "topk":
        return None
    named = dict(zip(("input", "k", "dim", "largest", "sorted"), call.args, strict=False)) | call.kwargs
    dim = named.get("dim", -1)
    return dim if named.get("sorted") is False and isinstance(dim, int) else None


def chooses_first(name: str) -> bool:
    """Whether PyTorch promises what becomes of equal elements of one tensor."""
    return name in _CHOOSES_FIRST
