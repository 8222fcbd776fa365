"""Third opinions: PyTorch's public functions computed by other code, so that not only its own word says what is right.

NumPy knows elementwise functions and products, `torch._refs` writes fused ops out in simple ones; both are independent
of the kernels that they check. `torch.ops.aten` is the kernel itself, called past the public function: it can convict
the function that calls it, and can never speak for it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Named, Tree
from dual_object.replay.adapter import Reference
from dual_object.replay.replay import QuietReplay

NUMPY = "NumPy"
REFS = "torch._refs"
KERNEL = "torch.ops.aten"

Function = Callable[..., Any]

#: NumPy's functions of tensors and numbers in PyTorch's order of arguments, by PyTorch's name.
_NUMPY: Mapping[str, Function] = MappingProxyType(
    {
        **{name: getattr(np, name) for name in ("add", "maximum", "minimum", "fmod", "floor_divide", "fmax", "fmin")},
        **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp")},
        **{
            name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "square", "hypot")
        },
        **{
            name: getattr(np, name) for name in ("floor", "ceil", "trunc", "sign", "reciprocal", "abs", "matmul", "dot")
        },
        **{name: getattr(np, name) for name in ("deg2rad", "rad2deg", "cumsum", "cumprod", "heaviside", "copysign")},
        **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.true_divide,
        "neg": np.negative,
        "pow": np.power,
        "remainder": np.mod,
        "atan2": np.arctan2,
        "round": np.rint,
        "rsqrt": lambda x: x**-0.5,
        "mm": np.matmul,
        "bmm": np.matmul,
        "mv": np.matmul,
        "relu": lambda x: np.maximum(x, 0),
        "sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)),
    }
)
#: Names that the parts of PyTorch have for one function: of operators, and of functions that a kernel calls otherwise.
_OTHER_NAMES: Mapping[str, str] = MappingProxyType({"truediv": "div", "floordiv": "floor_divide", "mod": "remainder"})
#: Kernels that have another name than their function, keywords that they call otherwise, and their numbers for words.
_KERNELS: Mapping[str, str] = MappingProxyType({"cross_entropy": "cross_entropy_loss"})
_FAMILIES = ("linalg", "special", "fft")
_KEYWORDS: Mapping[str, str] = MappingProxyType({"input": "self", "training": "train"})
_REDUCTIONS: Mapping[str, int] = MappingProxyType({"none": 0, "mean": 1, "sum": 2})
#: Layers, and the functions that they are made of.
_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"), "batch_norm"),
        "LeakyReLU": "leaky_relu",
        "GELU": "gelu",
        "ReLU": "relu",
        "SiLU": "silu",
        "ELU": "elu",
        "Tanh": "tanh",
        "Sigmoid": "sigmoid",
        "Softplus": "softplus",
        "Softmax": "softmax",
        "LogSoftmax": "log_softmax",
        "Hardtanh": "hardtanh",
        "CELU": "celu",
        "SELU": "selu",
        "Mish": "mish",
        "Linear": "linear",
    }
)
#: What a layer is told that its function is not.
_OF_LAYERS = frozenset({"inplace", "num_features", "in_features", "out_features", "affine", "track_running_stats"})
#: What only tells of a tensor, or moves it: there is nothing to compute.
_NOT_COMPUTED = frozenset(
    {
        "size",
        "stride",
        "dim",
        "numel",
        "item",
        "tolist",
        "to",
        "type",
        "cpu",
        "numpy",
        "detach",
        "requires_grad_",
        "data",
    }
)
#: How a function says that it is called otherwise, not that it refuses what it is given.
_OTHER_SIGNATURE = ("aten::", "Overload resolution failed", "got an unexpected keyword", "positional argument")


def import_refs() -> None:
    """Call `torch._refs` once: its first call imports what the others need."""
    torch._refs.neg(torch.zeros(1))


class Opinion(QuietReplay):
    """A run in which the calls are made by other code, as far as there is any. `sources` names it, by call.

    `differentiable` leaves out what has no backward.
    """

    def __init__(self, reference: Reference, program: Program, *, differentiable: bool) -> None:
        super().__init__(reference, program, side="reference")
        self.sources: dict[int, str] = {}
        self._differentiable = differentiable
        self._index = 0

    def step(self, index: int, call: Call) -> None:
        """Run one call, by other code where there is any."""
        self._index = index
        super().step(index, call)

    def apply(self, call: Call) -> Any:
        """The result of the first other code that can be called so; without any, PyTorch's own."""
        refusal: Exception | None = None
        for source, function in self._others(call):
            args, kwargs = self._arguments(call)
            try:
                result = _called(function, args, kwargs)
            except Exception as error:
                if source == KERNEL and not any(words in str(error) for words in _OTHER_SIGNATURE):
                    refusal = refusal or error
                continue
            self.sources[self._index] = source
            if call.kind == "call":
                _count(self.value(call.args[0]))
            return _contained(result, call.out)
        if refusal is not None:
            self.sources[self._index] = KERNEL
            raise refusal
        return super().apply(call)

    def _arguments(self, call: Call) -> tuple[list[Any], dict[str, Any]]:
        """This side's arguments; those of a layer's call are what its function takes."""
        args = [self.value(arg) for arg in call.args]
        kwargs = {key: self.value(arg) for key, arg in call.kwargs.items()}
        if call.kind != "call":
            return args, kwargs
        module, *inputs = args
        made = next(earlier for earlier in self.program.calls if earlier.out == call.args[0])
        given = {key: self.value(arg) for key, arg in made.kwargs.items()}
        return inputs, {**_function_of(type(module).__name__, module, given), **kwargs}

    def _others(self, call: Call) -> Iterator[tuple[str, Function]]:
        name = call.op.rpartition(".")[2]
        home = call.op.rpartition(".")[0]
        if call.kind == "call":
            name, home = _FUNCTIONS.get(type(self.value(call.args[0])).__name__, ""), "nn.functional"
        elif call.kind not in ("function", "method", "operator") or name in _NOT_COMPUTED:
            return
        name = _OTHER_NAMES.get(name, name)
        if not name:
            return
        if not self._differentiable:
            if name in _NUMPY and not call.kwargs:
                yield NUMPY, _on_arrays(_NUMPY[name])
            for place in dict.fromkeys((f"_refs.{home}", "_refs", "_refs.nn.functional")):
                function = _at(f"{place}.{name}")
                if function is not None:
                    yield REFS, function
        kernel = f"{home}_{name}" if home in _FAMILIES else _KERNELS.get(name, name)
        for overload in _overloads(kernel):
            yield KERNEL, overload


