"""A case's key alone brings it back: in the next run, in another folder, after other tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import dual, oneof, random, random_bool, random_tensor, torch
from autotest.cases.case import Case, Origin, Rejection, case_test_name
from autotest.cases.digest import program_digest
from autotest.cases.drawer import LAID, Drawer
from autotest.compare.observations import compare
from autotest.errors import UsageError
from autotest.options import Inputs, TestOptions
from autotest.run.session import Session
from dual_object.program.program import Program
from dual_object.replay.isolation import isolate
from dual_object.replay.replay import Replay


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


def strided(session: Session, body: Callable[[], Any], index: int) -> Case:
    """A case whose cotangents may be strided."""
    drawer = Drawer(session.reference, "t", 0, "torch", TestOptions(), body)
    drawn = drawer.draw(index)
    assert isinstance(drawn, Case)
    return drawn


def test_a_share_of_the_cotangents_is_strided(session: Session) -> None:
    """About a quarter of the cotangents lies transposed, those of vectors never; with plain inputs none does."""
    drawn = [strided(session, lambda: random_tensor(ndim=2, dim0=2, dim1=3) * 2, index) for index in range(100)]
    found = [case.program.cotangent_strides for case in drawn]
    assert 10 < sum(map(bool, found)) < 40
    assert {strides for one in found for strides in one.values()} == {(1, 2)}
    assert not any(
        strided(session, lambda: random_tensor(ndim=1) * 2, index).program.cotangent_strides for index in range(20)
    )
    plain = Drawer(session.reference, "t", 0, "torch", TestOptions(inputs="plain"), lambda: random_tensor(ndim=2) * 2)
    cases = [plain.draw(index) for index in range(20)]
    assert not any(case.program.cotangent_strides for case in cases if isinstance(case, Case))


def test_origin_gives_the_same_case_anywhere(session: Session) -> None:
    """A case's key tells seed and inputs where they are not the run's; drawn by both it is the same bit by bit, and
    another one by other inputs.
    """

    def drawer(seed: int, options: TestOptions, inputs: Inputs) -> Drawer:
        return Drawer(session.reference, "t::t", seed, "torch", options, lambda: random_tensor(ndim=2), inputs=inputs)

    wild, calm = drawer(7, TestOptions(), "edge"), drawer(0, TestOptions(inputs="plain"), "standard")
    keys = {index: calm.key(index, wild.origin) for index in range(5)}
    assert keys[3] == "t::t#3@7@edge"
    assert calm.key(3, Origin(0, "edge")) == "t::t#3@edge"
    assert calm.key(3, Origin(7, "plain")) == "t::t#3@7"
    assert calm.key(3, calm.origin) == calm.key(3) == "t::t#3"
    for index, key in keys.items():
        number, origin = calm.place(key)
        assert (number, origin) == (index, Origin(7, "edge"))
        again = calm.draw(number, origin=origin)
        assert again.key == key
        assert program_digest(again.program) == program_digest(wild.draw(index).program)
    plain = {program_digest(calm.draw(index, origin=Origin(7, "plain")).program) for index in keys}
    assert plain.isdisjoint(program_digest(wild.draw(index).program) for index in keys)


def _in_memory_order(x: Any) -> Any:
    """The same tensor; its backward reads the gradient's memory as if it were contiguous."""
    import torch as pytorch

    class Reading(pytorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient.as_strided(gradient.shape, pytorch.empty(gradient.shape).stride())

    return Reading.apply(x)


def _same(x: Any) -> Any:
    return x.clone()


def test_backward_that_ignores_strides_is_seen(session: Session) -> None:
    """A backward which takes its cotangent for contiguous is a wrong gradient where that is strided, and only there;
    the call alone shows it as well.
    """
    custom = dual(reference=_same, target=_in_memory_order)
    wrong = set()
    for index in range(20):
        case = strided(session, lambda: custom(random_tensor(ndim=2, dim0=2, dim1=3)), index)
        programs = [case.program, *(alone for _, alone, _ in isolate(session.reference, case.program))]
        for program in programs:
            expected = Replay(session.reference, program, side="reference").run()
            found = compare(program, expected, Replay(session.reference, program).run(), TestOptions().rules)
            shown = {(difference.phase, difference.kind, difference.where) for difference in found}
            wrong.add((bool(case.program.cotangent_strides), *shown))
    assert wrong == {(False,), (True, ("eager_backward", "value", "gradient of x"))}


def test_strided_cotangent_is_stored_and_printed(session: Session) -> None:
    """A stored Program keeps how its cotangents lie, and says it to its reader."""
    drawn = (strided(session, lambda: torch.exp(random_tensor(ndim=2, dim0=2, dim1=3)), index) for index in range(50))
    program = next(case.program for case in drawn if case.program.cotangent_strides)
    arrays: list[Any] = []
    data = json.loads(json.dumps(program.to_json(arrays)))
    assert Program.from_json(data, arrays).cotangent_strides == program.cotangent_strides
    assert str(program).splitlines()[-1] == "    return t0  # the cotangent of t0 is strided"


def linear_and_view() -> Any:
    """A module, and a view of an input."""
    x = random_tensor(ndim=2, dim0=2, dim1=3)
    return torch.nn.Linear(3, 2)(x), x.t()


def test_a_share_of_the_cases_is_brief(session: Session) -> None:
    """The first three cases and every fourth one show all; the others neither memory nor what modules hold."""
    whole = []
    for index in range(13):
        drawn = strided(session, linear_and_view, index)
        if drawn.program.brief:
            assert (drawn.reference.shared, drawn.reference.states) == ([], {})
        else:
            assert drawn.reference.shared
            assert drawn.reference.states
            whole.append(index)
    assert whole == [0, 1, 2, 4, 8, 12]


def corners() -> Any:
    """An open size, an argument and values."""
    return torch.sum(random_tensor(ndim=2), dim=random(-3, 3).to(int))


def lay(session: Session, seed: int = 0, **options: Any) -> tuple[Drawer, list[Case | Rejection]]:
    """All laid-out cases of `corners`."""
    drawer = Drawer(session.reference, "test_a.py::test_b", seed, "torch", TestOptions(**options), corners)
    drawn = []
    while drawer.laid_out(len(drawn)):
        drawn.append(drawer.draw(len(drawn), origin=LAID))
    return drawer, drawn


def test_corners_are_laid_out_whatever_the_seed(session: Session) -> None:
    """NaN, sizes, layouts, dtypes and arguments; and the same Programs from any seed."""
    _, drawn = lay(session)
    cases = [one for one in drawn if isinstance(one, Case)]
    inputs = [case.program.inputs[0] for case in cases]
    assert any(np.isnan(x.data).any() for x in inputs if x.data.dtype.kind == "f")
    assert {x.data.shape[0] for x in inputs} >= {0, 1, 33, 129, 1025}
    assert {x.data.shape[1] for x in inputs} >= {0, 1, 33, 129, 1025}
    assert {x.dtype for x in inputs} >= {"float32", "float64", "int8", "bool", "bfloat16"}
    assert any(x.strides is not None and 0 in x.strides for x in inputs)
    assert any(not x.requires_grad for x in inputs if x.dtype == "float32")
    assert {case.program.calls[-1].kwargs["dim"] for case in cases} == {-2, -1, 0, 1}
    assert {case.swept for case in cases} >= {None, "float64", "int8"}
    _, others = lay(session, seed=7)
    digests = [program_digest(one.program) for one in drawn]
    assert [program_digest(one.program) for one in others] == digests


def test_a_matrix_lies_transposed_where_tensors_ordinarily_have_another_rank(session: Session) -> None:
    """Each tensor in turn; one that is ordinarily a matrix lies transposed there."""

    def layouts(ndim: int | None) -> list[list[tuple[int, ...] | None]]:
        def two() -> Any:
            ranks = oneof(3, 2, 1).value() if ndim is None else ndim
            return random_tensor(*[ranks, *[2] * ranks]) + random_tensor(*[ranks, *[2] * ranks])

        drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(), two, coverage="each")
        drawn = [drawer.draw(index, origin=LAID) for index in range(200) if drawer.laid_out(index)]
        cases = [case for case in drawn if isinstance(case, Case)]
        return [
            [x.strides for x in case.program.inputs]
            for case in cases
            if all(x.data.shape == (2, 2) and x.strides in (None, (1, 2)) for x in case.program.inputs)
        ]

    assert [found for found in layouts(None) if any(found)] == [[(1, 2), None], [None, (1, 2)]]
    assert [(1, 2), None] in layouts(2)
    assert not any(map(any, layouts(3)))


