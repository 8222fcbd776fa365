"""What folders and files of kernels are called, as ops: `add__Tensor`, `_softmax`, `relu`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType
from typing import Any

import torch

#: Where public functions are, the likelier first.
_PLACES = ("nn.functional", "linalg", "special", "fft", "nn")
#: Below `torch`, where operators are.
OPERATORS = "ops.aten."


def operator_named(name: str) -> str | None:
    """The operator that a folder is named after, such as `aten.add.Tensor` of `add__Tensor`, or of `add`; None where
    there is none.
    """
    for base, overload in _readings(name):
        packet = getattr(torch.ops.aten, base, None)
        if packet is None:
            continue
        known = overloads(packet)
        wanted = overload or next((first for first in ("default", "Tensor", *known) if first in known), "")
        if wanted in known:
            return f"aten.{base}.{wanted}"
    return None


def overloads(packet: Any) -> list[str]:
    """The overloads of an operator that the dispatcher knows; those of TorchScript alone are none."""
    return [one for one in packet.overloads() if torch._C._dispatch_has_kernel(getattr(packet, one).name())]


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """A name as an operator's, then as that of an overload: `add___Tensor` as `add_.Tensor`, then as `add._Tensor`."""
    yield name, ""
    places = [place for place in range(1, len(name) - 2) if name[place : place + 2] == "__"]
    for place in reversed(places):
        yield name[:place], name[place + 2 :]


def public_path(operator: str) -> str | None:
    """The path below `torch` of the public function that takes the very arguments of `aten.relu.default`: one that is
    made of this operator's schema, and of no other's. None where there is none.
    """
    _, base, overload = operator.split(".")
    packet = getattr(torch.ops.aten, base)
    others = [
        other
        for other in overloads(packet)
        if other != overload and not getattr(packet, other)._schema.is_mutable and not _of_names(packet, other)
    ]
    if others or base.startswith("_") or base.endswith("_") or getattr(packet, overload)._schema.is_mutable:
        return None
    return next((f"{at}{base}" for at, space in spaces() if isinstance(space.get(base), BuiltinFunctionType)), None)


def _of_names(packet: object, overload: str) -> bool:
    """Whether an overload is about dimensions by name."""
    arguments = getattr(packet, overload)._schema.arguments
    return any("Dimname" in str(argument.type) or argument.name == "names" for argument in arguments) or (
        "Dimname" in overload or "dimname" in overload
    )


def public_named(name: str) -> str | None:
    """The path below `torch` of the public function of this name; None where there is none."""
    for at, space in spaces():
        found = space.get(name)
        if callable(found) and not isinstance(found, type) and not name.startswith("_"):
            return f"{at}{name}"
    return None


def path_of(function: object) -> str | None:
    """The path of a public function of PyTorch, such as `nn.functional.softmax`; None where it is none."""
    for at, space in spaces():
        for name, member in space.items():
            if member is function and not name.startswith("_"):
                return f"{at}{name}"
    return None


def found_at(path: str) -> Any:
    """What is at a path below `torch`; None where nothing is."""
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def schemas(path: str) -> list[Any]:
    """Those of the operators that are called as the function at a path below `torch`."""
    return list(torch._C._jit_get_schemas_for_operator(f"aten::{path.rpartition('.')[2]}"))


def spaces() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What paths of public functions begin with, and the functions there by name."""
    yield "", vars(torch)
    for place in _PLACES:
        yield f"{place}.", vars(found_at(place))


__all__ = [
    "OPERATORS",
    "found_at",
    "operator_named",
    "overloads",
    "path_of",
    "public_named",
    "public_path",
    "schemas",
    "spaces",
]
