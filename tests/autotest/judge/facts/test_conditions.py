"""What a divergence needs of its inputs, found by experiment on faults that need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import pytest
import torch

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.observations import compare
from autotest.judge.facts.conditions import Facts, properties
from autotest.judge.facts.properties import grown
from autotest.workers.protocol import Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.replay import Replay
from support.facts import Fault, Faulty, divergence, facts
from support.programs import one_call

NAN, INF = float("nan"), float("inf")
EXP = torch.exp


def wrong_where(chosen: Callable[[Any], bool]) -> Fault:
    """`exp` plus one, of the tensors that are chosen."""
    return lambda x: EXP(x) + 1 if chosen(x) else EXP(x)


def raising_where(chosen: Callable[[Any], bool]) -> Fault:
    """`exp` that refuses the tensors that are chosen."""

    def fault(x: Any) -> Any:
        if chosen(x):
            raise RuntimeError("planted")
        return EXP(x)

    return fault


def exp_of(values: Any, strides: tuple[int, ...] | None = None, offset: int = 0, dtype: str = "float32") -> Program:
    """`torch.exp(x)`."""
    return one_call("exp", values, dtype=dtype, strides=strides, offset=offset)


ALWAYS = wrong_where(lambda x: True)
ANY_NAN = wrong_where(lambda x: bool(x.isnan().any()))
ANY_INF = wrong_where(lambda x: bool(x.isinf().any()))
NOT_FINITE = wrong_where(lambda x: not bool(x.isfinite().all()))
LAID = wrong_where(lambda x: not x.is_contiguous())
SHARED = wrong_where(lambda x: 0 in x.stride())
OFFSET = wrong_where(lambda x: x.storage_offset() > 0)
EMPTY = raising_where(lambda x: x.numel() == 0)
SCALAR = wrong_where(lambda x: x.dim() == 0)
#: A fault among equal numbers.
TIED = lambda x: len(set(x.tolist())) < x.numel()  # noqa: E731
ROWS = [[0.1, 0.2, 0.3], [0.4, 0.6, 0.7]]
WILD = [[0.1, NAN, 0.3], [0.4, INF, 0.7]]


@pytest.mark.parametrize(
    ("program", "fault", "expected"),
    [
        (exp_of(ROWS), ALWAYS, ()),
        (exp_of(WILD, (1, 2)), ALWAYS, ()),
        (exp_of([], None), EMPTY, ("empty",)),
        (exp_of(0.3), SCALAR, ("0-dim",)),
        (exp_of(0.3), ALWAYS, ()),
        (exp_of(ROWS, (1, 2)), LAID, ("strided",)),
        (exp_of(ROWS, (6, 2)), LAID, ("strided",)),
        (exp_of([ROWS[0]] * 2, (0, 1)), SHARED, ("expanded",)),
        (exp_of([ROWS[0]] * 2, (0, 1)), LAID, ("strided",)),
        (exp_of(np.full((1, 2, 2, 2), 0.3), (8, 1, 4, 2)), LAID, ("strided",)),
        (exp_of(ROWS, None, 3), OFFSET, ("strided",)),
        (exp_of(ROWS, None, 3), ALWAYS, ()),
        (exp_of([0.1, NAN, 0.3]), wrong_where(lambda x: bool(x.isnan().any())), ("nonfinite",)),
        (exp_of(WILD), NOT_FINITE, ("nonfinite",)),
        (exp_of([0.1, 0.0]), wrong_where(lambda x: bool((x == 0).any())), ("tie",)),
        (exp_of([0.1, 0.5]), wrong_where(lambda x: bool((x == 0.5).any())), ("tie",)),
        (exp_of([0.1, 0.1, 0.2]), wrong_where(TIED), ("tie",)),
        (exp_of([0.1, 1e-42]), wrong_where(lambda x: bool(((x != 0) & (x.abs() < 1e-40)).any())), ("extreme",)),
        (exp_of([0.1, -3e38]), wrong_where(lambda x: bool((x < -1e30).any())), ("extreme", "negative")),
        (exp_of([0.1, 100.0]), wrong_where(lambda x: bool((x.abs() >= 88).any())), ("far",)),
        (exp_of([0.1, -3451.0]), wrong_where(lambda x: bool((x < -100).any())), ("far", "negative")),
        # Whichever value shows it first, it is told by the one nearest to the ordinary that does.
        (exp_of([0.1, -INF]), wrong_where(lambda x: bool((x < -1e30).any())), ("extreme", "negative")),
        (exp_of([0.1, -INF]), ANY_INF, ("nonfinite",)),
        (exp_of([0.1, NAN]), wrong_where(lambda x: not bool((x.abs() <= 1e30).all())), ("extreme",)),
        (exp_of([0.1, 1e-42]), wrong_where(lambda x: bool((x.abs() < 1e-40).any())), ("tie",)),
        (exp_of([0.1, 3e38, -3e38]), wrong_where(lambda x: bool((x.abs() >= 8).any())), ("tie",)),
        (exp_of([0.1, -3e38]), wrong_where(lambda x: bool((x < -6).any())), ("negative",)),
        (exp_of([0.1, -INF]), wrong_where(lambda x: bool((x < -6).any())), ("negative",)),
        (exp_of([0.1, -0.2]), ALWAYS, ()),
        (exp_of([0.1, 0.2]), wrong_where(lambda x: x.dim() == 1), ("1-dim",)),
        (exp_of([0.1, -0.2]), wrong_where(lambda x: x.dim() == 1), ("1-dim",)),
        (exp_of([0.1, 8.0]), wrong_where(lambda x: bool((x > 6).any())), ()),
        (exp_of([NAN, NAN, 0.3]), wrong_where(lambda x: bool(x.isnan().any()) or TIED(x)), ("nonfinite",)),
    ],
)
def test_facts(monkeypatch: pytest.MonkeyPatch, program: Program, fault: Fault, expected: tuple[str, ...]) -> None:
    """Only what the fault needs is a fact; an infinity that has nothing to do with it is none."""
    assert facts(program, Faulty(fault, monkeypatch)) == expected


def call_of(op: str, *args: Any, kind: str = "function", values: Any = ROWS, **kwargs: Any) -> Program:
    """A call with `x` first, and with what follows; an argument that is None in its place is left out."""
    x = Input(0, "x", np.array(values, np.float32), "float32")
    return Program([x], [Call(kind, op, (Ref(0), *args), kwargs, out=Ref(1))], Ref(1))


def wrong_if(function: Any, chosen: Callable[..., bool]) -> Fault:
    """A function whose result is one too much for the arguments that are chosen."""
    return lambda x, *args, **kwargs: function(x, *args, **kwargs) + bool(chosen(*args, **kwargs))


NORM, STD, ROLL = torch.norm, torch.std, torch.roll
#: Positive numbers, so that no sign is asked for.
NORMS = wrong_if(NORM, lambda p="fro", dim=None, keepdim=False: p == INF)
STDS = wrong_if(STD, lambda *args, unbiased=True, **kwargs: not unbiased)
ROLLS = wrong_if(ROLL, lambda shifts, dims=(): dims != ())


@pytest.mark.parametrize(
    ("program", "op", "fault", "expected"),
    [
        # By position or by name, it is the parameter; the others can be spared.
        (call_of("norm", INF), "norm", NORMS, ("p=",)),
        (call_of("norm", p=INF, keepdim=True), "norm", NORMS, ("p=",)),
        (call_of("norm", INF, 0), "norm", NORMS, ("p=",)),
        (call_of("norm", INF, dim=1), "norm", wrong_if(NORM, lambda *args, **kwargs: True), ()),
        (call_of("std", unbiased=False), "std", STDS, ("unbiased=",)),
        (call_of("std", dim=1, unbiased=False, keepdim=True), "std", STDS, ("unbiased=",)),
        (call_of("std", dim=1, unbiased=True), "std", wrong_if(STD, lambda *args, **kwargs: True), ()),
        (call_of("roll", 1, 0), "roll", ROLLS, ("dims=",)),
        (call_of("roll", 1, 0), "roll", wrong_if(ROLL, lambda *args: True), ()),
        # One that has to be given is given in another way.
        (call_of("cumsum", 1), "cumsum", wrong_if(torch.cumsum, lambda dim: dim == 1), ("dim=",)),
        (call_of("cumsum", dim=-1), "cumsum", wrong_if(torch.cumsum, lambda dim: dim < 0), ("dim=",)),
        (call_of("cumsum", 0), "cumsum", wrong_if(torch.cumsum, lambda dim: True), ()),
        # Each of two may be needed, or the two together.
        (call_of("std", dim=1, unbiased=False), "std",
         wrong_if(STD, lambda dim=None, unbiased=True: dim and not unbiased), ("dim=", "unbiased=")),
        (call_of("diagonal", dim1=1, dim2=0), "diagonal", wrong_if(torch.diagonal, lambda **dims: dims != {}),
         ("dim1=", "dim2=")),
    ],
)  # fmt: skip
def test_arguments(
    monkeypatch: pytest.MonkeyPatch, program: Program, op: str, fault: Fault, expected: tuple[str, ...]
) -> None:
    """An argument that a wrong result needs is a fact by its name; what shows without it needs nothing."""
    assert facts(program, Faulty(fault, monkeypatch, torch, op)) == expected


def test_arguments_of_what_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception tells how the op was called, and is not looked into."""

    def refusing(x: Any, dim: int) -> Any:
        raise RuntimeError("planted")

    target = Faulty(refusing, monkeypatch, torch, "cumsum")
    assert facts(call_of("cumsum", 1), target) == ()
    assert target.asked == 1


