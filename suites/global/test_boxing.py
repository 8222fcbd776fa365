"""Moves of global tensors between layouts: no value may change, and gradients find their way back.

On one rank every layout is whole; `autotest run suites/global --ranks 2` moves slices, copies and summands for real.
"""

from __future__ import annotations

import pytest

from autotest import autotest, globaltest, placement, random, random_sbp, random_tensor, sbp

RANKS = placement.all("cpu").ranks.size
LAYOUTS = {"S0": sbp.split(0), "S1": sbp.split(1), "B": sbp.broadcast, "P": sbp.partial_sum}
#: Four ranks make a square; others a row of two dimensions. In a static graph of several ranks OneFlow 0.9.0 refuses
#: some moves on such placements on the first rank alone, and the others wait for it forever.
SQUARE = placement("cpu", [[0, 1], [2, 3]] if RANKS == 4 else [list(range(RANKS))])


def uneven():
    """A size of which ranks get unequal shares; never smaller than the ranks: OneFlow ends them all over that."""
    return random(RANKS, 3 * RANKS + 2).to(int)


def matrix():
    return random_tensor(ndim=2, dim0=uneven(), dim1=uneven())


@pytest.mark.parametrize("end", LAYOUTS)
@pytest.mark.parametrize("start", LAYOUTS)
@globaltest
@autotest(n=2, graph_backward="all", coverage="none")
def test_pair(start, end):
    return matrix().to_global(sbp=LAYOUTS[start]).to_global(sbp=LAYOUTS[end])


@pytest.mark.parametrize("end", LAYOUTS)
@globaltest
@autotest(n=2, coverage="none")
def test_integers(end):
    x = random_tensor(ndim=2, dim0=uneven(), dim1=uneven(), dtype=int)
    return x.to_global(sbp=sbp.split(0)).to_global(sbp=LAYOUTS[end])


@globaltest
@autotest(n=2, coverage="none")
def test_three_dimensions():
    x = random_tensor(ndim=3, dim0=uneven(), dim1=uneven(), dim2=uneven())
    return x.to_global(sbp=sbp.split(2)).to_global(sbp=sbp.split(0)).to_global(sbp=sbp.split(1))


@globaltest
@autotest(n=8, check_graph=RANKS == 1, coverage="none")
def test_two_dimensional_placement():
    start = random_sbp(SQUARE, max_dim=2)
    end = random_sbp(SQUARE, max_dim=2)
    return matrix().to_global(placement=SQUARE, sbp=start).to_global(sbp=end)


@globaltest
@autotest(n=2, check_graph=RANKS == 1, coverage="none")
def test_one_and_two_dimensional_placements():
    x = matrix().to_global(sbp=sbp.split(0))
    return x.to_global(placement=SQUARE, sbp=[sbp.broadcast, sbp.split(1)])


@globaltest
@autotest(n=2, coverage="none")
def test_layout_that_is_read():
    x, y = matrix(), matrix()
    x = x.to_global(sbp=sbp.split(1))
    return y.to_global(placement=x.placement, sbp=x.sbp)
