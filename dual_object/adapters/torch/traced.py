"""The calls that a program makes of PyTorch: how often each, and what its tensors were like; never their values."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

#: What asks about a tensor, or moves none.
_NO_OPS = frozenset(
    (
        "backward", "cpu", "data_ptr", "dim", "element_size", "get_device", "is_complex", "is_contiguous",
        "is_floating_point", "is_inference", "is_pinned", "is_shared", "is_signed", "item", "ndimension", "nelement",
        "numel", "numpy", "register_hook", "requires_grad_", "retain_grad", "size", "storage_offset", "stride",
        "tolist", "type", "untyped_storage", "__bool__", "__contains__", "__deepcopy__", "__dir__", "__format__",
        "__hash__", "__index__", "__int__", "__float__", "__len__", "__iter__", "__repr__", "__reduce_ex__",
        "__setstate__", "__array__", "tensor", "as_tensor", "from_numpy", "empty", "empty_like", "get_default_dtype",
        "is_tensor", "is_storage", "set_",
    )
)  # fmt: skip
#: Calls that differ in floating numbers alone, such as a step size that shrinks: so many of them are kept apart.
MOST_FLOATS = 4
#: Attributes that give a tensor of their own.
_VIEWS = frozenset(("T", "mT", "H", "mH", "real", "imag"))


class Calls(TorchFunctionMode):
    """Counts the calls that are made in it, in one thread; what an op calls within itself is not seen."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[Any, _Call] = {}
        #: By a key without its floating numbers, those that there are.
        self._alike: defaultdict[Any, list[_Call]] = defaultdict(list)
        self._paths: dict[Any, str | None] = {}
        self._defaults: dict[Any, Mapping[str, Any]] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Count, then call."""
        given = kwargs or {}
        path = self._path(func)
        if path is not None:
            self._count(path, func, args, given)
        return func(*args, **given)

    def seen(self) -> list[dict[str, Any]]:
        """What was called, as JSON takes it: `path`, `count`, `args` and `kwargs` with their tensors as numbers, and by
        number the `tensors` as shape, dtype, strides (None: packed), whether one wants a gradient, and the least and
        greatest of its finite values (None: it has none).
        """
        return [call.told(key) for key, call in self._calls.items()]

    def _path(self, func: Callable[..., Any]) -> str | None:
        """The name of an op, None for what is none."""
        try:
            return self._paths[func]
        except KeyError:
            self._paths[func] = path = _path(func)
        except TypeError:  # it cannot be hashed, such as a method that is bound to a tensor
            path = _path(func)
        return path

    def _count(self, path: str, func: Callable[..., Any], args: Any, kwargs: Any) -> None:
        tensors: list[torch.Tensor] = []
        if kwargs:
            usual = self._usual(func)
            kwargs = {
                name: value
                for name, value in kwargs.items()
                if not (name in usual and (value is usual[name] or (_plain(value) and value == usual[name])))
            }
        signature = path, _told(args, tensors), _told(kwargs, tensors)
        grad = torch.is_grad_enabled()
        key = signature, tuple(_described(x, wants=grad and x.requires_grad) for x in tensors)
        call = self._calls.get(key)
        if call is None:
            alike = self._alike[_without_floats(key)]
            if len(alike) < MOST_FLOATS:
                call = self._calls[key] = _Call(len(tensors))
                alike.append(call)
            else:
                call = alike[-1]
        call.count += 1
        # A look at every value costs more than most ops: the first time, the second, the fourth, the eighth.
        if call.count & (call.count - 1) == 0:
            call.look(tensors)

    def _usual(self, func: Callable[..., Any]) -> Mapping[str, Any]:
        """The defaults of a function that is written in Python: its caller hands on all of them."""
        code = getattr(func, "__code__", None)
        if code is None:
            return {}
        if code not in self._defaults:
            parameters = inspect.signature(func).parameters
            self._defaults[code] = {name: one.default for name, one in parameters.items()}
        return self._defaults[code]


class _Call:
    """How often one was made, and the range of each tensor's values."""

    def __init__(self, tensors: int) -> None:
        self.count = 0
        self._ranges: list[tuple[float, float] | None] = [None] * tensors

    def look(self, tensors: list[torch.Tensor]) -> None:
        """At the values, before the call, which may change them."""
        with torch._C.DisableTorchFunction(), torch.no_grad():
            for place, x in enumerate(tensors):
                seen = _range(x.detach())
                known = self._ranges[place]
                if seen is not None and known is not None:
                    seen = min(seen[0], known[0]), max(seen[1], known[1])
                self._ranges[place] = seen or known

    def told(self, key: Any) -> dict[str, Any]:
        """As JSON."""
        (path, args, kwargs), tensors = key
        ranges = zip(tensors, self._ranges, strict=True)
        return {
            "path": path,
            "count": self.count,
            "args": args,
            "kwargs": kwargs,
            "tensors": [[*tensor, found] for tensor, found in ranges],
        }