def test_what_says_something_else_is_another_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does one stand for the other in an experiment, nor is what one needs taken over for the other."""

    def refusing(x: Any) -> Any:
        raise RuntimeError("no scalars" if x.dim() == 0 else "no vectors")

    assert facts(exp_of(0.3), Faulty(refusing, monkeypatch)) == ("0-dim",)
    reference, program = Adapter(), exp_of(0.3)
    expected = Replay(reference, program, side="reference").run()
    finder = Facts(reference, Faulty(refusing, monkeypatch), Rules())
    found = []
    for fault in (raising_where(lambda x: True), refusing):
        finder.target = Faulty(fault, monkeypatch)
        [difference] = compare(program, expected, finder.target.eager([program])[0], Rules())
        [divergence] = finder.with_conditions([Divergence(difference, program, 0)], graph=False)
        found.append(divergence.facts)
    assert found == [(), ("0-dim",)]


def test_arguments_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a module was made with counts, too; of its state it keeps what it then has."""
    x = Input(0, "x", np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2), "float32")
    made = torch.nn.InstanceNorm1d(3, track_running_stats=True)
    state = {name: tensor.numpy() for name, tensor in made.named_buffers()}
    calls = [
        Call("module", "nn.InstanceNorm1d", (3,), {"track_running_stats": True}, Ref(1), state),
        Call("method", "train", (Ref(1), False), {}, Ref(1)),
        Call("call", "InstanceNorm1d", (Ref(1), Ref(0)), {}, Ref(2)),
    ]
    forward = torch.nn.InstanceNorm1d.forward

    def wrong(module: Any, x: Any) -> Any:
        return forward(module, x) + module.track_running_stats

    target = Faulty(wrong, monkeypatch, torch.nn.InstanceNorm1d, "forward")
    assert facts(Program([x], calls, Ref(2)), target) == ("track_running_stats=",)
    target = Faulty(lambda module, x: forward(module, x) + 1, monkeypatch, torch.nn.InstanceNorm1d, "forward")
    assert facts(Program([x], calls, Ref(2)), target) == ()


