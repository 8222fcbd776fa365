"""Global tensors in tests: placements and sbp, drawn or listed, and the scope in which inputs are global."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import product
from typing import Any, TypeVar

from autotest.errors import UsageError
from autotest.run.session import running_session
from dual_object.program.global_layouts import BROADCAST, everywhere, global_scope, in_global_scope, world_size
from dual_object.program.values import Placement, Sbp
from dual_object.record.dual import DualObject
from generators import Generator, pack
from generators.source import Source

F = TypeVar("F", bound=Callable[..., Any])
#: Turns a neutral placement or sbp into what a body gets.
Given = Callable[[Any], Any]


class _Placements:
    """`placement("cpu", [0, 1])`, and `placement.all("cpu")`."""

    def __call__(self, device_type: str, ranks: Sequence[Any]) -> Placement:
        """The placement on these ranks: a list, or lists of lists of one length. Raises ProgramError."""
        return Placement(device_type, ranks)

    def all(self, device_type: str) -> Placement:
        """The placement on all ranks of the run."""
        return everywhere(device_type)


class _Sbps:
    """`sbp.split(0)`, `sbp.broadcast`, `sbp.partial_sum`."""

    broadcast = BROADCAST
    partial_sum = Sbp("partial_sum")

    def split(self, dim: int) -> Sbp:
        """Every rank holds a slice along dimension `dim`. Raises ProgramError."""
        return Sbp("split", dim)


placement = _Placements()
sbp = _Sbps()


def globaltest(function: F) -> F:
    """Run a test inside a `GlobalScope`."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with global_scope():
            return function(*args, **kwargs)

    return run  # type: ignore[return-value]


class GlobalScope:
    """`with GlobalScope():` inputs and modules made inside are global: a copy on every rank, on
    `placement.all("cpu")`.
    """

    def __init__(self) -> None:
        self._scopes: list[AbstractContextManager[None]] = []

    def __enter__(self) -> GlobalScope:
        scope = global_scope()
        scope.__enter__()
        self._scopes.append(scope)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._scopes.pop().__exit__(*raised)


def is_global() -> bool:
    """Whether the running code is inside a `GlobalScope` or a `@globaltest`."""
    return in_global_scope()


class Listed(Generator):
    """A list that needs no draw: it can be iterated, indexed and measured inside a case and outside of one."""

    def __init__(self, spelled: str, members: Callable[[], list[Any]], children: Sequence[Generator] = ()) -> None:
        super().__init__(*children)
        self._spelled = spelled
        self._members = members

    def value(self) -> list[Any]:
        """The whole list."""
        return self._members()

    def draw(self, source: Source) -> list[Any]:
        """The whole list; no decision is taken."""
        return self._members()

    def __len__(self) -> int:
        return len(self._members())

    def __getitem__(self, index: Any) -> Any:
        return self._members()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members())

    def __repr__(self) -> str:
        return self._spelled


class OneOf(Listed):
    """One member of a list, drawn once per case. Iteration, indexing and `len` work on the drawn member."""

    def value(self) -> Any:
        """What was drawn in this case; OutsideCaseError outside of one."""
        return Generator.value(self)

    def draw(self, source: Source) -> Any:
        """One of the list."""
        members = self._members()
        return members[source.index(len(members))]

    def __len__(self) -> int:
        return len(self.value())

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())


def _same(leaf: Any) -> Any:
    return leaf


def _devices(only: str | None) -> tuple[str, ...]:
    if only is not None:
        return (only,)
    session = running_session()
    if os.environ.get("ONEFLOW_TEST_CPU_ONLY") or "cuda" not in session.reference.info().devices:
        return ("cpu",)
    return ("cuda", "cpu") if "cuda" in session.target_info().devices else ("cpu",)


def _placements(only: str | None, given: Given) -> list[Any]:
    """On each device type, all ranks as a list and as a hierarchy of one row: `[0, 1]` and `[[0, 1]]`."""
    ranks = list(range(world_size()))
    return [given(Placement(device, shape)) for device in _devices(only) for shape in (ranks, [ranks])]


def all_placement(only: str | None = None, given: Given = _same) -> Listed:
    """All ranks of the run as placements of one and of two dimensions, on each device type that both sides have.

    `only` names the one device type; `given` is applied to each placement.
    """
    return Listed(f"all_{only + '_' if only else ''}placement()", lambda: _placements(only, given))


def all_cpu_placement(given: Given = _same) -> Listed:
    """`all_placement`, on the CPU alone."""
    return all_placement("cpu", given)


