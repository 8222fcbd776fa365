"""Exact answers: what a Program should give, by other code than the reference's and in float64."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from autotest.agreement import wide
from autotest.comparison import Difference
from autotest.reruns import NEARER, RUNS, UNITS, Nudge, Reruns, shown
from dual_object.errors import CannotWiden
from dual_object.observation import Observation
from dual_object.precision import Change, widened
from dual_object.program import Program
from dual_object.values import Array

if TYPE_CHECKING:
    from dual_object.adapters.torch import Adapter as Reference

FINITE_DIFFERENCES = "finite differences"
#: Derivatives are taken at so many elements, two runs of two step sizes each.
MOST_ELEMENTS = 64
#: The step, as a share of the element: cube root of float64's rounding, where its error and the formula's are as great.
STEP = 6e-6
#: Where two step sizes give results farther apart than this share, there is a kink, and no derivative.
BENT = 1e-3
#: What nudges of a NEARER-th part move a smooth result by less than this share; else it jumps.
JUMP = 8.0
#: What of an exact result float64 itself may lose.
NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class Exact:
    """An exact answer: values in float64 (NaN where `known` is false), and whose they are: the code's names, or empty
    for the reference's own.
    """

    values: Array
    known: Array
    sources: tuple[str, ...]


class Opinions:
    """Runs of one Program by other code than the reference's public functions, each made when it is first asked for."""

    def __init__(self, reference: Reference, program: Program) -> None:
        self._reference = reference
        self.program = program

    @cached_property
    def plain(self) -> tuple[Observation, tuple[str, ...]]:
        """The Program as it is, by the reference's kernels called past its public functions; and who was called."""
        return self._run(self.program, differentiable=True)

    def exact(self, difference: Difference, wrong: Array) -> Exact | None:
        """What `difference` is about, in float64: by independent code where there is any, else by the reference."""
        if difference.part == "gradient":
            found = self._by_differences(difference, wrong)
            if found is not None:
                return found
        for differentiable in (False, True) if difference.part in ("output", "host", "input") else (True,):
            seen = self._wide(None, differentiable=differentiable)
            if seen is not None and seen[1]:
                values = array_of(self.program, seen[0], difference)
                if values is not None and values.shape == wrong.shape:
                    return Exact(wide(values), np.ones(wrong.shape, bool), seen[1])
        own = Reruns(self._reference, self.program, several=False).exact
        values = None if own is None else array_of(self.program, own, difference)
        if values is None or values.shape != wrong.shape:
            return None
        return Exact(wide(values), np.ones(wrong.shape, bool), ())

    def spread(self, difference: Difference, exact: Exact) -> Array:
        """How far each element moves where all floating inputs are nudged by a few units of their rounding; 0 where it
        jumps, for both sides stand at the same place of a jump.
        """
        far = self._moved(difference, exact, UNITS * NEARER)
        close = self._moved(difference, exact, UNITS)
        return np.where(close <= np.maximum(far / JUMP, NOISE * np.abs(exact.values)), close, 0.0)

    def _moved(self, difference: Difference, exact: Exact, units: float) -> Array:
        moved = np.zeros(exact.values.shape)
        for seed in range(RUNS):
            seen = self._wide(Nudge(seed, units, True, 0.0), differentiable=True)
            values = None if seen is None else array_of(self.program, seen[0], difference)
            if values is None or values.shape != moved.shape:
                continue
            with np.errstate(all="ignore"):
                apart = np.abs(wide(values) - exact.values)
            moved = np.maximum(moved, np.where(np.isfinite(apart), apart, 0.0))
        return moved

    def _wide(self, change: Change | None, *, differentiable: bool) -> tuple[Observation, tuple[str, ...]] | None:
        """A run in float64; None where there can be none."""
        try:
            program = widened(self.program, change)
        except CannotWiden:
            return None
        if not differentiable:  # what has no backward is not asked for one
            inputs = [dataclasses.replace(x, requires_grad=False) for x in program.inputs]
            program = dataclasses.replace(program, inputs=inputs, cotangents={}, second_cotangents={})
        with self._reference.default_dtype("float64"):
            seen, sources = self._run(program, differentiable=differentiable)
        failed = seen.ended or seen.backward_failure is not None or seen.second_failure is not None
        return None if failed else (seen, sources)

    def _run(self, program: Program, *, differentiable: bool) -> tuple[Observation, tuple[str, ...]]:
        from dual_object.adapters.torch_opinion import Opinion

        replay = Opinion(self._reference, program, differentiable=differentiable)
        seen = replay.run()
        return seen, tuple(dict.fromkeys(replay.sources.values()))

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
            inputs[position] = dataclasses.replace(inputs[position], data=moved, strides=None, offset=0)
            forward = dataclasses.replace(program, inputs=inputs, cotangents={}, second_cotangents={})
            with self._reference.default_dtype("float64"):
                seen, by = self._run(forward, differentiable=False)
            if seen.ended or any(id_ not in seen.outputs for id_ in program.cotangents):
                return None
            sources.update(by)
            products = [(wide(seen.outputs[id_].data) * cotangent) for id_, cotangent in program.cotangents.items()]
            return float(sum(product.sum() for product in products))

        for flat in np.flatnonzero(wrong)[:MOST_ELEMENTS]:
            index = tuple(int(i) for i in np.unravel_index(int(flat), base.shape))
            slopes: list[float] = []
            for step in (STEP, STEP / 2):
                width = step * max(1.0, abs(float(base[index])))
                high, low = at(index, float(base[index]) + width), at(index, float(base[index]) - width)
                if high is None or low is None:
                    return None
                slopes.append((high - low) / (2 * width))
            far, near = slopes
            if np.isfinite(near) and abs(far - near) <= BENT * (abs(near) + BENT):
                values[index], known[index] = near, True
        return Exact(values, known, (FINITE_DIFFERENCES, *sorted(sources))) if known.any() else None


def array_of(program: Program, seen: Observation, difference: Difference) -> Array | None:
    """The array or number of a run that `difference` is about; None where it has none."""
    if difference.part == "host" and difference.call is not None:
        value = seen.hosts.get(difference.call, program.calls[difference.call].out)
        return np.asarray(value) if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)) else None
    found = shown(program, seen, difference)
    return None if found is None else np.asarray(found)
