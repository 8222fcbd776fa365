"""What the reference does not define: which elements of a difference are within its own doubt, and why.

Nothing here knows an op. The reference is asked again, in float64, with its inputs nudged by their last digits and its
ties broken: where its answer moves, a target may give another one. It is asked only about what differs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.compare.kinds import NUMBERS, in_graph
from autotest.compare.mismatch import Mismatch
from autotest.compare.values import agreeing, wide
from autotest.oracle.op_kinds import chooses, chooses_first, plain_name, sums, unordered_along
from autotest.oracle.overflow import Overflow, bounded
from autotest.oracle.perturbation import (
    COPIES,
    RELAID,
    Reruns,
    compared_array,
    compared_arrays,
    greatest,
    smallest_normal,
)
from autotest.oracle.pointing import distinct, orders, pointed, points_alike, rearranged
from autotest.oracle.spread import SPREADS, Spread, equal, farthest, lost_digits
from dual_object.program.calls import Call, op_name
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference

if TYPE_CHECKING:
    from dual_object.replay.observation import Observation

#: What grows past this between two nudges has a pole there: no value in between is as good as another.
_POLE = 1e12
#: Where such a share of what differs is at a kink, what is equal to it is so too.
_MOST = 0.95

NOT_INITIALISED = "not initialised"
SUBNORMAL = "subnormal"
REFERENCE_OVERFLOW = "overflow in the reference"
OVERFLOW = "overflow"
PRECISION = "the reference gives another in float64"
FORMULA = "the reference gives another by another of its formulas"
PLACE = "the reference gives another by where the element lies"
LAYOUT = "the reference gives another for the same values laid otherwise"
UNSTABLE = "the reference gives another when it runs again"
UNRECORDED = "the reference gives another by the recorded calls alone"
ZERO_SIGN = "sign of zero"
#: No doubt at all: nobody promises it, and no case is counted for it.
UNPROMISED = ""
OUT_OF_RANGE = "out of the integer's range"
TIE = "tie"
ORDER = "in no order"
ROUNDING = "rounding"
KINK = "not differentiable there"
THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why the reference does not define what an op gives in a phase."""

    op: str
    phase: str
    reason: str


def undecided(
    reference: Reference, divergence: Divergence, *, rewritten: bool = False
) -> tuple[Divergence | None, tuple[Doubt, ...]]:
    """What is left of a divergence where the reference defines the answer, and the doubts about the rest.

    Of five wrong elements of which two are ties, three are left: the message counts and shows only those. None: nothing
    is left. What is `rewritten` from scratch may overflow on the way where the reference does not, as a kernel that
    multiplies in another order; a framework that has PyTorch's formula is held to where it overflows.
    """
    difference = divergence.difference
    mismatch = difference.mismatch
    if difference.kind not in NUMBERS or mismatch is None:
        return divergence, ()
    question = _Question.of(reference, divergence, mismatch, rewritten=rewritten)
    standing, reasons = question.answer()
    doubts = tuple(Doubt(divergence.op, difference.phase, reason) for reason in reasons)
    if (standing == question.wrong).all():
        return divergence, ()
    if not standing.any():
        return None, doubts
    return dataclasses.replace(divergence, difference=_rest(difference, mismatch, standing, reasons)), doubts


def decidable(reference: Reference, divergences: Sequence[Divergence]) -> tuple[list[Divergence], list[Doubt]]:
    """What is left of all divergences where the reference defines the answers, and the doubts elsewhere."""
    asked = [undecided(reference, divergence) for divergence in divergences]
    return [left for left, _ in asked if left is not None], [doubt for _, doubts in asked for doubt in doubts]


