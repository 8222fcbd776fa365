"""What joins generators and dual objects: tensors, devices and dtypes drawn for both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.errors import UsageError
from autotest.run.session import running_session
from dual_object.program.global_layouts import in_global_scope
from dual_object.program.values import Array
from dual_object.record.dual import DualObject
from dual_object.record.recording import recording
from dual_object.replay.isolation import lies_in_memory
from generators import DTYPES, PLAIN, DrawnArray, DtypeError, Generator, Mix, RangeError, array, dtype_name, pack
from generators.drawing import current_drawing
from generators.source import Source, words


def random_tensor(
    ndim: Any = None,
    dim0: Any = None,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    requires_grad: Any = None,
    distinct: Any = False,
) -> DualObject:
    """A tensor with random values, the same on both sides.

    Args:
        ndim: 0 to 5; by default 1 to 5, now and then 0.
        dim0, dim1, dim2, dim3, dim4: sizes; by default 1 to 7 each, now and then 0. Those beyond a random `ndim` go
            unused.
        low, high: values lie in [low, high), but for special values in some tensors. By default [-1, 1) for floats,
            [-8, 8) for integers, [0, 8) for uint8.
        dtype: a dtype, its name, or float (float32), int (int64), bool; by default float32, and in some laid-out cases
            each other dtype that the ops take.
        requires_grad: by default True where the dtype can have a gradient, now and then False, but in a test's first
            drawn case.
        distinct: no two values are equal. For ops that choose among elements: which of two equal ones they choose is
            undecidable.

    All arguments may be generators. How often "now and then" is, which values are special (NaN, infinities, -0.0) and
    how tensors lie in memory depends on the run's `inputs`: with `--inputs plain`, and for global tensors, there is
    nothing of the kind.

    Raises OutsideCaseError, RangeError, DtypeError, UsageError.
    """
    record = recording("random_tensor()")
    mix = PLAIN if in_global_scope() else current_drawing.get().mix
    asked = dtype.value() if isinstance(dtype, Generator) else dtype
    name = mix.dtype if asked is None else dtype_name(asked)
    sizes = {"ndim": ndim, "dim0": dim0, "dim1": dim1, "dim2": dim2, "dim3": dim3, "dim4": dim4}
    drawn = _draw(sizes, low, high, name, distinct, mix)
    return record.input(
        drawn.data,
        drawn.dtype,
        requires_grad=_wants_gradient(requires_grad, name, mix),
        fill=drawn.fill,
        seed=drawn.seed,
        strides=drawn.placed.strides,
        offset=drawn.placed.before,
    )


def _draw(sizes: dict[str, Any], low: Any, high: Any, name: str, distinct: Any, mix: Mix) -> DrawnArray:
    """The values of a `random_tensor` of the dtype `name`; errors spell the arguments as they were given to it."""
    asked = {
        **sizes,
        "dtype": None if name == "float32" else name,
        "distinct": None if distinct is False else distinct,
        "low": low,
        "high": high,
    }
    ranged = low is not None or high is not None
    if not ranged:
        low, high = (-1, 1) if _differentiable(name) else (0 if name == "uint8" else -8, 8)
    elif low is None or high is None:
        given, other = ("high", "low") if low is None else ("low", "high")
        value = high if low is None else low
        raise UsageError(f"{given}={value!r} is given alone, but should come with {other} [random_tensor(...)]")
    if isinstance(sizes["ndim"], int):
        _check_sizes(sizes["ndim"], sizes)
    try:
        drawn: DrawnArray = array(
            **sizes, low=low, high=high, dtype=name, mix=mix, ranged=ranged, distinct=distinct
        ).value()
    except RangeError as error:
        arguments = ", ".join(f"{key}={value!r}" for key, value in asked.items() if value is not None)
        raise RangeError(f"{str(error).partition(' [array(')[0]} [random_tensor({arguments})]") from None
    return drawn


def _wants_gradient(requires_grad: Any, name: str, mix: Mix) -> bool:
    """Whether a `random_tensor` of the dtype `name` requires a gradient: as was asked, else where it can have one, but
    for the share of tensors that `mix` leaves without; in a test's first drawn case all have one, for a test of
    few cases might be without any backward. Raises UsageError.
    """
    wanted = requires_grad
    if wanted is None:
        wanted = _differentiable(name)
        if wanted and mix.without_gradient:
            drawing = current_drawing.get()
            without = drawing.source.corner(2, (1 - mix.without_gradient, mix.without_gradient))
            wanted = not without or (drawing.index == 0 and not mix.laid_out)
    if isinstance(wanted, Generator):
        wanted = wanted.to(bool).value()
    if wanted and not _differentiable(name):
        raise UsageError(
            f"requires_grad={requires_grad!r}, but should be False for dtype={name!r}: "
            "only floating tensors have gradients [random_tensor(...)]"
        )
    return bool(wanted)


def _differentiable(name: str) -> bool:
    return DTYPES[name].category in ("complex", "floating")


def _check_sizes(ndim: int, sizes: dict[str, Any]) -> None:
    """Refuse a size for a dimension that the tensor does not have."""
    for axis, (name, size) in enumerate([*sizes.items()][1:]):
        if axis >= ndim and size is not None:
            arguments = ", ".join(f"{key}={value!r}" for key, value in sizes.items() if value is not None)
            wanted = f"an ndim of at least {axis + 1}"
            raise UsageError(f"{name}={size!r} is given, but should come with {wanted} [random_tensor({arguments})]")


def choice_tensor(
    a: int | Sequence[Any],
    size: Any = None,
    replace: bool = True,
    p: Sequence[float] | None = None,
    dtype: Any = int,
    requires_grad: bool = False,
) -> DualObject:
    """A tensor whose values are chosen from `a` (an int means range(a)), with weights `p`, as `numpy.random.choice`
    does.

    Raises UsageError for an empty `a`, for weights that do not fit it, or for more values than there are without
    `replace`.
    """
    record = recording("choice_tensor()")
    data, name, seed = chosen(a, size, replace, p, dtype)
    return record.input(data, name, requires_grad=requires_grad, fill="choice", seed=seed)


def chosen(
    a: int | Sequence[Any], size: Any, replace: bool, p: Sequence[float] | None, dtype: Any
) -> tuple[Array, str, int]:
    """Values, dtype and seed of a `choice_tensor`; raises UsageError."""
    pool = list(range(a)) if isinstance(a, int) else list(a)
    shape = _shape(pack(size).value())
    count = int(np.prod(shape))
    if not pool:
        raise UsageError(f"a={a!r}, but should have at least one value [choice_tensor(...)]")
    if p is not None and (len(p) != len(pool) or min(p) < 0 or not np.isclose(sum(p), 1)):
        raise UsageError(f"p={p!r}, but should be {len(pool)} weights of at least 0 that sum to 1 [choice_tensor(...)]")
    if not replace and count > len(pool):
        raise UsageError(
            f"size={size!r}, but should be at most {len(pool)} values without replace [choice_tensor(...)]"
        )
    seed = Choose().value()
    units = (words(seed, count + len(pool)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if replace:
        edges = np.cumsum(p if p is not None else np.full(len(pool), 1 / len(pool)))
        picked = np.minimum(np.searchsorted(edges, units[:count], side="right"), len(pool) - 1)
    else:  # weighted without replacement: the smallest exponential clocks
        rates = np.asarray(p if p is not None else np.ones(len(pool)), dtype=np.float64)
        with np.errstate(divide="ignore"):
            picked = np.argsort(-np.log1p(-units[: len(pool)]) / rates, kind="stable")[:count]
    name = dtype_name(dtype)
    data = np.array([pool[i] for i in picked], dtype=DTYPES[name].storage).reshape(shape)
    return data, name, seed


def dual_tensor(tensor: Any) -> DualObject:
    """An input of the running case from an existing PyTorch tensor: its values, dtype, strides, requires_grad, and its
    storage offset where a slice has these strides, as `x[:, 1:]`.

    Both sides get their own copy; gradients do not flow back to `tensor`. Raises OutsideCaseError, and UsageError for
    what is no strided CPU tensor of a dtype that NumPy can hold.
    """
    record = recording("dual_tensor()")
    where = "[dual_tensor(...)]"
    if not isinstance(tensor, record.reference.tensor_type):
        what = {
            DualObject: "tensor is a dual object, which an op takes as it is",
            np.ndarray: "tensor is a numpy.ndarray",
        }.get(type(tensor), f"tensor={tensor!r:.60}")
        raise UsageError(
            f"{what}, but should be one of PyTorch's own, such as pytorch.from_numpy(...) gives, where pytorch is your "
            f"own `import torch as pytorch` {where}"
        )
    layout = str(tensor.layout).removeprefix("torch.")
    if layout != "strided" or tensor.is_nested or tensor.device.type != "cpu":
        kind = "nested" if tensor.is_nested else layout
        raise UsageError(
            f"tensor is {kind} on {tensor.device}, but should be strided on cpu: "
            f"convert it, and convert the dual object back {where}"
        )
    dtype, _, _, requires_grad = record.reference.describe(tensor)
    if dtype not in DTYPES:
        raise UsageError(f"tensor.dtype={dtype}, but should be one of {', '.join(DTYPES)} {where}")
    [values] = record.reference.read([tensor])
    strides = None if tensor.is_contiguous() else tuple(tensor.stride())
    _, offset = lies_in_memory(record.reference, tensor)
    data = np.array(values, order="C")
    return record.input(data, dtype, requires_grad=requires_grad, strides=strides, offset=offset)


class Choose(Generator):
    """Draws the 32-bit seed of a `choice_tensor`."""

    def __init__(self) -> None:
        super().__init__()

    def draw(self, source: Source) -> int:
        """The seed."""
        return source.integer(0, 1 << 32)

    def __repr__(self) -> str:
        return "seed"


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return (size,) if isinstance(size, int) else tuple(size)


class RandomDevice(Generator):
    """A device that the reference and the target both have."""

    def draw(self, source: Source) -> str:
        """`cpu`, or `cuda` where both sides have it."""
        session = running_session()
        devices = session.reference.info().devices
        if len(devices) > 1:  # only then is it worth waiting for the target
            devices = tuple(d for d in devices if d in session.target_info().devices)
        return devices[source.index(len(devices))] if len(devices) > 1 else devices[0]

    def __repr__(self) -> str:
        return "random_device()"


class RandomDtype(Generator):
    """A dtype that the reference and the target both have."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self._names = names

    def draw(self, source: Source) -> Any:
        """A `torch.dtype`, which dual calls map to the target's."""
        session = running_session()
        known = session.target_info().dtypes
        both = [name for name in self._names if name in known]
        if not both:
            raise UsageError(
                f"{self!r}, but should name at least one dtype that {session.options.target} has: {', '.join(known)}"
            )
        return session.reference.resolve(both[source.index(len(both))])

    def __repr__(self) -> str:
        return f"random_dtype({', '.join(map(repr, self._names))})"


_CATEGORIES = {
    "floating": ("float32", "float64"),
    "integral": ("int8", "uint8", "int32", "int64"),
    "all": ("float32", "float64", "int8", "uint8", "int32", "int64", "bool"),
}


def random_device() -> Generator:
    """A device that both sides have."""
    return RandomDevice()


def random_dtype(*names: str) -> Generator:
    """One of these dtypes, by name or by family (`floating`, `integral`, `all`; default `all`), if both sides have
    it. Raises DtypeError.
    """
    wanted: list[str] = []
    for name in names or ("all",):
        try:
            wanted += _CATEGORIES.get(name) or (dtype_name(name),)
        except DtypeError as error:
            raise DtypeError(f"{error}; or a family: {', '.join(_CATEGORIES)} [random_dtype({name!r})]") from None
    return RandomDtype(tuple(dict.fromkeys(wanted)))
