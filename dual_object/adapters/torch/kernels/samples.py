"""What an op is called with: the samples that PyTorch tests it with, and these with other values, sizes, layouts and
dtypes.

No op is known here by name. What a sample is changed to may be no lawful call: PyTorch says so when it is asked.
"""

from __future__ import annotations

import contextlib
import logging
import random
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from dual_object.adapters.torch.kernels.captured import captured
from dual_object.adapters.torch.kernels.naming import OPERATORS
from dual_object.errors import TargetError
from dual_object.replay.adapter import DTYPES

#: Elements of all tensors of a sample.
MOST_ELEMENTS = 1 << 14
#: Sizes at which kernels go another way: powers of two, multiples of a block, and their neighbours.
SIZES = (
    2,
    3,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    511,
    512,
    513,
    1023,
    1024,
    1025,
)
FEW_SIZES = (2, 16, 33, 64, 129, 257, 1025, 4097)
#: Values that elements are given, by what they are called.
EDGES = {
    "NaN": (float("nan"),),
    "infinity": (float("inf"),),
    "-infinity": (float("-inf"),),
    "zeros": (0.0, -0.0),
    "subnormal": (1e-42, -1e-42),
    "huge": (3e38, -3e38),
    "halves": (0.5, 1.5, 2.5, -0.5, -1.5),
}
#: What whole tensors are multiplied by.
SCALES = {"large": 100.0, "larger": 1e4, "small": 1e-5}
#: What is added to whole tensors: what is far from zero, and close together.
OFFSETS = {"far from zero": 1000.0}
_MAIN = (torch.float32, torch.float64, torch.int64, torch.bool)
#: What kernels are asked for that claim no dtypes, where not everything is asked.
COMMON_DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "bool", "complex64")
#: Of the main dtype's samples so many, of each other dtype's.
FEW, FEW_OF_DTYPE = 14, 3
#: Of all samples, where everything is asked for.
MOST, MOST_OF_DTYPE = 60, 8


@dataclass(frozen=True)
class Sample:
    """The arguments of one call.

    Attributes:
        role: what it is tried for: `plain`, `edges`, `magnitude`, `dtype`, `layout`, `size`, `shape`, `arguments` or
            `errors`.
        detail: and what of that, such as `NaN`, `float16` or `transposed`.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    role: str = "plain"
    detail: str = ""

    def tensors(self) -> list[torch.Tensor]:
        """Every tensor that is given."""
        found: list[torch.Tensor] = []
        mapped((self.args, self.kwargs), lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else leaf)
        return found

    def places(self) -> list[tuple[int | str, Any]]:
        """Every argument, by its position or name."""
        return [*enumerate(self.args), *self.kwargs.items()]

    def changed(self, leaf: Callable[[Any], Any], role: str, detail: str) -> Sample:
        """With another role, and `leaf` applied to whatever is no tuple, list or dict. A row of numbers that goes up
        still does: ops that search in one say nothing of any other.
        """

        def kept(item: Any) -> Any:
            new = leaf(item)
            if not (goes_up(item) and isinstance(new, torch.Tensor) and new.dim() == 1):
                return new
            return item if new.isnan().any() else _sorted(new)

        return Sample(mapped(self.args, kept), mapped(self.kwargs, kept), role, detail)


def goes_up(item: Any) -> bool:
    """Whether something is a row of at least three numbers, none of which is less than the one before."""
    if not isinstance(item, torch.Tensor) or item.dim() != 1 or item.numel() < 3 or item.is_complex():
        return False
    return bool((item[1:] >= item[:-1]).all())


def _sorted(row: torch.Tensor) -> torch.Tensor:
    return row.detach().sort().values.requires_grad_(row.requires_grad)


def mapped(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """`tree` with `leaf` applied to whatever is no tuple, list or dict."""
    if isinstance(tree, dict):
        return {key: mapped(item, leaf) for key, item in tree.items()}
    if type(tree) in (tuple, list):
        return type(tree)(mapped(item, leaf) for item in tree)
    return leaf(tree)


def named(path: str) -> Any:
    """PyTorch's table entry for the op at a path below `torch`, such as `nn.functional.softmax`. Raises TargetError."""
    with warnings.catch_warnings(), silent():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    if path.startswith(OPERATORS):
        return captured(path, op_db)
    last = path.rpartition(".")[2]
    aliases = {path, last}
    for wanted in (
        lambda info: info.name == path,
        lambda info: path in {alias.name for alias in info.aliases},
        lambda info: info.name.rpartition(".")[2] == last,
        lambda info: aliases & {alias.name.rpartition(".")[2] for alias in info.aliases},
    ):
        found = [info for info in op_db if wanted(info)]
        if found:
            return next((info for info in found if not info.variant_test_name), found[0])
    raise TargetError(
        f"PyTorch has no samples of torch.{path}, but a kernel can be judged for any op of its table op_db [--like]"
    )


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Without the log, in which PyTorch's own tests say that there is no GPU."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def path_of(function: Any) -> str | None:
    """The path of a public function of PyTorch, such as `nn.functional.softmax`; None where it is none."""
    for place in ("", "nn.functional", "linalg", "special", "fft", "nn"):
        namespace: Any = torch
        for part in filter(None, place.split(".")):
            namespace = getattr(namespace, part)
        for name, member in vars(namespace).items():
            if member is function and not name.startswith("_"):
                return f"{place}.{name}" if place else name
    return None


