"""Reruns: one Program run on the reference again, in float64 and with its values nudged, to learn how firmly the
reference's own answer stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.evidence.evidence import part_of
from dual_object.errors import CannotWiden
from dual_object.program.calls import Call
from dual_object.program.precision import Change, widened
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay
from generators import DTYPES, round_to_bfloat16
from generators.fills import float_facts

#: Inputs are moved by so many units of rounding of their own dtype: one for each of a few roundings on the way.
UNITS = 4.0
#: So much nearer the second set of runs stays: where a result does not follow, it jumps.
NEARER = 64.0
#: Runs per set. Of two tied elements each comes first in some of six runs, but once in 32 times.
RUNS = 6
#: Runs that look for another of many equal elements: one of eight comes first in some of 32 runs, but for 1.4 %.
MANY = 32
#: Copies of the elements in one run: enough that vector instructions compute some of them, an odd number so that they
#: leave some.
COPIES = 37
#: Ways in which inputs are laid anew: packed, and every second element.
RELAID = 2
#: What stands for infinity where infinite elements are to come apart: beyond all narrower dtypes.
_INFINITE = 1e300
#: What an integer may be moved by without reaching its neighbour.
_LESS_THAN_HALF = 0.4

_EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
_PARTS = {"complex64": "float32", "complex128": "float64"}


def epsilon(dtype: str) -> float:
    """The distance from 1 to the next number of a floating dtype, or of the parts of a complex one."""
    return _EPS[_PARTS.get(dtype, dtype)]


def smallest_normal(dtype: str) -> float:
    """The smallest positive number of a floating dtype that has all its digits."""
    return float_facts(DTYPES[dtype])[0]


def greatest(dtype: str) -> float:
    """The greatest finite number of a floating dtype, or of the parts of a complex one."""
    return float_facts(DTYPES[dtype])[2]


def rounded(values: Array, dtype: str) -> Array:
    """float64 values as those of a narrower floating dtype, as arrays hold them."""
    if dtype == "bfloat16":
        return round_to_bfloat16(values.astype(np.float32))
    return values.astype(DTYPES[dtype].storage)


class Reruns:
    """Runs of one Program on the reference, each made when it is first asked for.

    With `several`, for a Program of several calls none of which diverges alone, the result of every call is nudged as
    well, since each rounds. `result` is the dtype of what one call gives: where it is finer than all that the call is
    given, as in `softmax(half, dim, dtype=torch.float32)`, it is computed in that dtype, and nudges are of its digits.
    A run that fails is left out.
    """

    def __init__(self, reference: Reference, program: Program, *, several: bool, result: str = "") -> None:
        self._reference = reference
        self.program = program
        self._several = several
        self._result = result

    @cached_property
    def again(self) -> Observation:
        """The Program as it is."""
        return QuietReplay(self._reference, self.program, side="reference").run()

    @cached_property
    def once_more(self) -> Observation:
        """The same a second time."""
        return QuietReplay(self._reference, self.program, side="reference").run()

    @cached_property
    def exact(self) -> Observation | None:
        """In float64."""
        return self._wide(None)

    @cached_property
    def absolute(self) -> Observation | None:
        """In float64 on absolute values: the sum of [1e5, -1e5] becomes 2e5, the greatest that any order of summation
        comes to.
        """
        return self._wide(lambda values, dtype: np.abs(values).astype(values.dtype))

    @cached_property
    def factors(self) -> Observation | None:
        """In float64 on absolute values, those below 1 as 1: the greatest that any part of a product comes to."""
        return self._wide(lambda values, dtype: np.fmax(np.abs(values), 1).astype(values.dtype))

    @cached_property
    def absolute_finite(self) -> Observation | None:
        """As `absolute`, with zeros for what is not finite: so a result that leaves the dtype's range does so by its
        sums, not by an infinity that was given.
        """
        return self._wide(lambda values, dtype: np.where(np.isfinite(values), np.abs(values), 0).astype(values.dtype))

    @cached_property
    def near(self) -> list[Observation]:
        """In float64, every value nudged by up to `UNITS` units of rounding (more for float64 inputs, see `_far`),
        zeros by up to as many times the smallest normal number.
        """
        return self._nudged(self._far)

    @cached_property
    def nearer(self) -> list[Observation]:
        """As `near`, with nudges `NEARER` times smaller."""
        return self._nudged(self._far / NEARER)

    @cached_property
    def nearest(self) -> list[Observation]:
        """As `nearer`, with nudges `NEARER` times smaller again; empty where the inputs are float64, whose last digit
        is not that fine.
        """
        return [] if self._dtypes & {"float64", "complex128"} else self._nudged(self._far / NEARER**2)

    @cached_property
    def scattered(self) -> list[Observation]:
        """In its own dtypes, its inputs and cotangents nudged as in `near`: what these scatter by is lost on the way.

        The mean of what a batch norm has centred is 0, and so it is in float64, however its inputs are nudged; in
        float32 it is what is left of numbers 1e7 times as great.
        """
        runs = []
        for seed in range(RUNS):
            moved = partial(self._moved, self._nudge(seed, UNITS, zeros=False))
            program = replace(
                self.program,
                inputs=[replace(x, data=moved(x.data, x.dtype)) for x in self.program.inputs],
                cotangents={id_: moved(data, str(data.dtype)) for id_, data in self.program.cotangents.items()},
            )
            run = QuietReplay(self._reference, program, side="reference").run()
            if not run.ended and run.backward_failure is None and run.second_failure is None:
                runs.append(run)
        return runs

    def _moved(self, nudge: _Nudge, values: Array, dtype: str) -> Array:
        """Nudged values, where the Program starts from such a dtype."""
        return rounded(nudge(values, dtype), dtype) if dtype in self._dtypes else values

    @cached_property
    def zeros_kept(self) -> list[Observation]:
        """As `near`, but zeros stay what they are."""
        return self._nudged(self._far, zeros=False)

    @cached_property
    def integers(self) -> list[Observation]:
        """As `nearer`, integer inputs nudged too; empty where the reference wants them to be integers."""
        return self._nudged(self._far / NEARER, integers=True)

    @cached_property
    def parted(self) -> list[Observation]:
        """Runs that break ties in many ways: as `nearer`, with infinite elements apart as well, and where there are
        integer inputs as many runs again with those nudged too.

        Each run of `topk([2, 2, 2], 1)` may choose another of the equal elements. There are `MANY` runs, so that each
        element has its turn.
        """
        nudges = [self._nudge(RUNS + seed, self._far / NEARER, parting=True) for seed in range(MANY)]
        runs = [*self._run([(nudge, None) for nudge in nudges], integers=False)]
        if any(x.data.dtype.kind in "iu" for x in self.program.inputs):
            runs += self._run([(nudge, None) for nudge in nudges], integers=True)
        return runs

    @cached_property
    def repeated(self) -> Observation | None:
        """The Program on inputs and cotangents that hold `COPIES` copies along a new first dimension; None where the
        reference refuses those.

        An op that computes element by element turns shape (3,) into (37, 3) and shows each element at 37 places, some
        of them computed by vector instructions.
        """
        rank = max((x.data.ndim for x in self.program.inputs), default=0)
        inputs = [replace(x, data=_copies(x.data, rank), strides=None, offset=0) for x in self.program.inputs]
        cotangents = {id_: _copies(data, data.ndim) for id_, data in self.program.cotangents.items()}
        program = replace(
            self.program, inputs=inputs, cotangents=cotangents, cotangent_strides={}, second_cotangents={}, watched=[]
        )
        observation = QuietReplay(self._reference, program, side="reference").run()
        return None if observation.ended or observation.backward_failure is not None else observation

    @cached_property
    def relaid(self) -> list[Observation]:
        """The Program on the same values that lie otherwise in memory: packed, and every second element; its cotangents
        are packed. A kernel that takes eight numbers at once has other answers at NaN and zeros than one that takes
        them one by one, and PyTorch has both.
        """
        runs = []
        for spread in range(1, RELAID + 1):
            inputs = [replace(x, strides=_strides(x.data.shape, spread), offset=0) for x in self.program.inputs]
            program = replace(self.program, inputs=inputs, cotangent_strides={})
            run = QuietReplay(self._reference, program, side="reference").run()
            if not run.ended and run.backward_failure is None and run.second_failure is None:
                runs.append(run)
        return runs

    @cached_property
    def traced(self) -> list[Observation]:
        """As it is and in float64, with the derivative formulas that autograd takes under a dispatch mode: those read
        no values, so that theirs may be another answer at a singular point.
        """
        with self._reference.seen_by_mode():
            observation = QuietReplay(self._reference, self.program, side="reference").run()
            runs = list(self._run([(None, None)], integers=False))
        return runs if observation.ended or observation.backward_failure is not None else [observation, *runs]

    @cached_property
    def unfilled(self) -> list[Observation]:
        """Two runs, in which what the reference leaves uninitialised (`torch.empty`) holds zeros and ones; empty where
        the Program calls no such op.
        """
        if not any(call.op.rpartition(".")[2] in self._reference.uninitialised for call in self.program.calls):
            return []
        return [_Filled(self._reference, self.program, value).run() for value in (0, 1)]

    @property
    def scale(self) -> float:
        """What `nearer` moves a result by, times this, is how far `UNITS` units of rounding in the inputs move it."""
        return UNITS / (self._far / NEARER)

    @property
    def _far(self) -> float:
        """The units of rounding by which `near` nudges. A float64 run cannot be nudged by less than its own last digit,
        so that float64 inputs move by more.
        """
        return UNITS * NEARER if self._dtypes & {"float64", "complex128"} else UNITS

    @cached_property
    def _finer(self) -> str:
        """The dtype of the result, where it is finer than all that the Program starts from; empty elsewhere."""
        starts = self._starts
        if self._result not in _EPS or not starts or not starts <= set(_EPS):
            return ""
        return self._result if epsilon(self._result) < min(map(epsilon, starts)) else ""

    @cached_property
    def _dtypes(self) -> set[str]:
        """The floating dtypes in which the Program rounds."""
        return {self._finer} if self._finer else self._starts

    @cached_property
    def _starts(self) -> set[str]:
        """The floating dtypes that the Program starts from."""
        state = [str(array.dtype) for call in self.program.modules() for array in call.state.values()]
        return {
            dtype for dtype in (*(x.dtype for x in self.program.inputs), *state) if _PARTS.get(dtype, dtype) in _EPS
        }

    @property
    def _rounding(self) -> float:
        """The epsilon of the coarsest dtype in which the Program rounds."""
        return max((epsilon(dtype) for dtype in self._dtypes), default=_EPS["float32"])

    def _wide(self, change: Change | None) -> Observation | None:
        runs = list(self._run([(change, None)], integers=False))
        return runs[0] if runs else None

    def _nudge(self, seed: int, units: float, *, zeros: bool = True, parting: bool = False) -> _Nudge:
        return _Nudge(seed, units, zeros, self._rounding, parting=parting, finer=self._finer)

    def _nudged(self, units: float, *, zeros: bool = True, integers: bool = False) -> list[Observation]:
        nudges = [self._nudge(seed, units, zeros=zeros) for seed in range(RUNS)]
        shaken = [nudge.result if self._several else None for nudge in nudges]
        return list(self._run(list(zip(nudges, shaken, strict=True)), integers=integers))

    def _run(
        self, changes: list[tuple[Change | None, Callable[[Array], Array] | None]], *, integers: bool
    ) -> Iterator[Observation]:
        for change, shaken in changes:
            try:
                program = widened(self.program, change, integers=integers)
            except CannotWiden:
                return
            with self._reference.default_dtype("float64"):
                observation = _Shaken(self._reference, program, shaken).run()
            if not observation.ended and observation.backward_failure is None and observation.second_failure is None:
                yield observation


def _copies(data: Array, rank: int) -> Array:
    """Copies along a first dimension, before those that broadcasting adds."""
    shape = (1,) * (rank - data.ndim) + data.shape
    return np.broadcast_to(data.reshape(shape), (COPIES, *shape)).copy()


def _strides(shape: tuple[int, ...], spread: int) -> tuple[int, ...] | None:
    """Strides, in elements, of an array of which every `spread`-th element is one; None where it is packed."""
    if spread == 1 or 0 in shape or not shape:
        return None
    return tuple(spread * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class _Nudge:
    """Moves every value by its own share of some units of rounding, up or down, so that equal ones come apart. `finer`
    is the dtype whose rounding that is, where it is not the value's own.
    """

    def __init__(
        self, seed: int, units: float, zeros: bool, rounding: float, *, parting: bool = False, finer: str = ""
    ) -> None:
        self._parting = parting
        self._finer = finer
        self._random = np.random.Generator(np.random.Philox(seed))
        self._units = units
        self._zeros = zeros
        self._rounding = rounding

    def __call__(self, values: Array, dtype: str) -> Array:
        share = self._random.uniform(-1, 1, values.shape)
        if dtype not in _EPS and dtype not in _PARTS:  # an integer
            return np.asarray(values + _LESS_THAN_HALF * share)
        if self._parting:
            values = np.where(np.isinf(values), np.sign(values) * _INFINITE, values)
        dtype = self._finer or dtype
        moved = np.asarray(values * (1 + self._units * epsilon(dtype) * share))
        if not self._zeros:
            return moved
        step = self._units * smallest_normal(dtype)
        if self._parting:  # zeros come apart, and stay nearer to each other than to anything else
            step = min(step, float(np.abs(values[values != 0]).min(initial=step)) / 4)
        return np.where(values == 0, step * share, moved)

    def result(self, values: Array) -> Array:
        """What a call returned, rounded as the coarsest dtype among the inputs is."""
        if values.dtype.kind not in "fc":
            return values
        share = self._random.uniform(-1, 1, values.shape)
        return np.asarray(values * (1 + self._units * self._rounding * share), values.dtype)


class _Shaken(QuietReplay):
    """A run in which each call's results are changed before the next call reads them."""

    def __init__(self, reference: Reference, program: Program, change: Callable[[Array], Array] | None) -> None:
        super().__init__(reference, program, side="reference")
        self._reference = reference
        self._change = change

    def bind(self, index: int, call: Call, result: Any) -> None:
        """Bind, then change the tensors among what was bound."""
        super().bind(index, call, result)
        if self._change is None or not self.changes(call):
            return
        for id_ in dict.fromkeys(call.results()):
            value = self.values.by_id.get(id_)
            if isinstance(value, self._reference.tensor_type):
                self._reference.overwrite(value, self._change)

    def changes(self, call: Call) -> bool:
        """Whether what this call returned is changed: not what it only looked up."""
        return call.kind not in ("get", "module")


