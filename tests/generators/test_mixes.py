"""How wild drawn tensors are."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from generators import EDGE, FILLS, LAYOUTS, MIXES, PLAIN, STANDARD, Mix, PhiloxSource, Placed, array, drawing
from generators.arrays import DrawnArray

DRAWS = 1500


def corners(x: DrawnArray) -> Iterator[str]:
    """What of the dangerous a tensor has."""
    values = x.data.astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        yield "NaN or infinite"
    if np.any((values == 0) & np.signbit(values)):
        yield "-0.0"
    if np.isin(finite, [0, 1, -1, 3, 6]).any():
        yield "kink"
    if len(np.unique(finite)) < finite.size:
        yield "tie"
    if np.any(np.abs(finite) > 2):
        yield "huge"
    if x.placed != Placed():
        yield "layout"
    if x.data.ndim == 0:
        yield "scalar"
    if x.data.size == 0:
        yield "empty"
    yield x.fill


def shares(mix: Mix, **knobs: object) -> dict[str, float]:
    """How often each corner is met."""
    source = PhiloxSource("mixes")
    found: Counter[str] = Counter()
    for _ in range(DRAWS):
        with drawing(source):
            value = array(dim0=None, low=-1, high=1, mix=mix, **knobs).value()
        found.update(corners(value))
    return {name: count / DRAWS for name, count in found.items()}


def test_a_test_of_20_cases_meets_every_corner() -> None:
    """With more than 95 % each, where the author gave no range; and most cases stay ordinary."""
    found = shares(STANDARD, ranged=False)
    for corner in ("NaN or infinite", "-0.0", "kink", "tie"):
        assert 1 - (1 - found[corner]) ** 20 > 0.95, (corner, found[corner])
    assert 0.5 < found["uniform"] < 0.6
    assert 0.17 < found["layout"] < 0.24
    assert 0.02 < found["scalar"] < 0.06
    assert 0.02 < found["empty"] < 0.10


def test_a_given_range_is_the_ops_domain() -> None:
    """Under standard no value leaves it."""
    found = shares(STANDARD, ranged=True)
    assert not {"NaN or infinite", "huge"} & set(found)
    assert {"-0.0", "kink", "tie"} <= set(found)


def test_edge_leaves_a_given_range_of_floats_alone() -> None:
    """NaN and infinities are drawn all the same; integers stay where they were told to."""
    assert shares(EDGE, ranged=True)["NaN or infinite"] > 0.15
    found = shares(EDGE, ranged=True, dtype="int64")
    assert "huge" not in found
    assert shares(EDGE, ranged=False, dtype="int64")["huge"] > 0.15


def test_plain_is_what_an_array_draws_by_default() -> None:
    """Uniform, contiguous, with elements, and with no more choices than that."""
    found = shares(PLAIN, ranged=False)
    assert found["uniform"] == 1
    assert not {"layout", "scalar", "empty", "NaN or infinite", "huge"} & set(found)
    plain, default = PhiloxSource("p"), PhiloxSource("p")
    with drawing(plain):
        array(mix=PLAIN, ranged=False).value()
    with drawing(default):
        array().value()
    assert plain.choices == default.choices


@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
def test_a_mix_has_a_weight_for_all_there_is(mix: Mix) -> None:
    """Weights sum to 1, for each fill and each layout."""
    assert len(mix.fills) == len(mix.bounded) == len(FILLS)
    assert sum(mix.fills) == pytest.approx(1)
    assert sum(mix.bounded) == pytest.approx(1)
    assert mix.layouts is None or (len(mix.layouts) == len(LAYOUTS) and sum(mix.layouts) == pytest.approx(1))


def test_a_drawn_layout_repeats_the_values_that_share_memory() -> None:
    """An expanded array has one value per place in memory."""
    layouts = tuple(float(name == "expanded") for name in LAYOUTS)
    source = PhiloxSource("expanded")
    with drawing(source):
        value = array(2, 3, 2, mix=Mix(PLAIN.fills, PLAIN.bounded, layouts=layouts)).value()
    assert value.placed.strides == (0, 1)
    assert (value.data == value.data[:1]).all()
    assert source.choices[-1].kind == "index"
