"""`autotest replay ID --float64`: what stands where rounding hardly matters, what is gone, what cannot be told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.runs import Outcome, run_autotest

FAULT = {"AUTOTEST_FAULT": "faults:float32"}


@pytest.fixture
def outcome(shared_run: Callable[..., Outcome]) -> Outcome:
    """A run whose ops are wrong in float32."""
    return shared_run("float64", {"test_float64.py": "float64.py"}, env=FAULT)


def replay(outcome: Outcome, test: str) -> tuple[int, str, str]:
    """Status, text and id of a replay in float64."""
    [id_] = {row["id"] for end in outcome.ends(test) for row in end["divergences"]}
    done = run_autotest(outcome.folder, "replay", id_, "--float64", env=FAULT)
    return done.returncode, (done.stdout + done.stderr).strip(), id_


def test_stands_in_float64(outcome: Outcome) -> None:
    """An op that is wrong in both dtypes stands; what the body makes by itself is of float64, too."""
    status, text, id_ = replay(outcome, "test_sin")
    assert status == 1
    lines = text.splitlines()
    assert lines[:3] == [
        f"{id_} stands in float64 too: 1 divergence in 1 of 1 case",
        "",
        "torch/eager_forward/value/sin/float64  1 case",
    ]
    assert lines[-1] == f"  autotest replay {id_} --float64"


def test_gone_in_float64(outcome: Outcome) -> None:
    """An op that is wrong in float32 alone is gone."""
    status, text, id_ = replay(outcome, "test_cos")
    assert status == 0
    assert text.splitlines()[0] == (
        f"{id_} is gone in float64: torch/eager_forward/value/cos/float32 is a matter of its dtype"
    )


def test_target_without_float64(outcome: Outcome) -> None:
    """A target that refuses float64 there says nothing of the divergence."""
    status, text, id_ = replay(outcome, "test_exp")
    assert (status, text) == (
        125,
        f"{id_} cannot be told: torch has no float64 for it: "
        "exp: exp raised NotImplementedError: no kernel for float64",
    )


def test_something_else_in_float64(outcome: Outcome) -> None:
    """A divergence of another kind there is told as such."""
    status, text, id_ = replay(outcome, "test_tan")
    assert status == 1
    assert text.splitlines()[0] == (
        f"{id_} diverges in float64 too, but as something else: 1 divergence in 1 of 1 case"
    )


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("test_argmax", "has no floating input, so float64 changes nothing: replay it without --float64"),
        ("test_view", "has no meaning in float64: view(dtype) reads the bits of one dtype as another's"),
    ],
)
def test_no_meaning_in_float64(outcome: Outcome, test: str, words: str) -> None:
    """What float64 cannot change, or would change altogether, is refused."""
    status, text, id_ = replay(outcome, test)
    assert (status, text) == (125, f"cannot replay: {id_} {words}")
