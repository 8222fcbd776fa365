"""A fault: one op of OneFlow made wrong in one small way, as a row of a table."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Op = Callable[..., Any]

#: The modules that make the calls of a Program: the harness's own, also of a graph that trains, and a repro script.
PROGRAMS = frozenset({"dual_object.replay.replay", "dual_object.adapters.oneflow.training", "__main__"})

#: Every category has at least four faults.
CATEGORIES = (
    "value",
    "edge value",
    "dtype",
    "shape",
    "layout",
    "aliasing",
    "in-place",
    "default",
    "keyword",
    "exception",
    "gradient",
    "second derivative",
    "graph forward",
    "graph backward",
    "state",
    "mode",
    "random",
    "rare combination",
    "training",
)


class MisfitError(TypeError):
    """A planted fault was called as it cannot be: a fault of the bench, which kills nothing."""


@dataclass(frozen=True)
class World:
    """Where a fault is planted: the framework, and what the faults of this process remember."""

    flow: Any
    memory: dict[Any, Any] = field(default_factory=dict)

    @property
    def building(self) -> bool:
        """Whether a static graph is being built."""
        return bool(self.flow._oneflow_internal.lazy_mode.is_enabled())


#: What a fault does instead of the op: it is given the world, the op as it was, and the arguments of one call.
Change = Callable[..., Any]


@dataclass(frozen=True)
class Fault:
    """A planted fault.

    `op` is what a report must blame. `wrong` says in one line what the op does. `change(world, op, *args, **kwargs)`
    is called in its place; `place` is the path below `oneflow` of what is replaced, by default the op wherever users
    find a function or method of that name. `reason` is why no run notices it: given exactly where none does.
    """

    id: str
    category: str
    op: str
    wrong: str
    change: Change
    place: str = ""
    reason: str | None = None

    @property
    def test(self) -> str:
        """The one naive test of the op."""
        return f"test_{self.op}"

    def plant(self, world: World, callers: frozenset[str] = PROGRAMS) -> None:
        """Replace the op for the modules `callers`; raises LookupError where the framework has none of that name."""
        flow = world.flow
        if self.place:
            path, _, name = self.place.rpartition(".")
            home = flow
            for part in path.split("."):
                home = getattr(home, part)
            homes = [home]
        else:
            name = self.op
            homes = [flow, flow.Tensor, flow.nn.functional]
        having = [home for home in homes if hasattr(home, name)]
        if not having:
            raise LookupError(f"op={self.op!r}, but should be an op of oneflow [{self.id}]")
        for home in having:
            setattr(home, name, self._planted(world, getattr(home, name), callers))

    def _planted(self, world: World, op: Op, callers: frozenset[str] = PROGRAMS) -> Op:
        # What the harness itself, OneFlow or another fault calls is right: a run should see one fault per op alone.
        everywhere = self.place.startswith(("nn.", "optim.", "amp.")) and not self.place.startswith("nn.functional.")

        signature = inspect.signature(self.change)

        def planted(*args: Any, **kwargs: Any) -> Any:
            if not everywhere and sys._getframe(1).f_globals["__name__"] not in callers:
                return op(*args, **kwargs)
            try:
                signature.bind(world, op, *args, **kwargs)
            except TypeError as error:
                raise MisfitError(f"{self.id} is planted where it does not fit: {error}") from None
            return self.change(world, op, *args, **kwargs)

        return planted


def scaled_gradient(result: Any, factor: Any) -> Any:
    """The same values with so many times the gradient."""
    return result.detach() + factor * (result - result.detach())


def column_major(result: Any) -> Any:
    """The same values in memory whose first dimension runs fastest."""
    order = tuple(reversed(range(result.ndim)))
    return result.permute(*order).contiguous().permute(*order) if result.ndim > 1 else result


def linear(value: Any, slope: Any, x: Any) -> Any:
    """`value` with the gradient `slope` in `x`, and no second one."""
    return value.detach() + slope.detach() * (x - x.detach())


def bend(x: Any) -> Any:
    """Zero with no gradient, whose second derivative is 2."""
    moved = x - x.detach()
    return moved * moved
