"""What PyTorch's own code calls while it runs: the public functions, methods and operators that a module is made of.

A function is seen where Python calls it, and nothing that it calls itself: `F.relu` is one call. What is no public name
is told as an obstacle. Two functions are opened, and what they call is seen instead: attention, which is one function
to PyTorch and no op to anybody else, and a loss that is given a function.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from dual_object.replay.adapter import Made, Watched
from dual_object.replay.replay import OPERATORS

#: Where people call functions, the plainest place first.
_ROOTS = ("", "nn.functional", "linalg", "special", "fft", "nn.init")
#: What tells no values: a module may ask it to decide what it does, for it says the same on every side.
_METADATA = frozenset(
    {
        *("__len__", "dim", "element_size", "get_device", "is_complex", "is_contiguous", "is_floating_point"),
        *("is_same_size", "is_signed", "ndimension", "nelement", "numel", "size", "storage_offset", "stride"),
        *("device", "dtype", "is_cpu", "is_cuda", "is_leaf", "is_meta", "is_mkldnn", "is_mps", "is_nested", "is_xpu"),
        *("is_quantized", "is_sparse", "is_sparse_csr", "is_xla", "itemsize", "layout", "nbytes", "ndim"),
        *("grad_fn", "requires_grad", "shape"),
    }
)
#: Attributes that are tensors of their own, made by a function as it were.
_VIEWS = frozenset({"H", "T", "imag", "mH", "mT", "real"})
#: What switches a mode of the process, such as whether gradients are recorded.
_SETTING = re.compile("_?set_")
#: What writes to a tensor and returns nothing.
_WRITING = frozenset({"__setitem__"})
#: The name that pooling has inside for `return_indices=True`.
_INDICES = "_with_indices"


class Watch(TorchFunctionMode):
    """While it is entered, what is called is added to `seen`."""

    def __init__(self, seen: Watched) -> None:
        super().__init__()
        self._seen = seen

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run a function, and take it down."""
        given = kwargs or {}
        opened = _opened(func)
        if opened is not None:
            with self:
                return opened(*args, **given)
        try:
            result = func(*args, **given)
        except Exception as error:
            self._take(func, args, given, None, error)
            raise
        self._take(func, args, given, result, None)
        return result

    def _take(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, raised: Exception | None
    ) -> None:
        if self._seen.obstacle is not None:
            return
        name = getattr(func, "__name__", repr(func))
        named = resolve_name(func) or ""
        if name in ("__get__", "__set__"):
            attribute = named.split(".")[-2] if named else "?"
            if name == "__get__" and attribute in _METADATA:
                return
            if name == "__get__" and attribute in _VIEWS:
                self._seen.made.append(Made("get", attribute, args, {}, result, raised))
            else:
                self._seen.obstacle = f"{'reads' if name == '__get__' else 'sets'} {attribute} of a tensor"
            return
        if raised is None and not (_holds_tensor(result) or name in _WRITING):
            if _holds_tensor((*args, *kwargs.values())):
                if name not in _METADATA:
                    self._seen.obstacle = f"reads values to Python by {_spelled(func, name)}"
            elif _SETTING.match(name):
                self._seen.obstacle = f"switches a mode by {_spelled(func, name)}"
            return
        if kwargs.get("out") is not None:
            self._seen.obstacle = f"calls {_spelled(func, name)} with out="
            return
        made = _made(func, name, named, args, kwargs, result, raised)
        if made is None:
            self._seen.obstacle = f"calls {_spelled(func, name)}, which has no public name"
        else:
            self._seen.made.append(made)


def _made(
    func: Any,
    name: str,
    named: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
    raised: Exception | None,
) -> Made | None:
    """A call by the name that people call it by; None where it has none."""
    if named.startswith("torch.Tensor."):
        method = named.rpartition(".")[2]
        operator = _operator(method)
        if operator is None:
            return None if method.startswith("_") else Made("method", method, args, kwargs, result, raised)
        op, swapped = operator
        return Made("operator", op, args[::-1] if swapped else args, kwargs, result, raised)
    path = _path(func, name, named.rpartition(".")[2])
    return None if path is None else Made("function", path, args, _written(func, kwargs), result, raised)


def _operator(method: str) -> tuple[str, bool] | None:
    """The operator that a method with underscores stands for, and whether its operands are swapped: `sub` for
    `__rsub__`.
    """
    if not (method.startswith("__") and method.endswith("__")):
        return None
    plain = method[2:-2]
    for op in (plain, f"{plain}_"):
        if op in OPERATORS:
            return op, False
    for op in (plain[1:], f"{plain[1:]}_") if plain.startswith("r") else ():
        if op in OPERATORS:
            return op, True
    return None


@lru_cache(maxsize=1024)
def _path(func: Any, *names: str) -> str | None:
    """Where people call a function that has these names, below `torch`."""
    for name in dict.fromkeys(filter(None, names)):
        for root in _ROOTS:
            place: Any = torch
            for part in filter(None, root.split(".")):
                place = getattr(place, part)
            found = name if getattr(place, name, None) is func else ""
            stem = name.removesuffix(_INDICES)
            if found and stem != name:  # people call the function that calls it
                found = stem if hasattr(place, stem) else name
            if found:
                return f"{root}.{found}" if root else found
    return None


def _written(func: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords that a person would have written: PyTorch's own code passes on every one that there is."""
    defaults = _defaults(func)
    return {
        key: value
        for key, value in kwargs.items()
        if not key.startswith("_")  # such as the line that a warning is blamed on
        and not (key in defaults and type(value) is type(defaults[key]) and _plainly_equal(value, defaults[key]))
    }


def _plainly_equal(value: Any, default: Any) -> bool:
    return isinstance(value, (bool, int, float, str, type(None))) and bool(value == default)


@lru_cache(maxsize=1024)
def _defaults(func: Any) -> Mapping[str, Any]:
    try:
        parameters = inspect.signature(func).parameters
    except (ValueError, TypeError):  # a function of C, whose signature Python does not know
        return {}
    return {key: one.default for key, one in parameters.items() if one.default is not one.empty}


@lru_cache(maxsize=1024)
def _opened(func: Any) -> Callable[..., Any] | None:
    """A function that is looked into, as one that does not ask whether anybody watches; None for any other."""
    functional = torch.nn.functional
    if func not in (functional.multi_head_attention_forward, functional.triplet_margin_with_distance_loss):
        return None
    asks = (name for name in func.__code__.co_names if name.startswith("has_torch_function"))
    around = {**func.__globals__, **dict.fromkeys(asks, lambda *tensors: False)}
    inside = types.FunctionType(func.__code__, around, func.__name__, func.__defaults__, func.__closure__)
    inside.__kwdefaults__ = func.__kwdefaults__
    return inside


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_tensor, value))
    return isinstance(value, torch.Tensor)


def _spelled(func: Any, name: str) -> str:
    return (resolve_name(func) or name).removeprefix("torch.")


__all__ = ["Watch"]
