"""What a row of the dialect cannot say: functions of PyTorch that Paddle has not, made of those that it has, and layers
whose arguments mean something else there.

Each has PyTorch's arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """A bool, not a tensor."""
    return bool(paddle.allclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan))


def is_nonzero(input: Any) -> bool:
    """The one element as a bool."""
    return bool(input)


def fmod(input: Any, other: Any) -> Any:
    """The remainder with the sign of `input`; Paddle's has that of `other`, and another one cannot be made of it: that
    of -1 and 1e20 is 1e20.
    """
    divisor = other if isinstance(other, (paddle.Tensor, paddle.pir.Value)) else paddle.full_like(input, other)
    sign, turned = (paddle.where(x < 0, -paddle.ones_like(x), paddle.ones_like(x)) for x in (input, divisor))
    return sign * paddle.remainder(sign * input, turned * divisor)


def numel(input: Any) -> int:
    """A number, not a tensor."""
    return int(input.size)


def shape(input: Any) -> tuple[int, ...]:
    """A tuple; Paddle's is a list."""
    return tuple(input.shape)


def size(input: Any, dim: int | None = None) -> Any:
    """That of one dimension, or all."""
    return shape(input) if dim is None else input.shape[dim]


def grad(input: Any) -> Any:
    """The gradient, which wants none itself: Paddle's says that it does."""
    return None if input.grad is None else input.grad.detach()


def select(input: Any, dim: int, index: int) -> Any:
    """What lies at one place of a dimension."""
    if not -input.ndim <= dim < input.ndim:
        raise IndexError(f"dim={dim}, but should be of [{-input.ndim}, {input.ndim})")
    return input[(slice(None),) * (dim % input.ndim) + (index,)]


def reshape_as(input: Any, other: Any) -> Any:
    """The elements in another tensor's shape."""
    return input.reshape(other.shape)


def randint(*given: Any, low: int = 0, high: int | None = None, size: Any = None, dtype: Any = None) -> Any:
    """Integers of [low, high) or, of one bound, of [0, high)."""
    *bounds, size = given if size is None else (*given, size)
    return paddle.randint(*_bounds(bounds, low, high), size, "int64" if dtype is None else dtype)


def randint_like(input: Any, *bounds: int, low: int = 0, high: int | None = None, dtype: Any = None) -> Any:
    """Integers of [low, high) or, of one bound, of [0, high), in the shape and dtype of another tensor."""
    return paddle.randint_like(input, *_bounds(bounds, low, high), dtype)


def _bounds(given: Sequence[int], low: int, high: int | None) -> tuple[int, int | None]:
    if len(given) == 2:
        return given[0], given[1]
    if not given:
        return low, high
    return (low, given[0]) if high is None else (given[0], high)


def _split(split: Any, input: Any, *given: Any, indices: Any = None, sections: int | None = None) -> Any:
    """So many parts, or parts that end at these places: the two have names of their own."""
    [parts] = [part for part in (*given, indices, sections) if part is not None]
    if (sections is not None and not isinstance(sections, int)) or isinstance(indices, int):
        raise TypeError(f"indices={indices!r} and sections={sections!r}, but should be places or a number")
    return split(input, parts)


hsplit = partial(_split, paddle.hsplit)
vsplit = partial(_split, paddle.vsplit)
dsplit = partial(_split, paddle.dsplit)


def _avg_pool(
    pool: Any,
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    **more: Any,
) -> Any:
    """What is padded counts, unless it is excluded."""
    return pool(input, kernel_size, stride, padding, ceil_mode=ceil_mode, exclusive=not count_include_pad, **more)


avg_pool1d = partial(_avg_pool, paddle.nn.functional.avg_pool1d)


def _dividing_pool(
    pool: Any,
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The same, where another divisor may be given."""
    return _avg_pool(
        pool, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override=divisor_override
    )


avg_pool2d = partial(_dividing_pool, paddle.nn.functional.avg_pool2d)
avg_pool3d = partial(_dividing_pool, paddle.nn.functional.avg_pool3d)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Its momentum is how much stays."""
    if running_mean is None or running_var is None:
        raise NotImplementedError("paddle.nn.functional.batch_norm has no batch norm without running statistics")
    return paddle.nn.functional.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum=1 - momentum, epsilon=eps
    )


def _of_classes(input: Any, target: Any) -> dict[str, Any]:
    """Which dimension has the classes, and whether the target has probabilities of all of them: Paddle is told."""
    return {"axis": min(input.ndim - 1, 1), "soft_label": target.is_floating_point()}


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: None = None,
    ignore_index: int = -100,
    reduce: None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The classes are in the second dimension, or in the only one; a target of real numbers has probabilities."""
    if size_average is not None or reduce is not None:
        raise NotImplementedError("paddle.nn.functional.cross_entropy has no size_average and no reduce")
    return paddle.nn.functional.cross_entropy(
        input,
        target,
        weight,
        ignore_index,
        reduction,
        label_smoothing=label_smoothing,
        **_of_classes(input, target),
    )


class CrossEntropyLoss(paddle.nn.CrossEntropyLoss):  # type: ignore[misc]
    """The layer, told at each call what Paddle's is told as it is made."""

    def __init__(
        self,
        weight: Any = None,
        size_average: None = None,
        ignore_index: int = -100,
        reduce: None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        if size_average is not None or reduce is not None:
            raise NotImplementedError("nn.CrossEntropyLoss has no size_average and no reduce")
        super().__init__(weight, ignore_index, reduction, label_smoothing=label_smoothing)

    def forward(self, input: Any, label: Any) -> Any:
        """The loss."""
        self.axis, self.soft_label = _of_classes(input, label).values()
        return super().forward(input, label)


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


class _Cell:
    """Before a cell of Paddle's, which gives its output before the state that PyTorch's gives alone."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, **named: Any) -> None:
        attr = None if bias else False
        super().__init__(input_size, hidden_size, bias_ih_attr=attr, bias_hh_attr=attr, **named)  # type: ignore[call-arg]

    def forward(self, inputs: Any, states: Any = None) -> Any:
        """The state."""
        return super().forward(inputs, states)[1]  # type: ignore[misc]


class LSTMCell(_Cell, paddle.nn.LSTMCell):  # type: ignore[misc]
    """Gives the output and the state of the cell."""


class GRUCell(_Cell, paddle.nn.GRUCell):  # type: ignore[misc]
    """Gives the output."""


class RNNCell(_Cell, paddle.nn.SimpleRNNCell):  # type: ignore[misc]
    """Gives the output."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh") -> None:
        super().__init__(input_size, hidden_size, bias, activation=nonlinearity)


class Dropout1d(paddle.nn.Layer):  # type: ignore[misc]
    """The layer of a function that Paddle has no layer of."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if inplace:
            raise NotImplementedError("paddle.nn.functional.dropout1d writes nothing in place")
        super().__init__()
        self.p = p

    def forward(self, input: Any) -> Any:
        """What is left."""
        return paddle.nn.functional.dropout1d(input, self.p, self.training)
