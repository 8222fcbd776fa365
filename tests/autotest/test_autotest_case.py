"""A case's key alone brings it back: in the next run, in another folder, after other tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import dual, random, random_bool, random_tensor, torch
from autotest.case import Case, Drawer, Rejection
from autotest.options import TestOptions
from autotest.runner import case_test_name
from autotest.session import Session


def body() -> Any:
    """Draws of every sort: sizes, a flag, values, a module's state."""
    x = random_tensor(ndim=random(1, 4).to(int), dim0=3)
    module = torch.nn.Linear(2, random(1, 5).to(int))
    y = module(random_tensor(ndim=2, dim1=2))
    return (torch.square(x) if random_bool().value() else x * 2), y


def draw(session: Session, index: int = 0, seed: int = 0, test: str = "test_a.py::test_b") -> Case:
    """One case of `body`."""
    drawn = Drawer(session.reference, test, seed, "torch", TestOptions(), body).draw(index)
    assert isinstance(drawn, Case)
    return drawn


def data(case: Case) -> tuple[Any, list[bytes]]:
    """The whole Program as plain data."""
    arrays: list[Any] = []
    return case.program.to_json(arrays), [array.tobytes() for array in arrays]


def test_same_key_same_case(session: Session) -> None:
    """The same key gives the identical Program, values, state and cotangents included, whatever ran between."""
    first = draw(session, 3)
    draw(session, 4)
    assert data(draw(session, 3)) == data(first)
    assert first.key == "test_a.py::test_b#3"


@pytest.mark.parametrize("other", [{"index": 1}, {"seed": 1}, {"test": "test_a.py::test_c"}])
def test_other_key_other_case(session: Session, other: dict[str, Any]) -> None:
    """Another index, seed or test draws another case."""
    assert data(draw(session, **other)) != data(draw(session))


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("test_a.py::test_b", "test_a.py::test_b"),
        ("deep/er/test_a.py::TestC::test_b[1-x/y]", "test_a.py::TestC::test_b[1-x/y]"),
        ("../test_a.py::test_b[a::b/c]", "test_a.py::test_b[a::b/c]"),
    ],
)
def test_key_names_no_folder(nodeid: str, name: str) -> None:
    """A case's key holds the file's name, the test's and its parameters, so that every checkout draws the same."""
    assert case_test_name(nodeid) == name


def refused(session: Session, refusing: Callable[[], Any]) -> Rejection:
    """The rejection of a draw."""
    drawn = Drawer(session.reference, "t", 0, "torch", TestOptions(), refusing).draw(0)
    assert isinstance(drawn, Rejection)
    return drawn


def test_rejection_keeps_the_refused_call(session: Session) -> None:
    """A rejected draw keeps its Program up to the refused call, and the reference's first line."""

    def refusing() -> Any:
        return torch.mm(random_tensor(ndim=2, dim0=1, dim1=2), random_tensor(ndim=2, dim0=3, dim1=1)) + 1

    rejection = refused(session, refusing)
    assert rejection.reason == "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 3x1)"
    assert rejection.program.ops() == ["mm"]
    assert rejection.program.calls[-1].raises == ("RuntimeError",)


def no_backward(x: Any) -> Any:
    """A function of the reference whose backward raises."""
    import torch as pytorch

    class Refusing(pytorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            raise RuntimeError("no way back")

    return Refusing.apply(x)


def test_refused_backward_is_a_rejection(session: Session) -> None:
    """A draw whose backward the reference refuses is rejected as well."""
    custom = dual(reference=no_backward, target=no_backward)
    assert refused(session, lambda: custom(random_tensor(ndim=1))).reason == "RuntimeError: no way back"
