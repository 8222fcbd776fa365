"""Second derivatives of smooth ops, of every family that has some: rows of the other suites, differentiated twice."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import test_activation as activation
import test_binary as binary
import test_convolution as convolution
import test_loss as loss
import test_matmul as matmul
import test_normalization as normalization
import test_pooling as pooling
import test_reduction as reduction
import test_scan as scan
import test_unary as unary
from rows import Layer, Op, main_forms

from autotest import autotest


def rows(family: ModuleType, names: str) -> Iterator[Op | Layer]:
    """A family's rows of these ops; an op has no row of another name."""
    wanted = {name: [row for row in family.ROWS if row.name == name] for name in names.split()}
    for name, matching in wanted.items():
        if not matching:
            raise LookupError(f"{family.__name__} has no row {name!r}")
        yield from matching


ROWS = (
    *rows(unary, "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh exp expm1 log log2 log10 log1p"),
    *rows(unary, "sqrt rsqrt reciprocal sigmoid square erf erfc erfinv lgamma abs neg clamp"),
    *rows(binary, "add mul div pow atan2 addcmul addcdiv maximum logaddexp"),
    *rows(matmul, "matmul mm bmm mv dot addmm baddbmm einsum cross inverse linear Linear"),
    *rows(reduction, "sum mean prod logsumexp var std norm amax"),
    *rows(scan, "cumsum cumprod"),
    *rows(activation, "relu gelu silu mish elu celu selu leaky_relu softplus softsign hardswish logsigmoid glu"),
    *rows(activation, "softmax log_softmax prelu"),
    *rows(convolution, "conv1d conv2d conv3d conv_transpose2d Conv2d"),
    *rows(pooling, "max_pool2d avg_pool2d adaptive_avg_pool2d"),
    *rows(loss, "mse_loss smooth_l1_loss binary_cross_entropy binary_cross_entropy_with_logits cross_entropy kl_div"),
    *rows(loss, "cosine_similarity"),
    *rows(normalization, "batch_norm layer_norm normalize GroupNorm InstanceNorm2d RMSNorm"),
)


@main_forms(ROWS)
@autotest(n=3, check_graph=False, grad_order=2, coverage="each")
def test_op(call):
    return call()