def _rest(difference: Difference, mismatch: Mismatch, standing: Array, reasons: Sequence[str]) -> Difference:
    """The difference of the elements that stand."""
    expected, actual = mismatch.expected, mismatch.actual
    unsigned = mismatch.allowed._replace(signed=False)
    left = Mismatch.between(expected, np.where(standing, actual, expected.astype(actual.dtype)), unsigned)
    if left is None:
        return difference
    message = f"{difference.where} {left.words}"
    if reasons:
        message += f"; others are undecidable ({', '.join(reasons)})"
    return dataclasses.replace(difference, kind=left.kind, message=message)


class _Question:
    """One difference of arrays and the reruns that answer for it."""

    def __init__(
        self, reruns: Reruns, difference: Difference, mismatch: Mismatch, call: Call | None, *, rewritten: bool
    ) -> None:
        assert difference.expected is not None
        self.reruns = reruns
        self.difference = difference
        #: The one call that diverges; None where no single one does.
        self.call = call
        self.dtype = difference.expected.dtype
        self.rewritten = rewritten
        self.allowed = mismatch.allowed._replace(signed=False)
        self.expected = mismatch.expected
        self.actual = mismatch.actual
        # Where nothing is beyond the tolerance, what differs is the sign of a zero.
        self.wrong = mismatch.beyond if mismatch.beyond.any() else mismatch.mask

    @classmethod
    def of(cls, reference: Reference, divergence: Divergence, mismatch: Mismatch, *, rewritten: bool) -> _Question:
        """The question that a divergence puts."""
        difference = divergence.difference
        program = divergence.proof
        call: Call | None = None
        if divergence.alone is not None:
            call = program.calls[-1]
        elif divergence.call is not None and difference.part != "host" and program.training is None:
            call = program.calls[divergence.call]
        gives = difference.part == "output" and call is not None and len(program.calls) == 1
        result = difference.expected.dtype if gives and difference.expected is not None else ""
        reruns = Reruns(reference, program, several=call is None, result=result)
        return cls(reruns, difference, mismatch, call, rewritten=rewritten)

    def answer(self) -> tuple[Array, tuple[str, ...]]:
        """A mask of the elements that differ and are decidable, and the reasons why others are not, such as `tie`."""
        left = self.wrong.copy()
        reasons: list[str] = []
        with np.errstate(all="ignore"):
            for reason, excused in self._excuses():
                doubtful = left & excused
                if doubtful.any():
                    left &= ~excused
                    if reason not in (UNPROMISED, *reasons):
                        reasons.append(reason)
                if not left.any():
                    break
        return left, tuple(reasons)

    def _excuses(self) -> Iterator[tuple[str, Array]]:
        dim = None if self.call is None else unordered_along(self.call)
        if dim is not None and self.expected.ndim:
            elsewhere = self.difference.part == "gradient" and (self.expected == 0) | (self.actual == 0)
            yield ORDER, rearranged(self.expected, self.actual, dim, self.allowed) & ~np.asarray(elsewhere)
        unfilled = self._arrays(self.reruns.unfilled)
        if len(unfilled) == 2:
            yield NOT_INITIALISED, ~equal(*unfilled)
        if not self._reproducible():
            unstable, laid = self._moved_from_run_to_run(), self._moved_by_layout()
            yield UNSTABLE, unstable
            if not (unstable.any() or laid.any()):
                return  # what the one call shows by itself is not what it shows in its Program
        exact = self._array_of_exact()
        if self.expected.dtype.kind in "bui":
            yield from self._of_integers(exact)
            return  # which of equal elements an index points to, ties decide, and not how these lie
        if exact is not None and self.expected.dtype.kind in "fc":
            yield from self._of_numbers(exact)
        yield LAYOUT, self._moved_by_layout()

    def _reproducible(self) -> bool:
        """Whether the reference gives the same again; what a graph is held against may be the eager target's."""
        runs = self._arrays([self.reruns.again, self.reruns.once_more])
        first = runs[-1] if runs and in_graph(self.difference.phase) else self.expected
        # Of a sum, memory's alignment decides the sign of a zero.
        return bool(runs) and bool(agreeing(first, runs[0], self.allowed._replace(signed=False)).all())

    def _moved_from_run_to_run(self) -> Array:
        """Where the reference gives one number and then another for the very same inputs."""
        runs = self._arrays([self.reruns.again, self.reruns.once_more])
        if len(runs) < 2:
            return np.zeros(self.expected.shape, bool)
        return ~agreeing(runs[0], runs[1], self.allowed._replace(signed=False))

    def _moved_by_layout(self) -> Array:
        """Where one call gives another number if its inputs lie otherwise, and the same one however else they lie:
        `median` along an expanded dimension reads beyond the memory that there is.
        """
        again, runs = self._arrays([self.reruns.again]), self._arrays(self.reruns.relaid)
        if self.call is None or not again or len(runs) != RELAID:
            return np.zeros(self.expected.shape, bool)
        alike = np.all([equal(run, runs[0]) for run in runs[1:]], axis=0)
        return np.asarray(alike & ~agreeing(again[0], runs[0], self.allowed._replace(signed=False)))

    # Integers and booleans: ties, conversions, thresholds.

    def _of_integers(self, exact: Array | None) -> Iterator[tuple[str, Array]]:
        if self.call is None:
            runs = [*self._arrays(self.reruns.near), *self._arrays(self.reruns.nearer)]
            if exact is not None:
                yield THRESHOLD, _reached(self.actual, [exact, *runs])
            return
        yield OUT_OF_RANGE, self._out_of_range()
        if self.call.kwargs.get("stable") is not True and not self._promised:
            # Nearer than the next number: nothing but what is equal changes places.
            yield TIE, self._tied([*self._arrays(self.reruns.nearer), *self._arrays(self.reruns.integers)])
            yield TIE, self._tied(self._arrays(self.reruns.parted))
            yield TIE, self._as_good()

    @property
    def _promised(self) -> bool:
        """Whether the one call chooses among the elements of one tensor, in a way that PyTorch promises."""
        if self.call is None or not chooses_first(plain_name(op_name(self.call))):
            return False
        given = {x.id for x in self.reruns.program.inputs}
        return len(given.intersection(self.call.operands())) == 1

    def _out_of_range(self) -> Array:
        """Where a conversion of floating values to integers was given what no integer is."""
        nowhere = np.zeros(self.expected.shape, bool)
        floats = [x.data for x in self.reruns.program.inputs if x.data.dtype.kind == "f"]
        if len(floats) != 1 or floats[0].shape != self.expected.shape or self.expected.dtype.kind not in "iu":
            return nowhere
        limits = np.iinfo(self.expected.dtype)
        values = np.trunc(floats[0].astype(np.float64))
        fits = (values >= float(limits.min)) & (values < float(limits.max) + 1)
        converts = bool((values[fits] == self.expected[fits]).all())
        return ~fits if converts else nowhere

    def _tied(self, runs: Sequence[Array]) -> Array:
        """Where an index is as good as the reference's, because both point to equal elements: the indices of `sort([2,
        2])` may be [0, 1] or [1, 0].

        Which input and dimension the indices go into is found by asking: the reference's own answers with its ties
        broken point to elements that are all equal along that one.
        """
        nowhere = np.zeros(self.expected.shape, bool)
        moves = np.any([run != self.expected for run in runs], axis=0) if runs else nowhere
        if not (moves & self.wrong).any():
            return nowhere
        lawful = moves
        followed = False
        for follow in self._pointers():
            wanted = follow(self.expected)
            if wanted is None or not all(points_alike(follow(run), wanted) for run in runs):
                continue
            followed = True
            given = follow(self.actual)
            if given is None:
                return nowhere
            lawful = lawful & (given == wanted)
            if self._repeats(runs):
                return nowhere
        return lawful if followed else nowhere

    def _as_good(self) -> Array:
        """Where an index points to what equals the element that the reference's points to, and it is known into what:
        the reference's point to another result of the call, as `mode` gives values and indices, or put a whole
        dimension in order, as `argsort` does.
        """
        lawful = np.zeros(self.expected.shape, bool)
        outputs = self.reruns.again.outputs
        results = [seen.data for id_, seen in outputs.items() if str(id_) != self.difference.key]
        for data, dim in self._into():
            wanted, given = pointed(data, dim, self.expected), pointed(data, dim, self.actual)
            if wanted is None or given is None:
                continue
            ordered = orders(data, dim, self.expected)
            if ordered and self._chosen_twice(dim):
                continue
            if ordered or any(result.shape == wanted.shape and points_alike(wanted, result) for result in results):
                lawful |= equal(given, wanted)
        return lawful

    def _chosen_twice(self, dim: int | None) -> bool:
        """Whether the target gives an index twice along a dimension along which the reference does not."""
        return dim is not None and distinct(self.expected, dim) and not distinct(self.actual, dim)

    def _into(self) -> Iterator[tuple[Array, int | None]]:
        """Each input and dimension that indices may go into; None: into all of the input."""
        for x in self.reruns.program.inputs:
            for dim in (None, *range(x.data.ndim)) if x.data.ndim != 1 else (0,):
                yield x.data, dim

    def _pointers(self) -> Iterator[Callable[[Array], Array | None]]:
        """For each input and dimension: what indices into it point to, None where they cannot be such."""
        for data, dim in self._into():
            yield functools.partial(pointed, data, dim)

    def _repeats(self, runs: Sequence[Array]) -> bool:
        """Whether the target gives an index twice along a dimension along which the reference never does."""
        return any(
            all(distinct(run, dim) for run in runs) and self._chosen_twice(dim) for dim in range(self.expected.ndim)
        )

    # Floating and complex numbers.

    def _of_numbers(self, exact: Array) -> Iterator[tuple[str, Array]]:
        exact = bounded(exact, greatest(self.dtype))
        expected, actual = wide(self.expected), wide(self.actual)
        # Two zeros are as near as can be: of them only the sign is in question.
        finite = np.isfinite(expected) & np.isfinite(actual) & (expected != actual)
        yield SUBNORMAL, finite & (np.abs(actual - expected) < smallest_normal(self.dtype))
        if (self.wrong & (expected == 0) & (actual == 0)).any():
            zeros: Array = (expected == 0) & (actual == 0)
            # Of a zero whose sign changes with its place, the sign is a matter of the kernel.
            yield UNPROMISED, zeros if self._any_zero() else zeros & self._elsewhere()
            yield ZERO_SIGN, self._zero_sign(exact)
        base = self.allowed.atol + self.allowed.rtol * np.abs(exact)
        runs = [exact, *self._arrays(self.reruns.near), *self._arrays(self.reruns.nearer)]
        spread = Spread.of(exact, self._arrays(self.reruns.near), self._arrays(self.reruns.nearer), self.reruns.scale)
        # On the same inputs, one call's jump is defined: both sides stand at the same place of it.
        within = base + SPREADS * spread.moves
        hits = np.abs(actual - exact) <= within
        overflow = Overflow(
            self.reruns, self.difference, self.call, tuple(self._names()), self.expected, self.actual, self.rewritten
        )
        yield REFERENCE_OVERFLOW, overflow.in_reference(exact, hits)
        yield OVERFLOW, overflow.otherwise(exact)
        yield UNPROMISED, overflow.infinitely_scaled()
        yield PRECISION, self._as_exact(exact)
        credible = np.abs(expected - exact) <= within
        # Where the reference is itself off what it gives in float64, only that will do.
        yield ROUNDING, finite & (hits & credible | (np.abs(actual - exact) <= base))
        lost = SPREADS * lost_digits([wide(run) for run in self._arrays(self.reruns.scattered)], exact)
        off = np.maximum(np.abs(expected - exact), np.abs(actual - exact))
        # Of two sides of a jump nothing is lost: both are what the float64 runs give.
        jumps = (spread.jumps | spread.crossed) & (farthest(exact, runs) > base)
        yield ROUNDING, finite & (off <= base + lost) & ~jumps
        hull = _hull(actual, expected, runs, within)
        if self.difference.part in ("gradient", "second") and not self._promised:
            reason = TIE if self._has_ties((*self.reruns.near, *self.reruns.nearer)) else KINK
            if reason == KINK or self._sum_is_kept(runs):
                yield reason, finite & hull & (spread.jumps | spread.crossed)
            parted = [exact, *self._arrays(self.reruns.parted)]
            reason = TIE if self._has_ties(self.reruns.parted) else KINK
            if reason == KINK or self._sum_is_kept(parted):
                # By so little nothing moves farther than it may be off, unless it jumps.
                jumped = finite & _hull(actual, expected, parted, within) & (farthest(exact, parted) > base)
                yield reason, jumped
                # Of hundreds of equal elements, some jump in no run.
                most = self.rewritten and reason == KINK and bool(jumped[self.wrong].mean() >= _MOST)
                if (alike := self._alike()) is not None and (most or self._sum_is_kept(parted)):
                    yield reason, finite & _hull(actual, expected, parted, within, alike)
        if self.call is None:
            yield THRESHOLD, finite & hull
        yield PLACE, self._elsewhere()
        for run in self._arrays(self.reruns.relaid):
            yield PLACE, agreeing(run, self.actual, self.allowed._replace(signed=True))
        if self.difference.part in ("gradient", "second"):
            for run in self._arrays(self.reruns.traced):
                yield FORMULA, self._as_exact(run)

    def _as_exact(self, exact: Array) -> Array:
        """Where one of the two sides is not finite, and the target gives what the reference's own float64 result is in
        this dtype.
        """
        with_sign = np.where(np.abs(exact) > greatest(self.dtype), np.sign(exact) * np.inf, exact)
        same = agreeing(with_sign, self.actual, self.allowed._replace(signed=False))
        return np.asarray(same & ~(np.isfinite(self.expected) & np.isfinite(self.actual)))

    def _elsewhere(self) -> Array:
        """Where the reference gives the target's answer for the same element at another place of the tensor: vector
        instructions, which compute most places but not all, may take another branch of a formula for NaN.
        """
        nowhere = np.zeros(self.expected.shape, bool)
        run = self.reruns.repeated
        if run is None or self.difference.part not in ("output", "gradient"):
            return nowhere
        repeated = compared_array(self.reruns.program, run, self.difference)
        if repeated is None or repeated.shape[:1] != (COPIES,) or repeated.size != COPIES * self.expected.size:
            return nowhere
        copies = repeated.reshape(COPIES, *self.expected.shape)
        allowed = self.allowed._replace(signed=True)
        as_expected = np.stack([agreeing(self.expected, copy, allowed) for copy in copies])
        # Else it is no op that computes element by element.
        alike = bool(as_expected[:, ~self.wrong].all()) and not self.wrong.all()
        as_actual = np.stack([agreeing(copy, self.actual, allowed) for copy in copies]).any(0)
        return np.asarray(as_actual & (alike | as_expected.any(0)))

    def _zero_sign(self, exact: Array) -> Array:
        """Where a zero is one by rounding, or what is left of a sum, whose order decides its sign."""
        zero: Array = (self.expected == 0) & (self.actual == 0)
        if self.expected.dtype.kind == "c":
            return zero
        sign = np.signbit(exact)
        signs = [np.signbit(run) != sign for run in self._arrays(self.reruns.zeros_kept)]
        undefined: Array = (exact != 0) | (sign != np.signbit(self.expected))
        for other in signs:
            undefined |= other
        return np.asarray(zero & undefined)

    def _any_zero(self) -> bool:
        """Whether the call, or one of the whole Program's, may give a zero of either sign: a sum may start from a zero
        of its own (0 + -0 is 0), and max(0, -0) may be either.

        Its name decides, for no run shows this where a sum is of one product, or the choice among one element.
        """
        return any(sums(name) or chooses(name) for name in self._names())

    def _names(self) -> list[str]:
        """The call's name, or those of the whole Program's."""
        calls = self.reruns.program.op_calls() if self.call is None else [self.call]
        return [plain_name(op_name(call)) for call in calls]

    def _has_ties(self, runs: Sequence[Observation]) -> bool:
        """Whether the call also returns indices, and these move in one of the runs, where ties are broken."""
        again = self.reruns.again.outputs
        for run in runs:
            for id_, output in run.outputs.items():
                first = again.get(id_)
                if first is None or first.data.dtype.kind not in "iu" or first.shape != output.shape:
                    continue
                if not np.array_equal(first.data, output.data):
                    return True
        return False

    def _alike(self) -> Array | None:
        """For each element of the input whose gradient differs, the number of its value: of [5, 7, 5] it is [0, 1, 0].
        None where it is the gradient of something else, or no value comes twice.

        Of a hundred equal elements each may have the gradient of the one that is chosen: more than there are runs.
        """
        given = {str(x.id): x.data for x in self.reruns.program.inputs}
        data = given.get(self.difference.key)
        if self.difference.part != "gradient" or data is None or data.shape != self.expected.shape:
            return None
        values, alike = np.unique(data, return_inverse=True)
        return alike.reshape(data.shape) if len(values) < data.size else None

    def _sum_is_kept(self, runs: Sequence[Array]) -> bool:
        """Whether the gradient adds up to what the runs' gradients add up to: ties may share a gradient out in any way,
        [1, 0] or [0.5, 0.5], but neither add to it nor lose any.
        """
        totals = [run.sum() for run in runs]
        room = self.allowed.atol * self.expected.size + 10 * self.allowed.rtol * np.abs(runs[0]).sum()
        total = wide(self.actual).sum()
        return bool(min(abs(total - other) for other in totals) <= room)

    def _array_of_exact(self) -> Array | None:
        arrays = [] if self.reruns.exact is None else self._arrays([self.reruns.exact])
        return arrays[0] if arrays else None

    def _arrays(self, runs: Sequence[Observation]) -> list[Array]:
        """What the runs show of this difference; a run that shows another shape says nothing of it."""
        return compared_arrays(self.reruns.program, runs, self.difference, self.expected.shape)


