"""What a test has compared: one that would pass whatever the target does is told so."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest import UsageError, autotest, random, random_tensor, torch
from autotest.run.session import Session
from support.places import told


@pytest.mark.parametrize("value", [None, 1.0])
def test_body_that_calls_nothing(session: Session, value: Any) -> None:
    """It is no test that passes."""

    def body() -> Any:
        return value

    with pytest.raises(UsageError) as caught:
        autotest(n=2, auto_backward=False)(body)()
    assert told(caught.value, __file__, "def body()") == (
        "test_compared.py::test_body_that_calls_nothing::<locals>::body: nothing was compared, since its body calls "
        "nothing: call the op under test as PyTorch has it, by autotest's own torch"
    )
    assert session.counts == {"aligned": 2}


def test_body_that_has_numpy_compute(session: Session) -> None:
    """Of its inputs alone, which are the same for each target; what a call gave, or is returned, is compared."""

    def body() -> Any:
        return np.concatenate([random_tensor(2, 3, 2), random_tensor(2, 3, 2)])

    with pytest.raises(UsageError, match="nothing was compared, since its body calls nothing"):
        autotest(n=2, auto_backward=False)(body)()
    for compared in (
        lambda: np.concatenate([torch.exp(random_tensor(2, 3, 2))]),
        lambda: random_tensor(1, 3).detach(),
        lambda: random_tensor(1, 3).detach().numpy(),
    ):
        autotest(n=2, auto_backward=False)(compared)()


def test_body_that_calls_something_now_and_then(session: Session) -> None:
    """One of its cases is enough."""

    @autotest(n=9, check_graph=False, auto_backward=False)
    def body() -> None:
        if random(0, 2).to(int).value():
            torch.relu(random_tensor(ndim=1))

    body()
    assert session.counts == {"aligned": 9}


def test_a_run_of_fewer_cases(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test's other cases would have called, nobody knows."""
    monkeypatch.setattr(session, "options", replace(session.options, cases=1))
    autotest(n=2, check_graph=False, auto_backward=False)(lambda: None)()
    with pytest.raises(UsageError, match="nothing was compared"):
        autotest(n=1, check_graph=False, auto_backward=False)(lambda: None)()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        autotest(n=2, check_graph=False)(lambda: torch.exp(random_tensor(low=-21, high=-20)))()


def test_values_below_the_absolute_tolerance(session: Session) -> None:
    """Where 0 would pass for each of them, a warning at the body says so."""

    def body() -> Any:
        return torch.exp(random_tensor(ndim=2, low=-21, high=-20, requires_grad=False))

    with pytest.warns(UserWarning, match="below the absolute tolerance") as caught:
        autotest(n=3, check_graph=False, auto_backward=False)(body)()
    [warning] = caught
    assert (warning.filename, warning.lineno) == (__file__, body.__code__.co_firstlineno)
    words, _, greatest = str(warning.message).partition("greatest, ")
    assert words == (
        "test_compared.py::test_values_below_the_absolute_tolerance::<locals>::body: all values that were drawn and "
        "compared are below the absolute tolerance: with atol=1e-05 a 0 would pass for the "
    )
    number, _, rest = greatest.partition("; ")
    assert 7e-10 < float(number) < 2.1e-9
    assert rest == "pass rtol= and atol= to @autotest, or draw others"


@pytest.mark.parametrize(
    "options",
    [{"rtol": 1e-4, "atol": 0.0}, {"rtol": 1e-4, "atol": 1e-12}, {"check_allclose": False}],
    ids=["no atol", "another atol", "no values"],
)
def test_small_values_that_are_compared(session: Session, options: dict[str, Any]) -> None:
    """A tolerance that a test has for them is no reason to warn, nor is one that compares no values."""

    @autotest(n=3, check_graph=False, auto_backward=False, **options)
    def body() -> Any:
        return torch.exp(random_tensor(ndim=2, low=-21, high=-20, requires_grad=False))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.exp(x * 2),
        lambda x: torch.exp(x - 20).sum() * 0,
        lambda x: (torch.exp(x - 20), x > 0),
        lambda x: torch.exp(x - 20) * float("nan"),
    ],
    ids=["greater", "zero", "beside a bool", "nan"],
)
def test_values_that_are_no_reason_to_warn(session: Session, call: Any) -> None:
    """One value that 0 would not pass for is enough, in any output; and where all are 0, nothing else is to be had."""

    @autotest(n=3, check_graph=False, auto_backward=False)
    def body() -> Any:
        return call(random_tensor(ndim=2, low=-1, high=1, requires_grad=False))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body()


def test_gradients_are_values(session: Session) -> None:
    """A small result with a gradient that is not small is compared."""

    @autotest(n=3, check_graph=False)
    def body() -> Any:
        return torch.mul(random_tensor(ndim=2, low=1e-8, high=2e-8), 1.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body()