def test_what_by_chance_is_wrong_has_its_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that was never written holds another number in each run: that comes of sizes, where there are any."""
    turns = cycle((True, False))
    fault = wrong_where(lambda x: next(turns))
    assert facts(exp_of(0.3), Faulty(fault, monkeypatch)) == ("0-dim", "unsteady")


def test_what_by_chance_is_wrong_tells_all_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows which classes and arguments it needs; of what comes back each time it is known."""
    norm, turns = torch.norm, cycle((0, 1))
    x = Input(0, "x", np.array([[0.1, NAN], [0.3, 3e38]], np.float32), "float32", strides=(1, 2))
    program = Program([x], [Call("function", "norm", (Ref(0), 1), {"dim": 1}, Ref(1))], Ref(1))
    at_times = Faulty(lambda x, *given, **more: norm(x, *given, **more) * next(turns), monkeypatch, torch, "norm")
    told = divergence(program, at_times)
    assert (told.facts, told.present) == (("unsteady",), {"strided", "nonfinite", "extreme", "p=", "dim="})
    assert told.row("t", "a::b", "key")["present"] == ["dim=", "extreme", "nonfinite", "p=", "strided"]
    each_time = Faulty(lambda x, *given, **more: norm(x, *given, **more) * 0, monkeypatch, torch, "norm")
    told = divergence(program, each_time)
    assert (told.facts, told.present) == ((), frozenset())
    assert "present" not in told.row("t", "a::b", "key")


