"""`@autotest`: how many cases a body becomes, what may go in and out of it, and what it raises."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch as pytorch

from autotest import (
    AutotestError,
    DivergenceError,
    RejectionError,
    UsageError,
    autotest,
    dual,
    oneof,
    random,
    random_bool,
    random_tensor,
    torch,
)
from autotest.run.session import Session
from dual_object.errors import ArgumentError
from generators.errors import OutsideCaseError, TruthError
from support.places import told

Body = Callable[..., Any]


def leaf() -> Any:
    """A small matrix."""
    return random_tensor(ndim=2)


@pytest.mark.parametrize("n", [1, 7, 23])
def test_body_runs_n_cases(session: Session, n: int) -> None:
    """A test runs exactly its n cases, across the chunks in which they travel."""
    autotest(n=n, check_graph=False)(lambda: torch.square(leaf()))()
    assert session.counts == {"aligned": n}


def test_without_parentheses(session: Session) -> None:
    """A bare `@autotest` runs 20 cases."""

    @autotest
    def body() -> Any:
        """Its own docstring."""
        return torch.square(leaf())

    assert body() is None  # type: ignore[func-returns-value]
    assert session.counts == {"aligned": 20}
    assert (body.__name__, body.__doc__) == ("body", "Its own docstring.")


def test_arguments_reach_the_body(session: Session) -> None:
    """Arguments, such as fixtures and parameters, are handed to every case."""
    seen = []

    @autotest(n=2, check_graph=False)
    def body(first: int, *, second: str) -> Any:
        seen.append((first, second))
        return torch.square(leaf())

    body(1, second="b")
    assert seen == [(1, "b"), (1, "b")]


def test_refused_draws_are_redrawn(session: Session) -> None:
    """A draw that the reference refuses is counted as rejected and drawn again, until n cases stand."""

    @autotest(n=6, check_graph=False)
    def body() -> Any:
        k = random(2, 5).to(int)
        return torch.mm(random_tensor(ndim=2, dim0=2, dim1=k), random_tensor(ndim=2, dim0=3, dim1=2))

    body()
    assert session.counts["aligned"] == 6
    assert session.counts["rejected"] > 0


def test_too_many_rejections_are_an_error(session: Session) -> None:
    """A body whose draws the reference nearly always refuses ends with the commonest reason, after 20 x n draws."""

    @autotest(n=2, check_graph=False)
    def body() -> Any:
        return torch.mm(random_tensor(ndim=2, dim0=2, dim1=2), random_tensor(ndim=2, dim0=3, dim1=2))

    with pytest.raises(RejectionError) as caught:
        body()
    assert told(caught.value, __file__, "return torch.mm(") == (
        "test_decorator.py::test_too_many_rejections_are_an_error::<locals>::body: "
        "the reference refused 40 of 40 draws, so only 0 of n=2 cases could run; the commonest reason (40 times) is "
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x2 and 3x2): it says so of every draw: correct the "
        "call, or draw what PyTorch takes, by narrower ranges, dtype= or requires_grad=False"
    )
    assert session.counts == {"rejected": 40}


@pytest.mark.skipif(pytorch.cuda.is_available(), reason="this machine has a GPU")
def test_a_device_that_is_not_there(session: Session) -> None:
    """What PyTorch says of it leads to the generator of devices."""

    @autotest(n=1, check_graph=False)
    def body() -> Any:
        return torch.ones(2, device="cuda")

    with pytest.raises(RejectionError) as caught:
        body()
    assert ": draw a device that is there, by random_device() [" in str(caught.value)


def test_refusals_that_differ(session: Session) -> None:
    """What is refused for another reason at each draw is no mistake of the call."""

    @autotest(n=2, check_graph=False)
    def body() -> Any:
        return torch.mm(random_tensor(ndim=2, dim0=2, dim1=random(5, 9)), random_tensor(ndim=2, dim0=3, dim1=2))

    with pytest.raises(
        RejectionError, match=r"cannot be multiplied \(2x\d and 3x2\): draw what PyTorch takes, by narrower"
    ):
        body()


def test_backward_of_what_is_returned(session: Session) -> None:
    """The harness starts a backward of its own, which no other draw makes possible: told at the first."""

    @autotest(n=2, check_graph=False)
    def body() -> Any:
        y = torch.square(random_tensor(ndim=1, requires_grad=True)).sum()
        y.backward()
        return y

    with pytest.raises(UsageError) as caught:
        body()
    assert told(caught.value, __file__) == (
        "test_decorator.py::test_backward_of_what_is_returned::<locals>::body: the body has called backward on what it "
        "returns, where a second one is to begin: return it detached, or pass auto_backward=False or train="
    )


def test_truth_of_a_tensor(session: Session) -> None:
    """No test passes by those of its draws that have a single element."""

    @autotest(n=20, check_graph=False, coverage="none")
    def body() -> Any:
        x = random_tensor(ndim=1, dim0=random(1, 4))
        return x if x > 0 else -x

    with pytest.raises(RejectionError) as caught:
        body()
    assert told(caught.value, __file__, "return x if x > 0") == (
        "test_decorator.py::test_truth_of_a_tensor::<locals>::body: the body asks whether a whole tensor is true, "
        "which PyTorch refuses: ask for one truth value, as (x > 0).all() is, or choose element by element with "
        "torch.where"
    )


def returning(value: Callable[[], Any], **options: Any) -> Body:
    """A test whose body returns `value()`."""

    def body() -> Any:
        return value()

    return autotest(n=1, check_graph=False, **options)(body)


def test_returned_none_needs_a_word(session: Session) -> None:
    """A body that returns None is told to return its result, or to say that it has no backward."""
    with pytest.raises(UsageError) as caught:
        returning(lambda: None)()
    assert told(caught.value, __file__, "def body()") == (
        "test_decorator.py::returning::<locals>::body returned None, but should return the result to compare: "
        "return it, or pass auto_backward=False to @autotest, where only how its calls end is to be compared"
    )

    @autotest(n=1, check_graph=False, auto_backward=False)
    def body() -> None:
        torch.relu(random_tensor(ndim=1))

    body()
    assert session.counts == {"aligned": 1}


@pytest.mark.parametrize("value", ["relu", 3.0, (), {"loss": None}])
def test_returned_value_that_nothing_gave_needs_a_word(session: Session, value: Any) -> None:
    """A body that returns what no dual call gave it compares nothing; a plain value that one gave is compared."""

    def body() -> Any:
        torch.relu(random_tensor(ndim=1))
        return value

    with pytest.raises(UsageError) as caught:
        autotest(n=1, check_graph=False)(body)()
    assert told(caught.value, __file__, "def body()") == (
        "test_decorator.py::test_returned_value_that_nothing_gave_needs_a_word::<locals>::body "
        f"returned {value!r}, but should return the result to compare: "
        "return it, or pass auto_backward=False to @autotest, where only how its calls end is to be compared"
    )
    returning(lambda: torch.sum(random_tensor(ndim=1)).item())()
    returning(lambda: random_tensor(ndim=1).shape[0])()
    assert session.counts == {"aligned": 2}


def test_returned_raw_tensor_is_refused(session: Session) -> None:
    """A raw tensor among the results is refused with what to return instead."""
    with pytest.raises(UsageError) as caught:
        returning(lambda: pytorch.ones(2))()
    assert told(caught.value, __file__, "def body()") == (
        "test_decorator.py::returning::<locals>::body: the body returned a torch.Tensor, "
        "but should return dual objects: return what dual calls gave you, or pass auto_backward=False and return None"
    )


def test_returned_container_that_holds_itself(session: Session) -> None:
    """It is told, as one is that is nested too deep: both have no end that can be compared."""

    def cycle() -> Any:
        items: list[Any] = [leaf() * 2]
        items.append(items)
        return items

    def deep() -> Any:
        nested: Any = leaf() * 2
        for _ in range(3000):
            nested = [nested]
        return nested

    for body in (cycle, deep):
        with pytest.raises(UsageError) as caught:
            returning(body)()
        assert told(caught.value, __file__, "def body()") == (
            "test_decorator.py::returning::<locals>::body: the body returned a container that holds itself, or is "
            "nested too deep: return the tensors in it"
        )


def test_raw_tensor_in_a_dual_call_is_refused(session: Session) -> None:
    """A raw tensor among the arguments of a dual call is refused with how to draw or wrap it."""
    with pytest.raises(ArgumentError) as caught:
        returning(lambda: torch.add(leaf(), pytorch.ones(2)))()
    assert told(caught.value, __file__, "torch.add(leaf(), pytorch.ones(2))") == (
        "add was given a raw torch.Tensor, but should be given a dual object: "
        'draw it with random_tensor, make it one with dual_tensor, or wrap it in GetDualObject("x", pytorch, oneflow)'
    )


@pytest.mark.parametrize(
    "value",
    [
        lambda: (leaf(), leaf() * 2),
        lambda: [leaf(), {"a": torch.square(leaf())}],
        lambda: torch.max(leaf(), dim=0),
        lambda: torch.argmax(leaf()),
        lambda: leaf().sum().item(),
        lambda: torch.ones(2, 3),
        lambda: leaf().shape,
    ],
    ids=["tuple", "list and dict", "named tuple", "integers", "float", "constant", "shape"],
)
def test_results_of_every_form(session: Session, value: Callable[[], Any]) -> None:
    """Tuples, lists, dicts, named tuples, integer tensors and plain values may be returned."""
    returning(value)()
    assert session.counts == {"aligned": 1}


def test_generator_outside_a_case(session: Session) -> None:
    """A generator has no value outside a case, before, between and after tests."""
    returning(lambda: torch.square(leaf()))()
    with pytest.raises(OutsideCaseError) as caught:
        random(1, 5).to(int).value()
    assert "outside" in str(caught.value)
    with pytest.raises(Exception, match=r"random_tensor\(\) is used outside a case") as also:
        random_tensor()
    assert str(also.value) == (
        "random_tensor() is used outside a case; dual calls have a meaning only in the body of a test with @autotest() "
        "above it, not in a fixture or another thread"
    )


def test_generator_is_neither_true_nor_false(session: Session) -> None:
    """What would run one branch always says how to ask for the value."""

    def branching() -> Any:
        return leaf() if random_bool() else leaf() * 2

    with pytest.raises(TruthError) as caught:
        returning(branching)()
    assert told(caught.value, __file__, "if random_bool() else") == (
        "random_bool() is neither true nor false, but has a value in each case: ask its .value()"
    )


def test_own_class_of_one_framework_names_its_line(session: Session) -> None:
    """A class that derives from a dual one is refused where it is written."""

    def deriving() -> Any:
        class Double(torch.autograd.Function):  # type: ignore[misc, name-defined]
            pass

    with pytest.raises(ArgumentError) as caught:
        returning(deriving)()
    assert told(caught.value, __file__, "class Double(torch.autograd.Function)") == (
        "base=torch.autograd.Function, but should be a class of one framework: "
        "write one class per framework and join them with dual(reference=..., target=...)"
    )


def test_warning_points_at_the_body(session: Session) -> None:
    """A warning from a body is told with the body's line, whether PyTorch or the body itself gives it."""

    def warning() -> Any:
        warnings.warn("mine", UserWarning, stacklevel=1)
        return torch.nn.functional.softmax(leaf())

    first = warning.__code__.co_firstlineno
    with pytest.warns(UserWarning, match="mine|Implicit dimension choice") as found:
        returning(warning)()
    places = {(str(one.message)[:8], one.filename, one.lineno - first) for one in found}
    assert places == {("mine", __file__, 1), ("Implicit", __file__, 2)}


