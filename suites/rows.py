"""Ops as rows of data, and the one factory that expands a row into the forms in which users write the op.

A row draws small arguments: up to five dimensions of one to four elements, so that a case is cheap and its stored
program short. Values keep away from where an answer is undefined (ties, kinks, domain edges).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from forms import Form, member
from refusals import refused

from autotest import oneof, random, random_bool, random_device, random_size, random_tensor

#: One generator, so that all tensors of a case are on one device.
_DEVICE = random_device()
#: Where they are instead: a GPU that is given an index beyond a tensor is lost to the process.
_INSTEAD: ContextVar[str | None] = ContextVar("_INSTEAD", default=None)
_HOMES = {"torch": "torch.{}", "F": "torch.nn.functional.{}", "linalg": "torch.linalg.{}"}
_HOMES |= {"Tensor": "Tensor.{}", "Tensor_": "Tensor.{}_"}


@dataclass(frozen=True)
class Args:
    """The arguments of one call."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


def args(*positional: Any, **named: Any) -> Args:
    """The arguments of one call."""
    return Args(positional, named)


def size(low: int = 1, high: int = 5) -> Any:
    """The size of a dimension; in laid-out cases 0, 1 and long ones, too."""
    return random_size(low, high)


def whole(low: int, high: int) -> int:
    """A drawn integer of [low, high)."""
    return random(low, high).to(int).value()


def real(low: float, high: float) -> float:
    """A drawn number of [low, high)."""
    return random(low, high).to(float).value()


def flag() -> bool:
    """False or True."""
    return random_bool().value()


def seldom() -> bool:
    """True in one of five cases, else False."""
    return bool(oneof(False, True, possibility=[0.8, 0.2]).value())


def pick(*choices: Any) -> Any:
    """One of these values, ordinarily the first."""
    return oneof(*choices).value()


def each(ndim: int, *choices: Any) -> Any:
    """An argument that is one number or one for each of `ndim` dimensions: of the choices 2 and (1, 3) the second is
    (1, 3, 3) for three dimensions, whose first and last differ. `nothing()` leaves it out.
    """
    return oneof(*(per_dimension(ndim, choice) if isinstance(choice, tuple) else choice for choice in choices))


def per_dimension(ndim: int, choice: Any) -> tuple[Any, ...]:
    """A number as so many, (1, 3) as (1, 3, 3) for three dimensions."""
    parts = choice if isinstance(choice, tuple) else (choice,)
    return tuple(parts[min(axis, len(parts) - 1)] for axis in range(ndim))


def rank(*ranks: int) -> int:
    """How many dimensions: of 0 to 5, ordinarily 3, or of these, ordinarily the first."""
    return pick(*(ranks or (3, 0, 1, 2, 4, 5)))


def axis(ndim: int) -> int:
    """Each dimension of a tensor of `ndim`, counted from its start or its end."""
    return _wrapped(pick(1, 0, 2, 3, 4) - 5 * flag(), ndim)


def axes(ndim: int) -> Any:
    """One dimension of a tensor of `ndim`, or several, in any order, or `()`."""
    chosen = pick((0, 1), 1, -1, (-1,), (0, 2), (-1, -3), (2, 0, 1, 4, 3), ())
    if isinstance(chosen, int):
        return _wrapped(chosen, ndim)
    places = {place % max(ndim, 1): _wrapped(place, ndim) for place in chosen}
    return tuple(places.values())


def leading(dim: Any) -> int:
    """The first of some dimensions, of none the last."""
    return dim if isinstance(dim, int) else [*dim, -1][0]


def _wrapped(place: int, ndim: int) -> int:
    """A dimension that a tensor of `ndim` has, counted from the same end; a tensor without any takes 0 and -1."""
    count = max(ndim, 1)
    return place % count - count * (place < 0)


def tensor(*sizes: Any, low: Any = -1, high: Any = 1, dtype: Any = None, **named: Any) -> Any:
    """A tensor of these sizes with values of [low, high), on the case's device; the rest is as for `random_tensor`."""
    dims = {f"dim{axis}": value for axis, value in enumerate(sizes)}
    return placed(random_tensor(ndim=len(sizes), low=low, high=high, dtype=dtype, **dims, **named))


def untied(*sizes: Any, **named: Any) -> Any:
    """As `tensor`, but equal elements are rare: which of them an op chooses is open."""
    return tensor(*sizes, distinct=oneof(True, False, possibility=[0.95, 0.05]), **named)


def placed(x: Any) -> Any:
    """A tensor or module on the case's device; one that is there already needs no call in the program."""
    device = _INSTEAD.get() or _DEVICE.value()
    return x if device == "cpu" else x.to(device)


@contextmanager
def on_the_cpu() -> Iterator[None]:
    """While it lasts, or what it decorates does, nothing is placed on a GPU."""
    token = _INSTEAD.set("cpu")
    try:
        yield
    finally:
        _INSTEAD.reset(token)


def shape(ndim: int, high: int = 5) -> tuple[Any, ...]:
    """Drawn sizes, for tensors that share them."""
    return tuple(size(1, high) for _ in range(ndim))


def sizes(ndim: int, dim: int = -1) -> tuple[int, ...]:
    """Sizes of `ndim` dimensions: `dim`, along which an op works, and one beside it are a `size()`, the others small.

    Both are drawn whatever `ndim` is, so that a design has as many factors for each rank.
    """
    corners = [size(1, 4).value(), size(1, 4).value()]
    drawn = [1 + random(0, 1 << 20).to(int).value() % 3 for _ in range(ndim)]  # of so wide a range: no factor
    for offset in range(min(ndim, 2)):
        drawn[(dim - offset) % ndim] = corners[offset]
    return tuple(drawn)


