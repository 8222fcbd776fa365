"""OneFlow: eager replay. The static graph is in `graph`.

Facts measured on OneFlow 0.9.0: reading is the dearest step (`.numpy()` 12-24 microseconds each, ready or not), so
results are concatenated and read once per dtype; `from_numpy` shares memory and is five times cheaper than
`flow.tensor`.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dual_object.adapters.oneflow import global_tensors as globals_
from dual_object.adapters.oneflow.configurations import offered
from dual_object.adapters.oneflow.data_parallel import data_parallel
from dual_object.adapters.oneflow.surface import RegistryError, backward_op_types, registered
from dual_object.errors import MissingOp, TargetError
from dual_object.program.values import Array, Device, Name, Placement, Sbp, Tree
from dual_object.replay.adapter import Aspect, TargetInfo

_DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")
_NO_NUMPY = frozenset({"bfloat16"})
_WHEEL_LIBRARIES = (  # the order in which they depend on one another
    "cublas/lib/libcublasLt.so.11",
    "cublas/lib/libcublas.so.11",
    "cudnn/lib/libcudnn_ops_infer.so.8",
    "cudnn/lib/libcudnn_ops_train.so.8",
    "cudnn/lib/libcudnn_cnn_infer.so.8",
    "cudnn/lib/libcudnn_cnn_train.so.8",
)

#: What PyTorch calls that which OneFlow's optimizers keep under other names.
STATE_NAMES = MappingProxyType(
    {"momentum_buf": "momentum_buffer", "square_avgs": "square_avg", "acc_deltas": "acc_delta"}
)


def import_oneflow() -> Any:
    """The `oneflow` module: a plain import first; where the loader misses CUDA libraries, with those of the nvidia
    wheels. Raises TargetError where it is not installed, or they are not.
    """
    if importlib.util.find_spec("oneflow") is None:
        raise TargetError(
            "target 'oneflow' is not installed in this environment, but should be: "
            "pip install 'op-autotest[oneflow]', or choose another [--target]"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its docstrings' escapes, told when they are first compiled
        try:
            return importlib.import_module("oneflow")
        except ImportError as error:
            _load_libraries(str(error))
        return importlib.import_module("oneflow")


def _load_libraries(missing: str) -> None:
    """Load the CUDA libraries of the nvidia wheels; `missing` is what the loader said."""
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    for library in _WHEEL_LIBRARIES:
        path = next((root / library for root in roots if (root / library).exists()), None)
        if path is None:
            raise TargetError(
                f"target 'oneflow' cannot be imported: {missing}; "
                f"the nvidia wheels could provide it, but {library} is not "
                "installed: pip install 'op-autotest[oneflow]'"
            )
        ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


class EagerAdapter:
    """OneFlow, as far as it runs eagerly."""

    name = "oneflow"

    def __init__(self) -> None:
        flow = import_oneflow()
        self.flow = flow
        self.tensor_type: type = flow.Tensor
        self.module_type: type = flow.nn.Module
        self.touched: set[str] = set()
        self.lacks: frozenset[Aspect] = frozenset()
        #: Level and ranks with which graphs log how they are built, and then print themselves.
        self.graph_debug: tuple[int, list[int] | None] | None = None
        #: Graphs that must live as long as the process.
        self.kept: list[Any] = []
        self._resolved: dict[str, Any] = {}
        self._dtypes = {name: getattr(flow, name) for name in _DTYPES}
        self._dtype_names = {dtype: name for name, dtype in self._dtypes.items()}
        self._device_names: dict[Any, str] = {}
        self._sync = flow._oneflow_internal.eager.Sync
        if "OMP_NUM_THREADS" not in os.environ:
            flow.set_num_threads(1) if hasattr(flow, "set_num_threads") else None
        # Its scheduler waits busily for the thread that computes: a sixth of a run's CPU. So it computes itself.
        os.environ.setdefault("ONEFLOW_VM_COMPUTE_ON_WORKER_THREAD", "0")

    def info(self) -> TargetInfo:
        """Versions and what this build can do."""
        devices = ("cpu", *(("cuda",) if self.flow.cuda.is_available() else ()))
        environment = {"oneflow": self.flow.__version__, "python": platform.python_version()}
        configurations = offered(self.world_size)
        return TargetInfo("oneflow", environment, devices, _DTYPES, ("global_tensors",), configurations)

    def registry(self) -> tuple[str, ...]:
        """The user ops registered in liboneflow; none, with the reason on standard error, where it cannot be read."""
        try:
            return registered(self.flow._oneflow_internal.__file__)
        except RegistryError as error:
            sys.stderr.write(f"{error}\n")
            return ()

    def resolve(self, path: str) -> Any:
        """The public object at `path` below `oneflow`."""
        member = self._resolved.get(path)
        if member is None:
            member = self.flow
            for part in path.split("."):
                member = getattr(member, part, None)
                if member is None:
                    raise MissingOp(f"oneflow has no {path!r}")
            self._resolved[path] = member
        return member

    def tensor(self, data: Array, dtype: str) -> tuple[Any, bool]:
        """A tensor that shares memory with `data`, but for dtypes that NumPy lacks."""
        wanted = self._dtypes.get(dtype)
        if wanted is None:
            raise NotImplementedError(f"oneflow has no dtype {dtype!r}")
        tensor = self.flow.from_numpy(data)
        if dtype in _NO_NUMPY:
            return tensor.to(wanted), False
        return tensor, True

    def attribute(self, receiver: Any, name: str) -> Any:
        """What the object itself has."""
        return getattr(receiver, name)

    def device(self, spec: str) -> Any:
        """A `oneflow.device`."""
        return self.flow.device(spec)

    def encode(self, value: Any) -> Tree:
        """dtypes and memory formats by name, sizes as tuples, NumPy scalars as Python's."""
        flow = self.flow
        if isinstance(value, flow.Size):
            return tuple(value)
        if isinstance(value, flow.dtype):
            return Name(self._dtype_names.get(value) or str(value).removeprefix("oneflow."))
        if isinstance(value, flow.device):
            return Device(self._device_name(value))
        if isinstance(value, tuple):
            return tuple(self.encode(item) for item in value)
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, np.generic):
            return value.item()
        return value if (neutral := globals_.neutral(value)) is None else neutral

    def _device_name(self, device: Any) -> str:
        name = self._device_names.get(device)
        if name is None:
            # A rank numbers its own CPU as itself, yet has no other.
            own = device.index == (self.rank if device.type == "cpu" else 0)
            name = str(device.type) if own else f"{device.type}:{device.index}"
            self._device_names[device] = name
        return name

    def describe(self, tensor: Any) -> tuple[str, tuple[int, ...], str, bool]:
        """dtype, shape, device, requires_grad."""
        dtype = self._dtype_names.get(tensor.dtype) or str(tensor.dtype).removeprefix("oneflow.")
        device = tensor.placement.type if tensor.is_global else self._device_name(tensor.device)
        return dtype, tuple(tensor.shape), device, tensor.requires_grad

    def place(self, tensor: Any) -> tuple[tuple[int, ...] | None, int, bool]:
        """Strides in elements (None: contiguous), storage offset, and whether it is a leaf. Of a global tensor strides
        and offset are not looked at: each rank lays out its part by itself.
        """
        if tensor.is_global:
            return None, 0, tensor.is_leaf
        if tensor.is_contiguous():
            return None, tensor.storage_offset(), tensor.is_leaf
        pairs = zip(tensor.shape, tensor.stride(), strict=True)
        return tuple(0 if size == 1 else stride for size, stride in pairs), tensor.storage_offset(), tensor.is_leaf

    def storage(self, tensor: Any) -> int | None:
        """The address at which the tensor's memory starts; None where it has none, or NumPy cannot share it.

        OneFlow 0.9.0 has no `data_ptr`, but `numpy()` shares memory: the address of the first element less the storage
        offset.
        """
        if tensor.is_global or not tensor.nelement() or self._dtype_names.get(tensor.dtype) in _NO_NUMPY:
            return None
        if tensor.device.type != "cpu":
            return None
        array = tensor.detach().numpy()
        address: int = array.__array_interface__["data"][0]
        offset: int = tensor.storage_offset()
        size: int = array.itemsize
        return address - offset * size

    def read(self, tensors: Sequence[Any]) -> list[Array]:
        """Detached values on the host. They are concatenated on the target, so that each dtype and device is read once.
        Of a global tensor every rank reads all of it.
        """
        tensors = [globals_.whole(self.flow, tensor) if tensor.is_global else tensor for tensor in tensors]
        groups: dict[Any, list[int]] = {}
        for position, tensor in enumerate(tensors):
            groups.setdefault((tensor.dtype, tensor.device), []).append(position)
        arrays: list[Array] = [np.empty(0)] * len(tensors)
        for (dtype, _), positions in groups.items():
            chosen = [tensors[position] for position in positions]
            if len(chosen) < 3 or self._dtype_names.get(dtype) not in (
                "float32",
                "float64",
                "int32",
                "int64",
            ):
                for position, tensor in zip(positions, chosen, strict=True):
                    arrays[position] = self._read(tensor, dtype)
                continue
            # `detach()` of a view forgets where the view starts, which shows in views of the result alone: detached
            # last here, and what the body detached is copied before it is viewed.
            copy = self.flow._C.identity
            flat = self.flow.cat([copy(tensor).reshape(-1) for tensor in chosen]).detach().numpy()
            offset = 0
            for position, tensor in zip(positions, chosen, strict=True):
                count = tensor.nelement()
                arrays[position] = flat[offset : offset + count].reshape(tuple(tensor.shape))
                offset += count
        return arrays

    def _read(self, tensor: Any, dtype: Any) -> Array:
        if self._dtype_names.get(dtype) in _NO_NUMPY:
            tensor = tensor.to(self.flow.float32)
        array: Array = np.asarray(tensor.detach().numpy())
        return array

    def want_grad(self, tensor: Any) -> None:
        """`requires_grad`."""
        tensor.requires_grad = True

    def gradient(self, leaf: Any) -> Any | None:
        """`grad`."""
        return leaf.grad

    def forget_gradient(self, leaf: Any) -> None:
        """`grad = None`."""
        leaf.grad = None

    def backward(self, outputs: Sequence[Any], cotangents: Sequence[Array], *, create_graph: bool = False) -> None:
        """`oneflow.autograd.backward` from all outputs at once."""
        self.touched |= backward_op_types(outputs)
        starts = [self._like(d, out) for d, out in zip(cotangents, outputs, strict=True)]
        self.flow.autograd.backward(list(outputs), starts, create_graph=create_graph)

    def _like(self, cotangent: Array, output: Any) -> Any:
        if output.is_global:
            return globals_.spread_like(self.flow, cotangent, output, whole=True)
        tensor = self.flow.from_numpy(cotangent.copy("K"))
        if tensor.dtype != output.dtype:
            tensor = tensor.to(output.dtype)
        return tensor if self._device_name(output.device) == "cpu" else tensor.to(output.device)

    def load_state(self, module: Any, state: dict[str, Array]) -> None:
        """Replace the data of every parameter and buffer."""
        tensors = {**self.parameters(module), **self.buffers(module)}
        if not set(state) <= set(tensors):
            raise KeyError(f"state has {sorted(state)}, but the module has {sorted(tensors)}")
        for name in state:
            tensor = tensors[name]
            if tensor.is_global:
                tensor.data = globals_.spread_like(self.flow, state[name], tensor)
                continue
            tensor.data = self.flow.from_numpy(state[name].copy()).to(device=tensor.device, dtype=tensor.dtype)

    def parameters(self, module: Any) -> dict[str, Any]:
        """Parameters by name."""
        return dict(module.named_parameters())

    def buffers(self, module: Any) -> dict[str, Any]:
        """Buffers by name."""
        return dict(module.named_buffers())

    def saved(self, module: Any) -> list[str]:
        """The keys of its `state_dict()`."""
        return list(module.state_dict())

    def trained(self, optimizer: Any) -> list[Any]:
        """The parameters that an optimizer updates."""
        return [parameter for group in optimizer.param_groups for parameter in group.parameters]

    def state(self, optimizer: Any, parameter: Any) -> dict[str, Any]:
        """What an optimizer keeps for a parameter, by PyTorch's names."""
        kept = optimizer._state.get(parameter, {})
        return {STATE_NAMES.get(name, name): tensor for name, tensor in kept.items() if tensor is not None}

    def rates(self, optimizer: Any) -> list[float]:
        """The learning rates of an optimizer's groups."""
        return [float(group["lr"]) for group in optimizer.param_groups]

    def synchronize(self) -> None:
        """Wait for OneFlow's virtual machine."""
        self._sync()

    @property
    def rank(self) -> int:
        """This process's rank."""
        return int(self.flow.env.get_rank())

    @property
    def world_size(self) -> int:
        """The number of ranks."""
        return int(self.flow.env.get_world_size())

    def own(self, leaf: Placement | Sbp) -> Any:
        """A `oneflow.placement` or `oneflow.sbp.sbp`."""
        return globals_.own(self.flow, leaf)

    def spread(self, tensor: Any, placement: Placement, sbp: Sequence[Sbp]) -> Any:
        """A global leaf from a local tensor that is the same on all ranks."""
        parts = [self.own(part) for part in sbp]
        return globals_.spread(self.flow, tensor, self.own(placement), parts).detach()

    def gather(self, data: bytes) -> list[bytes]:
        """What every rank passes, in their order."""
        return globals_.gather(self.flow, data)

    def data_parallel(self, held: Sequence[Any]) -> Any:
        """OneFlow's own `DistributedDataParallel`, of a module that has these as its children."""
        return data_parallel(self.flow, held)