@contextlib.contextmanager
def seeded() -> Iterator[None]:
    """All sources of randomness that samples are drawn from, started anew; afterwards they go on as before."""
    states = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])


def samples(
    path: str,
    *,
    dtypes: Sequence[str] = (),
    whole: bool = False,
    within: Callable[[Sequence[Sample]], list[Sample]] = list,
) -> list[Sample]:
    """What the op at `path` is called with, plain calls first; of these `dtypes` alone, where any are named; `whole`:
    all that there is, not a choice. `within` makes of PyTorch's own samples those that all others come from. Raises
    TargetError where PyTorch has no samples of it.
    """
    info = named(path)
    supported = info.supported_dtypes("cpu")
    known = [dtype for dtype in supported if _name(dtype) in DTYPES]
    asked = dtypes or (DTYPES if whole else COMMON_DTYPES)
    wanted = [dtype for dtype in known if _name(dtype) in asked]
    if not wanted:
        raise TargetError(
            f"dtypes={', '.join(dtypes)}, but torch.{path} takes {', '.join(sorted(map(_name, known)))} [--dtypes]"
        )
    main = next((dtype for dtype in _MAIN if dtype in wanted), wanted[0])
    with seeded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = _chosen(within(_drawn(info, main)), MOST if whole else FEW)
        return [
            *plain,
            *_of_arguments(info, [sample for sample in plain if sample.role == "plain"]),
            *_of_edges(plain, whole),
            *_of_layouts(plain, whole),
            *_of_shapes(plain, whole),
            *_of_sizes(plain, whole),
            *_of_dtypes(info, plain, [dtype for dtype in wanted if dtype != main], whole, within),
            *_of_errors(info, plain, main),
        ]


def varied(plain: Sequence[Sample], *, whole: bool = False) -> list[Sample]:
    """Plain samples, and these with other values, layouts, shapes and sizes: all that needs no entry of an op."""
    with seeded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            *plain,
            *_of_edges(plain, whole),
            *_of_layouts(plain, whole),
            *_of_shapes(plain, whole),
            *_of_sizes(plain, whole),
        ]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _drawn(info: Any, dtype: torch.dtype) -> list[Sample]:
    differentiable = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")
    given = info.sample_inputs("cpu", dtype, requires_grad=differentiable, set_seed=False)
    drawn = [Sample((sample.input, *sample.args), dict(sample.kwargs)) for sample in given]
    return [_by_its_shapes(sample) for sample in drawn if _storable(sample) and not _unordered(info, sample)]


def _unordered(info: Any, sample: Sample) -> bool:
    """Whether it asks for results in any order, `sorted=False`: those of two functions cannot be held together."""
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{info.name.rpartition('.')[2]}"):
        names = [argument.name for argument in schema.arguments]
        if "sorted" in names:
            place = names.index("sorted")
            given = sample.args[place : place + 1] or (sample.kwargs.get("sorted", True),)
            return given[0] is False
    return False


def _by_its_shapes(sample: Sample) -> Sample:
    """A plain sample, or one of shapes that few think of."""
    tensors = sample.tensors()
    if any(not x.numel() for x in tensors):
        return replace(sample, role="shape", detail="size 0")
    return replace(sample, role="shape", detail="0-dim") if any(not x.dim() for x in tensors[:1]) else sample


