"""PyTorch: the reference of every case, and a target to prove the harness with (the reference against itself).

`AUTOTEST_FAULT=module:function` plants faults: a worker calls that function with its adapter before the first case, and
the function may change anything, PyTorch itself included. `adapter.phase` tells it what is being replayed.
"""

from __future__ import annotations

import contextlib
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import torch

from dual_object.adapters.torch.inference import inferred
from dual_object.adapters.torch.joint import joint_graph, like
from dual_object.adapters.torch.watching import Watch
from dual_object.errors import MissingOp
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, Name, Named, Tree
from dual_object.replay import tracing
from dual_object.replay.adapter import DTYPES, Aspect, GraphRefusal, GraphRequest, Inferred, TargetInfo, Trait, Watched
from dual_object.replay.observation import Observation, first_words

_PLAIN_OBJECTS = (torch.dtype, torch.memory_format, torch.layout)


class Adapter:
    """PyTorch behind the adapter Protocol."""

    name = "torch"
    tensor_type = torch.Tensor
    module_type = torch.nn.Module
    touched: frozenset[str] = frozenset()
    lacks: frozenset[Aspect] = frozenset()
    #: Ops whose results hold whatever the memory held before.
    uninitialised = frozenset(
        {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
    )

    def __init__(self) -> None:
        self.phase: Literal["eager", "graph"] = "eager"
        # Asking costs 50 microseconds. Where a process has begun with CUDA, its forks have none.
        self._cuda = torch.cuda.is_available() and not torch.cuda._is_in_bad_fork()
        self._resolved: dict[str, Any] = {}
        self._dtype_names = {getattr(torch, name): name for name in DTYPES}
        self._devices: dict[torch.device, str] = {}

    def info(self) -> TargetInfo:
        """Versions and what this build can do."""
        devices = ("cpu", *(("cuda",) if self._cuda else ()))
        environment = {"torch": torch.__version__, "python": platform.python_version()}
        return TargetInfo("torch", environment, devices, DTYPES)

    def registry(self) -> tuple[str, ...]:
        """Nothing: PyTorch's dispatcher lists overloads by the thousand, most of them no op that people call."""
        return ()

    def resolve(self, path: str) -> Any:
        """The public object at `path` below `torch`."""
        member = self._resolved.get(path)
        if member is None:
            member = torch
            for part in path.split("."):
                member = getattr(member, part, None)
                if member is None:
                    raise MissingOp(f"torch has no {path!r}")
            self._resolved[path] = member
        return member

    def tensor(self, data: Array, dtype: str) -> tuple[torch.Tensor, bool]:
        """A tensor that shares memory with `data`, but for dtypes that NumPy lacks."""
        tensor = torch.from_numpy(data)
        if dtype == "bfloat16":
            return tensor.to(torch.bfloat16), False
        return tensor, True

    def attribute(self, receiver: Any, name: str) -> Any:
        """What the object itself has."""
        return getattr(receiver, name)

    def device(self, spec: str) -> torch.device:
        """A `torch.device`."""
        return torch.device(spec)

    def encode(self, value: Any) -> Tree:
        """dtypes, layouts and memory formats by name; sizes as tuples; structseqs as Named."""
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, _PLAIN_OBJECTS):
            return Name(str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return Device(self._device_name(value))
        if isinstance(value, tuple):
            items = tuple(self.encode(item) for item in value)
            fields = self.fields(value)
            return Named(fields, items) if fields else items
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, np.generic):
            return value.item()
        return value

    def fields(self, value: Any) -> tuple[str, ...]:
        """Field names of a named tuple or of a `torch.return_types` result; empty for any other tuple."""
        names: tuple[str, ...] = getattr(value, "_fields", ()) or getattr(value, "__match_args__", ())
        return names

    def _device_name(self, device: torch.device) -> str:
        name = self._devices.get(device)
        if name is None:
            name = f"{device.type}:{device.index}" if device.index else device.type
            self._devices[device] = name
        return name

    def describe(self, tensor: torch.Tensor) -> tuple[str, tuple[int, ...], str, bool]:
        """dtype, shape, device, requires_grad."""
        dtype = self._dtype_names.get(tensor.dtype) or str(tensor.dtype).removeprefix("torch.")
        return dtype, tuple(tensor.shape), self._device_name(tensor.device), tensor.requires_grad

    def place(self, tensor: torch.Tensor) -> tuple[tuple[int, ...] | None, int, bool]:
        """Strides where not contiguous, storage offset, leafness; a sparse tensor has no strides."""
        if tensor.layout != torch.strided:
            return None, 0, tensor.is_leaf
        offset = cast(int, tensor.storage_offset())
        if tensor.is_contiguous():
            return None, offset, tensor.is_leaf
        pairs = zip(tensor.shape, tensor.stride(), strict=True)
        return tuple(0 if size == 1 else stride for size, stride in pairs), offset, tensor.is_leaf

    def storage(self, tensor: torch.Tensor) -> int | None:
        """The address of the untyped storage."""
        if tensor.layout != torch.strided:
            return None
        return tensor.untyped_storage().data_ptr() or None

    def read(self, tensors: Sequence[torch.Tensor]) -> list[Array]:
        """Detached values; bfloat16 as float32, which holds it exactly."""
        return [self._read(tensor) for tensor in tensors]

    def _read(self, tensor: torch.Tensor) -> Array:
        plain = tensor.detach()
        if plain.layout != torch.strided:
            plain = plain.to_dense()
        if plain.dtype == torch.bfloat16:
            plain = plain.float()
        return plain.numpy(force=True)  # forced: negated views and the zero tensors of autograd have no memory

    def backward(
        self, outputs: Sequence[torch.Tensor], cotangents: Sequence[Array], *, create_graph: bool = False
    ) -> None:
        """`torch.autograd.backward` from all outputs at once."""
        starts = [like(d, out) for d, out in zip(cotangents, outputs, strict=True)]
        if not create_graph:
            torch.autograd.backward(outputs, starts)
            return
        with warnings.catch_warnings():
            # Leaf and gradient hold each other until the gradient is taken away, which the second backward does.
            warnings.filterwarnings("ignore", r"Using backward\(\) with create_graph=True")
            torch.autograd.backward(outputs, starts, create_graph=True)

    def want_grad(self, tensor: torch.Tensor) -> None:
        """`requires_grad`."""
        tensor.requires_grad = True

    def gradient(self, leaf: torch.Tensor) -> torch.Tensor | None:
        """`grad`."""
        return leaf.grad

    def forget_gradient(self, leaf: torch.Tensor) -> None:
        """`grad = None`."""
        leaf.grad = None

    def use_one_thread(self) -> None:
        """`torch.set_num_threads(1)`."""
        torch.set_num_threads(1)

    @contextlib.contextmanager
    def default_dtype(self, name: str) -> Iterator[None]:
        """While it lasts, floating tensors and modules are made in this dtype unless told otherwise."""
        before = torch.get_default_dtype()
        try:
            torch.set_default_dtype(getattr(torch, name))
            yield
        finally:
            torch.set_default_dtype(before)

    @contextlib.contextmanager
    def seen_by_mode(self) -> Iterator[None]:
        """While it lasts, every op is seen by a dispatch mode that leaves it as it is: autograd then takes those of its
        formulas that read no values and write nothing in place, as it does for a tracer.
        """
        from dual_object.adapters.torch.dispatching import DispatchMode

        class Idle(DispatchMode):
            def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return op(*args, **(kwargs or {}))

        with Idle():
            yield

    @contextlib.contextmanager
    def watching(self) -> Iterator[Watched]:
        """By a mode of `torch.overrides`."""
        seen = Watched()
        with Watch(seen):
            yield seen

    def infer(self, program: Program) -> Mapping[int, Inferred]:
        """On the device meta."""
        with self.random_apart():  # a module that is made draws its parameters
            return inferred(self, program)

    def overwrite(self, tensor: torch.Tensor, change: Callable[[Array], Array]) -> None:
        """Change a tensor's values in place, behind autograd's back; one whose elements share memory keeps its own."""
        apart = all(stride or size < 2 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        if apart:
            tensor.data.copy_(torch.from_numpy(change(self._read(tensor))))

    def load_state(self, module: torch.nn.Module, state: dict[str, Array]) -> None:
        """Replace the data of every parameter and buffer."""
        tensors = {**self.parameters(module), **self.buffers(module)}
        if not set(state) <= set(tensors):
            raise KeyError(f"state has {sorted(state)}, but the module has {sorted(tensors)}")
        for name in state:
            tensor = tensors[name]
            tensor.data = torch.from_numpy(state[name].copy()).to(device=tensor.device, dtype=tensor.dtype)

    def seed(self, seed: int) -> None:
        """Start the random numbers anew."""
        torch.default_generator.manual_seed(seed)
        if self._cuda:
            torch.cuda.manual_seed_all(seed)

    @contextlib.contextmanager
    def random_apart(self) -> Iterator[None]:
        """As `torch.random.fork_rng`, which takes 60 microseconds more."""
        state = torch.default_generator.get_state()
        of_gpus = torch.cuda.get_rng_state_all() if self._cuda else []
        try:
            yield
        finally:
            torch.default_generator.set_state(state)
            if of_gpus and self._cuda:
                torch.cuda.set_rng_state_all(of_gpus)

    def lost_device(self) -> str:
        """Wait for the GPU. What fails there, such as an index beyond a tensor, takes it from the process for good:
        why, and from now on there is the CPU alone.
        """
        if not self._cuda:
            return ""
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            self._cuda = False
            return f"{type(error).__name__}: {first_words(error)}"
        return ""

    def random_state(self) -> bytes:
        """Where the random numbers stand: other bytes once any have been drawn. 2.5 microseconds."""
        state = torch.default_generator.get_state().numpy().tobytes()
        return state + b"".join(s.numpy().tobytes() for s in torch.cuda.get_rng_state_all()) if self._cuda else state

    def memory(self, tensor: torch.Tensor) -> int:
        """A number that tensors have in common that share memory; 0 for one without memory."""
        return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else id(tensor)

    def parts(self, value: Any) -> list[Any]:
        """The tensor itself; of a module itself and its parameters and buffers; of another value nothing."""
        if isinstance(value, torch.nn.Module):
            return [value, *value.parameters(), *value.buffers()]
        return [value] if isinstance(value, torch.Tensor) else []

    def condition(self, value: Any) -> dict[Trait, Any]:
        """How one of the `parts` is, as far as that can be told without reading values. Tensors of
        `torch.inference_mode()` count no writes.
        """
        if isinstance(value, torch.nn.Module):
            return {"training": [module.training for module in value.modules()]}
        if value.is_inference():
            return {}
        grad = value.grad if value.is_leaf else None
        written = None if grad is None or grad.is_inference() else grad._version
        return {"values": value._version, "requires_grad": value.requires_grad, "grad": (grad is None, written)}

    def parameters(self, module: torch.nn.Module) -> dict[str, torch.Tensor]:
        """Parameters by name."""
        return dict(module.named_parameters())

    def buffers(self, module: torch.nn.Module) -> dict[str, torch.Tensor]:
        """Buffers by name."""
        return dict(module.named_buffers())

    def saved(self, module: torch.nn.Module) -> list[str]:
        """The keys of its `state_dict()`."""
        return list(module.state_dict())

    def trained(self, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        """The parameters that an optimizer updates."""
        return [parameter for group in optimizer.param_groups for parameter in group["params"]]

    def state(self, optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> dict[str, torch.Tensor]:
        """What an optimizer keeps for a parameter, but for its count of steps."""
        kept = optimizer.state.get(parameter, {})
        return {name: value for name, value in kept.items() if isinstance(value, torch.Tensor) and name != "step"}

    def rates(self, optimizer: torch.optim.Optimizer) -> list[float]:
        """The learning rates of an optimizer's groups."""
        return [float(group["lr"]) for group in optimizer.param_groups]

    def synchronize(self) -> None:
        """Wait for the GPU; the CPU is synchronous."""
        if self._cuda:
            torch.cuda.synchronize()

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """Trace each Program, its backward included, into one ATen graph, as a compiler would have it, and run that."""
        self.phase = "graph"
        try:
            return tracing.run(self, request, joint_graph)
        finally:
            self.phase = "eager"