def test_a_laid_out_case_is_brought_back_by_its_key(session: Session) -> None:
    """In a drawer that has drawn none of those before it."""
    drawer, drawn = lay(session, seed=3, coverage="pairs")
    last = len(drawn) - 1
    assert drawn[last].key == f"test_a.py::test_b#{last}@laid"
    assert drawer.place(drawn[last].key) == (last, LAID)
    fresh = Drawer(session.reference, "test_a.py::test_b", 5, "torch", TestOptions(coverage="pairs"), corners)
    again = fresh.draw(last, origin=LAID)
    assert program_digest(again.program) == program_digest(drawn[last].program)
    assert fresh.draw(3, origin=LAID).key == "test_a.py::test_b#3@laid"


def test_what_a_corner_makes_the_body_raise_is_a_refusal(session: Session) -> None:
    """The reference refuses dim=2 of a matrix, and a dtype may be none that the body can work with: both are out of
    the design, not errors of the test.
    """
    _, drawn = lay(session)
    refused = [one for one in drawn if isinstance(one, Rejection)]
    assert any("Dimension out of range" in one.reason for one in refused)

    def fragile() -> Any:
        x = random_tensor(ndim=1)
        if x.shape[0] == 129:
            raise ZeroDivisionError("mine")
        return x * 2

    drawer = Drawer(session.reference, "test_a.py::test_c", 0, "torch", TestOptions(), fragile)
    reasons = []
    index = 0
    while drawer.laid_out(index):
        one = drawer.draw(index, origin=LAID)
        reasons += [one.reason] if isinstance(one, Rejection) else []
        index += 1
    assert reasons == ["ZeroDivisionError: mine"]