def values(low: float, high: float, ndim: int | None = None, **named: Any) -> Callable[[], Args]:
    """Draws one tensor of any rank with values of [low, high); the rest is as for `random_tensor`."""
    return lambda: args(tensor(*(sizes(rank()) if ndim is None else shape(ndim)), low=low, high=high, **named))


@dataclass(frozen=True)
class Op:
    """An op by the name that users type.

    Attributes:
        draw: draws the arguments of one call.
        spelled: where the op is found, the main form first: `torch`, `F` (`torch.nn.functional`), `linalg`, `Tensor`,
            `Tensor_` (in place, on a clone), or an operator such as `x+y`.
        keywords: names of the positional arguments; adds a form that passes all of them by name.
        variant: tells rows of one op apart.
        graph: False where no static graph can run the op, since a size or host value that it gives depends on values.
        then: is applied to the result, where the bare result has no defined values.
        errors: draws, by what is wrong with them, arguments that the op must refuse.
    """

    name: str
    draw: Callable[[], Args]
    spelled: str = "torch Tensor"
    keywords: str = ""
    variant: str = ""
    graph: bool = True
    then: Callable[[Any], Any] | None = None
    errors: Mapping[str, Callable[[], Args]] = field(default_factory=dict)

    def calls(self) -> Iterator[Call]:
        """The main form first."""
        ending = f"-{self.variant}" if self.variant else ""
        homes = self.spelled.split()
        for home in homes:
            spelled = _HOMES.get(home, home).format(self.name)
            yield Call(spelled + ending, self, _positional(Form(spelled)))
        if self.keywords:
            names = self.keywords.split()
            spelled = _HOMES[homes[0]].format(self.name)
            written = ",".join(f"{name}=" for name in names)
            yield Call(f"{spelled}({written}){ending}", self, _by_name(spelled, names))

    def run(self, apply: Callable[[Args], Any]) -> Any:
        """Draw and call."""
        result = apply(self.draw())
        return result if self.then is None else self.then(result)


@dataclass(frozen=True)
class Layer:
    """A module class by the name that users type; `draw` draws the arguments of its construction, then of its call.

    `mode="eval"` calls `eval()` before its use, `"train"` leaves it as it is constructed; `"either"` draws which.
    """

    name: str
    draw: Callable[[], tuple[Args, Args]]
    variant: str = ""
    mode: str = "either"
    graph: bool = True

    def calls(self) -> Iterator[Call]:
        """The one form that a module has."""
        ending = f"-{self.variant}" if self.variant else ""
        yield Call(f"torch.nn.{self.name}{ending}", self, self._construct_and_call)

    def _construct_and_call(self, drawn: tuple[Args, Args]) -> Any:
        built, called = drawn
        module = placed(member(f"torch.nn.{self.name}")(*built.args, **built.kwargs))
        if self.mode == "eval" or (self.mode == "either" and random_bool().value()):
            module = module.eval()
        return module(*called.args, **called.kwargs)

    def run(self, apply: Callable[[Any], Any]) -> Any:
        """Draw, construct and call."""
        return apply(self.draw())


@dataclass(frozen=True)
class Call:
    """One form of a row: what a test runs once per case."""

    id: str
    row: Op | Layer
    apply: Callable[[Any], Any]

    def __call__(self) -> Any:
        return self.row.run(self.apply)


def _positional(form: Form) -> Callable[[Args], Any]:
    return lambda drawn: form(*drawn.args, **drawn.kwargs)


def _refused(apply: Callable[[Args], Any]) -> Callable[[Args], Any]:
    return lambda drawn: refused(lambda: apply(drawn))


def _by_name(spelled: str, names: list[str]) -> Callable[[Args], Any]:
    return lambda drawn: member(spelled)(**dict(zip(names, drawn.args, strict=True)), **drawn.kwargs)


def ops(names: str, draw: Callable[[], Args], spelled: str = "torch Tensor", **rest: Any) -> tuple[Op, ...]:
    """One row per name, all with the same arguments."""
    return tuple(Op(name, draw, spelled, **rest) for name in names.split())


def layers(names: str, draw: Callable[[], tuple[Args, Args]], **rest: Any) -> tuple[Layer, ...]:
    """One row per module class, all with the same arguments."""
    return tuple(Layer(name, draw, **rest) for name in names.split())


def tables(*without: str) -> Iterator[Op | Layer]:
    """Every row of the suites' tables, but for those of some files."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        if path.stem not in without:
            yield from getattr(importlib.import_module(path.stem), "ROWS", ())


def main_forms(rows: Iterable[Op | Layer]) -> pytest.MarkDecorator:
    """Run the test once per row, as its argument `call`: the row's main form."""
    return _parametrize(call for row in rows if row.graph for call in [*row.calls()][:1])


def other_forms(rows: Iterable[Op | Layer]) -> pytest.MarkDecorator:
    """Run the test once per further form of each row."""
    return _parametrize(call for row in rows if row.graph for call in [*row.calls()][1:])


def eager_forms(rows: Iterable[Op | Layer]) -> pytest.MarkDecorator:
    """Run the test once per form of the rows that no static graph can run."""
    return _parametrize(call for row in rows if not row.graph for call in row.calls())


def wrong_calls(rows: Iterable[Op | Layer]) -> pytest.MarkDecorator:
    """Run the test once per wrong call of each row, in its main form."""
    return _parametrize(
        Call(f"{main.id}-{what}", replace(row, draw=on_the_cpu()(draw), then=None), _refused(main.apply))
        for row in rows
        if isinstance(row, Op)
        for main in [*row.calls()][:1]
        for what, draw in row.errors.items()
    )


def _parametrize(calls: Iterable[Call]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", [pytest.param(call, id=call.id) for call in calls])
