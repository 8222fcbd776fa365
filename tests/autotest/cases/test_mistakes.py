"""A TypeError at every draw is a mistyped call; where some draws are accepted it is a refused draw as any other."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as real

from autotest import RejectionError, UsageError, autotest, nothing, oneof, random, random_bool, random_tensor, torch
from autotest.cases.case import Rejection
from autotest.cases.drawer import Drawer
from autotest.cases.mistakes import MISTAKEN_DRAWS
from autotest.options import TestOptions
from autotest.run.session import Session
from dual_object.errors import UnknownName
from dual_object.record.annotations import meant_keywords
from support.places import told
from support.runs import run_pytest

HERE = "tests/autotest/cases/test_mistakes.py"
KEYWORD = "TypeError: square() got an unexpected keyword argument 'dims'"


def unknown_keyword() -> Any:
    """A call that no draw can mend."""
    return torch.square(random_tensor(ndim=random(1, 3)), dims=random(0, 2).to(int))


def line_of(function: Callable[..., Any], text: str) -> int:
    """The line of this file that has `text` in the body of `function`."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def test_mistyped_call_ends_its_test_at_once(session: Session) -> None:
    """An unknown keyword is told after three draws, with the user's lines and PyTorch's whole message."""
    with pytest.raises(RejectionError) as caught:
        autotest(n=20, check_graph=False)(unknown_keyword)()
    place = line_of(unknown_keyword, "dims=")
    assert str(caught.value) == (
        "test_mistakes.py::unknown_keyword: PyTorch raised a TypeError at each of 3 draws, so the call is mistaken, "
        f"not what was drawn: correct it [{HERE}:{place}]\n\n"
        f'  File "{HERE}", line {place}, in unknown_keyword\n'
        "    return torch.square(random_tensor(ndim=random(1, 3)), dims=random(0, 2).to(int))\n"
        f"{KEYWORD}"
    )
    assert session.counts == {"rejected": MISTAKEN_DRAWS}


def test_whole_message_is_told(session: Session) -> None:
    """A message of several lines, such as the overloads of a function, is told to its end."""

    def body() -> Any:
        return torch.sum(random_tensor(ndim=2), dims=0)

    with pytest.raises(RejectionError) as caught:
        autotest(n=2, check_graph=False)(body)()
    told = str(caught.value).splitlines()
    assert told[4] == (
        "TypeError: sum() received an invalid combination of arguments - got (Tensor, dims=int), but expected one of:"
    )
    assert told[5].startswith(" * (Tensor input, *, torch.dtype dtype = None)")


def test_keyword_that_is_spelt_alike_is_told(session: Session) -> None:
    """What PyTorch's schemas call otherwise is named; of what it takes as NumPy spells it nothing is said."""

    def body() -> Any:
        return torch.softmax(random_tensor(ndim=2), dims=0)

    with pytest.raises(RejectionError) as caught:
        autotest(n=2, check_graph=False)(body)()
    assert str(caught.value).endswith(
        'TypeError: softmax() missing 1 required positional arguments: "dim"\nsoftmax has no dims: did you mean dim?'
    )
    assert meant_keywords("sum", ["dims", "keepdims", "dtype", "axis", "zzz"]) == ["sum has no dims: did you mean dim?"]
    assert meant_keywords("linalg.norm", ["keepdm", "keepdims"]) == ["norm has no keepdm: did you mean keepdim?"]


def test_array_of_numpys(session: Session) -> None:
    """An array on the right is PyTorch's to refuse; how it becomes a tensor of both sides is told."""

    def body() -> Any:
        return torch.add(random_tensor(ndim=2), np.ones((2, 3)))

    with pytest.raises(RejectionError) as caught:
        autotest(n=2, check_graph=False)(body)()
    assert str(caught.value).endswith(
        "TypeError: add(): argument 'other' (position 2) must be Tensor, not numpy.ndarray\n"
        "an array becomes a dual object by dual_tensor(pytorch.from_numpy(...)), where pytorch is your own "
        "`import torch as pytorch`"
    )


def test_legitimate_type_errors_are_redrawn(session: Session) -> None:
    """An argument that is of the wrong type in most draws is drawn again until n cases stand."""

    def body() -> Any:
        return torch.sum(random_tensor(ndim=2), oneof("a", "b", "c", "d", 0))

    autotest(n=3, check_graph=False)(body)()
    assert session.counts["aligned"] == 3
    assert session.counts["rejected"] > MISTAKEN_DRAWS


