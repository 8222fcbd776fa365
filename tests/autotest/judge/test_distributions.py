"""Samples of random calls: which differ in distribution, and how that is worded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from autotest.judge.distributions import compare_samples
from dual_object.program.values import Array

Draw = Callable[[np.random.Generator], Array]
SHAPE = (800, 24)


def dropped(keep: float, *, scale: float | None = None, whole: bool = False) -> Draw:
    """Dropout of ones: of elements, or of all elements of a repetition together."""

    def draw(rng: np.random.Generator) -> Array:
        kept = rng.random((SHAPE[0], 1) if whole else SHAPE) < keep
        values: Array = np.broadcast_to(kept, SHAPE) * (scale or 1 / keep)
        return values.copy()

    return draw


def choice(rng: np.random.Generator, *, replace: bool) -> Array:
    """Rows of 3 of 5 indices."""
    return np.stack([rng.choice(5, 3, replace=replace) for _ in range(SHAPE[0])])


SOUND: dict[str, Draw] = {
    "uniform": lambda rng: rng.random(SHAPE),
    "normal": lambda rng: rng.normal(size=SHAPE),
    "cauchy": lambda rng: rng.standard_cauchy(SHAPE),
    "geometric": lambda rng: rng.geometric(0.3, SHAPE),
    "integers": lambda rng: rng.integers(0, 5, SHAPE),
    "dropout": dropped(0.6),
    "channels": dropped(0.6, whole=True),
    "rare": dropped(0.999),
    "permutation": lambda rng: rng.permuted(np.tile(np.arange(7), (800, 1)), axis=1),
    "without replacement": lambda rng: choice(rng, replace=False),
    "one value": lambda rng: rng.random((1500, 1)),
    "all the same": lambda rng: np.ones(SHAPE),
}
WRONG: dict[str, tuple[Draw, str]] = {
    "dropout": (dropped(0.4, scale=1 / 0.6), "gives 19,200 values that have "),
    "channels": (dropped(0.6), "gives 19,200 values that vary together by "),
    "uniform": (lambda rng: rng.random(SHAPE) * 0.9, "gives 19,200 values that have "),
    "normal": (lambda rng: rng.normal(size=SHAPE) * 1.2, "gives 19,200 values that have "),
    "cauchy": (lambda rng: rng.standard_cauchy(SHAPE) + 0.2, "gives 19,200 values that have "),
    "integers": (lambda rng: rng.integers(0, 6, SHAPE), "gives 5, as "),
    "permutation": (lambda rng: rng.integers(0, 7, (800, 7)), "repeats elements in one row, but should not"),
    "without replacement": (lambda rng: choice(rng, replace=True), "repeats elements in one row, but should not"),
    "rare": (dropped(0.98), "gives 19,200 values that have "),
    "one value": (lambda rng: rng.random((1500, 1)) ** 2, "gives 1,500 values that have "),
}


@pytest.mark.parametrize("name", SOUND)
def test_samples_of_one_distribution_agree(name: str) -> None:
    """Two samples of the same distribution do not differ, whichever they are."""
    for seed in range(20):
        left, right = (SOUND[name](np.random.default_rng((seed, side))) for side in range(2))
        assert compare_samples([left], [right]) is None


@pytest.mark.parametrize("values", [(1.0, np.inf, -np.inf), (np.nan, 2.0), (1.7e308, -1.7e308, 1.0)], ids=str)
def test_dropout_of_what_is_not_finite(values: tuple[float, ...]) -> None:
    """Infinities, NaN and the greatest numbers are sound in their shares, and another share of them is told."""

    def dropped(side: int, keep: float) -> Array:
        kept = np.random.default_rng(side).random((800, len(values))) < keep
        with np.errstate(invalid="ignore"):
            return np.array(values) * kept

    assert compare_samples([dropped(0, 0.6)], [dropped(1, 0.6)]) is None
    if not np.isnan(values).any():  # dropped NaN is NaN
        assert compare_samples([dropped(0, 0.6)], [dropped(1, 0.4)]) is not None


def test_rounding_does_not_vary() -> None:
    """Elements that add up to one vary together by their rounding alone: less of it is as good."""

    def one_of(side: int, rounding: float) -> Array:
        rng = np.random.default_rng(side)
        return np.eye(8)[rng.integers(0, 8, 1500)] * (1 + rounding * rng.integers(-1, 2, (1500, 1)))

    assert compare_samples([one_of(0, 6e-8)], [one_of(1, 3e-8)]) is None
    found = compare_samples([one_of(0, 6e-8)], [one_of(1, 6e-3)])
    assert found == "gives 0.994, as 991 of 12,000 values, but should never give it"


@pytest.mark.parametrize("name", WRONG)
def test_samples_of_two_distributions_differ(name: str) -> None:
    """Another distribution, support or dependence is told in words."""
    draw, words = WRONG[name]
    found = compare_samples([SOUND[name](np.random.default_rng(0))], [draw(np.random.default_rng(1))])
    assert found is not None
    assert found.startswith(words)


def test_order_of_the_elements() -> None:
    """Samples that differ in which element is which differ."""
    left = np.random.default_rng(0).random(SHAPE) < np.linspace(0.1, 0.9, 24)
    right = np.random.default_rng(1).random(SHAPE) < np.linspace(0.9, 0.1, 24)
    found = compare_samples([left], [right])
    assert found is not None
    assert "at element" in found


def test_the_same_numbers_at_every_call() -> None:
    """A target that draws once for all calls is told."""
    rng = np.random.default_rng(0)
    stuck = np.tile(rng.random(24), (800, 1))
    assert compare_samples([rng.random(SHAPE)], [stuck]) == "gives the same numbers at every call, but should draw anew"


def test_values_that_are_not_finite() -> None:
    """NaN where the reference has none is told."""
    rng = np.random.default_rng(0)
    broken = rng.random(SHAPE)
    broken[3, 4] = np.nan
    assert (
        compare_samples([rng.random(SHAPE)], [broken])
        == "gives 1 of 19,200 values that are not finite, but should give none"
    )
