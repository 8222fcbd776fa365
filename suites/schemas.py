"""Calls of every public op, made from PyTorch's own operator schemas: what each argument may be, by its type.

A schema says that `sum` takes a tensor, a list of dimensions, a flag and a dtype. That is enough to lay out calls: each
dtype, ranks 0 to 3, a dimension beyond the last one, 0 and NaN for a number, and tensors that look in each way of
`looks.py`. Which ranks an op wants of its tensors no schema says: they are tried on PyTorch, once for each op.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch as pytorch
from forms import Form
from looks import ENDS, LOOKS, MEETING, MIXED, Look, Tensors, input_tensor, pytorch_tensor

from autotest import oneof
from generators import DTYPES, Generator, Source

#: Where an op is found, the home of its main form first, and what its schema's name begins with there.
HOMES = {"torch": "", "torch.nn.functional": "", "torch.linalg": "linalg_", "Tensor": ""}
#: What no call of this kind can be held against another framework, and why.
LEFT_OUT = {
    **dict.fromkeys(("empty_like", "new_empty", "new_empty_strided"), "its values are whatever memory held"),
    **dict.fromkeys(("resize_", "resize_as_", "resize", "resize_as"), "the values it adds are whatever memory held"),
    **dict.fromkeys(("set_", "set_data", "share_memory_", "requires_grad_"), "it changes what the tensor is"),
    **dict.fromkeys(("data_ptr", "storage", "storage_offset", "element_size"), "it tells of memory, not of values"),
    "ctc_loss": "PyTorch reads beyond its memory on lengths and targets out of range",
    **dict.fromkeys(("grid_sampler", "grid_sampler_2d"), "PyTorch writes no result in a mode that it does not know"),
    **dict.fromkeys(
        ("multi_margin_loss", "multilabel_margin_loss"), "PyTorch does not write the loss of tensors without elements"
    ),
    "choose_qparams_optimized": "PyTorch searches without an end where an element is NaN",
    "lcm": "PyTorch ends its process on the least integer",
    "linalg_eigvals": "PyTorch ends its process on a matrix that has a NaN",
    "binomial": "it is random",
    "unflatten_dense_tensors": "it is none of a user's",
}
#: Beginnings of names that PyTorch keeps for its own back ends, or for tensors that no other framework has.
_INTERNAL = ("cudnn_", "miopen_", "mkldnn_", "fbgemm_", "quantize", "q_", "sparse_", "fused_", "batch_norm_", "native_")
#: Tensors with another dtype than the first one has, by their names.
INDICES = frozenset({"index", "indices", "target", "indices_or_sections", "repeats"})
MASKS = frozenset({"mask", "condition"})
#: Parameters that are left at their defaults: where results go, and what the suites' other files check.
_LEFT_ALONE = frozenset(
    {
        *("out", "out_dtype", "device", "layout", "pin_memory", "generator", "memory_format"),
        *("requires_grad", "names", "non_blocking", "copy", "train"),
    }
)
#: Lawful texts by the name of a parameter, the ordinary one first; each is tried with one that is none.
TEXTS = {
    "rounding_mode": ("trunc", "floor"),
    "mode": ("reduced", "complete"),
    "reduce": ("sum", "prod", "mean", "amax", "amin"),
    "interpolation": ("linear", "lower", "nearest", "higher", "midpoint"),
    "indexing": ("ij", "xy"),
    "approximate": ("none", "tanh"),
    "side": ("left", "right"),
    "UPLO": ("L", "U"),
}
#: What makes no sense for any of them.
WRONG_TEXT = "no such text"
#: The ranks that an op's tensors are tried with: all alike, then each combination.
_RANKS = (2, 1, 3, 4, 5, 0)
#: The dtypes that it is tried with.
_TRIED = ("float32", "int64", "bool", "complex64")
#: Of more tensors than this only equal ranks are tried.
_MOST_TENSORS = 3


@dataclass(frozen=True)
class Parameter:
    """A parameter of a schema: its name, its type without `Optional`, whether it may be left out, and whether one that
    may not is None where it is not wanted.
    """

    name: str
    type: str
    optional: bool
    keyword: bool
    nullable: bool = False
    scalar_too: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor that a call has to give."""
        return self.type == "Tensor" and not (self.optional or self.nullable)

    @property
    def is_dim(self) -> bool:
        """Whether it names a dimension."""
        return self.type == "int" and self.name.rstrip("01234") in ("dim", "axis", "start_dim", "end_dim", "source")