def test_mistake_that_a_draw_might_mend_is_told_when_none_did(session: Session) -> None:
    """Where more than sizes and values is drawn, all 20 x n draws are made before the call is called mistaken."""

    def body() -> Any:
        return torch.square(random_tensor(ndim=2), dims=random_bool())

    with pytest.raises(RejectionError) as caught:
        autotest(n=2, check_graph=False)(body)()
    assert str(caught.value).startswith(
        "test_mistakes.py::test_mistake_that_a_draw_might_mend_is_told_when_none_did::<locals>::body: "
        "PyTorch raised a TypeError at each of 40 draws, so the call is mistaken, not what was drawn: correct it "
    )
    assert str(caught.value).endswith(KEYWORD)
    assert session.counts == {"rejected": 40}


@pytest.mark.parametrize(
    ("body", "lasting"),
    [
        (unknown_keyword, True),
        (lambda: torch.square(random_tensor(), 1), True),
        (lambda: random_tensor() + "a", True),
        (lambda: torch.nn.Conv2d(3), True),
        (lambda: torch.square(1), True),
        (lambda: oneof(torch.square, torch.relu)(random_tensor(), dims=1), False),
        (lambda: torch.square(random_tensor(), oneof(1, "a")), False),
        (lambda: torch.add(random_tensor(), nothing()), False),
        (lambda: len(random_tensor(ndim=random(0, 2).to(int).value() * 0)), False),
        (lambda: torch.mm(random_tensor(ndim=2, dim1=2), random_tensor(ndim=2, dim0=3)), None),
    ],
    ids=["keyword", "number", "operand", "missing", "type", "function", "type drawn", "left out", "value", "refused"],
)
def test_lasting_mistakes(session: Session, body: Callable[[], Any], lasting: bool | None) -> None:
    """A mistake lasts where it is about the form of the call, and nothing but sizes and values is drawn."""
    drawn = Drawer(session.reference, "t", 0, "torch", TestOptions(), body).draw(0)
    assert isinstance(drawn, Rejection)
    assert (None if drawn.mistake is None else drawn.mistake.lasting) == lasting


def test_misspelt_name_is_told_with_the_one_meant(session: Session) -> None:
    """A function or method that PyTorch lacks ends the test, with the name that is spelt alike."""
    bodies: dict[str, Callable[[], Any]] = {
        "torch has no matmull: did you mean torch.matmul?": lambda: torch.matmull(random_tensor(), 1),
        "torch.nn.functional has no reluu: did you mean torch.nn.functional.relu?": lambda: torch.nn.functional.reluu(
            random_tensor()
        ),
        "Tensor has no summ: did you mean Tensor.sum?": lambda: random_tensor().summ(),
        "Linear has no wieght: did you mean Linear.weight?": lambda: torch.nn.Linear(1, 1).wieght,
        "torch.Tensor has no ad: did you mean torch.Tensor.add?": lambda: torch.Tensor.ad(random_tensor(), 1),
    }
    for message, body in bodies.items():
        with pytest.raises(UnknownName) as caught:
            autotest(n=2)(body)()
        assert told(caught.value, __file__, message.partition(" has no ")[2].partition(":")[0]) == message


class Raw(real.nn.Module):
    """A module of PyTorch's own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = real.nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        """Its layer's."""
        return self.layer(x)


@pytest.mark.parametrize(
    ("body", "place", "said"),
    [
        (lambda: Raw()(random_tensor(2, 2, 3)), "self.layer(x)", "linear(): argument 'input'"),
        (lambda: real.cat([random_tensor(1, 3)]), "real.cat", "expected Tensor as element 0"),
        (lambda: real.clamp(random_tensor(1, 3), 1), "real.clamp", "clamp() received an invalid combination"),
    ],
)  # fmt: skip
def test_functions_of_pytorch_itself(session: Session, body: Callable[[], Any], place: str, said: str) -> None:
    """What PyTorch cannot do with a dual object is told with the way out, at the line that asks for it."""
    with pytest.raises(UsageError) as caught:
        autotest(n=1)(body)()
    assert told(caught.value, __file__, place).startswith(
        "PyTorch's own function was given a dual object, but should be called through autotest's `torch`, and a module "
        f"class of the test derive from its torch.nn.Module: {said}"
    )


ONEFLOW = """
import oneflow
from autotest import autotest, random_tensor


@autotest(n=1)
def test_relu():
    return oneflow.relu(random_tensor(1, 3))
"""


def test_functions_of_the_target(tmp_path: Path) -> None:
    """The same of what the target cannot do, without the colours in which OneFlow says it."""
    outcome = run_pytest(tmp_path, {"test_own.py": ONEFLOW}, "-q")
    assert outcome.summary["errors"] == {
        "test_own.py::test_relu": "autotest.UsageError: a function of the target's was given a dual object, but should "
        "be called through autotest's `torch`, as torch.relu(x) for oneflow.relu(x): Error: relu(): argument 'x' must "
        "be tensor, not <class 'dual_object.record.dual.DualObject'> [test_own.py:8]"
    }, outcome.out


