"""What changes the shape, the order or the dtype of elements, and none of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from dual_object.adapters.jax.ops.shared import ITSELF, Array, Detached, Itself, axes, axis, lifted, sizes
from dual_object.program.values import Device


def reshape(input: Array, *given: Any, shape: Any = ()) -> Array:
    """The elements in another shape, of which one size may be -1."""
    return jnp.reshape(input, sizes(given or (shape,)))


def view_as(input: Array, other: Array) -> Array:
    """The elements in the shape of another tensor."""
    return jnp.reshape(input, other.shape)


def transpose(input: Array, dim0: int, dim1: int) -> Array:
    """Two dimensions exchanged."""
    return jnp.swapaxes(input, axis(input, dim0), axis(input, dim1)) if input.ndim else input


def swapaxes(input: Array, axis0: int, axis1: int) -> Array:
    """The same, under NumPy's name."""
    return transpose(input, axis0, axis1)


def atleast_1d(*tensors: Any) -> Any:
    """With so many dimensions at least; itself where it has them."""
    return _at_least(1, jnp.atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """With so many dimensions at least; itself where it has them."""
    return _at_least(2, jnp.atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """With so many dimensions at least; itself where it has them."""
    return _at_least(3, jnp.atleast_3d, tensors)


def _at_least(ndim: int, function: Callable[..., Array], tensors: Any) -> Any:
    if len(tensors) > 1 or isinstance(tensors[0], (list, tuple)):
        given = tensors if len(tensors) > 1 else tensors[0]
        return tuple(function(tensor) for tensor in given)
    return ITSELF if tensors[0].ndim >= ndim else function(tensors[0])


def t(input: Array) -> Array:
    """A matrix turned. Raises ValueError for more than two dimensions."""
    if input.ndim > 2:
        raise ValueError(f"t() of a tensor of {input.ndim} dimensions, but should be of two at most")
    return jnp.transpose(input)


def permute(input: Array, *given: Any, dims: Any = ()) -> Array:
    """The dimensions in another order."""
    return jnp.transpose(input, sizes(given or (dims,)))


def squeeze(input: Array, dim: Any = None) -> Array:
    """Without dimensions of one element: all of them, or those of these that are."""
    if dim is None:
        return jnp.squeeze(input)
    return jnp.squeeze(input, tuple(place for place in axes(input, dim) if input.shape[place] == 1))


def unsqueeze(input: Array, dim: int) -> Array:
    """With one more dimension, of one element."""
    return jnp.expand_dims(input, dim)


def flatten(input: Array, start_dim: int = 0, end_dim: int = -1) -> Array | Itself:
    """These dimensions as one; itself where they are. Raises ValueError."""
    given = lifted(input)
    first, last = axis(given, start_dim), axis(given, end_dim)
    if first > last:
        raise ValueError(f"start_dim={start_dim} and end_dim={end_dim}, but the end should not come first")
    if first == last and input.ndim:
        return ITSELF
    return jnp.reshape(given, (*given.shape[:first], -1, *given.shape[last + 1 :]))


def unflatten(input: Array, dim: int, sizes: Sequence[int]) -> Array:
    """A dimension as several."""
    place = axis(input, dim)
    return jnp.reshape(input, (*input.shape[:place], *sizes, *input.shape[place + 1 :]))


def expand(input: Array, *given: Any, size: Any = ()) -> Array:
    """Repeated along new dimensions and those of one element; -1 keeps a size. Raises ValueError for one that is not
    there.
    """
    wanted = sizes(given or (size,))
    if -1 in wanted[: max(len(wanted) - input.ndim, 0)]:
        raise ValueError(f"size={wanted}, but should keep no size of a new dimension")
    own = (1,) * (len(wanted) - input.ndim) + input.shape
    return jnp.broadcast_to(input, tuple(old if new == -1 else new for old, new in zip(own, wanted, strict=True)))


def expand_as(input: Array, other: Array) -> Array:
    """Repeated to the shape of another tensor."""
    return jnp.broadcast_to(input, other.shape)


def repeat(input: Array, *given: Any, repeats: Any = (), dims: Any = ()) -> Array:
    """So many copies along each dimension."""
    return jnp.tile(input, sizes(given or (repeats or dims,)))


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Tensors behind one another; those of one dimension without elements do not count."""
    counted = [tensor for tensor in tensors if tensor.shape != (0,)] or list(tensors)
    return jnp.concatenate(counted, axis=dim)


def hstack(tensors: Sequence[Array]) -> Array:
    """Beside one another."""
    return jnp.hstack(list(tensors))


def vstack(tensors: Sequence[Array]) -> Array:
    """Below one another."""
    return jnp.vstack(list(tensors))


def dstack(tensors: Sequence[Array]) -> Array:
    """Behind one another."""
    return jnp.dstack(list(tensors))


def column_stack(tensors: Sequence[Array]) -> Array:
    """Rows as columns."""
    return jnp.column_stack(list(tensors))


def repeat_interleave(input: Array, repeats: Any, dim: int | None = None) -> Array:
    """Each element, or slice, so many times."""
    return jnp.repeat(input, repeats, axis=dim)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Array, ...]:
    """Coordinates for each point of a grid."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(jnp.meshgrid(*given, indexing=indexing))


def broadcast_tensors(*tensors: Any) -> tuple[Array, ...]:
    """Each repeated to one shape."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(jnp.broadcast_arrays(*given))


def tensor_split(
    input: Array, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: int | None = None
) -> tuple[Array, ...]:
    """So many parts, the first ones perhaps greater, or parts that end at these places, which need no order."""
    given, place = _places(indices_or_sections, indices, sections), axis(input, dim)
    if isinstance(given, int):
        return tuple(jnp.array_split(input, given, axis=place))
    ahead = (slice(None),) * place
    cuts = [(*ahead, slice(start, stop)) for start, stop in zip([None, *given], [*given, None], strict=True)]
    return tuple(input[cut] for cut in cuts)


def hsplit(
    input: Array, indices_or_sections: Any = None, *, indices: Any = None, sections: int | None = None
) -> tuple[Array, ...]:
    """Parts beside one another."""
    along = 0 if input.ndim == 1 else 1
    return tuple(jnp.split(input, _places(indices_or_sections, indices, sections), axis=along))


def vsplit(
    input: Array, indices_or_sections: Any = None, *, indices: Any = None, sections: int | None = None
) -> tuple[Array, ...]:
    """Parts below one another."""
    return tuple(jnp.split(input, _places(indices_or_sections, indices, sections), axis=0))


def dsplit(
    input: Array, indices_or_sections: Any = None, *, indices: Any = None, sections: int | None = None
) -> tuple[Array, ...]:
    """Parts behind one another."""
    return tuple(jnp.split(input, _places(indices_or_sections, indices, sections), axis=2))


def _places(given: Any, indices: Any, sections: int | None) -> Any:
    """Whichever was given of a number of parts and the places where they end. Raises TypeError for one under the name
    of the other.
    """
    [parts] = [one for one in (given, indices, sections) if one is not None]
    if (sections is not None and not isinstance(sections, int)) or isinstance(indices, int):
        raise TypeError(f"indices={indices!r} and sections={sections!r}, but should be places or a number")
    return parts if isinstance(parts, int) else list(parts)


def cpu(input: Array) -> Itself:
    """Itself: it is there."""
    return ITSELF


def split(tensor: Array, split_size_or_sections: Any, dim: int = 0) -> tuple[Array, ...]:
    """Parts of one size, the last one perhaps less, or of these sizes. Raises ValueError."""
    place, parts = axis(tensor, dim), split_size_or_sections
    whole = tensor.shape[place]
    if isinstance(parts, int):
        parts = [min(parts, whole - start) for start in range(0, whole, parts)] if whole else [0]
    if sum(parts) != whole:
        raise ValueError(f"sections={list(parts)}, but should be {whole} in all")
    return tuple(jnp.split(tensor, list(np.cumsum(parts)[:-1]), axis=place))


def chunk(input: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """So many parts, or fewer, all of one size but the last one."""
    return split(input, max(-(-input.shape[axis(input, dim)] // chunks), 1), dim)


def unbind(input: Array, dim: int = 0) -> tuple[Array, ...]:
    """The slices along a dimension."""
    place = axis(input, dim)
    return tuple(lax.index_in_dim(input, index, place, keepdims=False) for index in range(input.shape[place]))


def narrow(input: Array, dim: int, start: int, length: int) -> Array:
    """A slice along a dimension. Raises ValueError where it ends behind it."""
    place = axis(input, dim)
    first = int(start) % max(input.shape[place], 1) if int(start) < 0 else int(start)
    if first + length > input.shape[place]:
        raise ValueError(f"start={start} and length={length}, but should end within {input.shape[place]}")
    return lax.slice_in_dim(input, first, first + length, axis=place)


def select(input: Array, dim: int, index: int) -> Array:
    """One place along a dimension. Raises IndexError where there is none."""
    place = axis(input, dim)
    if not -input.shape[place] <= index < input.shape[place]:
        raise IndexError(f"index={index}, but should be within {input.shape[place]}")
    return lax.index_in_dim(input, index, place, keepdims=False)


def flip(input: Array, *given: Any, dims: Any = ()) -> Array:
    """Turned round along these dimensions."""
    turned = sizes(given or (dims,))
    return jnp.flip(input, axes(input, turned) if turned else ())


def roll(input: Array, shifts: Any, dims: Any = None) -> Array:
    """Moved along these dimensions, round their ends."""
    return jnp.roll(input, shifts, None if dims == () else dims)


def clone(input: Array, *, memory_format: Any = None) -> Array:
    """A copy."""
    return jnp.array(input, copy=True)


def contiguous(input: Array, memory_format: Any = None) -> Itself:
    """Itself: all arrays are contiguous."""
    return ITSELF


def detach(input: Array) -> Detached:
    """Without its past."""
    return Detached(lax.stop_gradient(input))


def to(input: Array, *args: Any, **kwargs: Any) -> Array | Itself:
    """In another dtype, a device's, or another tensor's; itself where that changes nothing."""
    named = [kwargs.pop(name) for name in ("dtype", "device", "other") if name in kwargs]
    copy = kwargs.pop("copy", False) or True in args
    for wanted in (*args, *named):
        if hasattr(wanted, "ndim") and hasattr(wanted, "dtype"):
            return _cast(input, wanted.dtype, copy=copy)
        if wanted is not None and not isinstance(wanted, (bool, str, Device)):
            return _cast(input, wanted, copy=copy)
    return jnp.array(input, copy=True) if copy else ITSELF


def _cast(input: Array, dtype: Any, *, copy: bool = False) -> Array | Itself:
    return ITSELF if input.dtype == dtype and not copy else input.astype(dtype)


def type_as(input: Array, other: Array) -> Array | Itself:
    """In the dtype of another tensor."""
    return _cast(input, other.dtype)


def float(input: Array) -> Array | Itself:
    """As float32."""
    return _cast(input, jnp.dtype("float32"))


def double(input: Array) -> Array | Itself:
    """As float64."""
    return _cast(input, jnp.dtype("float64"))


def half(input: Array) -> Array | Itself:
    """As float16."""
    return _cast(input, jnp.dtype("float16"))


def bfloat16(input: Array) -> Array | Itself:
    """As bfloat16."""
    return _cast(input, jnp.dtype("bfloat16"))


def long(input: Array) -> Array | Itself:
    """As int64."""
    return _cast(input, jnp.dtype("int64"))


def int_(input: Array) -> Array | Itself:
    """As int32."""
    return _cast(input, jnp.dtype("int32"))


def bool_(input: Array) -> Array | Itself:
    """As booleans."""
    return _cast(input, jnp.dtype("bool"))


__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bfloat16",
    "bool_",
    "broadcast_tensors",
    "cat",
    "chunk",
    "clone",
    "column_stack",
    "contiguous",
    "cpu",
    "detach",
    "double",
    "dsplit",
    "dstack",
    "expand",
    "expand_as",
    "flatten",
    "flip",
    "float",
    "half",
    "hsplit",
    "hstack",
    "int_",
    "long",
    "meshgrid",
    "narrow",
    "permute",
    "repeat",
    "repeat_interleave",
    "reshape",
    "roll",
    "select",
    "split",
    "squeeze",
    "swapaxes",
    "t",
    "tensor_split",
    "to",
    "transpose",
    "type_as",
    "unbind",
    "unflatten",
    "unsqueeze",
    "view_as",
    "vsplit",
    "vstack",
]