@dataclass(frozen=True)
class Plan:
    """The ordinary call of an op that PyTorch takes: its tensors' ranks, their dtype, and the length of its lists. With
    `square` all sizes are 2, which a product of two matrices wants, or a determinant.
    """

    ranks: tuple[int, ...]
    square: bool
    dtype: str
    length: int


@dataclass(frozen=True)
class Operation:
    """One overload of an op, under the names by which users call it, such as `torch.add`, `Tensor.add`."""

    name: str
    overload: str
    spelled: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    @property
    def id(self) -> str:
        """The main form with the overload's name: `torch.max-dim`."""
        return f"{self.spelled[0]}-{self.overload}" if self.overload else self.spelled[0]

    @functools.cached_property
    def plan(self) -> Plan | str:
        """The ordinary call that PyTorch takes; a sentence where it takes none, or none that can be compared."""
        if self.name in LEFT_OUT:
            return LEFT_OUT[self.name]
        tensors = [parameter for parameter in self.parameters if parameter.is_tensor]
        told = "PyTorch takes no call with arguments made from its schema"
        lengths = (1, 2, 3, 4) if any(p.type.startswith("List[int]") for p in self.parameters) else (1,)
        for plan in itertools.starmap(Plan, itertools.product(_rankings(len(tensors)), (False, True), _TRIED, lengths)):
            obstacle = self._obstacle(plan)
            if not obstacle:
                return plan
            told = obstacle if obstacle != "refused" else told
        return told

    def _obstacle(self, plan: Plan) -> str:
        """Why a plan's ordinary call cannot be compared; empty where it can."""
        made = Tensors(plan.ranks, plan.dtype, plan.square)
        before = pytorch.random.get_rng_state()
        runs = []
        for _ in range(2):
            args, kwargs = arguments(self, plan, made, first_of, pytorch_tensor)
            try:
                runs.append(called(pytorch, self.spelled[0], args, kwargs))
            except Exception:  # whatever it says: another plan may do
                return "refused"
        if not pytorch.equal(before, pytorch.random.get_rng_state()):
            return "it is random"
        leaves = [*flat(runs[0])]
        if not leaves or not all(isinstance(leaf, (pytorch.Tensor, bool, int, float, complex)) for leaf in leaves):
            return "it gives nothing that can be compared"
        tensors = [leaf for leaf in leaves if isinstance(leaf, pytorch.Tensor)]
        if any(leaf.layout != pytorch.strided or str(leaf.dtype)[6:] not in DTYPES for leaf in tensors):
            return "it gives a tensor that NumPy cannot hold"
        return ""

    def run(self) -> Any:
        """Draw the arguments of one call, each kind of choice as a factor, and make it."""
        plan = self.plan
        assert isinstance(plan, Plan)
        spelled = corner_of(*self.spelled)
        others = (Look(dtype=name) for name in DTYPES if name != plan.dtype)
        kind = corner_of(Look(dtype=plan.dtype), *others, *ENDS)
        ranks = plan.ranks
        if ranks:
            own = ranks[0]
            moved = corner_of(*dict.fromkeys((own, *range(4)))) - own
            # Tensors of one rank keep it together.
            ranks = tuple(max(rank + moved, 0) if rank == own else rank for rank in ranks)
        look = drawn_of(*MEETING).over(corner_of(*LOOKS, *(MIXED if len(ranks) > 1 else ())))
        # Each dtype meets each look, also one that is there for integers.
        look = replace(look, dtype="").over(kind) if kind.dtype != plan.dtype else look.over(kind)
        made = Tensors(ranks, look.dtype, plan.square, look)
        args, kwargs = arguments(self, plan, made, drawn_of, functools.partial(input_tensor, layout=look.layout))
        return Form(spelled)(*args, **kwargs)


def first_of(*levels: Any) -> Any:
    """The ordinary one."""
    return levels[0]


def drawn_of(*levels: Any) -> Any:
    """One of them, as the case's design has it: the first is the ordinary one."""
    return levels[oneof(*range(len(levels))).value()] if len(levels) > 1 else levels[0]