def test_own_exception_propagates(session: Session) -> None:
    """An exception of the body's own leaves the test as it is, the same object."""
    mine = KeyError("mine")

    def fail() -> Any:
        leaf()
        raise mine

    with pytest.raises(KeyError) as caught:
        returning(fail)()
    assert caught.value is mine


def test_assertion_of_the_body_propagates(session: Session) -> None:
    """A failed assertion of the body is the body's, no divergence and no rejection."""

    def fail() -> Any:
        assert leaf().ndim == 3

    with pytest.raises(AssertionError) as caught:
        returning(fail)()
    assert not isinstance(caught.value, AutotestError)
    assert session.counts == {}


def test_what_a_body_switches_ends_with_its_case(session: Session) -> None:
    """Gradients switched off, or another default dtype, are no business of the cases after it, on either side."""

    def switching() -> Any:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return torch.exp(leaf())

    def ordinary() -> Any:
        x = leaf()
        torch.square(x).sum().backward()
        return x * 2, torch.ones(2)

    for body in (switching, ordinary):
        autotest(n=2, check_graph=False)(body)()
    assert session.counts == {"aligned": 4}
    assert (pytorch.is_grad_enabled(), pytorch.get_default_dtype()) == (True, pytorch.float32)


def test_skip_inside_a_body(session: Session) -> None:
    """`pytest.skip` inside a body skips the test."""
    with pytest.raises(pytest.skip.Exception, match="not here"):
        returning(lambda: pytest.skip("not here"))()


