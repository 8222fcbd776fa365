"""Steps along a dimension: sums, means, extremes, softmax, running sums."""

from __future__ import annotations

import math
from collections.abc import Callable

from autotest.api.programs.chain import Chain, Step, bounded, fresh
from autotest.api.programs.layouts import has_dimensions
from autotest.api.programs.values import Interval, Value
from dual_object.record.namespace import torch

Image = Callable[[Interval, int], Interval]


def times(x: Interval, count: int) -> Interval:
    """The range of sums of so many."""
    return Interval(x.low * count, x.high * count)


def along(
    path: str, image: Image, takes: Callable[[Value], bool], *, keepdim: bool = False, keeps: bool = True
) -> Step:
    """A function along one dimension; `image` gives the range of what it makes of so many elements. With `keepdim` it
    leaves one of them, and may be asked to keep the dimension.
    """

    def makes(chain: Chain, x: Value) -> Value:
        axis = chain.axis(x)
        named = {"keepdim": chain.pick((False, True))} if keepdim else {}
        return fresh(getattr(torch, path)(x.tensor, axis, **named), image(x.interval, x.shape[axis]))

    def may(chain: Chain, x: Value) -> bool:
        return has_dimensions(x) and takes(x) and bounded(image(x.interval, max(x.shape)), x)

    return Step(path, may, makes, keeps)


def _may_sum(chain: Chain, x: Value) -> bool:
    return x.elements > 0 and bounded(times(x.interval, x.elements), x)


def _whole_sum(chain: Chain, x: Value) -> Value:
    return fresh(torch.sum(x.tensor), times(x.interval, x.elements))


def floating(x: Value) -> bool:
    """Whether it may have a gradient."""
    return x.floating


def anything(x: Value) -> bool:
    """Any tensor, masks included: their sums are integers."""
    return True


STEPS = (
    along("sum", times, anything, keeps=False, keepdim=True),
    along("mean", lambda x, n: x, floating, keeps=False, keepdim=True),
    along("amax", lambda x, n: x, floating, keepdim=True),
    along("amin", lambda x, n: x, floating, keepdim=True),
    along("logsumexp", lambda x, n: Interval(x.low, x.high + math.log(n)), floating, keepdim=True),
    along("softmax", lambda x, n: Interval(0, 1), floating),
    along("log_softmax", lambda x, n: Interval(x.low - x.high - math.log(n), 0), floating),
    along("cumsum", lambda x, n: x.joined(times(x, n)), anything, keeps=False),
    Step("sum of all", _may_sum, _whole_sum, keeps=False),
)
