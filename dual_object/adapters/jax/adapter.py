"""JAX behind the adapter Protocol, on the CPU.

PyTorch's functions are rows of `dialect.json`. Compiled code is kept in a folder of the user's cache, for what takes
longest is the compiler: eager JAX compiles each primitive for each shape.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import jax
import jax.scipy.special
import numpy as np

from dual_object.adapters.dialect import Dialect
from dual_object.adapters.jax import ops
from dual_object.adapters.jax.differentiation import derivatives
from dual_object.adapters.jax.graph import compiled
from dual_object.adapters.jax.namespace import Namespace
from dual_object.adapters.jax.tensor import Tensor
from dual_object.errors import UnmappedOp
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, Name, Tree
from dual_object.replay.adapter import DTYPES, Aspect, GraphRefusal, GraphRequest, TargetInfo
from dual_object.replay.observation import Observation


class NoModule:
    """The class of modules, of which JAX has none."""


def configure() -> None:
    """64 bits, the CPU, and a folder for compiled code that outlives the process. `JAX_COMPILATION_CACHE_DIR` names
    another one.
    """
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        jax.config.update("jax_compilation_cache_dir", str(Path(home) / "op-autotest" / f"jax-{jax.__version__}"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


class Adapter:
    """JAX."""

    name = "jax"
    tensor_type = Tensor
    module_type = NoModule
    touched: frozenset[str] = frozenset()
    lacks: frozenset[Aspect] = frozenset({"layout", "sharing", "standing", "modules", "random", "exceptions"})

    def __init__(self) -> None:
        configure()
        self.dialect = Dialect.load("jax", Path(__file__).with_name("dialect.json"), jax, ops.functions())
        self.namespace = Namespace(self.dialect)
        self._dtypes = {name: jax.numpy.dtype(name) for name in DTYPES}

    def info(self) -> TargetInfo:
        """Versions and what this build can do."""
        environment = {"jax": jax.__version__, "python": platform.python_version()}
        return TargetInfo("jax", environment, ("cpu",), DTYPES, translations=self.dialect.translations())

    def registry(self) -> tuple[str, ...]:
        """Nothing: JAX's primitives are not what people call."""
        return ()

    def resolve(self, path: str) -> Any:
        """A dtype, or a function of the dialect."""
        if path in self._dtypes:
            return self._dtypes[path]
        own = getattr(Tensor, path.removeprefix("Tensor."), None) if path.startswith("Tensor.") else None
        return self.namespace.function(path) if own is None else own

    def attribute(self, receiver: Any, name: str) -> Any:
        """What the object itself has, or a method of the dialect."""
        if not isinstance(receiver, Tensor) or hasattr(Tensor, name):
            return getattr(receiver, name)
        row, function = self.dialect.row(f"Tensor.{name}"), self.namespace.function(f"Tensor.{name}")
        return function(receiver) if row is not None and row.get else partial(function, receiver)

    def tensor(self, data: Array, dtype: str) -> tuple[Tensor, bool]:
        """A copy, for JAX may keep the memory that it is given."""
        return Tensor(jax.numpy.array(data, dtype=self._dtypes[dtype]), self.namespace), False

    def device(self, spec: str) -> Device:
        """The neutral device: JAX's functions are given none. Raises NotImplementedError for another than the CPU."""
        if spec != "cpu":
            raise NotImplementedError(f"device={spec!r}, but should be 'cpu'")
        return Device(spec)

    def encode(self, value: Any) -> Tree:
        """dtypes by name, NumPy's scalars as Python's."""
        if isinstance(value, np.dtype):
            return Name(value.name)
        if isinstance(value, Device):
            return value
        if isinstance(value, (tuple, list)):
            return type(value)(self.encode(item) for item in value)
        return value.item() if isinstance(value, np.generic) else value

    def describe(self, tensor: Tensor) -> tuple[str, tuple[int, ...], str, bool]:
        """dtype, shape, device, and whether it has a gradient of a leaf."""
        return tensor.array.dtype.name, tensor.shape, "cpu", bool(tensor.leaves)

    def place(self, tensor: Tensor) -> tuple[tuple[int, ...] | None, int, bool]:
        """Nothing can be told: what everything else is compared with."""
        return None, 0, True

    def storage(self, tensor: Tensor) -> int | None:
        """Not to be told."""
        return None

    def read(self, tensors: Sequence[Tensor]) -> list[Array]:
        """The values; bfloat16 as float32, which holds it exactly."""
        arrays = [np.asarray(tensor.array) for tensor in tensors]
        return [array.astype(np.float32) if array.dtype.name == "bfloat16" else array for array in arrays]

    def gradients(self, program: Program, keys: Sequence[str], order: Literal[1, 2]) -> Mapping[str, Tensor]:
        """One `jax.vjp` of the whole Program, and one of that."""
        return derivatives(self, program, keys, order)

    def load_state(self, module: Any, state: dict[str, Array]) -> None:
        """There are no modules. Raises UnmappedOp."""
        raise UnmappedOp("jax has no modules")

    def parameters(self, module: Any) -> dict[str, Any]:
        """None."""
        return {}

    def buffers(self, module: Any) -> dict[str, Any]:
        """None."""
        return {}

    def saved(self, module: Any) -> list[str]:
        """None."""
        return []

    def synchronize(self) -> None:
        """Nothing: on the CPU, whoever reads waits."""

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """One `jax.jit` of all Programs, gradients inside it."""
        return compiled(self, request)