def test_caught_exception_of_the_reference(session: Session) -> None:
    """An exception that the body catches is part of the case, not a rejection."""

    def catching() -> Any:
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            torch.mm(x, x)
        return x * 2

    returning(catching)()
    assert session.counts == {"aligned": 1}


def test_raw_target_turns_a_test_inline(session: Session) -> None:
    """A body that reaches for `.target` is run again inline, with the target's own object beside the reference's."""
    kinds = []

    def reaching() -> Any:
        x = leaf()
        kinds.append(type(x.target))
        assert x.target is not x.reference
        assert x.target.tolist() == x.reference.tolist()
        return torch.square(x)

    autotest(n=2)(reaching)()
    assert session.counts == {"aligned": 2}
    assert kinds == [pytorch.Tensor, pytorch.Tensor]
    assert set(session.inline_tests.values()) == {"the body uses a raw target object"}


def test_lambda_dual_turns_a_test_inline(session: Session) -> None:
    """A dual op made of lambdas runs inline; one that differs between the sides is a divergence of that op."""
    good = dual(reference=lambda x: x * 2, target=lambda x: x + x, name="twice")
    returning(lambda: good(leaf()))()
    assert session.counts == {"aligned": 1}
    bad = dual(reference=lambda x: x * 2, target=lambda x: x * 3, name="thrice")
    with pytest.raises(DivergenceError) as caught:
        returning(lambda: bad(leaf()))()
    assert "torch/eager_forward/value/thrice/float32" in str(caught.value)