@pytest.mark.parametrize(
    ("body", "place", "said"),
    [
        (
            lambda: np.exp(random_tensor(1, 3)),
            "np.exp",
            "a function of NumPy's was given a dual object, but should be called through autotest's `torch`, as "
            "torch.exp(x) for numpy.exp(x): operand 'DualObject' does not support ufuncs (__array_ufunc__=None)",
        ),
        (
            lambda: torch.relu(np.sum(random_tensor(1, 3))),
            "np.sum",
            "a function of NumPy's was given a dual object, but should be called through autotest's `torch`, as "
            "torch.sum(x) for numpy.sum(x): sum() got an unexpected keyword argument 'axis'",
        ),
        (
            lambda: np.max(random_tensor(1, 3)),
            "np.max",
            "a function of NumPy's was given a dual object, but should be called through autotest's `torch`, as "
            "torch.max(x) for numpy.max(x): max(): argument 'dim' must be int, not NoneType",
        ),
        (
            lambda: random_tensor(shape=(2, 3)),
            "shape=(2, 3)",
            "random_tensor() got an unexpected keyword argument 'shape', but should be given some of ndim, dim0, dim1, "
            "dim2, dim3, dim4, low, high, dtype, requires_grad, distinct",
        ),
        (
            lambda: random(1, 3, kind=int),
            "kind=int",
            "random() got an unexpected keyword argument 'kind', but should be given some of low, high",
        ),
    ],
)  # fmt: skip
def test_calls_that_cannot_be(session: Session, body: Callable[[], Any], place: str, said: str) -> None:
    """A function of NumPy's, and a keyword that one of ours has not, are told with the way out."""
    with pytest.raises(UsageError) as caught:
        autotest(n=1)(body)()
    assert told(caught.value, __file__, place) == said


def own(x: Any) -> Any:
    """A function of the test's own."""
    return x


def test_a_keyword_that_the_users_own_function_has_not(session: Session) -> None:
    """It is Python's to tell."""
    with pytest.raises(TypeError) as caught:
        autotest(n=1)(lambda: own(y=random_tensor()))()  # type: ignore[call-arg]
    assert str(caught.value) == "own() got an unexpected keyword argument 'y'"


def _clipped() -> Any:
    module = torch.nn.Linear(2, 2)
    module(random_tensor(ndim=2, dim1=2)).sum().backward()
    real.nn.utils.clip_grad_norm_(module.parameters(), 1)


def _mapped() -> Any:
    return real.nn.Sequential(torch.nn.Linear(2, 2))(random_tensor(ndim=2, dim1=2))


@pytest.mark.parametrize(
    ("body", "name", "said"),
    [
        (
            lambda: real.autograd.grad(random_tensor(requires_grad=True).sum(), random_tensor(requires_grad=True)),
            "grad",
            ": iteration over a 0-d tensor",
        ),
        (
            lambda: real.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1),
            "SGD",
            ": optimizer can only optimize Tensors, but one of the params is dual_object.record.dual.DualObject",
        ),
        (_mapped, "Sequential", ": dual_object.record.dual.DualObject is not a Module subclass"),
        (lambda: real.nn.init.ones_(torch.nn.Linear(2, 2).weight), "ones_", ""),
        (_clipped, "clip_grad_norm_", ""),
    ],
)
def test_what_pytorch_was_given(session: Session, body: Callable[[], Any], name: str, said: str) -> None:
    """What PyTorch's own function or class makes of a dual object is its own; the user's call is told, at the first."""
    with pytest.raises(UsageError) as caught:
        Drawer(session.reference, "t", 0, "torch", TestOptions(), body).draw(0)
    told, _, place = str(caught.value).rpartition(" [")
    assert told == (
        f"PyTorch's own {name} was given a dual object, but should be called through autotest's `torch`, or be joined "
        f"with its counterpart by dual(reference=..., target=...){said}"
    )
    assert place.startswith("tests/autotest/cases/test_mistakes.py:")


class _Doubled(real.autograd.Function):
    """A function with a gradient of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """Calls what the dual object has."""
        return x * 2


def test_a_function_with_a_gradient_of_its_own(session: Session) -> None:
    """PyTorch's `autograd.Function` runs what it is given without gradients: told by the name of the class."""
    with pytest.raises(UsageError) as caught:
        autotest(n=1)(lambda: _Doubled.apply(random_tensor(ndim=2)))()
    assert told(caught.value, __file__, "return x * 2") == (
        "_Doubled, an autograd.Function, was given a dual object, but should be joined with its counterpart by "
        "dual(reference=_Doubled.apply, target=...)"
    )


def test_what_pytorch_refuses_in_a_function_of_its_own(session: Session) -> None:
    """A dual call is PyTorch's to refuse, in Python as well."""
    body = lambda: torch.nn.functional.softmax(random_tensor(ndim=2), "a")  # noqa: E731
    assert isinstance(Drawer(session.reference, "t", 0, "torch", TestOptions(), body).draw(0), Rejection)
