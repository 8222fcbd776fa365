"""Which type a generator should draw for a parameter.

Asked in this order: the function's own annotations, PyTorch's operator schemas (C builtins carry no signature), a
short table.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Optional, Protocol

from dual_object.errors import SignatureError
from dual_object.meant import meant
from dual_object.program.values import PLAIN


class Drawable(Protocol):
    """What the recording needs of an argument generator."""

    def to(self, annotation: Any) -> Any:
        """Tell the generator the type of the parameter it stands for."""

    def value(self) -> Any:
        """The drawn value."""


def is_drawable(arg: Any) -> bool:
    """Whether an argument is a generator; `isinstance` with a Protocol would cost ten times as much per call."""
    kind = type(arg)
    return kind not in PLAIN and hasattr(kind, "value") and hasattr(kind, "to")


#: Parameters that neither annotations nor schemas know, by parameter name (RNN families take `*args`, pooling is
#: `boolean_dispatch`).
_TABLE: dict[str, Any] = {
    "input_size": int,
    "hidden_size": int,
    "num_layers": int,
    "bias": bool,
    "batch_first": bool,
    "dropout": float,
    "bidirectional": bool,
    "proj_size": int,
    "kernel_size": int,
    "stride": int,
    "padding": int,
    "dilation": int,
    "ceil_mode": bool,
    "return_indices": bool,
    "output_size": int,
}
_RNN_POSITIONS = (
    "input_size",
    "hidden_size",
    "num_layers",
    "bias",
    "batch_first",
    "dropout",
    "bidirectional",
    "proj_size",
)
#: What PyTorch calls as NumPy does, too, which no schema says.
_NUMPYS = {"axis", "keepdims", "x", "a", "input"}
_SCHEMA_TYPES: dict[str, Any] = {
    "int": int,
    "SymInt": int,
    "float": float,
    "bool": bool,
    "number": float,
    "Scalar": float,
    "List[int]": int,
    "List[float]": float,
    "List[bool]": bool,
}


def draw(
    generator: Drawable,
    function: Any,
    op: str,
    parameter: int | str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    inside: bool = False,
) -> Any:
    """The value of a generator that stands for a parameter, or for an element of one (`inside`), drawn with the
    parameter's type where that is known.

    Raises:
        SignatureError: the type is known nowhere and the generator has none of its own.
    """
    annotation = parameter_type(function, op, parameter, len(args), frozenset(kwargs))
    if inside:
        annotation = _element_type(annotation)
    if annotation is not None:
        generator.to(annotation)
    try:
        return generator.value()
    except TypeError as error:
        where = f"argument {parameter + 1}" if isinstance(parameter, int) else f"{parameter}="
        raise SignatureError(f"{error} [{where} of {op}]") from None


def _element_type(annotation: Any) -> Any:
    """The number type of the elements of a list or tuple type, None where there is none."""
    if annotation in (int, float, bool):
        return annotation
    numbers = (_element_type(part) for part in typing.get_args(annotation) if part is not type(None))
    return next((part for part in numbers if part is not None), None)


@lru_cache(maxsize=4096)
def _signature(function: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Positional parameter names (without self) and annotations by name."""
    target = _dispatched(function)
    if inspect.isclass(function):
        target = function.__init__
    target = getattr(target, "__func__", target)
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return (), {}
    try:
        hints = typing.get_type_hints(target)
    except Exception:  # an annotation that cannot be evaluated here: use what is written in plain types
        hints = {p.name: p.annotation for p in parameters if isinstance(p.annotation, type)}
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(p.name for p in parameters if p.kind in positional)
    if names and names[0] == "self":
        names = names[1:]
    hints.pop("return", None)
    # `BroadcastingList2[int]` is None at run time: it says nothing, not that None is wanted.
    nothing = (inspect.Parameter.empty, Any, None, type(None))
    return names, {name: hint for name, hint in hints.items() if hint not in nothing}


def _dispatched(function: Any) -> Any:
    """The function behind one of `nn.functional`'s `boolean_dispatch` wrappers, which take `*args`."""
    wrappers = getattr(sys.modules.get("torch._jit_internal"), "boolean_dispatched", {})
    try:
        return wrappers[function]["if_false"]
    except (KeyError, TypeError):  # no such wrapper; something that no weak reference can be made to
        return function


