"""The ways in which Python lets people write one call: by position, by name, with defaults given and left out.

Names and defaults are PyTorch's own: a Python signature where there is one, else the operator schema of the overload
that takes these arguments.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from forms import Form, member
from rows import Args, Layer, Op, on_the_cpu

from autotest import DualObject
from autotest.cases.drawer import Drawer
from autotest.options import TestOptions
from dual_object.replay.adapter import load_reference

#: No default.
REQUIRED: Any = inspect.Parameter.empty
#: Parameters that say where results go or are deprecated, which no caller gives by the way.
_LEFT_ALONE = frozenset({"out", "size_average", "reduce", "generator", "stacklevel", "_stacklevel", "return_indices"})
_PLAIN = (bool, int, float, str)
#: A call has no other way to be written where so many of its draws have none.
_DRAWS = 3

Way = Callable[[str, Args], Iterator[Args]]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a call as PyTorch names it."""

    name: str
    default: Any = REQUIRED
    by_name_only: bool = False

    @property
    def has_plain_default(self) -> bool:
        """Whether it has a default that a caller may spell out: a plain value, and no parameter that is left alone."""
        plain = isinstance(self.default, _PLAIN) and self.default is not REQUIRED
        return plain and self.name not in _LEFT_ALONE


def parameters(spelled: str, drawn: Args) -> tuple[Parameter, ...]:
    """The parameters of the function or method at `spelled` when it is given these arguments, the tensor first; none
    where nobody knows them.
    """
    function: Any = torch.Tensor if spelled.startswith("Tensor.") else torch
    for name in spelled.split(".")[1:]:
        function = getattr(function, name)
    try:
        known = inspect.signature(function).parameters.values()
    except ValueError:
        return _of_schema(spelled.rpartition(".")[2], drawn)
    if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in known):
        return ()
    return tuple(
        Parameter(parameter.name, parameter.default, parameter.kind == parameter.KEYWORD_ONLY) for parameter in known
    )


def _of_schema(op: str, drawn: Args) -> tuple[Parameter, ...]:
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{op}"):
        arguments = schema.arguments
        positional = [argument for argument in arguments if not argument.kwarg_only]
        names = {argument.name for argument in arguments}
        if (
            any(argument.is_out for argument in arguments)
            or len(drawn.args) > len(positional)
            or not drawn.kwargs.keys() <= names
        ):
            continue
        given = [*zip(positional, drawn.args, strict=False)]
        given += [(argument, drawn.kwargs[argument.name]) for argument in arguments if argument.name in drawn.kwargs]
        missing = {argument.name for argument in arguments if not argument.has_default_value()} - {
            argument.name for argument, _ in given
        }
        if missing or not all(_takes(str(argument.type), value) for argument, value in given):
            continue
        return tuple(
            Parameter(
                "input" if argument.name == "self" else argument.name,
                argument.default_value if argument.has_default_value() else REQUIRED,
                argument.kwarg_only,
            )
            for argument in arguments
        )
    return ()


def _takes(kind: str, value: Any) -> bool:
    """Whether a schema's parameter of this type takes a value: tensors are told apart from numbers."""
    kind = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
    tensor = isinstance(value, (DualObject, torch.Tensor))
    if not tensor and hasattr(type(value), "draw"):  # a generator, of what the row wants there
        return kind != "Tensor"
    if isinstance(value, (list, tuple)):
        return kind.startswith("List[") and all(_takes(kind[5:-1], item) for item in value)
    if kind.startswith("List["):
        return isinstance(value, int) and kind == "List[int]"
    if kind == "Tensor":
        return tensor
    if isinstance(value, bool):
        return kind == "bool"
    if isinstance(value, int):
        return kind in ("int", "number", "float", "Scalar")
    if isinstance(value, float):
        return kind in ("number", "float", "Scalar")
    return not tensor


def by_name(spelled: str, drawn: Args) -> Iterator[Args]:
    """The call with every argument but the first by name, `add(x, other=y)`, and with all, `add(input=x, other=y)`: a
    target that calls its first parameter `x` ends the case, so that comes last.
    """
    known = [parameter.name for parameter in parameters(spelled, drawn) if not parameter.by_name_only]
    if len(known) < len(drawn.args) or not drawn.args:
        return
    named = dict(zip(known, drawn.args, strict=False))
    if len(drawn.args) > 1:
        yield Args(drawn.args[:1], {**dict([*named.items()][1:]), **drawn.kwargs})
    yield Args((), {**named, **drawn.kwargs})


def by_position(spelled: str, drawn: Args) -> Iterator[Args]:
    """The call with its named arguments by position, `sum(x, 1, True)` for `sum(x, dim=1, keepdim=True)`, as far as
    Python takes them so.
    """
    known = [parameter for parameter in parameters(spelled, drawn) if not parameter.by_name_only]
    more = []
    for parameter in known[len(drawn.args) :]:
        if parameter.name not in drawn.kwargs:
            break
        more.append(drawn.kwargs[parameter.name])
    if more:
        taken = {parameter.name for parameter in known[: len(drawn.args) + len(more)]}
        yield Args((*drawn.args, *more), {name: value for name, value in drawn.kwargs.items() if name not in taken})