def _path(func: Callable[..., Any]) -> str | None:
    path: str | None = resolve_name(func)
    if path is None or not path.startswith("torch."):
        return None
    name = path.rpartition(".")[2]
    if name in ("__get__", "__set__", "__delete__"):
        path, _, access = path.rpartition(".")
        return path if access == "__get__" and path.rpartition(".")[2] in _VIEWS else None
    return None if name in _NO_OPS or ".init." in path else path


def _told(tree: Any, tensors: list[torch.Tensor]) -> Any:
    """Arguments as tuples that can be compared: a word of what it is, and its value. A tensor is its number among
    `tensors`, the same one twice has one number.
    """
    if isinstance(tree, torch.Tensor):
        for number, known in enumerate(tensors):
            if known is tree:
                return "tensor", number
        tensors.append(tree)
        return "tensor", len(tensors) - 1
    if isinstance(tree, (tuple, list)):
        word = "list" if isinstance(tree, list) else "tuple"
        return word, tuple(_told(item, tensors) for item in tree)
    if isinstance(tree, dict):
        return tuple((name, _told(item, tensors)) for name, item in tree.items())
    if isinstance(tree, slice):
        return "slice", tuple(_told(item, tensors) for item in (tree.start, tree.stop, tree.step))
    if tree is Ellipsis:
        return ("ellipsis",)
    if isinstance(tree, (torch.dtype, torch.memory_format)):
        return "name", str(tree)
    if isinstance(tree, torch.device):
        return "device", str(tree)
    if _plain(tree):
        return type(tree).__name__, repr(tree) if isinstance(tree, float) else tree
    return "other", type(tree).__name__


def _without_floats(told: Any) -> Any:
    if not isinstance(told, tuple):
        return told
    if len(told) == 2 and told[0] == "float":
        return "float"
    return tuple(_without_floats(item) for item in told)


def _plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def _described(x: torch.Tensor, wants: bool) -> tuple[Any, ...]:
    with torch._C.DisableTorchFunction():
        strided = x.layout == torch.strided
        packed = not strided or x.is_contiguous()
        dtype = str(x.dtype).removeprefix("torch.") if strided else str(x.layout)
        return tuple(x.shape), dtype, None if packed else x.stride(), wants


def _range(x: torch.Tensor) -> tuple[float, float] | None:
    """The least and the greatest finite value; None where there is none, or where they have no order."""
    if x.layout != torch.strided or x.is_complex() or x.dtype == torch.bool or x.is_meta or not x.numel():
        return None
    low, high = (one.item() for one in torch.aminmax(x.double() if x.is_floating_point() else x))
    if low - low == 0 and high - high == 0:
        return low, high
    finite = x[torch.isfinite(x)]
    return (finite.min().item(), finite.max().item()) if finite.numel() else None


__all__ = ["Calls"]