@lru_cache(maxsize=4096)
def _schemas(name: str) -> tuple[Any, ...]:
    torch = sys.modules["torch"]  # whoever records a call of PyTorch's has imported it
    return tuple(torch._C._jit_get_schemas_for_operator(f"aten::{name}"))


def parameter_type(function: Any, op: str, parameter: int | str, positional: int, keywords: frozenset[str]) -> Any:
    """The annotation of a parameter (by position or name), None where none can be found."""
    if op in ("getitem", "setitem", "delitem"):
        return int
    try:
        names, hints = _signature(function)
    except TypeError:  # unhashable callable
        names, hints = _signature.__wrapped__(function)
    name = parameter
    if isinstance(parameter, int):
        name = names[parameter] if parameter < len(names) else parameter
    if name in hints:
        return hints[name]
    annotation = _schema_type(op.rpartition(".")[2], function, parameter, positional, keywords)
    if annotation is not None:
        return annotation
    if isinstance(name, int) and inspect.isclass(function) and name < len(_RNN_POSITIONS):
        name = _RNN_POSITIONS[name]
    return _TABLE.get(name) if isinstance(name, str) else None


def parameter_name(
    function: Any, op: str, position: int, positional: int, keywords: frozenset[str], *, method: bool = False
) -> str | None:
    """The name of the parameter at a position, None where none can be found. `function` is one of PyTorch's, or None
    where nobody knows it; of a `method` its receiver is at position 0.
    """
    names, _ = _signature(function)
    if position - method < len(names):
        return names[position - method]
    spellings = dict.fromkeys((op.replace(".", "_"), op.rpartition(".")[2]))  # aten::linalg_norm
    overloads = (one for name in spellings for one in _overloads(name, positional, keywords, 0))
    return next((str(arguments[position].name) for arguments in overloads), None)


def meant_keywords(op: str, given: Iterable[str]) -> list[str]:
    """Of a call's keywords those that PyTorch's schemas lack, where one that they have is spelt alike:
    `softmax has no dims: did you mean dim?`
    """
    name = op.rpartition(".")[2]
    known = {str(argument.name) for schema in _schemas(name) for argument in schema.arguments} | _NUMPYS
    near = {one: meant(one, known - _NUMPYS) for one in given if one not in known}
    return [f"{name} has no {one}: did you mean {other}?" for one, other in near.items() if other]


def _schema_type(op: str, function: Any, parameter: int | str, positional: int, keywords: frozenset[str]) -> Any:
    """The type in the first overload that takes this many arguments and these keywords."""
    bound = getattr(function, "__self__", None)
    is_method = bound is not None and not inspect.ismodule(bound) and not inspect.isclass(bound)
    for arguments in _overloads(op, positional, keywords, int(is_method)):
        if isinstance(parameter, int):
            offset = int(is_method and arguments[0].name == "self")
            argument = arguments[parameter + offset]
        else:
            matching = [argument for argument in arguments if argument.name == parameter]
            if not matching:
                continue
            argument = matching[0]
        annotation = _from_schema(str(argument.type))
        if annotation is not None:
            return annotation
    if isinstance(parameter, int) and any(_takes_sizes(schema, is_method) for schema in _schemas(op)):
        return int
    return None


def _overloads(op: str, positional: int, keywords: frozenset[str], bound: int) -> Iterator[Any]:
    """The arguments of each overload that takes this many positional ones, besides `bound` receivers, and these
    keywords.
    """
    for schema in _schemas(op):
        arguments = schema.arguments
        names = [argument.name for argument in arguments]
        offset = bound if names[:1] == ["self"] else 0
        if "out" in names and "out" not in keywords:
            continue
        if keywords <= {*names, "input"} and positional + offset <= sum(not a.kwarg_only for a in arguments):
            yield arguments


def _takes_sizes(schema: Any, is_method: bool) -> bool:
    """Whether Python may spell the one list of integers that this overload takes as several integers:
    `x.reshape(2, 3)`, `zeros(2, 3)`.
    """
    positional = [str(argument.type) for argument in schema.arguments if not argument.kwarg_only]
    return bool(positional[1 if is_method else 0 :] == ["List[int]"])


def _from_schema(spelled: str) -> Any:
    if spelled.startswith("Optional[") and spelled.endswith("]"):
        inner = _SCHEMA_TYPES.get(spelled[len("Optional[") : -1])
        return None if inner is None else Optional[inner]  # noqa: UP045 - built at run time
    return _SCHEMA_TYPES.get(spelled)
