"""Random programs: what they are made of, how they are drawn again, and that they become minimal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch as pytorch

from autotest import UsageError, autotest, dual_tensor, random, random_program, random_tensor, torch
from autotest.api.programs.chain import Chain, Step
from autotest.api.programs.random_program import STEPS
from autotest.api.programs.values import Value
from autotest.cases.case import Case, Rejection
from autotest.cases.drawer import LAID, Drawer
from autotest.options import Inputs, TestOptions
from autotest.run.session import Session
from autotest.shrink.choices import minimise
from autotest.shrink.reducer import Reducer
from dual_object.errors import OutsideCaseError
from dual_object.program.program import Program
from dual_object.replay.adapter import Reference
from generators import RangeError
from generators.source import Source

pytestmark = pytest.mark.slow

N = 100


def drawer(reference: Reference, body: Callable[[], Any], inputs: Inputs = "standard") -> Drawer:
    """Draws the cases of a body."""
    return Drawer(reference, "test_a.py::test_b", 0, "torch", TestOptions(coverage="each"), body, inputs=inputs)


def programs(reference: Reference, body: Callable[[], Any], n: int = N, inputs: Inputs = "standard") -> list[Case]:
    """So many cases of a body, none of which PyTorch refuses."""
    made = drawer(reference, body, inputs)
    cases = [made.draw(index) for index in range(n)]
    assert [case.reason for case in cases if isinstance(case, Rejection)] == []
    return [case for case in cases if isinstance(case, Case)]


def calls(case: Case) -> int:
    """How many ops it calls."""
    return len(list(case.program.op_calls()))


@pytest.mark.parametrize("inputs", ["plain", "standard", "edge"])
def test_as_many_calls_as_asked_for_and_none_is_refused(reference: Reference, inputs: Inputs) -> None:
    """By default 5 to 30; PyTorch takes all of them, on any inputs, and differentiates most programs."""
    cases = programs(reference, random_program, inputs=inputs)
    assert {calls(case) for case in cases} <= set(range(5, 31))
    assert 15 < sum(map(calls, cases)) / N < 20
    assert sum(bool(case.gradient_keys()) for case in cases) > 0.85 * N
    cases = programs(reference, lambda: random_program(ops=random(1, 4)), inputs=inputs, n=30)
    assert {calls(case) for case in cases} == {1, 2, 3}


def test_each_step_keeps_its_word(reference: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    """In many programs each step is met. What it makes lies in the range that it gives, has few elements, and shares
    memory with no other value if it says that it has its own; what is written belongs to the program.
    """
    met: set[str] = set()
    grow = Chain._grow

    def watched(chain: Chain, steps: Any) -> None:
        before = [(value, value.tensor.reference._version) for value in chain.values]
        grow(chain, [watching(step, met) for step in steps])
        made = chain.values[-1]
        low, high = made.interval
        elements = made.tensor.reference.detach().double()
        assert bool(((elements >= low - 1e-5) & (elements <= high + 1e-5)).all())
        assert max(made.interval.magnitude, 8.0) == 8.0
        assert made.elements <= 128
        assert made.ndim <= 4
        for value, version in before:
            same = value.memory is made.memory
            assert same or storage(value) != storage(made)
            assert value.tensor.reference._version == version or value.memory.written

    monkeypatch.setattr(Chain, "_grow", watched)
    programs(reference, lambda: random_program(ops=30))
    assert met == {step.name for step in STEPS}
    assert len(met) == len(STEPS)


def watching(step: Step, met: set[str]) -> Step:
    """The step, which notes that it was made."""

    def make(chain: Chain, value: Value) -> Value:
        met.add(step.name)
        return step.make(chain, value)

    return Step(step.name, step.takes, make, step.keeps, step.weight)


def storage(value: Value) -> int:
    """Where its memory begins."""
    return int(value.tensor.reference.untyped_storage().data_ptr())


def test_float64_has_no_errors_of_float32(reference: Reference) -> None:
    """No float64 comes from float32, or it would be compared to the last digits of float64: here it has no gradient."""

    def body() -> Any:
        found = random_program(random_tensor(ndim=2, dim0=2, dim1=3, low=-1, high=1))
        assert not any(result.requires_grad for result in found if result.dtype == pytorch.float64)
        return found

    programs(reference, body)


def test_drawn_again_by_its_key(reference: Reference) -> None:
    """The same case is the same program, whatever was drawn between."""
    made = drawer(reference, random_program)
    first = made.draw(3)
    made.draw(4)
    again = made.draw(3)
    assert str(first.program) == str(again.program)
    assert len({str(case.program) for case in programs(reference, random_program, n=20)}) == 20


def test_tensors_that_are_given_are_only_read(reference: Reference) -> None:
    """It starts from tensors of the body, adds none and writes to none. Of those nothing is known: no `exp` is taken of
    what may be 100.
    """

    def body() -> Any:
        x = random_tensor(ndim=2, dim0=2, dim1=3, low=50, high=100, requires_grad=False)
        y = random_tensor(ndim=1, dim0=3, dtype=int)
        found = random_program(x, y, ops=12)
        assert (x.reference._version, y.reference._version) == (0, 0)
        return found

    cases = programs(reference, body)
    assert {len(case.program.inputs) for case in cases} == {2}
    taken = {
        call.op.rpartition(".")[2]
        for case in cases
        for call in case.program.calls
        if call.operands()[:1] == [case.program.inputs[0].id]
    }
    assert taken > {"abs", "add"}
    assert not taken & {"exp", "sin", "cos", "gelu", "silu", "softplus", "log", "sqrt"}


@pytest.mark.parametrize(
    "tensor", [pytorch.ones(()), pytorch.ones(0, 3), pytorch.ones(2, dtype=pytorch.complex64), pytorch.ones(1).bool()]
)
def test_any_tensor_will_do(reference: Reference, tensor: pytorch.Tensor) -> None:
    """One without dimensions or elements, complex numbers, a mask."""
    programs(reference, lambda: random_program(dual_tensor(tensor), ops=10), n=40)


def test_corners_are_those_of_its_tensors(reference: Reference) -> None:
    """Laid-out cases: the fewest and the most calls, and what its tensors may hold; no call is a corner."""
    made = drawer(reference, random_program)
    cases = []
    while made.laid_out(len(cases)):
        cases.append(made.draw(len(cases), origin=LAID))
    assert 15 < len(cases) < 80
    assert {calls(case) for case in cases if isinstance(case, Case)} >= {5, 30}


def test_shrinks_to_fewer_calls(reference: Reference) -> None:
    """The shrinker of choices leaves out what is not needed, and that of programs all of it."""
    made = drawer(reference, random_program)
    found: list[Program] = []

    def needed(program: Program) -> bool:
        return {"add_", "transpose"} <= set(program.ops())

    def stands(source: Source) -> bool:
        found.append(made.draw(index, source=source).program)
        return needed(found[-1])

    index = next(i for i in range(100) if needed(made.draw(i).program))
    source = made.choices(index, made.origin)
    whole = made.draw(index, source=source).program
    assert len(list(whole.op_calls())) > 10
    minimise(source.choices, stands)
    assert min(len(list(program.op_calls())) for program in found if needed(program)) <= 3
    reduced = Reducer(reference, needed).run([whole], forward=True)
    assert reduced is not None
    assert sorted(reduced.ops()) == ["add_", "transpose"]


def test_what_it_refuses(reference: Reference) -> None:
    """Neither fewer calls than one, nor what is no number, nor what is no tensor of the case; nor a call outside."""
    refused = [
        (lambda: random_program(ops=0), "ops=0, but should be an int of at least 1 [random_program(ops=0)]"),
        (lambda: random_program(ops=2.5), "ops=2.5, but should be an int of at least 1 [random_program(ops=2.5)]"),
        (
            lambda: random_program(random_tensor(), ops=random(-2, 0)),
            "ops=-1, but should be an int of at least 1 [random_program(..., ops=random(-2, 0))]",
        ),
        (
            lambda: random_program(torch.nn.ReLU(), ops=3),
            "tensors=dual(ReLU()), but should be a tensor of the case [random_program(..., ops=3)]",
        ),
        (
            lambda: random_program(pytorch.ones(2)),
            "tensors=tensor([1., 1.]), but should be a tensor of the case [random_program(...)]",
        ),
        (lambda: random_program(5), "tensors=5, but should be a tensor of the case [random_program(...)]"),
    ]
    for body, message in refused:
        with pytest.raises((RangeError, UsageError)) as caught:
            drawer(reference, body).draw(0)
        assert str(caught.value).partition(" [tests/")[0] == message
    with pytest.raises(OutsideCaseError) as outside:
        random_program()
    assert str(outside.value) == (
        "random_program() is used outside a case; dual calls have a meaning only in the body of a test with "
        "@autotest() above it, not in a fixture or another thread"
    )


def test_aligned_with_itself(session: Session) -> None:
    """The recorded programs are ordinary ones: replayed in another process, eagerly and in a graph, they align."""
    autotest(n=6, coverage="none")(random_program)()
    assert session.counts == {"aligned": 6}
