"""Third opinions: PyTorch's public functions computed by other code, so that not only its own word says what is right.

NumPy knows elementwise functions and products, `torch._refs` writes fused ops out in simple ones; both are independent
of the kernels that they check. `torch.ops.aten` is the kernel itself, called past the public function: it can convict
the function that calls it, and can never speak for it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dual_object.program import Call, Program
from dual_object.replay import QuietReplay
from dual_object.values import Named, Tree

if TYPE_CHECKING:
    from dual_object.adapters.torch import Adapter

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


class Opinion(QuietReplay):
    """A run in which the calls are made by other code, as far as there is any. `sources` names it, by call.

    `differentiable` leaves out what has no backward.
    """

    def __init__(self, reference: Adapter, program: Program, *, differentiable: bool) -> None:
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
            args = [self.value(arg) for arg in call.args]
            kwargs = {key: self.value(arg) for key, arg in call.kwargs.items()}
            try:
                result = _called(function, args, kwargs)
            except Exception as error:
                if source == KERNEL and not any(words in str(error) for words in _OTHER_SIGNATURE):
                    refusal = error
                continue
            self.sources[self._index] = source
            return _contained(result, call.out)
        if refusal is not None:
            self.sources[self._index] = KERNEL
            raise refusal
        return super().apply(call)

    def _others(self, call: Call) -> Iterator[tuple[str, Function]]:
        if call.kind not in ("function", "method", "operator"):
            return
        name = call.op.rpartition(".")[2]
        if name in _NOT_COMPUTED:
            return
        name = _OTHER_NAMES.get(name, name)
        if not self._differentiable:
            if name in _NUMPY and not call.kwargs:
                yield NUMPY, _on_arrays(_NUMPY[name])
            for home in ("_refs", f"_refs.{call.op.rpartition('.')[0]}", "_refs.nn.functional"):
                found = _at(f"{home}.{name}")
                if found is not None:
                    yield REFS, found
        if name in dir(torch.ops.aten) or hasattr(torch.ops.aten, name):
            yield KERNEL, getattr(torch.ops.aten, name)


def _at(path: str) -> Function | None:
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part, None) if part else found
    return found if callable(found) else None


def _called(function: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a function returns, also one that takes a size as one argument where people give it as several."""
    try:
        return function(*args, **kwargs)
    except Exception:
        numbers = [position for position, arg in enumerate(args) if type(arg) is int]
        if len(numbers) < 2 or numbers != list(range(numbers[0], len(args))):
            raise
        return function(*args[: numbers[0]], args[numbers[0] :], **kwargs)


def _contained(result: Any, out: Tree) -> Any:
    """What a kernel returns in the container that its public function gives: tuples, with names where those have."""
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