class Corner(Generator):
    """Which of so many ways the inputs of a case look: the design has it meet no argument but in a survey."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def draw(self, source: Source) -> int:
        """The number of one."""
        return source.corner(self.count)

    def __repr__(self) -> str:
        """The call that made it."""
        return f"Corner({self.count})"


def corner_of(*levels: Any) -> Any:
    """One of them, as `drawn_of`, where they say how inputs look."""
    return levels[Corner(len(levels)).value()] if len(levels) > 1 else levels[0]


def arguments(
    operation: Operation,
    plan: Plan,
    made: Tensors,
    choose: Callable[..., Any],
    tensor: Callable[[tuple[int, ...], str, str], Any],
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call: `choose` takes one of the levels that it is given, the ordinary one first."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    position = 0
    for parameter in operation.parameters:
        if parameter.is_tensor:
            args.append(_tensor(parameter, position, made, choose, tensor))
            position += 1
            continue
        levels = _levels(parameter, plan, made, tensor)
        if parameter.nullable:
            # The ordinary call names dimensions: with None for them a target may refuse whatever it is tried with.
            levels = (*levels, None) if parameter.type == "List[int]" else (None, *levels)
        if not levels:
            continue
        value = choose(*levels)
        if callable(value) and not isinstance(value, pytorch.dtype):
            value = value()
        if parameter.optional or parameter.keyword:
            if value is not _OMITTED:
                kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


#: The level of what is left out.
_OMITTED = object()


def _tensor(parameter: Parameter, position: int, made: Tensors, choose: Any, tensor: Any) -> Any:
    shape = made.shape(position)
    if position == 0:
        return tensor(shape, made.dtype, made.values(0))
    if parameter.name in INDICES:
        kind = choose("index", "negative", "beyond", "int32", "float32")
        return tensor(shape, kind, "index") if kind in DTYPES else tensor(shape, "int64", kind)
    # A last dimension of another size, and the last one left out: neither fits, but where all sizes are alike.
    unlike = {"longer": (*shape[:-1], 3), "leading": shape[:-1]} if len(shape) > 1 else {}
    if parameter.name in MASKS:
        return tensor(unlike.get(choose("same", *unlike), shape), "bool", "ordinary")
    kinds = ("same", "0-dim", "broadcast", *unlike, *(("zero", "number", "fraction") if parameter.scalar_too else ()))
    kind = choose(*kinds)
    # Zeros are asked for among values: a number in the tensor's place would hide them.
    if kind in ("zero", "number", "fraction") and made.look.values != "zeros":
        return {"zero": 0, "number": -3, "fraction": 2.5}[kind]
    shape = {"0-dim": (), "broadcast": tuple(1 for _ in shape), **unlike}.get(kind, shape)
    return tensor(shape, made.dtype_of(position), made.values(position))


def _levels(parameter: Parameter, plan: Plan, made: Tensors, tensor: Any) -> tuple[Any, ...]:
    """The levels of an argument that is no required tensor, the ordinary one first; one that can be called makes it."""
    name, kind = parameter.name, parameter.type
    omitted = (_OMITTED,) if parameter.optional else ()
    rank = made.ranks[0] if made.ranks else 0
    if name in _LEFT_ALONE:
        return omitted
    if parameter.is_dim:
        own = (0, -1) if name[-1] in "02" or not name[-1].isdigit() else (-1, 0)
        return (*omitted, *own, max(rank, 1), -max(rank, 1) - 1)
    if name == "dtype":
        return (*omitted, pytorch.float64, pytorch.int64) if omitted else (pytorch.float64, pytorch.int64)
    if name == "reduction" and kind == "int":
        return (*omitted, "mean", "sum", "none", WRONG_TEXT)
    if kind == "bool":
        return (*omitted, True, False)
    if name == "q":
        return (0.95, 0.35, 1.0, -1, float("nan"))  # nearer to the next element than to the last, whatever the size
    if name in ("min", "max") and omitted:  # one of both has to be given
        return (-1 if name == "min" else 1, *omitted, 0, 2.5, float("nan"))
    if kind in ("number", "float", "complex"):
        return (*omitted, 1.0 if kind == "float" else 1, 0, -1, 2.5, float("nan"))
    if kind == "int":
        return (*omitted, 1, 0, -1, 2)
    if kind == "List[int]" and name in ("dim", "dims", "axes"):
        whole = [*range(plan.length)]
        return (*omitted, whole, [-1], [0, -1], [], [0, 0], [max(rank, 1)])
    if name == "normalized_shape":
        return (list(made.shape(0))[-plan.length :], [1], [])
    if kind == "List[int]":
        return (*omitted, *([each] * plan.length for each in (1, 2, 0, -1, 4)))
    if kind == "str":
        return (*omitted, *TEXTS.get(name, ()), WRONG_TEXT)
    shape = made.shape(0) if made.ranks else (2, 2)
    if kind == "Tensor":
        return (*omitted, lambda: tensor((2,), made.dtype, "other"), lambda: tensor((), made.dtype, "other"))
    if kind == "List[Tensor]":
        ranked = shape if made.ranks else made_shape(plan, made)
        pair = functools.partial(_several, tensor, (ranked, ranked), made.dtype)
        return (
            *omitted,
            pair,
            functools.partial(_several, tensor, (ranked,), made.dtype),
            functools.partial(_several, tensor, (), made.dtype),
            functools.partial(_several, tensor, (ranked, (*ranked, 1)), made.dtype),
            functools.partial(_several, tensor, (ranked, tuple(1 for _ in ranked)), made.dtype),
            functools.partial(_several, tensor, (ranked, (*ranked[:-1], 3)), made.dtype),
        )
    return omitted


def made_shape(plan: Plan, made: Tensors) -> tuple[int, ...]:
    """The sizes of the tensors of a list, where no other tensor says them."""
    return Tensors((2,), made.dtype, made.square, made.look).shape(0)


def _several(tensor: Any, shapes: Sequence[tuple[int, ...]], dtype: str) -> list[Any]:
    return [tensor(shape, dtype, "other" if i else "ordinary") for i, shape in enumerate(shapes)]


def called(root: Any, spelled: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The op below `root`, called by its path or as a method of its first argument, which an op in place may change."""
    home, _, name = spelled.rpartition(".")
    if home == "Tensor":
        first = args[0].clone() if name.endswith("_") else args[0]
        return getattr(first, name)(*args[1:], **kwargs)
    for part in spelled.split(".")[1:]:
        root = getattr(root, part)
    return root(*args, **kwargs)


