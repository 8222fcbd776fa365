"""What surrounds a test of a drop-in file: draws and dual calls outside of its cases, and its options."""

from __future__ import annotations

import random as python_random
from typing import Any

import pytest
import torch as real
from click.testing import CliRunner

from autotest.cli import main
from autotest.dropin import generators as g
from autotest.dropin.decorator import autotest
from autotest.dropin.errors import PyTorchDoesNotSupportError, refused
from autotest.dropin.item import surrounded
from autotest.dropin.options import DropInOptions, running_options
from autotest.dropin.tensors import choice_tensor, random_tensor
from autotest.errors import UsageError
from autotest.run.session import Session
from dual_object.errors import OutsideCaseError
from dual_object.record.namespace import torch


def test_draws_follow_the_name(torch_session: Session) -> None:
    """Outside of cases the same test draws the same, another test something else."""

    def drawn(test: str) -> tuple[Any, ...]:
        with surrounded(torch_session, test):
            return g.random(0, 1 << 40).to(int).value(), random_tensor(2, 2, 3).pytorch.tolist(), python_random.random()

    assert drawn("a") == drawn("a")
    assert drawn("a") != drawn("b")


def test_dual_calls_run_on_both_sides(torch_session: Session) -> None:
    """A dual call outside of a case has both results at once; afterwards it is refused again."""
    with surrounded(torch_session, "a"):
        x = random_tensor(2, 2, 3)
        y = torch.relu(x) + 1
        assert y.oneflow is not y.pytorch
        assert real.equal(y.oneflow, y.pytorch)
        chosen = choice_tensor([7], (2,)).pytorch
        assert (chosen.tolist(), chosen.dtype) == ([7, 7], real.int64)
    with pytest.raises(OutsideCaseError):
        torch.ones(2)


def test_exceptions_outside_of_cases(torch_session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's refusal is the caller's as OneFlow's harness names it; the target's names the op, and ends nothing."""
    adapter = torch_session.inline.adapter
    resolve = adapter.resolve

    def planted(path: str) -> Any:
        if path == "tanh":
            raise RuntimeError("planted")
        return resolve(path)

    monkeypatch.setattr(adapter, "resolve", planted)
    with surrounded(torch_session, "a"):
        x = random_tensor(2, 2, 3)
        with pytest.raises(PyTorchDoesNotSupportError):
            torch.mm(x, x)
        with pytest.raises(RuntimeError) as caught:
            torch.tanh(x)
        assert str(caught.value) == "the target's tanh raised RuntimeError: planted"
        assert torch.sin(x).oneflow is not None


@pytest.mark.parametrize(
    "error", [RuntimeError("no"), OSError(2, "no"), KeyError("no"), UnicodeDecodeError("utf8", b"x", 0, 1, "no")]
)
def test_refusal_is_of_both_classes(error: Exception) -> None:
    """What a body gets is a PyTorchDoesNotSupportError and an exception of PyTorch's class, with its arguments."""
    shown = refused(error)
    assert isinstance(shown, PyTorchDoesNotSupportError)
    assert isinstance(shown, type(error))
    assert (shown.exc, shown.args, str(shown)) == (error, error.args, f"PyTorch error: {error}")


def options_of(**given: Any) -> DropInOptions:
    """The options of a body decorated with these arguments."""
    found: DropInOptions = autotest(**given)(lambda test_case: None).autotest_options  # type: ignore[attr-defined]
    return found


def test_defaults_are_oneflows() -> None:
    """20 cases, rtol 1e-4, atol 1e-5, graphs and values compared, dtypes not."""
    found = options_of()
    assert (found.n, found.rtol, found.atol) == (20, 1e-4, 1e-5)
    assert (found.auto_backward, found.check_graph, found.check_allclose, found.check_dtype) == (
        True,
        True,
        True,
        False,
    )
    assert found.check_grad_use_random_data
    assert running_options() == DropInOptions()


def test_one_tolerance_alone() -> None:
    """The other one keeps OneFlow's default."""
    assert (options_of(rtol=1e-2).rtol, options_of(rtol=1e-2).atol) == (1e-2, 1e-5)
    assert (options_of(atol=1e-2).rtol, options_of(atol=1e-2).atol) == (1e-4, 1e-2)


def test_words_for_flags() -> None:
    """`auto_backward="auto"` and `check_graph="ValidatedFalse"` are understood, wrong values refused."""
    assert (options_of(auto_backward="auto").auto_backward, options_of(auto_backward="auto").starts_where_it_can) == (
        True,
        True,
    )
    assert not options_of().starts_where_it_can
    assert options_of(check_graph="ValidatedFalse").check_graph is False
    with pytest.raises(UsageError) as caught:
        options_of(n=0)
    assert (
        str(caught.value)
        == "n=0, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)]"
    )


def test_unknown_argument_warns() -> None:
    """An argument of no version changes nothing, and is warned of; those of later versions are taken."""
    with pytest.warns(UserWarning, match="brand_new") as caught:
        assert options_of(brand_new=1, include_complex=True) == DropInOptions()
    assert [str(warning.message) for warning in caught] == [
        "brand_new=1 is unknown here and changes nothing [@autotest(...)]"
    ]


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ((), []),
        (("--drop-in",), ["drop-in"]),
        (("--drop-in", "--strict"), ["drop-in", "strict"]),
        (("--no-memory",), ["no-memory"]),
    ],
)
def test_command_passes_the_flags(monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], flags: list[str]) -> None:
    """`autotest run --drop-in --strict` are pytest's options of the same names; a file that cannot be imported ends no
    run, with workers or without.
    """
    calls: list[list[str]] = []

    def run(arguments: list[str], plugins: object) -> int:
        calls.append(arguments)
        return 0

    monkeypatch.setattr("pytest.main", run)
    result = CliRunner().invoke(main, ["run", "-n", "0", *given])
    assert result.exit_code == 0, result.output
    [arguments] = calls
    passed = [argument for argument in arguments if argument.startswith("--") and "=" not in argument]
    assert passed == ["--continue-on-collection-errors", *(f"--autotest-{flag}" for flag in flags)]
