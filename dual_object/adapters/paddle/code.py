"""What a row of the dialect cannot say: functions of PyTorch that Paddle has not, made of those that it has, and layers
whose arguments mean something else there.

Each has PyTorch's arguments.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import paddle


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """`input + value * tensor1 / tensor2`."""
    return input + value * (tensor1 / tensor2)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """`input + value * tensor1 * tensor2`."""
    return input + value * (tensor1 * tensor2)


def erfc(input: Any) -> Any:
    """`1 - erf`."""
    return 1 - paddle.erf(input)


def fmod(input: Any, other: Any) -> Any:
    """The remainder with the sign of `input`; Paddle's has that of `other`."""
    divisor = other if isinstance(other, (paddle.Tensor, paddle.pir.Value)) else paddle.full_like(input, other)
    remainder = paddle.remainder(input, divisor)
    turned = (remainder != 0) & ((remainder < 0) != (input < 0))
    return paddle.where(turned, remainder - divisor, remainder)


def numel(input: Any) -> int:
    """A number, not a tensor."""
    return int(input.size)


def _normalizing(
    layer: Any,
    tracked: bool,
    num_features: int,
    eps: float = 1e-5,
    momentum: float | None = 0.1,
    affine: bool | None = None,
    track_running_stats: bool | None = None,
    *,
    device: Any = None,
    dtype: Any = None,
) -> Any:
    """A layer that normalizes: its momentum is how much stays, and whether it keeps statistics is no choice."""
    if momentum is None or dtype is not None or track_running_stats not in (None, tracked):
        raise NotImplementedError(
            f"{layer.__name__} has no momentum=None, no dtype and no track_running_stats={not tracked}"
        )
    attr = None if (tracked if affine is None else affine) else False
    return layer(num_features, epsilon=eps, momentum=1 - momentum, weight_attr=attr, bias_attr=attr)


batch_norm_1d = partial(_normalizing, paddle.nn.BatchNorm1D, True)
batch_norm_2d = partial(_normalizing, paddle.nn.BatchNorm2D, True)
batch_norm_3d = partial(_normalizing, paddle.nn.BatchNorm3D, True)
instance_norm_1d = partial(_normalizing, paddle.nn.InstanceNorm1D, False)
instance_norm_2d = partial(_normalizing, paddle.nn.InstanceNorm2D, False)
instance_norm_3d = partial(_normalizing, paddle.nn.InstanceNorm3D, False)


def _recurrent(
    layer: Any,
    input_size: int,
    hidden_size: int,
    num_layers: int = 1,
    *,
    bias: bool = True,
    batch_first: bool = False,
    dropout: float = 0.0,
    bidirectional: bool = False,
    **more: Any,
) -> Any:
    """A recurrent layer, to which a batch comes first unless it is told otherwise."""
    attr = None if bias else False
    return layer(
        input_size,
        hidden_size,
        num_layers,
        direction="bidirect" if bidirectional else "forward",
        time_major=not batch_first,
        dropout=dropout,
        bias_ih_attr=attr,
        bias_hh_attr=attr,
        **more,
    )


lstm = partial(_recurrent, paddle.nn.LSTM)
gru = partial(_recurrent, paddle.nn.GRU)


def rnn(input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", **named: Any) -> Any:
    """The simple one, of whose arguments one has another name."""
    return _recurrent(paddle.nn.SimpleRNN, input_size, hidden_size, num_layers, activation=nonlinearity, **named)
