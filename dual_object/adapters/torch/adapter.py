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
from dual_object.adapters.torch.unwritten import reads_unwritten
from dual_object.errors import MissingOp
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, Name, Named, Tree
from dual_object.replay.adapter import GraphRefusal, GraphRequest, Inferred, TargetInfo
from dual_object.replay.observation import Observation, class_names, first_words
from dual_object.replay.reading import module_buffers, see
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import place_again
from dual_object.replay.tracing import TraceRefused, leaf, obstacle, returned_tensors, setup_calls, traced_calls

_DTYPES = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "bool",
    "complex64",
    "complex128",
)
#: What `make_fx` says where it reaches a limit of its own, which is no difference, and what that is.
_LIMITS = {
    "trying to get value out of a tracing tensor": "PyTorch's tracer cannot follow a value that an op reads",  # one_hot
    "a view of a leaf Variable that requires grad is being used in an in-place operation": (
        "PyTorch's tracer cannot follow an op that writes a parameter"  # nn.Embedding with max_norm
    ),
}
_UNWRITTEN = "PyTorch's traced graph lacks what PyTorch's own code wrote by hand, and reads unwritten memory"
_PLAIN_OBJECTS = (torch.dtype, torch.memory_format, torch.layout)


class Adapter:
    """PyTorch behind the adapter Protocol."""

    name = "torch"
    tensor_type = torch.Tensor
    module_type = torch.nn.Module
    touched: frozenset[str] = frozenset()
    #: Ops whose results hold whatever the memory held before.
    uninitialised = frozenset(
        {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
    )

    def __init__(self) -> None:
        self.phase: Literal["eager", "graph"] = "eager"
        self._cuda = torch.cuda.is_available()  # asking costs 50 microseconds
        self._resolved: dict[str, Any] = {}
        self._dtype_names = {getattr(torch, name): name for name in _DTYPES}
        self._devices: dict[torch.device, str] = {}

    def info(self) -> TargetInfo:
        """Versions and what this build can do."""
        devices = ("cpu", *(("cuda",) if self._cuda else ()))
        environment = {"torch": torch.__version__, "python": platform.python_version()}
        return TargetInfo("torch", environment, devices, _DTYPES)

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
        starts = [self._like(d, out) for d, out in zip(cotangents, outputs, strict=True)]
        if not create_graph:
            torch.autograd.backward(outputs, starts)
            return
        with warnings.catch_warnings():
            # Leaf and gradient hold each other until the gradient is taken away, which the second backward does.
            warnings.filterwarnings("ignore", r"Using backward\(\) with create_graph=True")
            torch.autograd.backward(outputs, starts, create_graph=True)

    def _like(self, cotangent: Array, output: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(cotangent).to(device=output.device, dtype=output.dtype)

    def use_one_thread(self) -> None:
        """`torch.set_num_threads(1)`."""
        torch.set_num_threads(1)

    @contextlib.contextmanager
    def default_dtype(self, name: str) -> Iterator[None]:
        """While it lasts, floating tensors and modules are made in this dtype unless told otherwise."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(getattr(torch, name))
        try:
            yield
        finally:
            torch.set_default_dtype(before)

    @contextlib.contextmanager
    def seen_by_mode(self) -> Iterator[None]:
        """While it lasts, every op is seen by a dispatch mode that leaves it as it is: autograd then takes those of its
        formulas that read no values and write nothing in place, as it does for a tracer.
        """
        from torch.utils._python_dispatch import TorchDispatchMode

        class Idle(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch's class has no annotations
            def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return op(*args, **(kwargs or {}))

        with Idle():  # type: ignore[no-untyped-call]  # for the same reason
            yield

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
            if of_gpus:
                torch.cuda.set_rng_state_all(of_gpus)

    def random_state(self) -> bytes:
        """Where the random numbers stand: other bytes once any have been drawn. 2.5 microseconds."""
        state = torch.default_generator.get_state().numpy().tobytes()
        return state + b"".join(s.numpy().tobytes() for s in torch.cuda.get_rng_state_all()) if self._cuda else state

    def memory(self, tensor: torch.Tensor) -> int:
        """A number that tensors have in common that share memory; 0 for one without memory."""
        return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else id(tensor)

    def parameters(self, module: torch.nn.Module) -> dict[str, torch.Tensor]:
        """Parameters by name."""
        return dict(module.named_parameters())

    def buffers(self, module: torch.nn.Module) -> dict[str, torch.Tensor]:
        """Buffers by name."""
        return dict(module.named_buffers())

    def saved(self, module: torch.nn.Module) -> list[str]:
        """The keys of its `state_dict()`."""
        return list(module.state_dict())

    def synchronize(self) -> None:
        """Wait for the GPU; the CPU is synchronous."""
        if self._cuda:
            torch.cuda.synchronize()

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """Trace each Program, its backward included, into one ATen graph and run that graph.

        The trace is `torch.fx.experimental.proxy_tensor.make_fx`: it sees what a compiler would be given.
        """
        self.phase = "graph"
        try:
            wanted = request.gradients or [()] * len(request.programs)
            again = request.again or [None] * len(request.programs)
            members = zip(request.programs, wanted, again, strict=True)
            return [self._graph_one(program, keys, values) for program, keys, values in members]
        finally:
            self.phase = "eager"

    def _graph_one(
        self, program: Program, keys: Sequence[str], again: Sequence[Array] | None
    ) -> Observation | GraphRefusal:
        replay = Replay(self, program)
        reason = obstacle(program)
        if reason is not None:
            return GraphRefusal(True, None, (), reason)
        try:
            return _trace(self, replay, keys, again)
        except TraceRefused as refused:
            return _limit(refused.failure.message) or refused.as_refusal()
        except _UnwrittenError:
            return GraphRefusal(True, None, (), _UNWRITTEN)
        except SyntaxError:  # `aten.random_.from(x, 0, 7)` is no Python
            return GraphRefusal(True, None, (), "PyTorch's tracer writes no Python for an overload named as a keyword")
        except Exception as error:
            return _limit(str(error)) or GraphRefusal(False, None, class_names(error), first_words(error))


def _limit(message: str) -> GraphRefusal | None:
    """The refusal for what the tracer says at a limit of its own; None for anything else."""
    return next((GraphRefusal(True, None, (), words) for said, words in _LIMITS.items() if said in message), None)


class _UnwrittenError(Exception):
    """A traced graph reads memory that nothing wrote."""


def _trace(adapter: Adapter, replay: Replay, keys: Sequence[str], again: Sequence[Array] | None) -> Observation:
    from torch.fx.experimental.proxy_tensor import make_fx

    program, values = replay.program, replay.values
    first = [x.data for x in program.inputs]
    for x in program.inputs:
        replay.place(x)
    for index in setup_calls(program):
        replay.step(index, program.calls[index])
        if replay.seen.ended:
            raise TraceRefused(replay.seen.failures[-1])
    returned: list[int] = []

    def inputs(arrays: Sequence[Array]) -> list[torch.Tensor]:
        # At each call they lie as at the first: what is contiguous there has no `contiguous()` in the graph.
        placed = place_again(adapter, program, arrays)
        return [placed.values.by_id[x.id] for x in program.inputs]

    def body(*tensors: torch.Tensor) -> list[torch.Tensor]:
        for x, tensor in zip(program.inputs, tensors, strict=True):
            values.place(x.id, tensor.detach().requires_grad_() if x.requires_grad else tensor)
        for index in traced_calls(program):
            replay.step(index, program.calls[index])
            if replay.seen.ended:
                raise TraceRefused(replay.seen.failures[-1])
        returned[:] = returned_tensors(replay)
        results = [values.by_id[id_] for id_ in returned]
        return results + _traced_gradients(adapter, replay, keys) if keys else results

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of its own internals
        traced: torch.fx.GraphModule = make_fx(body)(*inputs(first))
    if reads_unwritten(traced.graph):
        raise _UnwrittenError
    state = {f"{call.out.id}.{name}": array for call in program.modules() for name, array in call.state.items()}
    buffers = module_buffers(adapter, program, values)
    for key, buffer in buffers.items():  # tracing ran the modules once
        buffer.copy_(torch.from_numpy(state[key]))

    def called(tensors: Sequence[torch.Tensor], observation: Observation) -> Observation:
        readings = iter(see(adapter, [*traced(*tensors), *buffers.values()]))
        observation.outputs = {id_: next(readings) for id_ in returned}
        observation.gradients = {key: next(readings) for key in keys}
        observation.buffers = {key: next(readings) for key in buffers}
        return observation

    observation = called(inputs(first), replay.seen)
    if again is not None:
        for tensor in (*observation.outputs.values(), *observation.gradients.values(), *observation.buffers.values()):
            assert tensor is not None, "asked of autograd, a gradient is there"
            tensor.data = tensor.data.copy()  # the second call may write to what the first one gave
        observation.again = called(inputs(again), Observation())
    return observation


def _traced_gradients(adapter: Adapter, replay: Replay, keys: Sequence[str]) -> list[torch.Tensor]:
    """The gradients of the leaves at `keys`, computed while a graph is traced; zeros for a leaf that plays no part."""
    by_id, cotangents = replay.values.by_id, replay.program.cotangents
    starts = [id_ for id_ in cotangents if by_id[id_].requires_grad]
    gradients = torch.autograd.grad(
        [by_id[id_] for id_ in starts],
        [leaf(replay, key) for key in keys],
        [adapter._like(cotangents[id_], by_id[id_]) for id_ in starts],
        materialize_grads=True,
    )
    return list(gradients)