def with_defaults(spelled: str, drawn: Args) -> Iterator[Args]:
    """The call with each of its parameters' defaults given, one at a time: `sum(x, keepdim=False)` for `sum(x)`; and
    without those of its own arguments that have a default, all together and, where they are named, each by itself:
    `sum(x)` for `sum(x, keepdim=True)`.
    """
    known = parameters(spelled, drawn)
    left_out = [
        parameter
        for parameter in known[len(drawn.args) :]
        if parameter.name not in drawn.kwargs and parameter.has_plain_default
    ]
    for parameter in left_out:
        yield Args(drawn.args, {**drawn.kwargs, parameter.name: parameter.default})
    yield from bare(spelled, drawn)
    if len(drawn.kwargs) > 1:
        yield from _less_each(drawn, {parameter.name for parameter in known if parameter.default is not REQUIRED})


def least(spelled: str, drawn: Args) -> Args | None:
    """The call with nothing but what it must be given, `sum(x)` for `sum(x, 1, keepdim=True)`; None where that is all
    that it is given, or nobody knows.
    """
    known = parameters(spelled, drawn)
    optional = {parameter.name for parameter in known if parameter.default is not REQUIRED}
    needed = sum(parameter.default is REQUIRED and not parameter.by_name_only for parameter in known)
    fewest = Args(drawn.args[:needed], {name: value for name, value in drawn.kwargs.items() if name not in optional})
    fewer = (len(fewest.args), fewest.kwargs.keys()) != (len(drawn.args), drawn.kwargs.keys())
    return fewest if known and fewer else None


def bare(spelled: str, drawn: Args) -> Iterator[Args]:
    """The call with nothing but what it must be given, where it is given more."""
    fewest = least(spelled, drawn)
    if fewest is not None:
        yield fewest


_reference = functools.cache(load_reference)


def rewritable(spelled: str, row: Op, *kinds: Way) -> bool:
    """Whether PyTorch tells another way of these kinds to write the row's call; it is drawn for that, apart from any
    test.
    """
    ways: list[Args] = []

    @on_the_cpu()
    def body() -> None:
        drawn = row.draw()
        ways.extend(way for kind in kinds for way in kind(spelled, drawn))

    drawer = Drawer(_reference(), spelled, 0, "torch", TestOptions(auto_backward=False), body)
    for index in range(_DRAWS):
        drawer.draw(index)
        if ways:
            return True
    return False


def constructions(name: str, built: Args) -> Iterator[Args]:
    """What the layer `name` is built with, without all that may be left out, and without each argument of that kind
    that is given by name.
    """
    known = inspect.signature(getattr(torch.nn, name)).parameters
    bound = inspect.signature(getattr(torch.nn, name)).bind(*built.args, **built.kwargs).arguments
    optional = [argument for argument, parameter in known.items() if parameter.default is not REQUIRED]
    yield Args((), {argument: value for argument, value in bound.items() if argument not in optional})
    yield from _less_each(built, optional)


def buildable(row: Layer) -> bool:
    """Whether the row's layer has arguments that may be left out, and everybody knows which."""
    layer = getattr(torch.nn, row.name, None)
    known = [] if layer is None else [*inspect.signature(layer).parameters.values()]
    anything = any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in known)
    return not anything and any(parameter.default is not REQUIRED for parameter in known)


def _less_each(given: Args, optional: Container[str]) -> Iterator[Args]:
    """The arguments without each that is given by name and may be left out."""
    for left_out in given.kwargs:
        if left_out in optional:
            yield Args(given.args, {name: value for name, value in given.kwargs.items() if name != left_out})


def results(spelled: str, drawn: Args, ways: Iterator[Args]) -> list[Any]:
    """The results of the call as drawn, and of its other ways.

    A way that PyTorch refuses has none: the refusal is part of the case, and the target must refuse as well.
    """
    function = Form(spelled) if spelled.startswith("Tensor.") else member(spelled)
    return [function(*drawn.args, **drawn.kwargs), *taken(function, ways)]


def taken(function: Callable[..., Any], ways: Iterator[Args]) -> Iterator[Any]:
    """What a function gives for each of these arguments that PyTorch takes."""
    for way in ways:
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            yield function(*way.args, **way.kwargs)


def wrong(spelled: str, drawn: Args) -> Iterator[Args]:
    """The call in ways that are wrong for any op: with a keyword that nothing has, a dimension that no tensor has, a
    reduction that is none.
    """
    yield Args(drawn.args, {**drawn.kwargs, "no_such_keyword": 1})
    known = [parameter.name for parameter in parameters(spelled, drawn)]
    for name, value in (("dim", 64), ("dim", -65), ("reduction", "median")):
        if name in known[: len(drawn.args)]:
            place = known.index(name)
            yield Args((*drawn.args[:place], value, *drawn.args[place + 1 :]), drawn.kwargs)
        elif name in drawn.kwargs or name in known:
            yield Args(drawn.args, {**drawn.kwargs, name: value})