def test_an_infinity_in_a_transposed_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs both is told with both, and what needs one is told with that one."""
    both = wrong_where(lambda x: not x.is_contiguous() and bool(x.isinf().any()))
    program = exp_of([[0.1, -INF, 0.3], [0.4, 0.6, NAN]], (1, 2))
    assert facts(program, Faulty(both, monkeypatch)) == ("strided", "nonfinite")
    assert facts(program, Faulty(ANY_INF, monkeypatch)) == ("nonfinite",)
    assert facts(program, Faulty(LAID, monkeypatch)) == ("strided",)


def test_what_needs_several_classes_is_told_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no class alone is enough, all that are needed are told; NaN and infinities are one."""
    both = wrong_where(lambda x: bool(x.isnan().any()) and bool(x.isinf().any()))
    assert facts(exp_of([0.1, NAN, -INF]), Faulty(both, monkeypatch)) == ("nonfinite",)
    both = wrong_where(lambda x: bool(x.isnan().any()) and bool((x == 0).any()))
    assert facts(exp_of([0.1, NAN, 0.0, 3e38]), Faulty(both, monkeypatch)) == ("nonfinite", "tie")
    # Without the NaN alone it does not show, nor without the huge number; with that alone it does.
    spoiled = wrong_where(lambda x: bool((x > 1e30).any()) and bool(x.isnan().any() or (x != 0).all()))
    assert facts(exp_of([0.1, NAN, 0.0, 3e38]), Faulty(spoiled, monkeypatch)) == ("extreme",)


def test_values_that_decide_on_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ordinary values make the result longer, its backward starts from something as long."""
    x = Input(0, "x", np.array([0.1, NAN, 0.3], np.float32), "float32", True)
    steps = [("exp", (Ref(0),), Ref(1)), ("isfinite", (Ref(0),), Ref(2)), ("masked_select", (Ref(1), Ref(2)), Ref(3))]
    calls = [Call("function", op, args, {}, out) for op, args, out in steps]
    program = Program([x], calls, Ref(3), {3: np.ones(2, np.float32)})
    assert facts(program, Faulty(ALWAYS, monkeypatch)) == ()
    assert facts(program, Faulty(ANY_NAN, monkeypatch)) == ("nonfinite",)


def test_ordinary_inputs_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target is asked once, for the divergence itself; with a property it is asked again, but once per kind."""
    target = Faulty(ALWAYS, monkeypatch)
    facts(exp_of(ROWS), target)
    assert target.asked == 1
    reference, program = Adapter(), exp_of([0.1, NAN, 0.3])
    expected = Replay(reference, program, side="reference").run()
    target = Faulty(ANY_NAN, monkeypatch)
    [difference] = compare(program, expected, target.eager([program])[0], Rules())
    finder = Facts(reference, target, Rules())
    for _ in range(3):
        [divergence] = finder.with_conditions([Divergence(difference, program, 0)], graph=False)
        assert divergence.facts == ("nonfinite",)
    # For the divergence, for it again, three times each without its property and with one nearer to the ordinary, once
    # as a matrix, and twice more with it.
    assert target.asked == 11