def _hull(actual: Array, expected: Array, runs: Sequence[Array], room: Array, alike: Array | None = None) -> Array:
    """Where `actual` lies between the least and the greatest of what the runs and the reference gave; of complex
    numbers, in both parts. Elements of the same number in `alike` share these two.
    """
    among = np.ones(actual.shape, bool)
    for part in (np.real, np.imag) if actual.dtype.kind == "c" else (np.asarray,):
        parts = [np.where(np.abs(part(run)) < _POLE, part(run), np.nan) for run in (expected, *runs)]
        low, high = np.fmin.reduce(parts), np.fmax.reduce(parts)
        if alike is not None:
            least, most = np.full(alike.max() + 1, np.inf), np.full(alike.max() + 1, -np.inf)
            np.fmin.at(least, alike, low)
            np.fmax.at(most, alike, high)
            low, high = least[alike], most[alike]
        among &= (part(actual) >= low - room) & (part(actual) <= high + room)
    return among


def _reached(actual: Array, runs: Sequence[Array]) -> Array:
    """Where one of the runs gave just that."""
    return np.asarray(np.any([run == actual for run in runs], axis=0))


def reason_of(doubts: Sequence[Doubt]) -> str:
    """The doubts of a case in words: `sort: tie; relu: not differentiable there`."""
    return "; ".join(dict.fromkeys(f"{doubt.op}: {doubt.reason}" for doubt in doubts))


__all__ = ["KINK", "UNRECORDED", "Doubt", "reason_of", "undecided"]
