"""Spread: how far the rounding of its inputs moves a result, and where it jumps instead of following them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotest.oracle.perturbation import NEARER
from dual_object.program.values import Array

#: A result may be off by so many times what the nudges have moved it: a few runs do not find the worst.
SPREADS = 8.0
#: What of an exact result float64 itself may lose.
NOISE = 1e-12
#: A smooth result moves less the nearer the nudges are; one that still moves by more than such a part of it jumps.
JUMP = 8.0
#: Of a result that is such a part of what runs are off by, no digit is right in them.
NO_DIGIT = 1e-6


@dataclass(frozen=True, slots=True)
class Spread:
    """What nudges of the inputs do to each element of a result.

    Attributes:
        moves: how far `UNITS` units of rounding in the inputs move it; 0 where it `jumps`.
        jumps: whether small nudges move it nearly as far as great ones, as those of `sign(x)` do at 0.
        crossed: whether only the great nudges make it jump, as those of `sign(x)` do just beside 0.
    """

    moves: Array
    jumps: Array
    crossed: Array

    @classmethod
    def of(cls, exact: Array, near: Sequence[Array], nearer: Sequence[Array], scale: float) -> Spread:
        """The spread by runs around the `exact` result: `near` ones, and `nearer` ones whose nudges are NEARER times
        smaller. What these move, times `scale`, is what `UNITS` units of rounding move.
        """
        far, close = farthest(exact, near), farthest(exact, nearer)
        noise = NOISE * np.abs(exact)
        moving = close > noise
        jumps = (moving & ~(close <= far / JUMP)) | ~np.isfinite(close)
        moves = np.where(moving & ~jumps, close * scale, 0.0)
        return cls(moves, jumps, np.asarray(far > JUMP * (moves * NEARER / scale) + noise))


def equal(left: Array, right: Array) -> Array:
    """Where two results are the same; one NaN is as another."""
    return np.asarray((left == right) | ((left != left) & (right != right)))


def farthest(exact: Array, runs: Sequence[Array]) -> Array:
    """The greatest distance of any run from the exact one; infinite where one of them is not finite."""
    if not runs:
        return np.zeros(exact.shape)
    moved = np.max([np.where(equal(run, exact), 0.0, np.abs(run - exact)) for run in runs], axis=0)
    return np.where(np.isnan(moved), np.inf, moved)


def lost_digits(runs: Sequence[Array], exact: Array) -> Array:
    """How much of a result is lost on the way to it in a narrow dtype: how far apart runs whose inputs are nudged lie
    from their middle; 0 without any, or where one is not finite.

    Where the exact result is 0 and theirs are not, no digit of theirs is right: then it is how far off they are, for
    runs that sum in one order may be off by the same; and by how much is chance, so all such elements of a result are
    taken for as far off as the worst of them.
    """
    if not runs:
        return np.zeros(exact.shape)
    scatter = farthest(np.mean(runs, axis=0), runs)
    off = farthest(exact, runs)
    digitless = (scatter > 0) & (np.abs(exact) < NO_DIGIT * off) & np.isfinite(off)
    lost = np.where(digitless, np.max(off, initial=0.0, where=digitless), scatter)
    return np.where(np.isfinite(lost), lost, 0.0)


__all__ = ["JUMP", "NOISE", "SPREADS", "Spread", "equal", "farthest", "lost_digits"]
