"""Ops on buffers, which hold tensors as elements: each with what it does in words of PyTorch.

PyTorch has no such ops: where the target is PyTorch itself, both sides are these words.
"""

from __future__ import annotations

import sys
from typing import Any


def framework(x: Any) -> Any:
    """The framework of a tensor."""
    return sys.modules[type(x).__module__.partition(".")[0]]


def copied(x: Any, dims: int) -> Any:
    """A tensor that went into buffers of its last dimensions, and came out again."""
    return x.clone()


def through_buffers(x: Any, dims: int) -> Any:
    """The same by buffers."""
    flow = framework(x)
    if flow.__name__ == "torch":
        return copied(x, dims)
    buffers = flow.tensor_to_tensor_buffer(x, instance_dims=dims)
    return flow.tensor_buffer_to_tensor(buffers, dtype=x.dtype, instance_shape=tuple(x.shape[x.ndim - dims :]))


def parts(x: Any) -> Any:
    """The tensors along the first dimension, each a copy."""
    return [part.clone() for part in x.unbind(0)]


def buffered_parts(x: Any) -> Any:
    """The same by buffers."""
    flow = framework(x)
    if flow.__name__ == "torch":
        return parts(x)
    buffers = flow.tensor_to_tensor_buffer(x, instance_dims=x.ndim - 1)
    shapes = [tuple(x.shape[1:])] * x.shape[0]
    return list(flow.tensor_buffer_to_list_of_tensors(buffers, shapes, [x.dtype] * x.shape[0]))


def filled(like: Any, shapes: Any, values: Any) -> Any:
    """A tensor per shape, filled with its value; `like` says of which framework."""
    torch = framework(like)
    return [torch.full(tuple(shape), value, dtype=torch.float32) for shape, value in zip(shapes, values, strict=True)]


def generated(like: Any, shapes: Any, values: Any) -> Any:
    """The same by buffers that are made so."""
    flow = framework(like)
    if flow.__name__ == "torch":
        return filled(like, shapes, values)
    buffers = flow.gen_tensor_buffer(
        (len(shapes),), [tuple(shape) for shape in shapes], list(values), flow.float32, False
    )
    return list(
        flow.tensor_buffer_to_list_of_tensors(buffers, [tuple(shape) for shape in shapes], [flow.float32] * len(shapes))
    )