def test_raw_target_is_refused_when_always_isolated(torch_session: Session) -> None:
    """Under `--isolate always` a body that needs the raw target is refused with the way out."""
    from autotest.options import RunOptions
    from autotest.run.session import current_session

    strict = Session(RunOptions(target="torch", isolate="always"))
    strict.supervisor = torch_session.supervisor
    token = current_session.set(strict)
    try:
        with pytest.raises(UsageError) as caught:
            returning(lambda: torch.square(leaf().target))()
    finally:
        current_session.reset(token)
    assert told(caught.value, __file__, ".target") == (
        "the body uses a raw target object, but the run is isolated: "
        "use --isolate auto or never to run such a test inline"
    )


def test_never_isolated_runs_inline() -> None:
    """Under `--isolate never` no worker is spawned, and eager and graph are still compared."""
    from autotest.options import RunOptions
    from autotest.run.session import current_session

    inline = Session(RunOptions(target="torch", isolate="never"))
    token = current_session.set(inline)
    try:
        autotest(n=2)(lambda: torch.square(leaf()))()
    finally:
        current_session.reset(token)
    assert inline.counts == {"aligned": 2}
    assert inline.supervisor.spawned == 0


def test_inline_rejections_are_redrawn(session: Session) -> None:
    """A draw that the reference refuses is redrawn inline as well, and its refusal is no divergence."""

    def body() -> Any:
        x = random_tensor(ndim=2, dim0=2, dim1=random(2, 4).to(int))
        assert x.target is not None
        return torch.mm(x, random_tensor(ndim=2, dim0=3, dim1=2))

    autotest(n=9, check_graph=False)(body)()
    assert session.counts["aligned"] == 9
    assert session.counts["rejected"] > 0


