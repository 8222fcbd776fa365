"""The deadline of a body that does not end by itself."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import BodyTimeoutError
from autotest.cases.deadline import deadline
from support.runs import run_pytest

SENTENCE = "it: the body did not end within 0.2 s on PyTorch: let every draw end it, or give it longer [--case-timeout]"


def spin() -> None:
    """Never end, whatever is raised."""
    for _ in itertools.count():
        with contextlib.suppress(Exception):
            time.sleep(0.01)


def within(body: Callable[[], None], seconds: float | None = 0.2) -> None:
    """Run a body with a deadline."""
    with deadline(seconds, "it"):
        body()


def test_body_that_never_ends() -> None:
    """It is ended, even if it catches every exception, and nothing of the alarm is left."""
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(BodyTimeoutError) as caught:
        within(spin)
    assert str(caught.value) == SENTENCE
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_body_that_ends() -> None:
    """No alarm rings afterwards, and what the body raises is its own."""
    within(lambda: None)
    with pytest.raises(KeyError):
        within(lambda: {}["mine"])
    time.sleep(0.3)


@pytest.mark.parametrize("seconds", [None, 0.2])
def test_alarm_of_somebody_else(seconds: float | None) -> None:
    """An alarm that is set already rings as it would without us; without a deadline none is set."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
        within(lambda: time.sleep(0.5), seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == ([] if seconds is None else [1])


def test_another_thread() -> None:
    """Where Python takes no signal, there is no deadline."""
    ended: list[int] = []

    def body() -> None:
        within(lambda: time.sleep(0.4))
        ended.append(1)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert ended == [1]


LOOP = """
from autotest import autotest, random_tensor, torch

drawn = []

@autotest(n=4, check_graph=False)
def test_loop():
    x = random_tensor(ndim=1, dim0=2)
    drawn.append(x)
    while len(drawn) == 3:
        x = x + 1
    return x

@autotest(n=2, check_graph=False)
def test_next():
    return torch.tanh(random_tensor(ndim=1))
"""


def test_run_goes_on(tmp_path: Path) -> None:
    """The test fails in one sentence, the cases before it keep their verdicts, and the next test runs."""
    outcome = run_pytest(tmp_path, {"test_loop.py": LOOP}, "-q", "--autotest-case-timeout", "2")
    assert outcome.status == 1
    assert outcome.outcomes() == {"test_loop": "failed", "test_next": "passed"}
    assert outcome.verdicts("test_loop") == {"aligned": 2}
    sentence = "test_loop.py::test_loop#2: the body did not end within 2 s on PyTorch: let every draw end it"
    assert sentence in " ".join(outcome.out.split())
    assert "Traceback" not in outcome.out
