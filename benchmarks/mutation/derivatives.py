"""Faults in gradients, second derivatives, and in what a static graph makes of an op."""

from __future__ import annotations

from typing import Any

from benchmarks.mutation.fault import Fault, World, bend, linear, scaled_gradient


def _index_select(w: World, op: Any, x: Any, dim: int, index: Any) -> Any:
    result = op(x, dim, index)
    if w.building:
        return result
    rows = index.numpy().tolist()
    last = [[float(row not in rows[place + 1 :])] for place, row in enumerate(rows)]
    return scaled_gradient(result, w.flow.tensor(last))


def _linear(w: World, op: Any, x: Any, weight: Any, bias: Any) -> Any:
    return op(x, weight, scaled_gradient(bias, 1 / x.shape[0]))


def _matmul(w: World, op: Any, a: Any, b: Any) -> Any:
    apart = op(a, b.detach()) + op(a.detach(), b)
    return op(a, b).detach() + (apart - apart.detach())


def _roll(w: World, op: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    key = ("roll", tuple(x.shape))
    if w.building and key in w.memory:
        return w.memory[key]
    result = op(x, *args, **kwargs)
    if not w.building:
        w.memory[key] = result.detach()
    return result


def in_graph(wrong: Any) -> Any:
    """A fault that acts only while a static graph is built."""
    return lambda w, op, *args, **kwargs: wrong(w, op, *args, **kwargs) if w.building else op(*args, **kwargs)


GRADIENTS = (
    Fault(
        "sigmoid-factor",
        "gradient",
        "sigmoid",
        "forgets the factor 1 - y",
        lambda w, op, x: linear(op(x), op(x), x),
    ),
    Fault("tanh-detached", "gradient", "tanh", "has no gradient", lambda w, op, x: op(x).detach()),
    Fault(
        "minimum-second",
        "gradient",
        "minimum",
        "has no gradient for its second operand",
        lambda w, op, x, y: op(x, y.detach()),
    ),
    Fault(
        "index_select-repeated",
        "gradient",
        "index_select",
        "takes the last gradient of a repeated index alone",
        _index_select,
    ),
    Fault(
        "expand-mean",
        "gradient",
        "expand",
        "averages the gradients over what is expanded",
        lambda w, op, x, *sizes: scaled_gradient(op(x, *sizes), 1 / sizes[0]),
    ),
    Fault("linear-bias", "gradient", "linear", "averages the gradient of the bias over the batch", _linear),
    Fault(
        "pow-exponent",
        "gradient",
        "pow",
        "gives the exponent no gradient",
        lambda w, op, x, y: op(x, y.detach()),
    ),
    Fault(
        "add-broadcast",
        "gradient",
        "add",
        "averages the gradient of a broadcast operand",
        lambda w, op, x, y: op(x, scaled_gradient(y, 1 / x.shape[0])),
    ),
)

SECOND = (
    Fault(
        "sin-once",
        "second derivative",
        "sin",
        "has a backward that keeps no graph",
        lambda w, op, x: linear(op(x), w.flow._C.cos(x), x),
    ),
    Fault(
        "exp-second",
        "second derivative",
        "exp",
        "doubles the second derivative",
        lambda w, op, x: op(x) + 0.5 * op(x).detach() * bend(x),
    ),
    Fault(
        "log-second-sign",
        "second derivative",
        "log",
        "has the wrong sign in the second derivative",
        lambda w, op, x: op(x) + bend(x) / (x * x).detach(),
    ),
    Fault(
        "square-once",
        "second derivative",
        "square",
        "has a constant for its derivative",
        lambda w, op, x: linear(op(x), 2 * x, x),
    ),
    Fault("matmul-mixed", "second derivative", "matmul", "has no mixed second derivative", _matmul),
    Fault(
        "cos-second",
        "second derivative",
        "cos",
        "loses half of the second derivative",
        lambda w, op, x: op(x) + 0.25 * op(x).detach() * bend(x),
    ),
)

GRAPH_FORWARD = (
    Fault("floor-dropped", "graph forward", "floor", "is optimised away in a graph", in_graph(lambda w, op, x: x * 1)),
    Fault(
        "silu-half",
        "graph forward",
        "silu",
        "is computed in half precision in a graph",
        in_graph(lambda w, op, x: op(x.to(w.flow.float16).to(x.dtype))),
    ),
    Fault("sub_-lost", "graph forward", "sub_", "is lost in a graph", in_graph(lambda w, op, x, y: x)),
    Fault("roll-earlier-result", "graph forward", "roll", "gives the result of an earlier run in a graph", _roll),
    Fault(
        "triu-diagonal-lost",
        "graph forward",
        "triu",
        "ignores diagonal in a graph",
        in_graph(lambda w, op, x, diagonal: op(x)),
    ),
    Fault(
        "div-float64-lost",
        "graph forward",
        "div",
        "gives float64 for integers in a graph",
        in_graph(lambda w, op, x, y: op(x, y) if x.is_floating_point() else op(x, y).to(w.flow.float64)),
    ),
    Fault(
        "masked_fill-zero",
        "graph forward",
        "masked_fill",
        "fills with a constant 0 in a graph",
        in_graph(lambda w, op, x, mask, value: op(x, mask, 0.0)),
    ),
)

GRAPH_BACKWARD = (
    Fault(
        "cosh-doubled",
        "graph backward",
        "cosh",
        "accumulates its gradient twice in a graph",
        in_graph(lambda w, op, x: scaled_gradient(op(x), 2)),
    ),
    Fault(
        "sinh-detached",
        "graph backward",
        "sinh",
        "has no gradient in a graph",
        in_graph(lambda w, op, x: op(x).detach()),
    ),
    Fault(
        "linear-weight-lost",
        "graph backward",
        "linear",
        "has no gradient for its weight in a graph",
        in_graph(lambda w, op, x, weight, bias: op(x, weight.detach(), bias)),
    ),
    Fault(
        "atan-sign",
        "graph backward",
        "atan",
        "has the opposite gradient in a graph",
        in_graph(lambda w, op, x: scaled_gradient(op(x), -1)),
    ),
    Fault(
        "where-second-lost",
        "graph backward",
        "where",
        "has no gradient for what it takes where the condition is false, in a graph",
        in_graph(lambda w, op, condition, x, y: op(condition, x, y.detach())),
    ),
    Fault(
        "mean-not-divided",
        "graph backward",
        "mean",
        "does not divide its gradient by the number of elements in a graph",
        in_graph(lambda w, op, x: scaled_gradient(op(x), float(x.nelement()))),
    ),
)

FAULTS = (*GRADIENTS, *SECOND, *GRAPH_FORWARD, *GRAPH_BACKWARD)