def flat(tree: Any) -> Iterator[Any]:
    """The leaves of tuples and lists."""
    if isinstance(tree, (tuple, list)):
        for item in tree:
            yield from flat(item)
    else:
        yield tree


def _rankings(count: int) -> Iterator[tuple[int, ...]]:
    """The ranks to try for so many tensors: all alike first."""
    alike = [(rank,) * count for rank in _RANKS]
    yield from dict.fromkeys(alike)
    if 1 < count <= _MOST_TENSORS:
        yield from (ranks for ranks in itertools.product(_RANKS, repeat=count) if len(set(ranks)) > 1)


def operations() -> Iterator[Operation]:
    """Each overload of each public op that takes a tensor: once, however many names it has."""
    named: dict[str, list[str]] = {}
    for home, prefix in HOMES.items():
        root = pytorch.Tensor if home == "Tensor" else functools.reduce(getattr, home.split(".")[1:], pytorch)
        for name in sorted(dir(root)):
            if not name.startswith(("_", *_INTERNAL)) and callable(getattr(root, name, None)):
                named.setdefault(f"{prefix}{name}", []).append(f"{home}.{name}")
    for name, spelled in named.items():
        if name.endswith("_") and name[:-1] in named:
            continue  # a form of the op without
        forms = (*spelled, *(place for place in named.get(f"{name}_", ()) if place.startswith("Tensor.")))
        yield from _overloads(name, forms)


def _overloads(name: str, spelled: tuple[str, ...]) -> Iterator[Operation]:
    taken: dict[tuple[tuple[str, str], ...], Operation] = {}
    schemas = [
        schema
        for schema in pytorch._C._jit_get_schemas_for_operator(f"aten::{name}")
        if not any(argument.is_out for argument in schema.arguments)
    ]
    numbers = {a.name for schema in schemas for a in schema.arguments if str(a.type) == "number"}
    for schema in schemas:
        parameters = tuple(_parameter(argument, numbers) for argument in schema.arguments)
        first = parameters[0].type if parameters else ""
        if first not in ("Tensor", "List[Tensor]") or "Dimname" in str(schema) or "str dim" in str(schema):
            continue
        if any(p.type == "number" and p.name == "other" for p in parameters):
            continue  # a level of the overload that takes a tensor there
        if any(not (p.optional or p.nullable or _drawn(p)) for p in parameters):
            continue
        shape = tuple((p.name, p.type) for p in parameters)
        if shape not in taken:
            forms = tuple(s for s in spelled if not (s.startswith("Tensor.") and first != "Tensor"))
            if forms:
                taken[shape] = Operation(name, schema.overload_name, forms, parameters)
    yield from taken.values()


def _parameter(argument: Any, numbers: set[str]) -> Parameter:
    kind = str(argument.type)
    optional = argument.has_default_value()
    nullable = kind.startswith("Optional[")
    if nullable:
        kind = kind[9:-1]
    scalar_too = kind == "Tensor" and argument.name == "other" and argument.name in numbers
    return Parameter(argument.name, kind, optional, argument.kwarg_only, nullable and not optional, scalar_too)


def _drawn(parameter: Parameter) -> bool:
    """Whether a value of the parameter can be made from its type."""
    kinds = ("Tensor", "List[Tensor]", "int", "float", "number", "bool", "List[int]", "str", "complex")
    return parameter.type in kinds and parameter.name not in _LEFT_ALONE
