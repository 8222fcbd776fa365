"""`random_program`: a chain of random calls in the body of a test."""

from __future__ import annotations

from typing import Any, Final

from autotest.api.programs import joins, layouts, pointwise, reductions, writes
from autotest.api.programs.chain import Chain
from autotest.api.programs.values import ALL, Interval, Memory, Value
from autotest.api.tensors import random_tensor
from autotest.errors import UsageError
from dual_object.record.dual import DualObject
from dual_object.record.recording import recording
from generators import checks, pack, random
from generators.drawing import current_drawing

STEPS: Final = (*pointwise.STEPS, *layouts.STEPS, *joins.STEPS, *reductions.STEPS, *writes.STEPS)
#: Each step as often as it weighs.
WEIGHTED: Final = tuple(step for step in STEPS for _ in range(step.weight))
#: The dtype of each tensor that a program starts from, but for the first one, which is always float32.
DTYPES: Final = ("float32", "float32", "float64", "int64", "bool")
#: Where their elements lie.
RANGES: Final = {"float32": (-1, 1), "float64": (-1, 1), "int64": (-3, 4), "bool": (0, 2)}


def random_program(*tensors: DualObject, ops: Any = None) -> tuple[DualObject, ...]:
    """Makes a chain of random calls that fit the dtypes, shapes and ranges of what they are given: functions, numbers,
    views, copies, reductions, joins, matrix products, masks, conversions, writes in place. Autograd can differentiate
    it.

    Args:
        tensors: what it starts from, and only reads; by default one to three new ones of 1 to 3 dimensions.
        ops: how many calls; by default 5 to 30. May be a generator.

    Returns the results that no call of the chain has taken, the latest last, and all tensors that it has written to.
    A test returns them, or goes on with them. Elements stay between -8 and 8, unless those of `tensors` do not, so
    that rounding errors stay small.

    Raises OutsideCaseError, RangeError for `ops`, UsageError for what is no tensor.
    """
    record = recording("random_program()")
    where = f"random_program({'...' if tensors else ''}{', ' if tensors and ops is not None else ''}"
    where += f"{'' if ops is None else f'ops={ops!r}'})"
    for tensor in tensors:
        if type(tensor) is not DualObject or not isinstance(tensor.reference, record.reference.tensor_type):
            raise UsageError(f"tensors={tensor!r:.60}, but should be a tensor of the case [{where}]")
    asked = random(5, 31) if ops is None else pack(ops)
    count = checks.integer(asked.to(int).value(), "ops", where, 1)
    chain = Chain(current_drawing.get().source, [_given(tensor) for tensor in tensors])
    if not tensors:
        _start(chain)
    for _ in range(count):
        chain.grow(WEIGHTED)
    return chain.results()


def _given(tensor: DualObject) -> Value:
    """A tensor of which nothing is known, and which is not written: whoever made it may need it."""
    return Value(tensor, Memory(ALL, kept=True))


def _start(chain: Chain) -> None:
    """Draw what the chain starts from: a tensor, and up to two others that broadcast with it."""
    chain.seed()
    shape = tuple(1 + chain.below(4) for _ in range(1 + chain.below(3)))
    shapes = (shape, shape[1:], (1, *shape[1:]), (*shape[:-1], 1))
    chain.values.append(_drawn(shape, "float32"))
    for _ in range(chain.below(3)):
        chain.values.append(_drawn(chain.pick(shapes), chain.pick(DTYPES)))


def _drawn(shape: tuple[int, ...], dtype: str) -> Value:
    low, high = RANGES[dtype]
    sizes = {f"dim{axis}": size for axis, size in enumerate(shape)}
    tensor = random_tensor(ndim=len(shape), low=low, high=high, dtype=dtype, **sizes)
    raw = tensor.reference
    # Autograd keeps a leaf that has a gradient from being written, and PyTorch what shares places with itself.
    return Value(tensor, Memory(Interval(low, high), kept=raw.requires_grad or 0 in raw.stride()))