def test_what_ends_the_target_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """An experiment that costs a process is made once, however many divergences would ask for it."""

    class Deadly(Faulty):
        ends = 0

        def eager(self, programs: Sequence[Program]) -> list[Any]:
            """It dies of what is not transposed."""
            if any(program.inputs[0].strides is None for program in programs):
                self.ends += 1
                return [Death("crash", "killed by SIGABRT", 0, 0, "")]
            return super().eager(programs)

    target = Deadly(ALWAYS, monkeypatch)
    reference, program = Adapter(), exp_of([[0.1, 0.2], [0.3, 0.4]], strides=(1, 2))
    expected = Replay(reference, program, side="reference").run()
    [difference] = compare(program, expected, target.eager([program])[0], Rules())
    finder = Facts(reference, target, Rules())
    for phase in ("eager_forward", "eager_backward"):
        found = Divergence(replace(difference, phase=phase), program, 0)
        finder.with_conditions([found], graph=False)
    assert target.ends == 1
    finder.with_conditions([Divergence(difference, exp_of([[0.1, NAN], [0.3, 0.4]], strides=(1, 2)), 0)], graph=False)
    assert target.ends == 2, "NaN is something else"


def test_what_does_not_show_again_is_unsteady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where taking a property away changes nothing, for there is nothing any more, the property is not blamed."""
    shown = iter([True])
    fault = wrong_where(lambda x: next(shown, False))
    assert facts(exp_of([0.1, NAN, 0.3]), Faulty(fault, monkeypatch)) == ("unsteady",)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ((True, True, False), ()),  # it shows without the tie, too
        ((True, False), ("unsteady",)),  # it does not come back
        ((True, True, False, False, False, True, False), ("unsteady",)),  # it comes back at times
    ],
)
def test_what_shows_by_chance_needs_nothing_of_its_inputs(
    monkeypatch: pytest.MonkeyPatch, shown: tuple[bool, ...], expected: tuple[str, ...]
) -> None:
    """A fault that shows at some runs, whatever is in its inputs, needs nothing of them; where it is seen that it does
    not show in each run, that is told.
    """
    turns = cycle(shown)
    fault = wrong_where(lambda x: next(turns))
    assert facts(exp_of([[0.1, 0.1, 0.2]]), Faulty(fault, monkeypatch)) == expected


@pytest.mark.parametrize(
    ("shape", "strides", "found"),
    [
        ((1, 1, 1, 1), (9, 1, 9, 9), set()),
        ((2, 1, 3), (3, 7, 1), set()),
        ((2, 1, 3), (1, 7, 2), {"transposed"}),
        ((2, 3, 2, 2), (12, 1, 6, 3), {"channels_last"}),
    ],
)
def test_strides_of_single_elements_are_no_layout(shape: Any, strides: Any, found: set[str]) -> None:
    """Where a dimension of size 1 would go on in memory says nothing."""
    values = np.linspace(0.1, 0.2, int(np.prod(shape))).reshape(shape)
    assert properties(exp_of(values, strides)) == found


def test_properties() -> None:
    """Integers have huge values alone; an element is of one class."""
    assert properties(exp_of([0, 1, 2, 2], dtype="int64")) == set()
    assert properties(exp_of([2**24 + 1], dtype="int64")) == {"huge"}
    assert properties(exp_of([True, True], dtype="bool")) == set()
    assert properties(exp_of([1.7e308, 0.25], dtype="float64")) == {"huge"}
    assert properties(exp_of([0.0, -0.0])) == {"zero"}
    assert properties(exp_of([NAN, INF, 3e38, 1e-42, 0.0, 0.5, 0.1, 0.1])) == {
        *("nan", "inf", "huge", "subnormal", "zero", "kink", "tie")
    }


def test_what_grows_has_cotangents_of_its_own() -> None:
    """Those of the Program before had another shape, and may have lain transposed."""
    adapter = Adapter()
    body = [Call("function", "neg", (Ref(0),), {}, out=Ref(1))]
    x = Input(0, "x", np.ones((0, 3), np.float32), "float32", True)
    cotangents = {1: np.ones((0, 3), np.float32)}
    program = Program([x], body, Ref(1), cotangents=cotangents, cotangent_strides={1: (1, 0)})
    larger = grown(adapter, program, 0)
    assert larger is not None
    assert larger.cotangents[1].shape == (2, 3)
    assert larger.cotangent_strides == {}
