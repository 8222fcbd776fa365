"""How far nudges move a result, and what they tell apart: following, jumping, standing still."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.oracle.spread import Spread, farthest

EXACT = np.array([1.0, 1.0, 1.0, 1.0, np.inf])

pytestmark = pytest.mark.filterwarnings("ignore:invalid value")  # the oracle asks under np.errstate


def test_spread() -> None:
    """What follows its inputs moves less the nearer they are; what does not jumps; noise is no movement."""
    near = [np.add(EXACT, [64e-6, 64e-6, 1e-6, 0.0, 0.0]), EXACT]
    nearer = [EXACT, np.add(EXACT, [1e-6, 60e-6, 1e-14, 0.0, 0.0])]
    spread = Spread.of(EXACT, near, nearer, scale=2.0)
    assert spread.moves.round(12).tolist() == [2e-6, 0.0, 0.0, 0.0, 0.0]
    assert spread.jumps.tolist() == [False, True, False, False, False]
    # The third moves by what is farther off, and not by what is near: a kink lies in between.
    assert spread.crossed.tolist() == [False, True, True, False, False]


def test_farthest() -> None:
    """The greatest distance of any run; what is not finite is infinitely far, but from its like."""
    runs = [np.array([1.5, np.nan, np.inf]), np.array([0.0, 1.0, np.inf])]
    assert farthest(np.array([1.0, 1.0, np.inf]), runs).tolist() == [1.0, np.inf, 0.0]
    assert farthest(np.array([1.0, 2.0]), []).tolist() == [0.0, 0.0]