def test_inline_turn_keeps_what_has_ended(session: Session) -> None:
    """Where a late case turns the test inline, cases judged before are not run or counted again."""
    keys = []

    def body() -> Any:
        x = random_tensor(ndim=1, dim0=2)
        keys.append(x.reference.tolist())
        if len(keys) > 21:
            assert x.target is not None
        return torch.square(x)

    autotest(n=25)(body)()
    assert session.counts == {"aligned": 25}
    assert len(keys) == 27  # the 21st was recorded before the 22nd turned the test; both ran again
    assert len(set(map(str, keys))) == 25


def test_drawn_choices_change_the_program(session: Session) -> None:
    """Generators decide which ops a case calls, and every case is compared."""

    def body() -> Any:
        x = leaf()
        x = torch.square(x) if random_bool().value() else torch.abs(x)
        return torch.sum(x, dim=oneof(0, 1))

    autotest(n=8)(body)()
    assert session.counts == {"aligned": 8}


def test_tolerance_of_a_test_reaches_the_comparison(session: Session) -> None:
    """A test's own rtol and atol decide what diverges."""
    near = dual(reference=lambda x: x + 0, target=lambda x: x + 0.01, name="near")
    options = {"n": 2, "check_graph": False, "auto_backward": False}
    autotest(**options, rtol=0.0, atol=0.1)(lambda: near(leaf()))()
    with pytest.raises(DivergenceError):
        autotest(**options, rtol=0.0, atol=1e-3)(lambda: near(leaf()))()
    autotest(**options, check_allclose=False)(lambda: near(leaf()))()


def test_check_dtype_can_be_switched_off(session: Session) -> None:
    """`check_dtype=False` lets a target's wider dtype pass."""
    wide = dual(reference=lambda x: x * 1, target=lambda x: x.double(), name="wide")
    options = {"n": 1, "check_graph": False, "auto_backward": False}
    with pytest.raises(DivergenceError, match="t0 has dtype float64, but should have float32"):
        autotest(**options)(lambda: wide(leaf()))()
    autotest(**options, check_dtype=False)(lambda: wide(leaf()))()


def test_ones_as_cotangents(session: Session) -> None:
    """`check_grad_use_random_data=False` starts the backward from ones, else from random values."""
    gradients: list[list[float]] = []

    def observed(gradient: Any) -> None:
        gradients.append(gradient.flatten().tolist())

    def body() -> Any:
        x = random_tensor(ndim=1, dim0=3)
        x.reference.register_hook(observed)
        return x * 1

    autotest(n=1, check_graph=False, check_grad_use_random_data=False)(body)()
    autotest(n=1, check_graph=False)(body)()
    assert gradients[0] == [1.0, 1.0, 1.0]
    assert len(set(gradients[1])) == 3
    assert all(-1 <= value < 1 and not math.isnan(value) for value in gradients[1])


def test_divergence_text(session: Session) -> None:
    """A red test shows fingerprint, sentence, program with the marked line, worst elements and the way to replay."""
    wrong = dual(reference=lambda x: x * 2, target=lambda x: x * 2 + 1, name="wrong")

    def body() -> Any:
        x = random_tensor(ndim=1, dim0=1, low=1, high=2, requires_grad=False)
        return wrong(x) - 1

    with pytest.raises(DivergenceError) as caught:
        autotest(n=2, check_graph=False)(body)()
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "1 divergence in 2 of 2 cases",
        "",
        "torch/eager_forward/value/wrong/float32  2 cases",
    ]
    assert "  >     t0 = wrong(x)" in lines
    assert lines[-1].startswith("  autotest replay ")
