"""How far nudges move a result, and what they tell apart: following, jumping, standing still."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autotest import torch
from autotest.compare.difference import Difference
from autotest.oracle.exact import Opinions
from autotest.oracle.spread import Spread, farthest, lost_digits
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.replay import Replay
from support import trainings

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


@pytest.mark.parametrize(
    ("runs", "exact", "lost"),
    [
        ([1.25, 1.75], 1.0, 0.25),
        ([1.25, 1.75], 1e-9, 1.75),
        ([1.25, 1.75], 0.0, 1.75),
        ([1.25, 1.75], 1e-5, 0.25),
        ([1.5, 1.5], 0.0, 0.0),
        ([np.inf, 1.0], 0.0, 0.0),
        ([1.0, 2j], 0.0, 2.0),
        ([], 1.0, 0.0),
    ],
)
def test_lost_digits(runs: list[complex], exact: float, lost: float) -> None:
    """What runs scatter by; where the exact result is 0, all that they are off by, unless they agree as in a defect."""
    assert lost_digits([np.array([run]) for run in runs], np.array([exact])).tolist() == pytest.approx([lost])


def test_attribution_passes_over_what_is_not_finite() -> None:
    """A run that reaches a pole says nothing of the slope beside it; one of another shape says nothing at all."""
    rows = [[1.5, np.nan], [np.inf, 2.0], [1.0]]
    runs = [Observation(outputs={1: Seen("float32", (len(row),), "cpu", False, np.array(row))}) for row in rows]
    opinions = Opinions(Adapter(), Program([], [], None), several=False)
    difference = Difference("eager_forward", "value", "t0", "", key="1")
    found = opinions._arrays(difference, np.array([1.0, 2.0]), runs)
    assert [values.tolist() for values in found] == [[1.5, 2.0], [1.0, 2.0]]


def test_the_opinion_on_an_update_has_all_gradients() -> None:
    """A layer before a function that NumPy knows is trained, too: without its gradient it would stay as it is, and
    neither side of a divergence be right.
    """

    def body(recording: Any) -> Any:
        first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.5)
        x = trainings.batch(recording)
        return torch.nn.functional.mse_loss(second(torch.tanh(first(x))), x[:, :1])

    program, reference = trainings.recorded(body), Adapter()
    assert program.training is not None
    [updated] = [part for part in program.training.steps[0].parts if part.name == "update"]
    key, seen = next(iter(updated.values)), Replay(reference, program, side="reference").run()
    difference = Difference("eager_update", "value", "m0.weight", "", part="output", key=str(key))
    wrong = seen.outputs[key].data != 0
    exact = Opinions(reference, program, several=True).exact(difference, wrong)
    assert exact is not None
    assert exact.values == pytest.approx(seen.outputs[key].data, rel=1e-5)
    assert abs(exact.values - 0.5).min() > 1e-3  # it started there


def test_elements_without_a_digit_are_as_bad_as_the_worst_of_them() -> None:
    """How near to 0 one comes is chance; those that have digits keep their own measure."""
    runs = [np.array([3e-4, 1e-6, 1.0]), np.array([5e-4, 2e-6, 1.0 + 2e-7])]
    assert lost_digits(runs, np.array([0.0, 0.0, 1.0])).tolist() == pytest.approx([5e-4, 5e-4, 1e-7])
