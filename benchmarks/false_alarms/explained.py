"""False alarms that are understood and kept: each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_MEAN = (
    "beside an infinity the greatest numbers add up to the other infinity in one order, so that the mean is NaN, and "
    "in another they do not"
)
_GREATEST = (
    "of the greatest float32 beside small numbers the gradient is the rest of two terms 10,000 times as great, and the "
    "mean that the forward rounds to float32 decides its fourth digit; or the reference overflows there to NaN"
)
#: By variant and fingerprint: why the alarm cannot be told from a fault.
EXPLAINED: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("float64", "torch/eager_backward/nonfinite/layer_norm/float32,extreme"): _GREATEST,
        ("float64", "torch/eager_backward/value/layer_norm/float32"): _GREATEST,
        ("float64", "torch/eager_forward/nonfinite/BatchNorm1d/float32,extreme"): (
            "the reference overflows to NaN; scaled and moved, the greatest float32 leaves nothing of the bias beside "
            "it in float64"
        ),
        ("float64", "torch/eager_backward/nonfinite/std/float32,extreme"): (
            "twice the deviation is beyond float32 and divides the gradient, which is 0 where that is rounded to "
            "infinity, and NaN where the squares were infinite already"
        ),
        ("float64", "torch/eager_backward/value/lu_solve/float32"): (
            "the gradient of a badly scaled matrix is a product of its parts, of which the greatest is 1,000 times as "
            "great as the element: both sides are off by as much as float32 rounds the greatest by, on either side of "
            "what float64 gives"
        ),
        ("contiguous", "torch/eager_backward/nonfinite/var/float32,strided,nonfinite,extreme"): _MEAN,
        ("permuted", "torch/eager_backward/nonfinite/var/float32,strided,nonfinite,extreme"): _MEAN,
        ("contiguous", "torch/eager_forward/nonfinite/GroupNorm/float32,strided,extreme"): (
            "of the greatest float32 beside small numbers the reference's kernel for channels-last gives NaN, and its "
            "kernel for contiguous inputs a wrong finite number: neither is what float64 gives"
        ),
    }
)
