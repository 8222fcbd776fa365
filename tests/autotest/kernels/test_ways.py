"""Kernels that claim to be right under vmap, under torch.compile or on several threads: they are asked so, and no
others are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest import judge_kernel
from autotest.kernels.findings import Verdict
from autotest.kernels.judge import Kernel, KernelJudge
from autotest.kernels.questions import Asking
from autotest.kernels.telling import ROLES
from autotest.kernels.ways import CLAIMS, MOST_ASKED
from autotest.options.overrides import CLAIMS as NAMES
from dual_object.replay.adapter import load_reference

pytestmark = pytest.mark.slow

CLAIMING = Path(__file__).parents[2] / "support" / "kernels" / "claiming.py"
#: By the function and what it claims the category, and the message, or its beginning, all of which is ours.
FAULTS = {
    ("branches", "vmap"): (
        "mode",
        "under torch.func.vmap over dimension 0, relu raised RuntimeError: vmap: It looks like you're attempting to "
        "use a Tensor in some data-dependent control flow. ",
    ),
    ("of_first_dimension", "vmap"): ("mode", "under torch.func.vmap over dimension 1, "),
    ("while_compiling", "compile"): ("mode", "under torch.compile with aot_eager, t0 differs in "),
    ("scratch", "threads"): ("mode", "called on 5 threads at once, t0 differs in "),
    ("refuses_company", "threads"): (
        "mode",
        "called on 5 threads at once, relu raised RuntimeError: it runs already",
    ),
    ("waits", "threads"): (
        "timeout",
        "called on 5 threads at once, it did not answer within 4 s and was killed",
    ),
    ("ends", "threads"): ("crash", "called on 5 threads at once, it was killed by SIGKILL"),
}


@pytest.fixture(scope="module")
def judge() -> KernelJudge:
    """Of `torch.relu` in float32, of eight columns."""
    return KernelJudge(load_reference(), Asking("relu", ("float32",), shapes=((None, 8),)), timeout=4.0)


def judged(judge: KernelJudge, function: str, *claims: str) -> Verdict:
    """What is said of a function that claims this."""
    return judge.judge(Kernel(CLAIMING, function, claims=claims))


def test_what_is_right_in_every_way(judge: KernelJudge) -> None:
    """It is accepted, with no gap; each way is asked about ordinary calls, and told of."""
    verdict = judged(judge, "sound", *CLAIMS)
    assert (verdict.findings, dict(verdict.gaps)) == ((), {})
    assert [verdict.cells[claim] for claim in CLAIMS] == [
        (MOST_ASKED * len(ways), MOST_ASKED * len(ways)) for ways in CLAIMS.values()
    ]
    assert ROLES.keys() >= CLAIMS.keys()
    assert [*CLAIMS] == [*NAMES]
    assert set(verdict.score.values()) == {1.0}


@pytest.mark.parametrize(("function", "claim"), FAULTS)
def test_a_claim_that_is_wrong(judge: KernelJudge, function: str, claim: str) -> None:
    """It is the only finding, says in which way it was asked, and lowers a score."""
    category, message = FAULTS[function, claim]
    verdict = judged(judge, function, claim)
    [finding] = verdict.findings
    assert finding.category == category
    assert finding.message.startswith(message)
    assert str(finding.cell).startswith(f"{claim} ")
    asked, right = verdict.cells[claim]
    assert right < asked
    assert min(verdict.score.values()) < 1.0
    if category != "mode":  # what ends a process, or costs all its time, is asked no further
        assert asked == 1


@pytest.mark.parametrize("function", ["branches", "while_compiling", "of_first_dimension", "scratch", "waits"])
def test_what_is_not_claimed_is_not_asked(judge: KernelJudge, function: str) -> None:
    """Plainly each of them is right."""
    verdict = judged(judge, function)
    assert verdict.findings == ()
    assert not verdict.cells.keys() & CLAIMS.keys()


def test_what_is_captured_in_parts_is_told(judge: KernelJudge) -> None:
    """It is no fault: what follows from numbers is called between two graphs."""
    verdict = judged(judge, "branches", "compile")
    assert verdict.findings == ()
    [(gap, count)] = verdict.gaps.items()
    assert gap.startswith("torch.compile does not capture it whole: ")
    assert count == 1
    assert verdict.cells["compile"] == (MOST_ASKED, MOST_ASKED - 1)


def test_by_keywords() -> None:
    """`judge_kernel` takes the same words."""
    source = CLAIMING.read_text() + "\n\ndef relu(input):\n    return while_compiling(input)\n"
    verdict = judge_kernel(source, dtypes=("float32",), shapes=("n,8",), compile=True)
    assert [finding.category for finding in verdict.findings] == ["mode"]
    assert not {"vmap", "threads"} & verdict.cells.keys()