def test_a_body_that_raises_in_an_ordinary_case_raises(session: Session) -> None:
    """It would in any other case, too."""

    def broken() -> Any:
        raise ZeroDivisionError("mine")

    drawer = Drawer(session.reference, "test_a.py::test_c", 0, "torch", TestOptions(), broken)
    assert drawer.laid_out(0)
    with pytest.raises(ZeroDivisionError, match=r"^mine$"):
        drawer.draw(0, origin=LAID)


@pytest.mark.parametrize("options", [{"coverage": "none"}, {"inputs": "plain"}])
def test_tests_without_corners_lay_out_nothing(session: Session, options: dict[str, Any]) -> None:
    """They say so, or want plain tensors; a laid-out case of theirs is none."""
    drawer, drawn = lay(session, **options)
    assert drawn == []
    with pytest.raises(UsageError) as caught:
        drawer.draw(4, origin=LAID)
    assert str(caught.value) == "test_a.py::test_b#4@laid: the test has 0 laid-out cases, numbered from 0"


def test_a_run_can_ask_for_other_coverage(session: Session) -> None:
    """Its option goes before that of the test."""
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(), corners, coverage="none")
    assert not drawer.laid_out(0)
    own = TestOptions(coverage="none")
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", own, corners, coverage="pairs")
    assert not drawer.laid_out(0)


@pytest.mark.parametrize("broken", [False, True])
def test_a_case_that_takes_the_gpu_away(session: Session, monkeypatch: pytest.MonkeyPatch, broken: bool) -> None:
    """It is refused with the reason, whether PyTorch has told of it by then or not; the others are drawn."""
    lost = iter(["RuntimeError: CUDA error: device-side assert triggered", ""])
    monkeypatch.setattr(session.reference, "lost_device", lambda: next(lost))
    failing = [broken]

    def own() -> Any:
        if failing.pop() if failing else False:
            raise RuntimeError("CUDA error")
        return body()

    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(), own)
    first, second = drawer.draw(0), drawer.draw(1)
    assert isinstance(first, Rejection)
    assert first.reason == (
        "RuntimeError: CUDA error: device-side assert triggered; this process goes on without its GPU"
    )
    assert isinstance(second, Case)