def _storable(sample: Sample) -> bool:
    """Whether a Program can hold it: small strided tensors, and plain values."""
    tensors, plain = sample.tensors(), True

    def look(leaf: Any) -> Any:
        nonlocal plain
        kept = (type(None), bool, int, float, complex, str, torch.dtype, torch.Tensor, torch.memory_format)
        plain = plain and isinstance(leaf, kept)
        return leaf

    mapped((sample.args, sample.kwargs), look)
    dense = all(x.layout == torch.strided and not x.is_nested and x.device.type == "cpu" for x in tensors)
    return plain and dense and sum(x.numel() for x in tensors) <= MOST_ELEMENTS


def _chosen(drawn: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many: one of each form first, and no two that are all alike."""
    forms: dict[Hashable, Sample] = {}
    for sample in drawn:
        forms.setdefault(_form(sample), sample)
    first = [*forms.values()]
    if len(first) > most:
        return [first[round(i * (len(first) - 1) / (most - 1))] for i in range(most)]
    others = [sample for sample in drawn if all(sample is not one for one in first)]
    return [*first, *others[: most - len(first)]]


def _form(sample: Sample) -> Hashable:
    told: list[Hashable] = []

    def look(leaf: Any) -> None:
        told.append((leaf.dim(), 0 in leaf.shape, leaf.dtype) if isinstance(leaf, torch.Tensor) else (type(leaf), leaf))

    mapped((sample.args, sample.kwargs), look)
    return (*told, *sample.kwargs)


def _first_with(plain: Sequence[Sample], count: int, fits: Callable[[Sample], bool]) -> list[Sample]:
    """Samples that fit, spread over all of them."""
    fitting = [sample for sample in plain if fits(sample)]
    if len(fitting) <= count:
        return fitting
    return [fitting[round(i * (len(fitting) - 1) / max(count - 1, 1))] for i in range(count)]


def _floating(sample: Sample) -> bool:
    return any(x.is_floating_point() and x.numel() > 1 for x in sample.tensors())


# Arguments.


def _of_arguments(info: Any, plain: Sequence[Sample]) -> Iterator[Sample]:
    """Each flag the other way round, each dimension counted from the other end, and each keyword left out."""
    yield from (changed for changed in _otherwise(plain) if not _unordered(info, changed))


def _otherwise(plain: Sequence[Sample]) -> Iterator[Sample]:
    for sample in plain:
        for place, value in sample.places():
            for other in _others(value, sample):
                yield _with(sample, place, other, f"{place}={other!r}")
        for left in sample.kwargs:
            kwargs = {name: value for name, value in sample.kwargs.items() if name != left}
            yield Sample(sample.args, kwargs, "arguments", f"without {left}")


def _others(value: Any, sample: Sample) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif type(value) is int:
        ranks = {x.dim() for x in sample.tensors()}
        yield from {value - rank if value >= 0 else value + rank for rank in ranks if -rank <= value < rank}
    elif type(value) in (tuple, list) and value and all(type(item) is int for item in value):
        ranks = {x.dim() for x in sample.tensors()}
        for rank in ranks:
            if all(-rank <= item < rank for item in value):
                yield type(value)(item - rank if item >= 0 else item for item in value)


def _with(sample: Sample, place: int | str, value: Any, detail: str, role: str = "arguments") -> Sample:
    if isinstance(place, str):
        return Sample(sample.args, {**sample.kwargs, place: value}, role, detail)
    return Sample((*sample.args[:place], value, *sample.args[place + 1 :]), sample.kwargs, role, detail)


# Values.


def _of_edges(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """Some elements of each tensor, of one after the other, and all of them, with values at the edges."""
    for sample in _first_with(plain, 6 if whole else 2, _floating):
        count = len(sample.tensors())
        for detail, values in EDGES.items():
            for turn in range(min(count, 3)):
                yield _on(sample, turn, partial(_sprinkled, values=values), "edges", detail)
        for detail, scale in SCALES.items():
            yield sample.changed(_floats(partial(torch.mul, other=scale)), "magnitude", detail)
        for detail, offset in OFFSETS.items():
            yield _on(sample, 0, partial(torch.add, other=offset), "magnitude", detail)
        yield sample.changed(_floats(torch.zeros_like), "edges", "all zero")
        yield sample.changed(_floats(torch.ones_like), "edges", "all equal")
        yield sample.changed(_floats(lambda x: (x * 2).round()), "edges", "ties")
        yield sample.changed(_floats(lambda x: torch.full_like(x, float("-inf"))), "edges", "all -infinity")
    whole_numbers = [s for s in plain if any(_is_integer(x) and x.numel() for x in s.tensors()) and not _floating(s)]
    for sample in whole_numbers[:2]:
        for detail in ("least", "greatest"):
            yield sample.changed(partial(_integers, greatest=detail == "greatest"), "edges", detail)


def _is_integer(x: torch.Tensor) -> bool:
    return not (x.is_floating_point() or x.is_complex() or x.dtype == torch.bool)


def _integers(leaf: Any, *, greatest: bool) -> Any:
    """Half of the elements of a tensor of integers at the end of what they may be."""
    if not isinstance(leaf, torch.Tensor) or not _is_integer(leaf):
        return leaf
    limits, changed = torch.iinfo(leaf.dtype), leaf.clone(memory_format=torch.contiguous_format)
    changed.view(-1)[: max(1, leaf.numel() // 2)] = limits.max if greatest else limits.min
    return changed


def _sprinkled(x: torch.Tensor, values: Sequence[float]) -> torch.Tensor:
    """Every third element, the last one too, with one of the values after the other; NaN is given to one alone, for
    of two NaN nobody says which is the greater.
    """
    changed = x.detach().clone(memory_format=torch.contiguous_format)
    flat = changed.view(-1)
    places = [*range(0, flat.numel(), 3), flat.numel() - 1] if values[0] == values[0] else [flat.numel() // 2]
    top = torch.finfo(x.dtype).max if not x.is_complex() else 3e38
    for turn, place in enumerate(places):
        flat[place] = (
            max(-top, min(top, values[turn % len(values)])) if abs(values[0]) == 3e38 else values[turn % len(values)]
        )
    return changed


def _floats(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any], Any]:
    """Changes floating tensors; what needs a gradient still does."""

    def leaf(item: Any) -> Any:
        if not isinstance(item, torch.Tensor) or not item.is_floating_point():
            return item
        return change(item.detach()).requires_grad_(item.requires_grad)

    return leaf


def _on(sample: Sample, turn: int, change: Callable[[torch.Tensor], torch.Tensor], role: str, detail: str) -> Sample:
    """One floating tensor of a sample changed, the one at `turn`."""
    seen = -1

    def leaf(item: Any) -> Any:
        nonlocal seen
        if not isinstance(item, torch.Tensor):
            return item
        seen += 1
        if seen != turn or not item.is_floating_point() or not item.numel():
            return item
        return change(item.detach()).requires_grad_(item.requires_grad)

    return sample.changed(leaf, role, detail)


# Layouts.


def transposed(x: torch.Tensor) -> torch.Tensor:
    """The same values, with the dimensions in memory the other way round."""
    order = tuple(reversed(range(x.dim())))
    return x.permute(order).contiguous().permute(order)


def strided(x: torch.Tensor) -> torch.Tensor:
    """The same values, every second element of its memory along the last dimension."""
    if not x.dim():
        return x
    wide = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1]))
    wide[..., ::2] = x
    return wide[..., ::2]


def swapped(x: torch.Tensor) -> torch.Tensor:
    """The same values, with the last two dimensions in memory the other way round."""
    return x.transpose(-1, -2).contiguous().transpose(-1, -2) if x.dim() > 1 else x


def expanded(x: torch.Tensor) -> torch.Tensor:
    """The first of each along the first dimension, again and again in the same memory."""
    return x[:1].expand(x.shape) if x.dim() and x.shape[0] > 1 else x


def offset(x: torch.Tensor) -> torch.Tensor:
    """The same values, three elements after the beginning of their memory."""
    longer = torch.cat([x.new_zeros(3), x.reshape(-1)])
    return longer[3:].view(x.shape)


LAYOUTS = {"transposed": transposed, "strided": strided, "swapped": swapped, "expanded": expanded, "offset": offset}


def _of_layouts(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """All tensors, and the first alone, lying otherwise in memory."""

    def lies(sample: Sample) -> bool:
        return any(x.dim() > 1 and x.numel() > 1 for x in sample.tensors())

    chosen = _first_with(plain, 8 if whole else 3, lies)
    chosen = chosen or _first_with(plain, 2, lambda sample: any(x.dim() and x.numel() > 1 for x in sample.tensors()))
    for sample in chosen:
        for detail, lay in LAYOUTS.items():

            def leaf(item: Any, lay: Callable[[torch.Tensor], torch.Tensor] = lay) -> Any:
                if not isinstance(item, torch.Tensor):
                    return item
                return lay(item.detach()).requires_grad_(item.requires_grad)

            yield sample.changed(leaf, "layout", detail)
        yield _on(sample, 0, transposed, "layout", "the first transposed")


# Shapes and sizes.


def _of_shapes(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """Each size as 0 and as 1, one dimension more, no dimension."""
    for sample in _first_with(plain, 8 if whole else 3, lambda s: any(x.dim() and x.numel() for x in s.tensors())):
        first, *others = [x for x in sample.tensors() if x.dim()]
        alike = all(x.shape == first.shape for x in others)
        for size in dict.fromkeys(first.shape):
            # A weight without channels is no tensor of size 0 that an op meets.
            shared = not alike and any(size in x.shape and x.dim() > 2 for x in others)
            for new in (1,) if shared else (0, 1):
                yield from resized(sample, size, new, "shape", f"{size} as {new}")
        yield sample.changed(
            _tensors(lambda x: x.unsqueeze(0).expand(2, *x.shape).clone()), "shape", "one dimension more"
        )
        yield _on(sample, 0, lambda x: x.unsqueeze(0).expand(2, *x.shape).clone(), "shape", "the first with one more")
        yield sample.changed(_tensors(lambda x: x[0].clone() if x.dim() else x), "shape", "one dimension less")
        yield sample.changed(_tensors(lambda x: x.reshape(-1)[:1].reshape(())), "shape", "0-dim")
        yield sample.changed(_tensors(lambda x: x.reshape(1, 1, 1, *x.shape) if x.dim() < 3 else x), "shape", "rank 5")


def _of_sizes(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """Each size as others at which kernels go another way."""
    for sample in _first_with(plain, 4 if whole else 2, lambda s: any(x.dim() and x.numel() > 1 for x in s.tensors())):
        for size in _sizes(sample)[-3:]:
            for new in SIZES if whole else FEW_SIZES:
                yield from resized(sample, size, new, "size", str(new))
        first, *others = sample.tensors()
        if first.dim() > 1 and all(x.shape == first.shape for x in others):
            for dim in dict.fromkeys((0, first.dim() - 1)):
                for new in SIZES[-9:] if whole else FEW_SIZES[-3:]:
                    yield sample.changed(_tensors(partial(_long, dim=dim, new=new)), "size", f"{new} along {dim}")


def _sizes(sample: Sample) -> list[int]:
    """The different sizes of dimensions, in the order in which they come."""
    return list(dict.fromkeys(size for x in sample.tensors() for size in x.shape if size > 1))


def resized(sample: Sample, size: int, new: int, role: str, detail: str, most: int = MOST_ELEMENTS) -> Iterator[Sample]:
    """Every dimension of this size as another one; and so where plain numbers name it, such as in a shape."""
    grown = sum(x.numel() // max(1, size ** x.shape.count(size)) * new ** _count(x, size) for x in sample.tensors())
    if grown > most or new == size or not size:
        return

    def tensors(leaf: Any) -> Any:
        return _stretched(leaf, size, new) if isinstance(leaf, torch.Tensor) else leaf

    def both(leaf: Any) -> Any:
        return new if type(leaf) is int and leaf == size else tensors(leaf)

    yield sample.changed(tensors, role, detail)
    if any(type(leaf) is int and leaf == size for leaf in _plain(sample)):
        yield sample.changed(both, role, detail)


def _long(x: torch.Tensor, dim: int, new: int) -> torch.Tensor:
    """One dimension long, the others short."""
    short = x[tuple(slice(None) if axis == dim else slice(0, 2) for axis in range(x.dim()))]
    longer = short.index_select(dim, torch.arange(new) % x.shape[dim])
    return longer * (1 + 0.05 * torch.rand(longer.shape)).to(x.dtype) if x.is_floating_point() else longer


def _count(x: torch.Tensor, size: int) -> int:
    return [*x.shape].count(size)


def _plain(sample: Sample) -> list[Any]:
    found: list[Any] = []
    mapped((sample.args, sample.kwargs), found.append)
    return found


def _stretched(x: torch.Tensor, size: int, new: int) -> torch.Tensor:
    """The elements again and again along each dimension of this size."""
    changed = x.detach()
    for dim, there in enumerate(x.shape):
        if there == size:
            changed = changed.index_select(dim, torch.arange(new) % size)
    changed = _apart(changed) if new > size else changed
    changed = changed.clone(memory_format=torch.contiguous_format)
    return changed.requires_grad_(x.requires_grad) if x.is_floating_point() or x.is_complex() else changed


def stretched(x: torch.Tensor, dim: int, new: int) -> torch.Tensor:
    """The elements again and again along one dimension, floating ones a little apart from each other."""
    size = x.shape[dim]
    changed = x.detach().index_select(dim, torch.arange(new) % size)
    return _apart(changed) if new > size else changed


def _apart(x: torch.Tensor) -> torch.Tensor:
    """Floating elements a little apart from each other."""
    if not x.is_floating_point():
        return x
    return x * (1 + 0.05 * torch.rand(x.shape, dtype=torch.float64).to(x.dtype))


def _tensors(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any], Any]:
    def leaf(item: Any) -> Any:
        if not isinstance(item, torch.Tensor) or not item.numel():
            return item
        changed = change(item.detach())
        return changed.requires_grad_(item.requires_grad)

    return leaf


# Dtypes.


def _of_dtypes(
    info: Any,
    plain: Sequence[Sample],
    others: Sequence[torch.dtype],
    whole: bool,
    within: Callable[[Sequence[Sample]], list[Sample]],
) -> Iterator[Sample]:
    """Samples of every other dtype, and of two dtypes that meet."""
    for dtype in sorted(others, key=_name):
        for sample in _chosen(within(_drawn(info, dtype)), MOST_OF_DTYPE if whole else FEW_OF_DTYPE):
            yield replace(sample, role="dtype", detail=_name(dtype))
    if torch.int64 in others:
        for sample in _first_with(_drawn(info, torch.int64), 2, lambda s: any(x.numel() > 1 for x in s.tensors())):
            yield sample.changed(_beyond_float64, "dtype", "int64 beyond 2**53")
    if type(info).__name__ != "BinaryUfuncInfo":  # what others make of two dtypes is no rule of theirs
        return
    for sample in _first_with(plain, 2, lambda s: _floating(s) and len(s.tensors()) > 1):
        for dtype in (dtype for dtype in (torch.float64, torch.int32) if dtype in others):
            tensors = sample.tensors()
            last = tensors[-1]

            def leaf(item: Any, last: torch.Tensor = last, dtype: torch.dtype = dtype) -> Any:
                if item is not last or not item.is_floating_point():
                    return item
                changed = (item.detach() * (1 if dtype.is_floating_point else 3)).to(dtype)
                return changed.requires_grad_(item.requires_grad) if dtype.is_floating_point else changed

            yield sample.changed(leaf, "dtype", f"{_name(tensors[0].dtype)} meets {_name(dtype)}")


def _beyond_float64(leaf: Any) -> Any:
    """Half of the elements of a tensor of int64 so great that float64 has no such number."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype != torch.int64:
        return leaf
    changed = leaf.clone(memory_format=torch.contiguous_format)
    changed.view(-1)[::2] = 2**53 + 1
    return changed


# Refusals.


def _of_errors(info: Any, plain: Sequence[Sample], main: torch.dtype) -> Iterator[Sample]:
    """What PyTorch's own tests expect it to refuse, of the main dtype; and dimensions that no tensor has."""
    if info.error_inputs_func is not None:
        for error in info.error_inputs("cpu"):
            given = error.sample_input
            sample = Sample((given.input, *given.args), dict(given.kwargs), "errors", str(error.error_type.__name__))
            if _storable(sample) and all(x.dtype in (main, torch.int64) and x.numel() for x in sample.tensors()):
                yield sample
    for sample in _first_with(plain, 2, lambda s: len(s.tensors()) > 1):
        yield from _unfitting(sample)
    for sample in _first_with(plain, 3, lambda s: any("dim" in str(name) for name in s.kwargs) or len(s.args) > 1):
        for place, value in sample.places():
            if type(value) is int and (place == "dim" or isinstance(place, int)):
                yield _with(sample, place, 64, "a dimension that is not there", "errors")


def _unfitting(sample: Sample) -> Iterator[Sample]:
    """Each size of the second and third tensor greater by one."""
    for turn, x in [*enumerate(sample.tensors())][1:3]:
        for dim, size in enumerate(x.shape):
            if size > 1:
                wider = torch.arange(size + 1) % size
                change = partial(torch.index_select, dim=dim, index=wider)
                yield _on(sample, turn, change, "errors", "sizes that do not fit")


__all__ = [
    "Sample",
    "goes_up",
    "mapped",
    "named",
    "path_of",
    "resized",
    "samples",
    "silent",
    "stretched",
    "varied",
]
