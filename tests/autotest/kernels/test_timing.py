"""Speed beside correctness: what is timed, and that its results are looked at."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from autotest.kernels.judge import Kernel, KernelJudge
from autotest.kernels.questions import Asking
from autotest.kernels.telling import times_data, times_text
from autotest.kernels.timing import ROUNDS, Times, programs, times
from dual_object.replay.adapter import load_reference

pytestmark = pytest.mark.slow

RELUS = Path(__file__).parents[2] / "support" / "kernels" / "relus.py"


@pytest.fixture(scope="module")
def judge() -> KernelJudge:
    """Of `torch.relu`, in float32."""
    return KernelJudge(load_reference(), Asking("relu", ("float32",)), timeout=60.0)


def sizes(path: str) -> list[list[tuple[int, ...]]]:
    """Of each call that is timed, the shapes of its inputs."""
    reference = load_reference()
    asked = KernelJudge(reference, Asking(path, ("float32",), gradients=False)).questions
    return [[x.data.shape for x in program.inputs] for program in programs(reference, asked, ())]


def test_three_sizes_of_what_pytorch_takes() -> None:
    """Elements are about as many as wanted, and the inputs fit each other."""
    for program in sizes("mm"):
        (_, inner), (other, _) = program
        assert inner == other
    counts = [np.prod(program[0]) for program in sizes("relu")]
    assert counts == [1_000, 100_000, 1_000_000]


def test_the_claimed_shapes_alone(judge: KernelJudge) -> None:
    """What cannot be grown within them is not timed."""
    found = programs(load_reference(), judge.questions, ((5,),))
    assert all(program.inputs[0].data.shape == (5,) for program in found)


def test_a_kernel_beside_the_op(judge: KernelJudge) -> None:
    """Its calls are counted, and right; one that gives results again is seen to be wrong where they are others."""
    measured = judge.times(Kernel(RELUS, "sound"))
    assert not isinstance(measured, str), measured
    assert [(one.wrong, one.calls) for one in measured] == [(0, 2 * ROUNDS)] * 3
    for one in measured:
        assert one.uncompiled or "compiled" in one.milliseconds
        for caches in one.milliseconds.values():
            assert all(0 < low <= middle <= high for middle, low, high in caches.values())
    json.dumps(times_data(measured))
    wrong = judge.times(Kernel(RELUS, "by_shape"))
    assert not isinstance(wrong, str), wrong
    assert all(one.wrong >= ROUNDS for one in wrong)


def test_a_kernel_that_fails(judge: KernelJudge) -> None:
    """It is told, as is one that ends its process."""
    assert judge.times(Kernel(RELUS, "of_48_columns")) == "not timed: it raised RuntimeError: made for 48 columns"
    supervisor = judge.launch(Kernel(RELUS, "ends_when_long"), timed=True)
    try:
        asked = programs(load_reference(), judge.questions, ())
        assert times(load_reference(), supervisor, asked) == "not timed, for its process ended: killed by SIGKILL"
    finally:
        supervisor.close()


def test_the_table() -> None:
    """All of it."""
    quick, slow = (0.1, 0.09, 0.12), (1.25, 1.0, 2.0)
    of = {"cold": slow, "warm": quick}
    one = Times(((8, 256), ()), {"kernel": of, "op": of}, 3, 18, "RuntimeError: no compiler")
    assert times_text("torch.relu", [one]) == (
        "\n"
        "milliseconds, 9 times on one thread with the same inputs: median (quartiles)\n"
        "  tensors             cache                 the kernel                torch.relu                  compiled\n"
        "  8x256 ()            cold         1.250 (1.000 2.000)       1.250 (1.000 2.000)                         -\n"
        "  8x256 ()            warm         0.100 (0.090 0.120)       0.100 (0.090 0.120)                         -\n"
        "    its results were wrong in 3 of 18 timed calls: its times say nothing\n"
        "    not compiled: RuntimeError: no compiler\n"
    )
    assert times_text("torch.relu", []) == ""
    assert times_text("torch.relu", "not timed: it was killed") == "\nnot timed: it was killed\n"
