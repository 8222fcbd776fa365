"""Arrays as arguments: a random shape, filled from two choices."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from numpy.typing import NDArray

from generators import checks
from generators.alternatives import tuple as tuple_of
from generators.dtypes import DTYPES, dtype_name
from generators.errors import RangeError
from generators.fills import (
    FILLS,
    LAID_OUT,
    LAID_OUT_DISTINCT,
    LAID_OUT_RANGED,
    LAID_OUT_RANGED_DISTINCT,
    fill_values,
)
from generators.generator import Generator
from generators.layouts import CONTIGUOUS, LAYOUTS, Placed, expand_values, place_layout
from generators.mixes import PLAIN, Mix
from generators.scalars import laid_out_size
from generators.source import Source

DEFAULT_FILLS: Final = PLAIN.fills
DIMS: Final = ("dim0", "dim1", "dim2", "dim3", "dim4")
SEEDS: Final = 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class DrawnArray:
    """What an array generator becomes in a case.

    `data` is C-contiguous and owns its memory; every user of the generator in this case gets this one object, so
    whoever writes to it copies first. `fill_values(fill, seed, data.shape, dtype, low, high, bounded=bounded)` makes it
    again, but for a layout of stride 0, along which `placed` repeats the first value. `placed` says how the array
    should lie in memory.
    """

    data: NDArray[Any]
    dtype: str
    fill: str
    seed: int
    low: float = 0
    high: float = 1
    bounded: bool = True
    placed: Placed = CONTIGUOUS


class ArrayGenerator(Generator):
    """A `DrawnArray` of a random or a given shape; what it is annotated with changes nothing."""

    __slots__ = ("_dims", "_distinct", "_dtype", "_fills", "_high", "_knobs", "_low", "_mix", "_ndim", "_shape")

    def __init__(self, knobs: dict[str, Any]) -> None:
        """Takes the arguments of `array` by name; RangeError or ChoiceError if they exclude each other."""
        super().__init__()
        self._knobs = knobs
        shape, fills = knobs["shape"], knobs["fills"]
        if shape is not None and knobs["ndim"] is not None:
            raise RangeError(f"ndim={knobs['ndim']!r}, but should be left out when a shape is given [{self!r}]")
        if isinstance(shape, Generator):
            shape.to(tuple[int, ...])
        elif shape is not None:
            shape = tuple_of(*shape).to(int)
        self._shape: Generator | None = shape
        self._ndim = _typed(knobs["ndim"], int)
        self._dims = tuple([_typed(knobs[name], int) for name in DIMS])
        self._low = _typed(knobs["low"], float)
        self._high = _typed(knobs["high"], float)
        self._dtype = knobs["dtype"]
        self._distinct = _typed(knobs["distinct"], bool)
        self._mix: Mix = knobs["mix"]
        self._fills = fills if fills is DEFAULT_FILLS else checks.weights(fills, len(FILLS), "fills", self)

    def draw(self, source: Source) -> DrawnArray:
        """The shape's choices, then those of the bounds and the dtype, then a fill and a seed, and a layout if mixed.

        RangeError if a size or rank is not allowed or the range is empty, DtypeError if the dtype is unknown.
        """
        shape = self._drawn_sizes(source) if self._shape is None else self._given_sizes(self._shape)
        low = checks.number(_plain(self._low), "low", self)
        high = checks.number(_plain(self._high), "high", self)
        dtype = dtype_name(_plain(self._dtype))
        mix = self._mix
        distinct = checks.boolean(_plain(self._distinct), "distinct", self)
        fill, bounded = self._fill(source, dtype, distinct=distinct)
        seed = source.integer(0, SEEDS)
        data = fill_values(fill, seed, shape, dtype, low, high, self, bounded)
        if mix.layouts is None:
            return DrawnArray(data, dtype, fill, seed, low, high, bounded)
        placed = place_layout(LAYOUTS[source.corner(len(LAYOUTS), mix.layouts)], shape)
        if placed.strides is not None and 0 in placed.strides:
            if fill == "distinct":  # no two of its elements lie in one place
                return DrawnArray(data, dtype, fill, seed, low, high, bounded)
            data = expand_values(data, placed.strides)
        return DrawnArray(data, dtype, fill, seed, low, high, bounded, placed)

    def _fill(self, source: Source, dtype: str, *, distinct: bool) -> tuple[str, bool]:
        """How the array is filled, and whether special values keep to the range."""
        if self._mix.laid_out and self._fills is DEFAULT_FILLS:
            names: Sequence[str] = LAID_OUT_DISTINCT if distinct else LAID_OUT
            if self._knobs["ranged"] and DTYPES[dtype].category == "integer":
                names = LAID_OUT_RANGED_DISTINCT if distinct else LAID_OUT_RANGED
            return names[source.corner(len(names))], True
        fills, bounded = self._mixed(dtype)
        return ("distinct" if distinct else FILLS[source.index(len(FILLS), fills)]), bounded

    def _mixed(self, dtype: str) -> tuple[Sequence[float], bool]:
        """The weights of the fills, and whether special values keep to the range.

        Integers never leave a range that was given: they are indices and sizes.
        """
        mix, ranged = self._mix, self._knobs["ranged"]
        if self._fills is not DEFAULT_FILLS:
            return self._fills, True
        leaves = not ranged or (mix.wild and DTYPES[dtype].category in ("floating", "complex"))
        return (mix.fills, False) if leaves else (mix.bounded, True)

    def _drawn_sizes(self, source: Source) -> list[int]:
        # What nobody asked for is drawn as random(1, 6) and random(1, 8) would be, without building them.
        mix = self._mix
        if self._ndim is None:
            scalar = mix.scalar and source.corner(2, (1 - mix.scalar, mix.scalar))
            ndim = 0 if scalar else source.integer(1, 6)
        else:
            ndim = checks.integer(_plain(self._ndim), "ndim", self, 0, len(DIMS))
        sizes = []
        for name, size in zip(DIMS[:ndim], self._dims, strict=False):
            sizes.append(self._drawn_size(source) if size is None else checks.integer(_plain(size), name, self, 0))
        return sizes

    def _drawn_size(self, source: Source) -> int:
        mix = self._mix
        if mix.laid_out:
            return laid_out_size(source, 2, 5)
        if mix.empty:
            extreme = source.index(3, (1 - mix.empty - mix.single, mix.single, mix.empty))
            if extreme:
                return 2 - extreme
        return source.integer(1, 8)

    def _given_sizes(self, shape: Generator) -> list[int]:
        return [checks.integer(size, f"shape[{axis}]", self, 0) for axis, size in enumerate(shape.value())]

    def __repr__(self) -> str:
        """The call that made it."""
        arguments = [
            f"{name}={self._knobs[name]!r}"
            for name, parameter in inspect.signature(array).parameters.items()
            if repr(self._knobs[name]) != repr(parameter.default)
        ]
        return f"array({', '.join(arguments)})"


def array(
    ndim: object = None,
    dim0: object = 1,
    dim1: object = None,
    dim2: object = None,
    dim3: object = None,
    dim4: object = None,
    low: object = 0,
    high: object = 1,
    dtype: object = "float32",
    shape: object = None,
    fills: Sequence[float] = DEFAULT_FILLS,
    mix: Mix = PLAIN,
    ranged: bool = True,
    distinct: object = False,
) -> ArrayGenerator:
    """An array with values of [low, high); every argument may be a generator, except `fills`, `mix` and `ranged`.

    Args:
        ndim: 0 to 5; None for random(1, 6).
        dim0, dim1, dim2, dim3, dim4: sizes; None for random(1, 8).
        low, high: the ends of the range.
        dtype: a dtype by name.
        shape: a sequence of sizes, or a generator of one, of any rank; in place of `ndim` and the sizes.
        fills: the probabilities of `FILLS`, in that order; see `fill_values` for what they are.
        mix: draws what is left open: fills (unless given), layout, sizes, rank.
        ranged: [low, high) was asked for, rather than being a default.
        distinct: no two elements are equal; the fill is then the one of that name.

    Raises RangeError, ChoiceError or DtypeError, here or when the value is drawn.
    """
    return ArrayGenerator(
        {
            "ndim": ndim,
            "dim0": dim0,
            "dim1": dim1,
            "dim2": dim2,
            "dim3": dim3,
            "dim4": dim4,
            "low": low,
            "high": high,
            "dtype": dtype,
            "shape": shape,
            "fills": fills,
            "mix": mix,
            "ranged": ranged,
            "distinct": distinct,
        }
    )


def _typed(value: object, annotation: type) -> object:
    """`value`, annotated if it is a generator. Plain values are not packed: that would double the time."""
    return value.to(annotation) if isinstance(value, Generator) else value


def _plain(value: object) -> Any:
    """The value of a generator, or the plain value."""
    return value.value() if isinstance(value, Generator) else value
