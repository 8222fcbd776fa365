"""Weighing: the numbers of both sides held against exact ones, and which side that speaks against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from autotest.compare.tolerance import Tolerance
from autotest.compare.values import agreeing, short, wide
from autotest.oracle.exact import Exact
from autotest.oracle.perturbation import epsilon, smallest_normal
from dual_object.program.values import Array

Verdict = Literal["target", "reference", "ill_conditioned", "nondeterministic", "undecided", "not judged"]
Side = Literal["target", "reference"]

#: Where both sides are as near as the tolerance asks, it is the one that is so many times farther off that differs.
FARTHER = 4.0
_PAIRS: tuple[tuple[Side, Side], ...] = (("target", "reference"), ("reference", "target"))


@dataclass(frozen=True, slots=True)
class Attribution:
    """Which side is wrong, and why.

    `worst` is the element that shows it best: its index, the values of both sides, the exact one, and both distances in
    ULP; None where no number decides.
    """

    verdict: Verdict
    reason: str
    worst: Mapping[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """What the records and the report keep."""
        return {"verdict": self.verdict, "reason": self.reason, "worst": None if self.worst is None else {**self.worst}}


class Weighing:
    """The numbers of both sides against exact ones, at the elements that are `wrong`.

    A side is `right` where it is as near to the exact number as the tolerance asks, and lawful where it is right or no
    farther off than it was allowed (`allow`).
    """

    def __init__(self, dtype: str, exact: Exact, sides: Mapping[Side, Array], wrong: Array, allowed: Tolerance) -> None:
        self._dtype = dtype
        self._exact = exact
        self._sides = sides
        self._wrong = wrong
        rounded = _rounded(exact.values, dtype)
        self._far = {side: _apart(values, rounded) for side, values in sides.items()}
        self._right = {side: agreeing(rounded, values, allowed) for side, values in sides.items()}
        self._lawful = dict(self._right)

    def allow(self, room: Array) -> None:
        """Count as lawful, too, what is at most `room` off the exact number. A zero of the wrong sign is not off at
        all, so this does not make it lawful.
        """
        self._lawful = {
            side: lawful | ((self._far[side] > 0) & (self._far[side] <= room)) for side, lawful in self._lawful.items()
        }

    def decision(self) -> Attribution | None:
        """Which side the numbers speak against; None where each is right at some elements only, or neither is."""
        against = {side: self._wrong & self._lawful[other] & ~self._lawful[side] for side, other in _PAIRS}
        if against["target"].any() != against["reference"].any():
            return self._attributed("target" if against["target"].any() else "reference", against)
        if (self._right["reference"] & self._right["target"])[self._wrong].all():
            return self._farther()
        if (self._lawful["reference"] & self._lawful["target"])[self._wrong].all():
            worst = self._worst("target", self._wrong)
            reason = f"rounding of its inputs alone moves the result as far; {self._both(worst)}"
            return Attribution("ill_conditioned", reason, worst)
        return None

    def undecided(self) -> Attribution:
        """Nobody knows."""
        worst = self._worst("target", self._wrong)
        return Attribution("undecided", self._both(worst), worst)

    def _farther(self) -> Attribution:
        """For two sides that are both as near as the tolerance asks: the one that is much farther off than the other is
        wrong.
        """
        worst = {side: float(distance[self._wrong].max()) for side, distance in self._far.items()}
        for side, other in _PAIRS:
            if worst[side] > FARTHER * worst[other]:
                return self._attributed(side, dict.fromkeys(worst, self._wrong))
        return self.undecided()

    def _attributed(self, side: Side, where: Mapping[Side, Array]) -> Attribution:
        """One side is wrong, at some elements."""
        other: Side = "reference" if side == "target" else "target"
        worst = self._worst(side, where[side])
        if _in_ulps(worst):
            apart, near = (_ulps(worst[f"{name}_ulp"]) for name in (side, other))
            return Attribution(side, f"{apart} off; the {other} is {near} from {self._whose()}", worst)
        reason = f"{worst[side]} where {self._whose()} gives {worst['exact']}; the {other} gives {worst[other]}"
        return Attribution(side, reason, worst)

    def _both(self, worst: Mapping[str, Any]) -> str:
        if _in_ulps(worst):
            apart, near = (_ulps(worst[f"{side}_ulp"]) for side in ("target", "reference"))
            return f"the target is {apart} and the reference {near} from {self._whose()}"
        given = f"the target gives {worst['target']} and the reference {worst['reference']}"
        return f"{given} where {self._whose()} gives {worst['exact']}"

    def _whose(self) -> str:
        sources = self._exact.sources
        return f"{listed(sources)} in float64" if sources else "the reference's float64 run (no third opinion)"

    def _worst(self, side: Side, where: Array) -> dict[str, Any]:
        flat = int(np.argmax(np.where(where, self._far[side], -1.0)))
        index = np.unravel_index(flat, self._wrong.shape)
        exact = self._exact.values[index]
        row: dict[str, Any] = {"index": [int(i) for i in index], "exact": _plain(short(np.asarray(exact)[()]))}
        for name, values in self._sides.items():
            row[name] = _plain(short(np.asarray(values[index])[()]))
            row[f"{name}_ulp"] = _plain(_distance(values[index], exact, self._dtype))
        return row


def listed(sources: tuple[str, ...]) -> str:
    """Whose an exact answer is, in words."""
    first, *rest = sources
    return f"{first} of {' and '.join(rest)}" if rest and first == "finite differences" else " and ".join(sources)


def _rounded(exact: Array, dtype: str) -> Array:
    """The exact values as this dtype holds them."""
    return exact if dtype == "bfloat16" else exact.astype(dtype)


def _apart(left: Array, right: Array) -> Array:
    """|left - right|, infinite where only one is finite or a number; 0 where both are the same infinity, or NaN."""
    left, right = wide(left), wide(right)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    distance = np.where(same, 0.0, np.abs(left - right))
    return np.where(np.isnan(distance), np.inf, distance)


def _distance(value: Any, exact: Any, dtype: str) -> float | None:
    """How many units in the last place of the exact value another one is off; None for integers."""
    try:
        unit = epsilon(dtype)
    except KeyError:
        return None
    off = abs(complex(value) - complex(exact))
    if not np.isfinite(off):
        same = value == exact or (value != value and exact != exact)
        return 0.0 if same else float("inf")
    size = max(
        abs(complex(exact)), smallest_normal({"complex64": "float32", "complex128": "float64"}.get(dtype, dtype))
    )
    return float(off / (unit * 2.0 ** np.floor(np.log2(size))))


def _in_ulps(worst: Mapping[str, Any]) -> bool:
    """Whether distances in ULP say anything: not from 0, nor where something is infinite, nor of integers."""
    distances = (worst["target_ulp"], worst["reference_ulp"])
    return bool(worst["exact"]) and all(isinstance(distance, float) for distance in distances)


def _ulps(distance: float) -> str:
    return f"{distance:.1f} ULP" if distance < 1000 else f"{distance:.1e} ULP"


def _plain(value: Any) -> Any:
    """A number as JSON has it: NaN, infinities and complex numbers as text."""
    if isinstance(value, complex) or (isinstance(value, float) and not np.isfinite(value)):
        return str(value)
    return value


__all__ = ["Attribution", "Side", "Weighing", "listed"]
