"""Paddle: eager replay through a dialect. The static graph is in `graph`.

Facts measured on Paddle 3.3.1: `to_tensor` copies and forgets strides, which `as_strided` gives back. `from_dlpack`
keeps them and shares memory; with it, 2 of 3,500 cases hung. A gradient of `backward` says of itself that it wants one.
`backward` makes no graph; `paddle.grad` does, and has to be told the leaves. Offsets are in bytes.
"""

from __future__ import annotations

import math
import os
import platform
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from dual_object.adapters.dialect import Dialect, table
from dual_object.errors import TargetError
from dual_object.program.strides import extent
from dual_object.program.values import Array, Device, Name, Named, Tree
from dual_object.replay import tracing
from dual_object.replay.adapter import DTYPES, Aspect, GraphRefusal, GraphRequest, TargetInfo
from dual_object.replay.observation import Observation

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it finds no ccache, and its docstrings' escapes
        import paddle
except ImportError as error:
    raise TargetError(
        f"target 'paddle' cannot be imported here: {error}; `make paddle` builds an environment that has it [--target]"
    ) from error

from dual_object.adapters.paddle import code
from dual_object.adapters.paddle.graph import static_graph

#: What Paddle's layers call otherwise; the rest of their names is PyTorch's. Statistics are parameters there.
_HELD = MappingProxyType({"_mean": "running_mean", "_variance": "running_var", "_weight": "weight", "scale": "weight"})
#: Whose weight is called so; others may call a parameter of their own so.
_SCALED = (paddle.nn.InstanceNorm1D, paddle.nn.InstanceNorm2D, paddle.nn.InstanceNorm3D)
_STATISTICS = frozenset({"_mean", "_variance"})
#: Where a recurrent layer keeps what it has drawn for its dropout: nothing that PyTorch's has, or that a state has.
_OWN = "_dropout_state"


