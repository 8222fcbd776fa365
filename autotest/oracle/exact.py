"""Exact answers: what a Program should give, by other code than the reference's and in float64."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.values import wide
from autotest.oracle.perturbation import NEARER, Reruns, compared_array
from autotest.oracle.spread import Spread
from dual_object.errors import CannotWiden
from dual_object.program.precision import widened
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation

FINITE_DIFFERENCES = "finite differences"
#: Derivatives are taken at so many elements, two runs of two step sizes each.
MOST_ELEMENTS = 64
#: The step, as a share of the element: cube root of float64's rounding, where its error and the formula's are as great.
STEP = 6e-6
#: Runs on inputs beside the Program's.
NEIGHBOURS = 4
#: Where two step sizes give results farther apart than this share, there is a kink, and no derivative.
BENT = 1e-3
#: A smooth slope turns half as much within half a step; one that still turns by more than this share has a kink there.
KINKED = 0.75


@dataclass(frozen=True, slots=True)
class Exact:
    """An exact answer: values in float64, or integers, where `known` (NaN elsewhere).

    `sources` name the code that gave it, such as `("finite differences", "NumPy")`; empty: the reference itself, in
    float64.
    """

    values: Array
    known: Array
    sources: tuple[str, ...]


class Opinions:
    """Runs of one Program by other code than the reference's public functions, each made when it is first asked for."""

    def __init__(self, reference: Reference, program: Program, *, several: bool) -> None:
        self._reference = reference
        self.program = program
        self._reruns = Reruns(reference, program, several=several)

    @cached_property
    def plain(self) -> tuple[Observation, tuple[str, ...]]:
        """The Program as it is, by the reference's kernels called past its public functions; and who was called."""
        return self._run(self.program, differentiable=True)

    def exact(self, difference: Difference, wrong: Array) -> Exact | None:
        """What `difference` is about, in float64: by independent code where there is any, else by the reference."""
        if difference.part == "gradient":
            gradient = self._by_differences(difference, wrong)
            if gradient is not None:
                return gradient
        # What a training shows has come of gradients, whatever it is.
        of_gradients = self.program.training is not None or difference.part not in ("output", "host", "input")
        for differentiable in (True,) if of_gradients else (False, True):
            answer = self._wide(differentiable=differentiable)
            if answer is not None and answer[1]:
                values = array_of(self.program, answer[0], difference)
                if values is not None and values.shape == wrong.shape:
                    return Exact(_kept(values), np.ones(wrong.shape, bool), answer[1])
        own = self._reruns.exact
        values = None if own is None else array_of(self.program, own, difference)
        if values is None or values.shape != wrong.shape:
            return None
        return Exact(_kept(values), np.ones(wrong.shape, bool), ())

    def spread(self, difference: Difference, shape: tuple[int, ...]) -> Array:
        """How far each element moves when all inputs are nudged by a few units of their rounding (with `several`, the
        results of calls as well); 0 where it jumps, for both sides stand at the same place of a jump.
        """
        reruns = self._reruns
        exact = None if reruns.exact is None else array_of(self.program, reruns.exact, difference)
        if exact is None or exact.shape != shape:
            return np.zeros(shape)
        exact, scale = wide(exact), reruns.scale
        near, nearer, nearest = (
            self._arrays(difference, exact, runs) for runs in (reruns.near, reruns.nearer, reruns.nearest)
        )
        moves = Spread.of(exact, near, nearer, scale).moves
        # What is very ill-conditioned follows its inputs in a straight line only where it is very near.
        return np.where(moves > 0, moves, Spread.of(exact, nearer, nearest, scale * NEARER).moves)

    def unsteadiness(self, difference: Difference, shape: tuple[int, ...]) -> Array:
        """How far the reference is from its own float64 run on inputs a thousandth beside the Program's: that much its
        arithmetic loses, which no nudge of the inputs shows.
        """
        lost = np.zeros(shape)
        for seed in range(NEIGHBOURS):
            chance = np.random.Generator(np.random.Philox(seed))
            inputs = [
                dataclasses.replace(
                    x, data=(x.data * (1 + chance.uniform(-1e-3, 1e-3, x.data.shape))).astype(x.data.dtype)
                )
                if x.data.dtype.kind == "f"
                else x
                for x in self.program.inputs
            ]
            beside = Reruns(self._reference, dataclasses.replace(self.program, inputs=inputs), several=False)
            exact = None if beside.exact is None else array_of(self.program, beside.exact, difference)
            own = array_of(self.program, beside.again, difference)
            if exact is None or own is None or exact.shape != shape or own.shape != shape:
                continue
            apart = np.abs(wide(own) - wide(exact))
            lost = np.maximum(lost, np.where(np.isfinite(apart), apart, 0.0))
        return lost

    def _arrays(self, difference: Difference, exact: Array, runs: Sequence[Observation]) -> list[Array]:
        """What each run shows of a difference; a run of another shape is left out, and the exact value stands for an
        element that is not finite: near a pole, only runs that do not reach it show the slope.
        """
        arrays = [array_of(self.program, run, difference) for run in runs]
        alike = [wide(values) for values in arrays if values is not None and values.shape == exact.shape]
        return [np.where(np.isfinite(values), values, exact) for values in alike]

    def _wide(self, *, differentiable: bool) -> tuple[Observation, tuple[str, ...]] | None:
        """A run in float64; None where there can be none."""
        try:
            program = widened(self.program)
        except CannotWiden:
            return None
        if not differentiable:  # what has no backward is not asked for one
            inputs = [dataclasses.replace(x, requires_grad=False) for x in program.inputs]
            program = dataclasses.replace(program, inputs=inputs, cotangents={}, second_cotangents={})
        with self._reference.default_dtype("float64"):
            observation, sources = self._run(program, differentiable=differentiable)
        failed = observation.ended or observation.backward_failure is not None or observation.second_failure is not None
        return None if failed else (observation, sources)

    def _run(self, program: Program, *, differentiable: bool) -> tuple[Observation, tuple[str, ...]]:
        from dual_object.adapters.torch.independent import Opinion

        replay = Opinion(self._reference, program, differentiable=differentiable)
        observation = replay.run()
        return observation, tuple(dict.fromkeys(replay.sources.values()))

    # Gradients: how far the outputs move where one element does.

    def _by_differences(self, difference: Difference, wrong: Array) -> Exact | None:
        """The gradient of an input at the elements that differ, by central differences of the outputs."""
        leaf = next((x for x in self.program.inputs if str(x.id) == difference.key), None)
        if leaf is None or leaf.data.dtype.kind != "f" or not self.program.cotangents or leaf.data.shape != wrong.shape:
            return None
        try:
            program = widened(self.program)
        except CannotWiden:
            return None
        position = [x.id for x in program.inputs].index(leaf.id)
        base = np.array(program.inputs[position].data)
        values, known = np.full(base.shape, np.nan), np.zeros(base.shape, bool)
        sources: set[str] = set()

        def at(index: tuple[int, ...], value: float) -> float | None:
            moved = base.copy()
            moved[index] = value
            inputs = [dataclasses.replace(x, requires_grad=False) for x in program.inputs]
            # Elements of an expanded tensor share their memory: there each gets its own.
            strides = None if 0 in (leaf.strides or ()) else leaf.strides
            inputs[position] = dataclasses.replace(inputs[position], data=moved, strides=strides)
            forward = dataclasses.replace(program, inputs=inputs, cotangents={}, second_cotangents={})
            with self._reference.default_dtype("float64"):
                observation, by = self._run(forward, differentiable=False)
            if observation.ended or any(id_ not in observation.outputs for id_ in program.cotangents):
                return None
            sources.update(by)
            products = [
                (wide(observation.outputs[id_].data) * cotangent) for id_, cotangent in program.cotangents.items()
            ]
            return float(sum(product.sum() for product in products))

        for flat in np.flatnonzero(wrong)[:MOST_ELEMENTS]:
            index = tuple(int(i) for i in np.unravel_index(int(flat), base.shape))
            slopes, turns = list[float](), list[float]()
            middle = at(index, float(base[index]))
            for step in (STEP, STEP / 2):
                width = step * max(1.0, abs(float(base[index])))
                high, low = at(index, float(base[index]) + width), at(index, float(base[index]) - width)
                if high is None or low is None or middle is None:
                    return None
                slopes.append((high - low) / (2 * width))
                turns.append(abs(high - 2 * middle + low) / width)
            far, near = slopes
            # What lies between the two sides of a kink is no gradient.
            kinked = turns[1] > KINKED * turns[0] and turns[1] > BENT * (abs(near) + BENT)
            if np.isfinite(near) and abs(far - near) <= BENT * (abs(near) + BENT) and not kinked:
                values[index], known[index] = near, True
        return Exact(values, known, (FINITE_DIFFERENCES, *sorted(sources))) if known.any() else None


def warm_up() -> None:
    """Import what other code needs (sympy takes seconds) before a divergence's own seconds are counted."""
    from dual_object.adapters.torch.independent import import_refs

    import_refs()


def _kept(values: Array) -> Array:
    """In float64; integers as they are, for float64 does not hold all great ones."""
    return values if values.dtype.kind in "bui" else wide(values)


def array_of(program: Program, observation: Observation, difference: Difference) -> Array | None:
    """The array or number of a run that `difference` is about; None where it has none."""
    if difference.part == "host" and difference.call is not None:
        value = observation.hosts.get(difference.call, program.calls[difference.call].out)
        return np.asarray(value) if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)) else None
    array = compared_array(program, observation, difference)
    return None if array is None else np.asarray(array)