def all_cuda_placement(given: Given = _same) -> Listed:
    """`all_placement`, on GPUs alone."""
    return all_placement("cuda", given)


def random_placement(only: str | None = None, given: Given = _same) -> OneOf:
    """One of `all_placement()`."""
    return OneOf(f"random_{only + '_' if only else ''}placement()", lambda: _placements(only, given))


def random_cpu_placement(given: Given = _same) -> OneOf:
    """One of `all_cpu_placement()`."""
    return random_placement("cpu", given)


def random_gpu_placement(given: Given = _same) -> OneOf:
    """One of `all_cuda_placement()`."""
    return random_placement("cuda", given)


def all_sbp(
    placement: Any = None,
    dim: int = 1,
    max_dim: Any = 0,
    except_split: bool = False,
    except_broadcast: bool = False,
    except_partial_sum: bool = False,
    valid_split_axis: int | Sequence[int] | None = None,
    given: Given = _same,
) -> Listed:
    """Every sbp that a tensor can have, each a tuple with one part per dimension of the placement.

    `all_sbp(dim=1, max_dim=2)` is `[(split(0),), (split(1),), (broadcast,), (partial_sum,)]`; `dim=2` gives the 16
    pairs of these.

    Args:
        placement: a placement or a generator of one; its number of dimensions is the number of parts.
        dim: the number of parts where no placement is given.
        max_dim: the tensor's number of dimensions, or a generator of it; a scalar (0) can only be `broadcast`.
        except_split, except_broadcast, except_partial_sum: leave these out.
        valid_split_axis: the dimensions along which to split; by default all. One that is shorter than the number of
            ranks must be left out: OneFlow ends all ranks over it.
        given: is applied to each part.
    """
    without = (except_split, except_broadcast, except_partial_sum)
    axes = [valid_split_axis] if isinstance(valid_split_axis, int) else valid_split_axis

    def every() -> list[Any]:
        parts = dim if placement is None else _dimensions(placement)
        ndim = pack(max_dim).to(int).value()
        if ndim == 0:
            return [(given(BROADCAST),) * parts]
        no_split, no_broadcast, no_partial_sum = without
        kinds: list[Sbp] = []
        if not no_split:
            kinds += [Sbp("split", axis) for axis in range(ndim) if axes is None or axis in axes]
        if not no_broadcast:
            kinds.append(BROADCAST)
        if not no_partial_sum:
            kinds.append(Sbp("partial_sum"))
        return [tuple(map(given, parts_)) for parts_ in product(kinds, repeat=parts)]

    arguments = [f"placement={placement!r}"] if placement is not None else [f"dim={dim}"] if dim != 1 else []
    arguments.append(f"max_dim={max_dim!r}")
    arguments += [
        f"except_{name}=True" for name, out in zip(("split", "broadcast", "partial_sum"), without, strict=True) if out
    ]
    arguments += [] if valid_split_axis is None else [f"valid_split_axis={valid_split_axis!r}"]
    return Listed(f"all_sbp({', '.join(arguments)})", every, (pack(max_dim),))


def random_sbp(
    placement: Any = None,
    dim: int = 1,
    max_dim: Any = 0,
    except_split: bool = False,
    except_broadcast: bool = False,
    except_partial_sum: bool = False,
    valid_split_axis: int | Sequence[int] | None = None,
    given: Given = _same,
) -> OneOf:
    """One of `all_sbp` with the same arguments. Raises UsageError where they leave none."""
    without = (except_split, except_broadcast, except_partial_sum)
    listed = all_sbp(placement, dim, max_dim, *without, valid_split_axis, given)
    spelled = repr(listed).replace("all_", "random_", 1)

    def some() -> list[Any]:
        members = listed.value()
        if not members:
            raise UsageError(f"{spelled} has nothing to draw from, but should leave at least one sbp")
        return members

    return OneOf(spelled, some, (pack(max_dim),))


def _dimensions(placement: Any) -> int:
    """How many dimensions a placement has, however it is given. Raises UsageError for what is none."""
    value = placement.value() if isinstance(placement, Generator) else placement
    value = value.reference if type(value) is DualObject else value
    ranks = getattr(value, "ranks", None)
    if ranks is None or not hasattr(ranks, "ndim"):
        raise UsageError(f"placement={placement!r}, but should be a placement or a generator of one [all_sbp(...)]")
    return int(ranks.ndim)


__all__ = [
    "GlobalScope",
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "globaltest",
    "is_global",
    "placement",
    "random_cpu_placement",
    "random_gpu_placement",
    "random_placement",
    "random_sbp",
    "sbp",
]