class Adapter:
    """Paddle behind the adapter Protocol."""

    name = "paddle"
    #: While a static graph is traced, a tensor is a `Value`.
    tensor_type: Any = (paddle.Tensor, paddle.pir.Value)
    module_type: type = paddle.nn.Layer
    touched: frozenset[str] = frozenset()
    #: Its exceptions are ValueErrors and RuntimeErrors by where in its C++ they are raised.
    lacks: frozenset[Aspect] = frozenset({"exceptions"})

    def __init__(self) -> None:
        paddle.set_device("cpu")
        if "OMP_NUM_THREADS" not in os.environ:
            paddle.core.set_num_threads(1)
        self.dialect = Dialect(self.name, table(Path(__file__).parent).values(), paddle, vars(code))
        self._dtype_names = {getattr(paddle, name): name for name in DTYPES}
        #: What may have a gradient, by `id`, for a backward that makes a graph.
        self._leaves: WeakValueDictionary[int, Any] = WeakValueDictionary()
        #: The gradients that such a backward has made, by the `id` of their leaf, with the leaf.
        self._made: dict[int, tuple[Any, Any]] = {}

    def info(self) -> TargetInfo:
        """Versions and what this build can do."""
        environment = {"paddle": paddle.__version__, "python": platform.python_version()}
        return TargetInfo(self.name, environment, ("cpu",), DTYPES, translations=self.dialect.translations())

    def registry(self) -> tuple[str, ...]:
        """Nothing: Paddle's kernels are not told apart from its ops."""
        return ()

    def resolve(self, path: str) -> Any:
        """What the dialect has for PyTorch's name."""
        return self.dialect.resolve(path)

    def attribute(self, receiver: Any, name: str) -> Any:
        """What the dialect has for a tensor's attribute; of anything else its own, in a layer by PyTorch's names."""
        if isinstance(receiver, self.tensor_type):
            return self.dialect.attribute(receiver, name)
        if isinstance(receiver, paddle.nn.Layer) and name == "parameters":  # Paddle's have the statistics among them
            return partial(_parameters, receiver)
        if isinstance(receiver, paddle.nn.Layer) and not hasattr(receiver, name):
            name = next((own for own, held in _HELD.items() if held == name and hasattr(receiver, own)), name)
        return getattr(receiver, name)

    def tensor(self, data: Array, dtype: str) -> tuple[Any, bool]:
        """A copy with the same strides."""
        tensor = _laid(data)
        return tensor.astype(dtype) if dtype == "bfloat16" else tensor, False

    def device(self, spec: str) -> Any:
        """A `paddle.device`."""
        return paddle.device(spec)

    def encode(self, value: Any) -> Tree:
        """dtypes by name, places as devices, sizes as tuples, NumPy's numbers as Python's."""
        if isinstance(value, paddle.Size):
            return tuple(value)
        if isinstance(value, paddle.dtype):
            return Name(self._dtype_names.get(value) or str(value).removeprefix("paddle."))
        if isinstance(value, (paddle.base.core.Place, type(paddle.device("cpu")))):
            return Device("cpu")
        if isinstance(value, tuple):
            items = tuple(self.encode(item) for item in value)
            return Named(value._fields, items) if hasattr(value, "_fields") else items
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        return value.item() if isinstance(value, np.generic) else value

    def describe(self, tensor: Any) -> tuple[str, tuple[int, ...], str, bool]:
        """dtype, shape, device, requires_grad."""
        dtype = self._dtype_names.get(tensor.dtype) or str(tensor.dtype).removeprefix("paddle.")
        return dtype, tuple(tensor.shape), "cpu", not tensor.stop_gradient

    def place(self, tensor: Any) -> tuple[tuple[int, ...] | None, int, bool]:
        """Strides where not contiguous, offset, leafness."""
        offset, shape = tensor.offset // tensor.element_size(), tensor.shape
        strides = tuple(0 if size == 1 else stride for size, stride in zip(shape, tensor.strides, strict=True))
        dense = [0 if size == 1 else math.prod(shape[axis + 1 :]) for axis, size in enumerate(shape)]
        contiguous = 0 in shape or strides == tuple(dense)  # Paddle asks that of sizes of 1, too
        return None if contiguous else strides, offset, tensor.is_leaf

    def storage(self, tensor: Any) -> int | None:
        """The address of the allocation; None of an empty tensor."""
        return tensor.data_ptr() - tensor.offset or None if 0 not in tensor.shape else None

    def read(self, tensors: Sequence[Any]) -> list[Array]:
        """Detached values; bfloat16 as float32, which holds it exactly."""
        return [self._read(tensor.detach()) for tensor in tensors]

    def _read(self, tensor: Any) -> Array:
        array: Array = (tensor.astype("float32") if tensor.dtype == paddle.bfloat16 else tensor).numpy()
        return array

    def want_grad(self, tensor: Any) -> None:
        """`stop_gradient`, which is the reverse."""
        tensor.stop_gradient = False
        self._leaves[id(tensor)] = tensor

    def backward(self, outputs: Sequence[Any], cotangents: Sequence[Array], *, create_graph: bool = False) -> None:
        """`paddle.autograd.backward` from all outputs at once; with a graph, `paddle.grad` of all leaves."""
        starts = [self._like(d, out) for d, out in zip(cotangents, outputs, strict=True)]
        self._made.clear()
        if not create_graph:
            paddle.autograd.backward(list(outputs), starts)
            return
        leaves = [leaf for leaf in list(self._leaves.values()) if leaf.is_leaf and not leaf.stop_gradient]
        made = paddle.grad(list(outputs), leaves, starts, create_graph=True, allow_unused=True) if leaves else []
        self._made = {id(leaf): (leaf, grad) for leaf, grad in zip(leaves, made, strict=True) if grad is not None}

    def gradient(self, leaf: Any) -> Any | None:
        """`grad`, which is no tensor to be differentiated unless its backward made a graph."""
        if id(leaf) in self._made:
            return self._made[id(leaf)][1]
        return None if leaf.grad is None else leaf.grad.detach()

    def forget_gradient(self, leaf: Any) -> None:
        """`grad = None`."""
        self._made.pop(id(leaf), None)
        leaf.grad = None

    def _like(self, cotangent: Array, output: Any) -> Any:
        tensor = _laid(cotangent)
        return tensor if tensor.dtype == output.dtype else tensor.astype(output.dtype)

    def load_state(self, module: Any, state: dict[str, Array]) -> None:
        """Set every parameter and buffer; how many batches a layer has seen is nothing that Paddle counts."""
        tensors = {**self.parameters(module), **self.buffers(module)}
        counted = {name for name in state if name.rpartition(".")[2] == "num_batches_tracked"}
        if not set(state) - counted <= set(tensors):
            raise KeyError(f"state has {sorted(state)}, but the module has {sorted(tensors)}")
        for name in state.keys() - counted:
            value = paddle.to_tensor(state[name]).astype(tensors[name].dtype)
            if tuple(value.shape) != tuple(tensors[name].shape):
                raise KeyError(f"{name} has shape {value.shape}, but the module's has {tensors[name].shape}")
            tensors[name].set_value(value)
        for parameter in self.parameters(module).values():
            self._leaves[id(parameter)] = parameter

    def parameters(self, module: Any) -> dict[str, Any]:
        """Parameters by PyTorch's names."""
        return {_spelled(module, name): held for name, held in module.named_parameters() if not _is_statistic(name)}

    def buffers(self, module: Any) -> dict[str, Any]:
        """Buffers by PyTorch's names."""
        held = {name: held for name, held in module.named_parameters() if _is_statistic(name)}
        buffers = {name: buffer for name, buffer in module.named_buffers() if name.rpartition(".")[2] != _OWN}
        return {_spelled(module, name): buffer for name, buffer in {**held, **buffers}.items()}

    def saved(self, module: Any) -> list[str]:
        """The keys of its `state_dict()`, by PyTorch's names."""
        return [_spelled(module, name) for name in module.state_dict()]

    def synchronize(self) -> None:
        """Nothing to wait for on the CPU."""

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """Each Program in a static graph of its own."""
        return tracing.run(self, request, partial(static_graph, self), inside=False)


def _laid(data: Array) -> Any:
    """A tensor of these values and strides."""
    if data.flags.c_contiguous or not data.size:
        return paddle.to_tensor(data)
    strides = [stride // data.itemsize for stride in data.strides]
    memory = np.lib.stride_tricks.as_strided(data, (extent(data.shape, strides),), (data.itemsize,))
    return paddle.as_strided(paddle.to_tensor(memory), list(data.shape), strides)


def _parameters(module: Any, recurse: bool = True) -> list[Any]:
    """What a layer learns."""
    named = module.named_parameters(include_sublayers=recurse)
    return [held for name, held in named if not _is_statistic(name)]


def _is_statistic(name: str) -> bool:
    return name.rpartition(".")[2] in _STATISTICS


def _spelled(module: Any, name: str) -> str:
    """PyTorch's name of what a layer holds."""
    path, dot, last = name.rpartition(".")
    if last == "scale" and not isinstance(_within(module, path), _SCALED):
        return name
    return path + dot + _HELD.get(last, last)


def _within(module: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        module = module._sub_layers[part]
    return module


__all__ = ["Adapter"]