class _Filled(_Shaken):
    """A run in which what the reference leaves uninitialised holds one value."""

    def __init__(self, reference: Reference, program: Program, value: int) -> None:
        super().__init__(reference, program, lambda values: np.full_like(values, value))

    def changes(self, call: Call) -> bool:
        """Whether this call leaves its result uninitialised."""
        return call.op.rpartition(".")[2] in self._reference.uninitialised


def compared_array(program: Program, observation: Observation, difference: Difference) -> Array | None:
    """The array of a run that `difference` is about; None where it has none."""
    part, key = difference.part, difference.key
    if part == "host":
        if difference.call is None:
            return None
        value = observation.hosts.get(difference.call, program.calls[difference.call].out)
        return value if isinstance(value, np.ndarray) else None
    if part == "input":
        given = {x.id: x.data for x in program.inputs}
        return observation.inputs.get(int(key), given[int(key)])
    tensor = part_of(observation, part, key)
    return None if tensor is None else tensor.data


def compared_arrays(
    program: Program, runs: Sequence[Observation], difference: Difference, shape: tuple[int, ...]
) -> list[Array]:
    """What runs show of a difference; a run that shows another shape says nothing of it."""
    arrays = [compared_array(program, run, difference) for run in runs]
    return [array for array in arrays if array is not None and array.shape == shape]