def _function_of(name: str, module: torch.nn.Module, given: dict[str, Any]) -> dict[str, Any]:
    """What the function behind a layer takes besides its inputs: the layer's parameters, buffers and mode, and the
    arguments with which it was made. An argument that was not given has the function's own default.
    """
    tensors = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
    tensors.pop("num_batches_tracked", None)
    arguments = {**given, **tensors}
    if name.startswith("BatchNorm"):
        arguments |= {"training": module.training or "running_mean" not in tensors, "cudnn_enabled": False}
        arguments = {"momentum": 0.1, "eps": 1e-5, **arguments}  # the kernel has no defaults
        for lacking in ("weight", "bias", "running_mean", "running_var"):
            arguments.setdefault(lacking, None)
    return {key: value for key, value in arguments.items() if key not in _OF_LAYERS}


def _count(module: torch.nn.Module) -> None:
    """What a layer does besides its function: it counts the batches that it has been trained on."""
    counted = getattr(module, "num_batches_tracked", None)
    if module.training and isinstance(counted, torch.Tensor):
        counted.add_(1)


def _overloads(name: str) -> Iterator[Function]:
    """The kernels of a name, the plain one first, each as a function that is called as PyTorch's."""
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return
    for overload in sorted(packet.overloads(), key=lambda label: label != "default"):
        if "out" not in overload:
            yield _as_public(getattr(packet, overload))


def _as_public(kernel: Any) -> Function:
    """A kernel that is called by the names and numbers of its public function."""
    arguments = list(kernel._schema.arguments)
    known = {argument.name: argument for argument in arguments}

    def fitted(value: Any, argument: Any) -> Any:
        if type(value) is int and "List[int]" in str(argument.type):
            return [value]
        return _REDUCTIONS.get(value, value) if argument.name == "reduction" and type(value) is str else value

    def called(*args: Any, **kwargs: Any) -> Any:
        named = {key if key in known else _KEYWORDS.get(key, key): value for key, value in kwargs.items()}
        given = [fitted(value, argument) for value, argument in zip(args, arguments, strict=False)]
        given += args[len(arguments) :]
        return kernel(*given, **{k: fitted(v, known[k]) if k in known else v for k, v in named.items()})

    return called


def _at(path: str) -> Function | None:
    member: Any = torch
    for part in path.split("."):
        member = getattr(member, part, None) if part else member
    return member if callable(member) else None


def _called(function: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What `function(*args, **kwargs)` returns; where it refuses `f(x, 2, 3)`, what `f(x, (2, 3))` returns: people may
    give a size as several arguments, kernels take it as one.
    """
    try:
        return function(*args, **kwargs)
    except Exception:
        numbers = [position for position, arg in enumerate(args) if type(arg) is int]
        if len(numbers) < 2 or numbers != list(range(numbers[0], len(args))):
            raise
        return function(*args[: numbers[0]], args[numbers[0] :], **kwargs)


def _contained(result: Any, out: Tree) -> Any:
    """`result` in the container that the public function gives, which is that of `out`: a kernel's plain tuple becomes
    a named one where `torch.max(x, 0)` gives one.
    """
    if not isinstance(result, (tuple, list)) or type(out) not in (tuple, Named):
        return result
    if type(out) is Named and len(out.fields) == len(result):
        return namedtuple("Result", out.fields)(*result)
    return tuple(result)


def _on_arrays(function: Function) -> Function:
    """A NumPy function as one of tensors."""

    def called(*args: Any) -> torch.Tensor:
        given = [arg.detach().numpy() if isinstance(arg, torch.Tensor) else arg for arg in args]
        with np.errstate(all="ignore"):
            return torch.from_numpy(np.array(function(*given)))

    return called
