"""Twenty faults to plant in Paddle: `AUTOTEST_FAULT=paddle_faults:plant` plants them all, each in one op of its own.

An op is changed wherever a dialect may look for it: as a function, as a method, and under both of Paddle's names of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import paddle

Op = Callable[..., Any]


def _doubled_gradient(result: Any) -> Any:
    """The same values with twice the gradient."""
    return result.detach() + 2 * (result - result.detach())


def _after(change: Callable[[Any], Any]) -> Callable[[Op], Op]:
    """The op with its result changed."""
    return lambda op: lambda *args, **kwargs: change(op(*args, **kwargs))


def _without(name: str) -> Callable[[Op], Op]:
    """The op that does not look at one of its arguments."""
    return lambda op: lambda *args, **kwargs: op(*args, **{k: v for k, v in kwargs.items() if k != name})


def _sum(op: Op) -> Op:
    """Drops `keepdim` where the dimension is counted from the end."""

    def planted(x: Any, *args: Any, **kwargs: Any) -> Any:
        dim = args[0] if args else kwargs.get("dim")
        if isinstance(dim, int) and dim < 0:
            return op(x, dim)
        return op(x, *args, **kwargs)

    return planted


def _pow(op: Op) -> Op:
    """Takes a negative number as an exponent for a positive one."""
    return lambda x, y, *args, **kwargs: op(x, abs(y) if isinstance(y, (int, float)) else y, *args, **kwargs)


def _maximum(op: Op) -> Op:
    """Gives its first operand no gradient."""

    def planted(*args: Any, **kwargs: Any) -> Any:
        if args:
            return op(args[0].detach(), *args[1:], **kwargs)
        return op(**{**kwargs, "input": kwargs["input"].detach()})

    return planted


def _logaddexp(op: Op) -> Op:
    """Is wrong in a static graph alone."""
    return lambda x, *args, **kwargs: op(x, *args, **kwargs) * (1.01 if isinstance(x, paddle.pir.Value) else 1)


def _leaky_relu(op: Op) -> Op:
    """Takes a slope of 0 for one that was not given."""
    return lambda x, negative_slope=0.01, **kwargs: op(x, negative_slope or 0.01, **kwargs)


#: By the op's name in a fingerprint: where Paddle has it, and the change.
FAULTS: dict[str, tuple[str, Callable[[Op], Op]]] = {
    "exp": ("exp Tensor.exp", _after(lambda y: y * 1.001)),
    "tanh": ("tanh Tensor.tanh nn.functional.tanh", _after(_doubled_gradient)),
    "sqrt": ("sqrt Tensor.sqrt", _after(lambda y: y if y.ndim else y + 1)),
    "floor": ("floor Tensor.floor", lambda op: paddle.trunc),
    "log1p": ("log1p Tensor.log1p", lambda op: lambda x: paddle.log(1 + x)),
    "maximum": ("maximum Tensor.maximum", _maximum),
    "pow": ("pow Tensor.pow", _pow),
    "sum": ("sum Tensor.sum", _sum),
    "mean": ("mean Tensor.mean", _after(lambda y: y.astype("float64"))),
    "prod": ("prod Tensor.prod", _after(lambda y: y.detach())),
    "argmin": ("argmin Tensor.argmin", _after(lambda y: y.astype("int32"))),
    "var": ("var Tensor.var", _without("unbiased")),
    "softmax": ("compat.nn.functional.softmax softmax", lambda op: lambda x, dim=-1, **more: op(x, -1, **more)),
    "gelu": ("nn.functional.gelu", _without("approximate")),
    "leaky_relu": ("nn.functional.leaky_relu", _leaky_relu),
    "addmm": ("addmm Tensor.addmm", _without("beta")),
    "conv1d": ("nn.functional.conv1d", _without("dilation")),
    "conv_transpose2d": ("nn.functional.conv2d_transpose", _without("output_padding")),
    "logaddexp": ("logaddexp", _logaddexp),
    "sub_": ("sub_ Tensor.sub_", lambda op: lambda x, *args, **kwargs: paddle.subtract(x, *args, **kwargs)),
}


def plant(adapter: Any) -> None:
    """Plant them all."""
    for paths, change in FAULTS.values():
        for path in paths.split():
            *homes, name = path.split(".")
            home = functools.reduce(getattr, homes, paddle)
            setattr(home, name, change(getattr(home, name)))
