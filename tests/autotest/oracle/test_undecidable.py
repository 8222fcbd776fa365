"""Each rule of what the reference does not define: a lawful answer is excused, its wrong neighbour is not."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch as real

from autotest import dual_tensor, torch
from autotest.compare.difference import Difference, Rules, allowed_between
from autotest.compare.divergence import Divergence
from autotest.compare.mismatch import Mismatch
from autotest.compare.observations import compare
from autotest.judge.blame.localization import only_call
from autotest.oracle.undecidable import Doubt, undecided
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.replay import QuietReplay
from support.programs import given, one_call, recorded

INF, NAN = float("inf"), float("nan")
Change = Callable[[Observation], None]


def expanded(*values: Any, times: int, grad: bool = False) -> Any:
    """An input of rank 2 in which each value comes so many times, from one place in memory."""
    return dual_tensor(real.tensor(values)[:, None].expand(-1, times).requires_grad_(grad))


def asked(
    reference: Adapter,
    body: Callable[[], Any],
    change: Change,
    rules: Rules | None = None,
    *,
    twice: bool = False,
    rewritten: bool = False,
) -> tuple[list[str], list[str]]:
    """The messages that stand and the reasons of what does not, where a target shows what `change` makes of it."""
    program, seen = recorded(reference, body, twice=twice)
    shown = copy.deepcopy(seen)
    change(shown)
    rules = rules or Rules()
    standing: list[str] = []
    reasons: list[str] = []
    differences = compare(program, seen, shown, rules)
    assert differences, "the change must show"
    for difference in differences:
        found = Divergence(difference, program, only_call(program))
        left, doubts = undecided(reference, found, rewritten=rewritten)
        reasons += [doubt.reason for doubt in doubts]
        standing += [] if left is None else [left.difference.message]
    return standing, reasons


def asked_of(reference: Adapter, program: Program, change: Change) -> tuple[Divergence | None, tuple[Doubt, ...]]:
    """What stands of a Program of one call, and the doubts about it."""
    seen = QuietReplay(reference, program, side="reference").run()
    shown = copy.deepcopy(seen)
    change(shown)
    [difference] = compare(program, seen, shown, Rules())
    return undecided(reference, Divergence(difference, program, only_call(program)))


def outputs(*values: Sequence[Any]) -> Change:
    """The target gives these outputs, those that are None as the reference."""

    def change(seen: Observation) -> None:
        for shown, data in zip(seen.outputs.values(), values, strict=False):
            if data is not None:
                shown.data = np.array(data, shown.data.dtype).reshape(shown.data.shape)

    return change


def gradient(*values: Any) -> Change:
    """The target gives this gradient of the first leaf."""

    def change(seen: Observation) -> None:
        shown = next(iter(seen.gradients.values()))
        assert shown is not None
        shown.data = np.array(values, shown.data.dtype).reshape(shown.data.shape)

    return change


def second(*values: Any) -> Change:
    """The target gives this second derivative of the first leaf."""

    def change(seen: Observation) -> None:
        shown = next(iter(seen.second.values()))
        assert shown is not None
        shown.data = np.array(values, shown.data.dtype).reshape(shown.data.shape)

    return change


def both(first: Change, second: Change) -> Change:
    """The target gives what one and then the other makes of it."""

    def change(seen: Observation) -> None:
        first(seen)
        second(seen)

    return change


def scaled(factor: float) -> Change:
    """The target's outputs are off by a factor."""

    def change(seen: Observation) -> None:
        for shown in seen.outputs.values():
            shown.data = shown.data * np.asarray(factor, shown.data.dtype)

    return change


TIED = (1.0, 3.0, 3.0, 2.0)

LAWFUL: dict[str, tuple[Callable[[], Any], Change, list[str]]] = {
    "the other tie": (lambda: torch.topk(given(*TIED), 1)[1], outputs([2]), ["tie"]),
    "the other tie of integers": (lambda: torch.topk(given(1, 3, 3, dtype="int64"), 1)[1], outputs([2]), ["tie"]),
    "the other tie of an expanded input": (
        lambda: torch.topk(expanded(1.0, 2.0, times=3), 1, 1)[1],
        outputs([2, 1]),
        ["tie"],
    ),
    "the gradient of the other tie of an expanded input": (
        lambda: torch.quantile(expanded(1.0, 2.0, times=3, grad=True), 0.5, 1),
        gradient(1, 0, 0, 0, 0, 1),
        ["not differentiable there"],
    ),
    "the last of many ties": (lambda: torch.topk(given(*[1.0] * 8), 1)[1], outputs([7]), ["tie"]),
    "the gradient of each of many ties": (
        lambda: torch.quantile(expanded(1.0, times=6, grad=True), 0.0, 1),
        gradient(0, 0, 0, 0, 0, 1),
        ["not differentiable there"],
    ),
    "infinite ties": (lambda: torch.topk(given(INF, 1.0, INF), 1)[1], outputs([2]), ["tie"]),
    "the gradient of an infinite tie": (
        lambda: torch.topk(given(INF, 1.0, INF, grad=True), 1),
        both(outputs(None, [2]), gradient(0, 0, 1)),
        ["tie", "tie"],
    ),
    "ties beside a subnormal and a zero": (
        lambda: torch.topk(given(3.0, 0.0, 1e-45, 3.0), 3),
        outputs(None, [0, 3, 2]),
        ["tie"],
    ),
    "ties in another order": (
        lambda: torch.sort(given(*TIED), descending=True),
        outputs(None, [2, 1, 3, 0]),
        ["tie"],
    ),
    "another of equal elements in order": (
        lambda: torch.argsort(given(2.0, 1.0, 2.0, 2.0)),
        outputs([1, 3, 0, 2]),
        ["tie"],
    ),
    "another of equal rows in order": (
        lambda: torch.argsort(given([[2.0, 2.0], [NAN, 1.0]]), descending=True),
        outputs([[1, 0], [0, 1]]),
        ["tie"],
    ),
    "another place of the most frequent": (lambda: torch.mode(given(3.0, 1.0, 3.0)), outputs(None, 0), ["tie"]),
    "the first of the greatest so far": (
        lambda: torch.cummax(given(1.0, 1.0, 0.0), 0),
        outputs(None, [0, 0, 0]),
        ["tie"],
    ),
    "the gradient of the other tie": (
        lambda: torch.topk(given(*TIED, grad=True), 1),
        both(outputs(None, [2]), gradient(0, 0, 1, 0)),
        ["tie", "tie"],
    ),
    "the gradient of equal elements of two tensors": (
        lambda: torch.max(given(1.0, 2.0, grad=True), given(1.0, 0.0)),
        gradient(1, 1),
        ["not differentiable there"],
    ),
    "a kink": (lambda: torch.relu(given(-1.0, 0.0, 2.0, grad=True)), gradient(0, 1, 1), ["not differentiable there"]),
    "a kink's middle": (lambda: torch.abs(given(0.0, 2.0, grad=True)), gradient(-1, 1), ["not differentiable there"]),
    "ill-conditioned": (lambda: torch.pow(given(1.0001), given(1e5)), scaled(1.01), ["rounding"]),
    "cancellation": (lambda: torch.sum(given(1e6, 1.5, -1e6)), outputs([1.4]), ["rounding"]),
    "overflow in the reference": (
        lambda: torch.sum(given(3e38, 3e38, -3e38)),
        outputs([3e38]),
        ["overflow in the reference"],
    ),
    "the first digits of what an overflow in the reference leaves": (
        lambda: torch.sum(given(3e38, 3e38, -3e38)),
        outputs([3.02e38]),
        ["overflow in the reference"],
    ),
    "overflow": (lambda: torch.sum(given(3e38, -3e38, 3e38)), outputs([INF]), ["overflow"]),
    "overflow to the other infinity": (lambda: torch.sum(given(INF, -3e38, -3e38)), outputs([NAN]), ["overflow"]),
    "overflow of a mean": (lambda: torch.mean(given(-INF, 3e38, 3e38)), outputs([NAN]), ["overflow"]),
    "infinity and a product that overflows": (
        lambda: torch.addcmul(given(INF), given(1.5), given(-3e38)),
        outputs([NAN]),
        ["overflow"],
    ),
    "a share of what overflows in the reference": (
        lambda: torch.nn.functional.layer_norm(given(3e38, -3e38), (2,)),
        outputs([0.0, 0.0]),
        ["overflow in the reference"],
    ),
    "the order of a product that overflows": (
        lambda: torch.prod(given(0.0, 3e38, 3e38)),
        outputs([NAN]),
        ["overflow"],
    ),
    "NaN for a sum beyond the range": (
        lambda: torch.var(given(3e38, -3e38, 0.0)),
        outputs([NAN]),
        ["overflow"],
    ),
    "scaled after the sum": (
        lambda: torch.addmm(given((0.0,)), given((3e38, 3e38)), given((1.0,), (1.0,)), alpha=0.25),
        outputs([INF]),
        ["overflow"],
    ),
    "the root of what overflows": (
        lambda: torch.std(given(1e38, -1e38, 2e38)),
        outputs([INF]),
        ["overflow"],
    ),
    "a share of a root of what overflows": (
        lambda: torch.std(given(1e38, -1e38, 2e38, grad=True)),
        gradient(0.0, NAN, 0.0),
        ["overflow"],
    ),
    "infinitely scaled": (
        lambda: torch.nn.functional.group_norm(given((1.0, 2.0), (3.0, 5.0)), 1, weight=given(INF, 1.0)),
        outputs([-INF, 1.0, -INF, 1.0]),
        [],
    ),
    "infinite where the exact sum is": (
        lambda: torch.dot(given(3e38, -3e38, 3e38), given(2.0, 2.0, 2.0)),
        outputs([INF]),
        ["the reference gives another in float64"],
    ),
    "the slope of NaN at another place": (
        lambda: torch.nn.functional.elu(given(NAN, 1.0, grad=True)),
        gradient(NAN, 1),
        ["the reference gives another by where the element lies"],
    ),
    "the gradient by the formula for a tracer": (
        lambda: torch.prod(given(INF, 2.0, 3.0, grad=True)),
        gradient(6, INF, INF),
        ["the reference gives another by another of its formulas"],
    ),
    "a conversion out of range": (
        lambda: given(1.5, 1e20, NAN).to(torch.int32),
        outputs([1, 7, 8]),
        ["out of the integer's range"],
    ),
    "a threshold": (
        lambda: torch.floor(given(0.1, 2.5) * 10.0 * 10.0),
        outputs([9.0, 250.0]),
        ["threshold"],
    ),
    "a choice at a threshold": (lambda: torch.sin(given(0.5, 0.1)) > 0.09983342, outputs([1, 1]), ["threshold"]),
}

WRONG: dict[str, tuple[Callable[[], Any], Change, list[str]]] = {
    "no tie": (
        lambda: torch.argmax(given(1.0, 4.0, 3.0)),
        outputs([2]),
        ["t0 differs in 1 of 1 element: it is 2, but should be 1"],
    ),
    "an index past the tie": (
        lambda: torch.argmax(given(*TIED)),
        outputs([3]),
        ["t0 differs in 1 of 1 element: it is 3, but should be 1"],
    ),
    "an integer's index past the tie": (
        lambda: torch.argmax(given(1, 3, 3, dtype="int64")),
        outputs([0]),
        ["t0 differs in 1 of 1 element: it is 0, but should be 1"],
    ),
    "the same one twice in order": (
        lambda: torch.argsort(given(2.0, 1.0, 2.0, 2.0)),
        outputs([1, 3, 3, 2]),
        ["t0 differs in 3 of 4 elements: [1] is 3, but should be 0"],
    ),
    "out of order": (
        lambda: torch.argsort(given(2.0, 1.0, 2.0, 2.0)),
        outputs([0, 1, 2, 3]),
        ["t0 differs in 2 of 4 elements: [0] is 0, but should be 1"],
    ),
    "a stable order": (
        lambda: torch.argsort(given(2.0, 1.0, 2.0, 2.0), stable=True),
        outputs([1, 3, 0, 2]),
        ["t0 differs in 3 of 4 elements: [1] is 3, but should be 0"],
    ),
    "a place of another than the most frequent": (
        lambda: torch.mode(given(3.0, 1.0, 3.0)),
        outputs(None, 1),
        ["t1 differs in 1 of 1 element: it is 1, but should be 2"],
    ),
    "a stable sort": (
        lambda: torch.sort(given(*TIED), stable=True, descending=True),
        outputs(None, [2, 1, 3, 0]),
        ["t1 differs in 2 of 4 elements: [0] is 2, but should be 1"],
    ),
    "one index twice": (
        lambda: torch.sort(given(*TIED), descending=True),
        outputs(None, [2, 2, 3, 0]),
        ["t1 differs in 1 of 4 elements: [0] is 2, but should be 1"],
    ),
    "an expanded input's gradient twice": (
        lambda: torch.quantile(expanded(1.0, times=3, grad=True), 0.5, 1),
        gradient(2, 1, 0),
        ["gradient of x differs in 1 of 3 elements: [0, 0] is 2.0, but should be 0.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "not the first of equal ones": (
        lambda: torch.argmax(given(*TIED)),
        outputs([2]),
        ["t0 differs in 1 of 1 element: it is 2, but should be 1"],
    ),
    "a gradient shared among equal ones": (
        lambda: torch.max(given(*TIED, grad=True), 0),
        gradient(0, 0.5, 0.5, 0),
        ["gradient of x differs in 2 of 4 elements: [2] is 0.5, but should be 0.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "a gradient not shared among equal ones": (
        lambda: torch.amax(given(*TIED, grad=True), 0),
        gradient(0, 1, 0, 0),
        ["gradient of x differs in 2 of 4 elements: [1] is 1.0, but should be 0.5 (rtol=0.0001, atol=1e-05)"],
    ),
    "past an infinite tie": (
        lambda: torch.argmin(given(-INF, 1.0, -INF)),
        outputs([1]),
        ["t0 differs in 1 of 1 element: it is 1, but should be 0"],
    ),
    "both ties' gradients": (
        lambda: torch.max(given(*TIED, grad=True), 0),
        gradient(0, 1, 1, 0),
        ["gradient of x differs in 1 of 4 elements: [2] is 1.0, but should be 0.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "twice the slope at a kink": (
        lambda: torch.relu(given(-1.0, 0.0, 2.0, grad=True)),
        gradient(0, 2, 1),
        ["gradient of x differs in 1 of 3 elements: [1] is 2.0, but should be 0.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "a slope beside the kink": (
        lambda: torch.relu(given(-1.0, 1e-30, grad=True)),
        gradient(0, 0),
        ["gradient of x differs in 1 of 2 elements: [1] is 0.0, but should be 1.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "a slope where the reference has a pole": (
        lambda: torch.sqrt(given(0.0, 4.0, grad=True)),
        gradient(5, 0.25),
        ["gradient of x differs in 1 of 2 elements: [0] is 5.0, but should be inf"],
    ),
    "well-conditioned": (
        lambda: torch.pow(given(1.5), given(2.0)),
        scaled(1.01),
        ["t0 differs in 1 of 1 element: [0] is 2.2725, but should be 2.25 (rtol=0.0001, atol=1e-05)"],
    ),
    "a wrong sum": (
        lambda: torch.sum(given(1.0, 2.0, 3.0)),
        outputs([6.01]),
        ["t0 differs in 1 of 1 element: it is 6.01, but should be 6.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "a jump of one call": (
        lambda: torch.floor(given(2.0)),
        outputs([1.0]),
        ["t0 differs in 1 of 1 element: [0] is 1.0, but should be 2.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "a comparison of one call": (
        lambda: given(0.0, 1.0) > 0,
        outputs([1, 1]),
        ["t0 differs in 1 of 2 elements: [0] is True, but should be False"],
    ),
    "infinite for no reason": (
        lambda: torch.sum(given(1e38, 1e38)),
        outputs([INF]),
        ["t0 differs in 1 of 1 element: it is inf, but should be 2e+38"],
    ),
    "infinite for what was never rounded": (
        lambda: torch.relu(given(float(np.finfo(np.float32).max), 1.0)),
        outputs([INF, 1.0]),
        ["t0 differs in 1 of 2 elements: [0] is inf, but should be 3.4028235e+38"],
    ),
    "infinite for the greatest number of a dtype": (
        lambda: torch.nan_to_num(given(INF, -INF, 1.0)),
        outputs([INF, -INF, 1.0]),
        ["t0 differs in 2 of 3 elements: [0] is inf, but should be 3.4028235e+38"],
    ),
    "beside what an overflow in the reference leaves": (
        lambda: torch.sum(given(3e38, 3e38, -3e38)),
        outputs([3.1e38]),
        ["t0 differs in 1 of 1 element: it is 3.1e+38, but should be inf"],
    ),
    "finite where the sum is infinite": (
        lambda: torch.sum(given(3e38, 3e38)),
        outputs([0.0]),
        ["t0 differs in 1 of 1 element: it is 0.0, but should be inf"],
    ),
    "a product that stays within the range": (
        lambda: torch.prod(given(0.0, 3e18, 3e18)),
        outputs([NAN]),
        ["t0 differs in 1 of 1 element: it is nan, but should be 0.0"],
    ),
    "NaN for a variance within the range": (
        lambda: torch.var(given(3e18, -3e18, 0.0)),
        outputs([NAN]),
        ["t0 differs in 1 of 1 element: it is nan, but should be 8.999999e+36"],
    ),
    "not scaled so much": (
        lambda: torch.addmv(given(0.0), given((1e37, 1e37)), given(1.0, 1.0), alpha=0.25),
        outputs([INF]),
        ["t0 differs in 1 of 1 element: [0] is inf, but should be 5e+36"],
    ),
    "NaN for an infinity that nothing meets": (
        lambda: torch.sum(given(INF, -1e38, -1e38)),
        outputs([NAN]),
        ["t0 differs in 1 of 1 element: it is nan, but should be inf"],
    ),
    "the infinity that overflows": (
        lambda: torch.sum(given(INF, -3e38, -3e38)),
        outputs([-INF]),
        ["t0 differs in 1 of 1 element: it is -inf, but should be inf"],
    ),
    "NaN for a mean that stays within the range": (
        lambda: torch.mean(given(-INF, 1e38, 1e38)),
        outputs([NAN]),
        ["t0 differs in 1 of 1 element: it is nan, but should be -inf"],
    ),
    "NaN for an infinity and a product within the range": (
        lambda: torch.addcmul(given(INF), given(1.5), given(-1e38)),
        outputs([NAN]),
        ["t0 differs in 1 of 1 element: [0] is nan, but should be inf"],
    ),
    "NaN for the infinity of no sum": (
        lambda: torch.mul(given(INF), given(3e38)),
        outputs([NAN]),
        ["t0 differs in 1 of 1 element: [0] is nan, but should be inf"],
    ),
    "the other infinity": (
        lambda: torch.dot(given(3e38, -3e38, 3e38), given(2.0, 2.0, 2.0)),
        outputs([-INF]),
        ["t0 differs in 1 of 1 element: it is -inf, but should be nan"],
    ),
    "the gradient by no formula": (
        lambda: torch.prod(given(INF, 2.0, 3.0, grad=True)),
        gradient(7, INF, INF),
        ["gradient of x differs in 1 of 3 elements: [0] is 7.0, but should be nan"],
    ),
    "no slope of NaN anywhere": (
        lambda: torch.nn.functional.elu(given(NAN, 1.0, grad=True)),
        gradient(5, 1),
        ["gradient of x differs in 1 of 2 elements: [0] is 5.0, but should be 1.0 (rtol=0.0001, atol=1e-05)"],
    ),
    "what copies of the elements would give": (
        lambda: torch.softmax(given([1.0], [1.0]), 0),
        outputs([1 / 37, 1 / 37]),
        ["t0 differs in 2 of 2 elements: [0, 0] is 0.027027028, but should be 0.5 (rtol=0.0001, atol=1e-05)"],
    ),
    "the root of what does not overflow": (
        lambda: torch.std(given(1e18, -1e18, 2e18)),
        outputs([INF]),
        ["t0 differs in 1 of 1 element: it is inf, but should be 1.5275253e+18"],
    ),
    "no share of a root of what does not overflow": (
        lambda: torch.std(given(1e18, -1e18, 2e18, grad=True)),
        gradient(0.0, NAN, 0.0),
        ["gradient of x differs in 3 of 3 elements: [1] is nan, but should be -0.5455447"],
    ),
    "infinite without a scale": (
        lambda: torch.nn.functional.group_norm(given((INF, 2.0)), 1),
        outputs([INF, NAN]),
        ["t0 differs in 1 of 2 elements: [0, 0] is inf, but should be nan"],
    ),
    "a conversion within range": (
        lambda: given(1.5, 1e20).to(torch.int32),
        outputs([2, -(2**31)]),
        ["t0 differs in 1 of 2 elements: [0] is 2, but should be 1"],
    ),
    "computed in half where the result is not": (
        lambda: torch.cumsum(given(1001.0, 0.25, dtype="float16"), 0, dtype=torch.float32),
        outputs([1001.0, 1001.0]),
        ["t0 differs in 1 of 2 elements: [1] is 1001.0, but should be 1001.25 (rtol=0.0001, atol=1e-05)"],
    ),
    "a sum of halves that was rounded to one": (
        lambda: torch.sum(given(1001.0, 3.0, 512.0, 0.25, dtype="float16"), dtype=torch.float32),
        outputs([1516.0]),
        ["t0 differs in 1 of 1 element: it is 1516.0, but should be 1516.25 (rtol=0.0001, atol=1e-05)"],
    ),
    "far from any threshold": (
        lambda: torch.floor(given(0.1, 2.55) * 10.0),
        outputs([1.0, 24.0]),
        ["t1 differs in 1 of 2 elements: [1] is 24.0, but should be 25.0 (rtol=0.0001, atol=1e-05)"],
    ),
}


#: Lawful of what is written from scratch alone.
REWRITTEN = (
    "a share of what overflows in the reference",
    "the order of a product that overflows",
    "NaN for a sum beyond the range",
    "scaled after the sum",
    "the root of what overflows",
    "a share of a root of what overflows",
    "infinitely scaled",
)


@pytest.mark.parametrize("name", LAWFUL)
def test_lawful_difference_is_excused(reference: Adapter, name: str) -> None:
    """Nothing of it stands, and the reason is told."""
    body, change, reasons = LAWFUL[name]
    assert asked(reference, body, change, rewritten=True) == ([], reasons)
    if name in REWRITTEN:
        standing, _ = asked(reference, body, change)
        assert standing


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answer_stands(reference: Adapter, name: str) -> None:
    """It is told as it was, and no doubt is cast on it."""
    body, change, messages = WRONG[name]
    assert asked(reference, body, change) == asked(reference, body, change, rewritten=True) == (messages, [])


def test_second_derivatives_have_kinks_too(reference: Adapter) -> None:
    """At a kink of the first derivative the second is what it is on either side; elsewhere it is defined."""

    def body() -> Any:
        return torch.nn.functional.relu(given(0.0, 1.0, grad=True)) ** 2

    assert asked(reference, body, second(2.0, 2.0), twice=True) == ([], ["not differentiable there"])
    assert asked(reference, body, second(0.0, 3.0), twice=True) == (
        ["second gradient of x differs in 1 of 2 elements: [1] is 3.0, but should be 2.0 (rtol=0.0001, atol=1e-05)"],
        [],
    )


def test_what_stands_is_counted_alone(reference: Adapter) -> None:
    """Beside an excused element only the wrong one is counted, and the excuse is named."""
    standing, reasons = asked(reference, lambda: torch.relu(given(-1.0, 0.0, 2.0, grad=True)), gradient(0, 1, 3))
    assert standing == [
        "gradient of x differs in 1 of 3 elements: [2] is 3.0, but should be 1.0 (rtol=0.0001, atol=1e-05); "
        "others are undecidable (not differentiable there)"
    ]
    assert reasons == ["not differentiable there"]


def test_uninitialised_elements(reference: Adapter) -> None:
    """What nobody wrote is excused, what was written is not."""

    def body() -> Any:
        x = torch.empty(4)
        x[:2] = given(1.0, 2.0)
        return x

    def change(seen: Observation) -> None:
        [shown] = seen.outputs.values()
        shown.data = shown.data + 1

    standing, reasons = asked(reference, body, change)
    assert reasons == ["not initialised"]
    [message] = standing
    assert "differs in 2 of 4 elements: " in message
    assert message.endswith("(rtol=0.0001, atol=1e-05); others are undecidable (not initialised)")


def test_subnormal(reference: Adapter) -> None:
    """A result too small for all its digits may be zero, even where nothing else is allowed; a normal one may not."""
    exact = Rules(rtol=0.0, atol=0.0)
    assert asked(reference, lambda: given(1e-40, 1.0) * 1.0, outputs([0.0, 1.0]), exact) == ([], ["subnormal"])
    standing, reasons = asked(reference, lambda: given(1e-30, 1.0) * 1.0, outputs([0.0, 1.0]), exact)
    assert (len(standing), reasons) == (1, [])


def test_results_in_no_order(reference: Adapter) -> None:
    """Who asks `topk` for no order gets the same elements in whatever order, with their indices and gradient; other
    elements stand, and any order where one is asked for.
    """
    x = (1.0, 4.0, 2.0, 3.0)

    def loose(**given_too: Any) -> Callable[[], Any]:
        return lambda: torch.topk(given(*x, grad=True), 2, **given_too)

    for body in (loose(sorted=False), lambda: given(*x, grad=True).topk(2, 0, True, False)):
        assert asked(reference, body, outputs([3.0, 4.0], [3, 1])) == ([], ["in no order"] * 2)
        standing, reasons = asked(reference, body, outputs([2.0, 4.0], [2, 1]))
        assert (len(standing), reasons) == (2, [])
    for body in (loose(), loose(sorted=True), lambda: given(*x, grad=True).topk(2, 0, True)):
        standing, reasons = asked(reference, body, outputs([3.0, 4.0], [3, 1]))
        assert (len(standing), reasons) == (2, [])

    program, _ = recorded(reference, loose(sorted=False))
    values, _ = program.calls[-1].results()
    program.cotangents[values] = np.array([5.0, 7.0], "float32")
    assert asked_of(reference, program, gradient(0.0, 7.0, 0.0, 5.0))[1][0].reason == "in no order"
    elsewhere, _ = asked_of(reference, program, gradient(7.0, 0.0, 0.0, 5.0))
    assert elsewhere is not None
    assert " differs in 2 of 4 elements: " in elsewhere.difference.message
    both_rows = lambda: torch.topk(given([1.0, 2.0], [4.0, 3.0]), 2, dim=1, sorted=False)  # noqa: E731 - one call
    standing, reasons = asked(reference, both_rows, outputs([[1.0, 2.0], [4.0, 9.0]], [[0, 1], [0, 1]]))
    assert reasons == ["in no order"] * 2
    assert standing == [
        "t0 differs in 1 of 4 elements: [1, 1] is 9.0, but should be 3.0 (rtol=0.0001, atol=1e-05); others are "
        "undecidable (in no order)"
    ]


def test_what_does_not_repeat(reference: Adapter) -> None:
    """What the reference itself gives otherwise each time, and nobody noticed, no target can give; what it gives each
    time stands.
    """

    def body() -> Any:
        return torch.cat([torch.rand(1000), torch.ones(2)])

    program, seen = recorded(reference, body)
    program.random = None
    shown = copy.deepcopy(seen)
    outputs(np.full(1002, 2.0))(shown)
    [difference] = compare(program, seen, shown, Rules())
    left, doubts = undecided(reference, Divergence(difference, program, only_call(program)))
    assert [doubt.reason for doubt in doubts] == ["the reference gives another when it runs again"]
    assert left is not None
    assert left.difference.message == (
        "t2 differs in 2 of 1002 elements: [1000] is 2.0, but should be 1.0 (rtol=0.0001, atol=1e-05); others are "
        "undecidable (the reference gives another when it runs again)"
    )


@pytest.mark.parametrize(("off", "stands"), [(1.0, False), (0.0, True)])
def test_what_the_reference_gives_by_its_inputs_strides(off: float, stands: bool) -> None:
    """Where its own answer is another one for the same values laid otherwise, no target can be held to either."""

    class Strided(Adapter):
        def resolve(self, path: str) -> Any:
            function = super().resolve(path)
            return lambda x: function(x) + (0.0 if x.stride(0) else off)

    reference = Strided()
    program = one_call("square", [2.0, 2.0, 2.0], strides=(0,))
    left, doubts = asked_of(reference, program, outputs([7.0, 7.0, 7.0]))
    assert (left is not None) is stands
    reasons = [] if stands else ["the reference gives another for the same values laid otherwise"]
    assert [doubt.reason for doubt in doubts] == reasons


def test_index_that_the_reference_gives_by_its_inputs_strides() -> None:
    """It moves with the layout, and from the case to its rerun: any of the equal elements will do, and no other."""

    class Strided(Adapter):
        orders = iter([[2, 1, 0]])

        def resolve(self, path: str) -> Any:
            function = super().resolve(path)
            return lambda x: function(x) if x.stride(0) else real.tensor(next(self.orders, [1, 0, 2]))

    reference = Strided()
    program = one_call("argsort", [2.0, 2.0, 2.0], strides=(0,))
    left, doubts = asked_of(reference, program, outputs([2, 0, 1]))
    assert (left, [doubt.reason for doubt in doubts]) == (None, ["tie"])


def test_what_a_call_shows_in_its_program_alone(reference: Adapter) -> None:
    """Of an embedding that has changed its weights, the call by itself begins from other weights: no rerun says how
    firmly the reference's answer stands, and it does.
    """
    program = one_call("square", [2.0, 2.0, 2.0])
    seen = QuietReplay(reference, program, side="reference").run()
    outputs([5.0, 5.0, 5.0])(seen)
    shown = copy.deepcopy(seen)
    outputs([4.0, 4.0, 4.0])(shown)
    [difference] = compare(program, seen, shown, Rules())
    divergence = Divergence(difference, program, only_call(program))
    assert undecided(reference, divergence) == (divergence, ())


def test_an_exact_answer_of_float64_is_kept(reference: Adapter) -> None:
    """float64 is held against float64: its own last digits are no doubt."""
    body = lambda: torch.sin(given(1.0, 2.0, dtype="float64"))  # noqa: E731 - a body as the others
    standing, reasons = asked(reference, body, outputs([0.84148, 0.909297426825]))
    assert (len(standing), reasons) == (1, [])


@pytest.mark.parametrize(
    ("body", "stands", "reasons"),
    [
        (lambda: torch.sum(given(0.5, 0.25, -0.75)), False, []),
        (lambda: torch.matmul(given(0.0), given(-1.0)), False, []),
        (lambda: torch.amax(given(0.0, -0.0), 0), False, []),
        (lambda: torch.quantile(given(0.0, -0.0, 0.0), 0.5), False, []),
        (lambda: torch.linalg.inv(given([INF])), False, []),
        (lambda: torch.nn.UpsamplingBilinear2d(scale_factor=2)(given([[[0.0, 0.0]]])), False, []),
        (lambda: torch.nn.functional.softshrink(given(-0.3, -0.2)), False, []),
        (lambda: given(1e-30) * -1e-30, False, ["sign of zero"]),
        (lambda: torch.mul(given(0.0), given(-1.0)), True, []),
        (lambda: torch.neg(given(0.0)), True, []),
        (lambda: torch.relu(given(-1.0)), True, []),
    ],
    ids=[
        "left of a sum",
        "a sum of one product",
        "a choice",
        "a choice by rank",
        "an inverse",
        "an upsampling",
        "another at another place",
        "an underflow",
        "a product",
        "a negated zero",
        "a clipped zero",
    ],
)
def test_sign_of_zero(reference: Adapter, body: Callable[[], Any], stands: bool, reasons: list[str]) -> None:
    """A zero that rounding has made may have either sign, and no sum promises one; what the reference defines has its
    own.
    """
    program, seen = recorded(reference, body)
    [(id_, expected)] = seen.outputs.items()
    assert not expected.data.any()
    actual = Seen(expected.dtype, expected.shape, "cpu", False, -expected.data)
    mismatch = Mismatch.of(expected.data, actual.data, allowed_between(expected, Rules(), signed=True))
    told = {"key": str(id_), "expected": expected, "actual": actual, "mismatch": mismatch}
    difference = Difference("eager_forward", "sign", "t0", "t0 is -0.0", **told)
    left, doubts = undecided(reference, Divergence(difference, program, only_call(program)))
    assert [doubt.reason for doubt in doubts] == reasons
    assert (left is not None) is stands


@pytest.mark.parametrize(("off", "stands"), [(1e-5, False), (1.0, True)])
def test_what_one_call_loses_on_the_way(reference: Adapter, off: float, stands: bool) -> None:
    """A batch norm takes the mean away, and with it what the bias before it does: its gradient is 0, of which float32
    leaves the rest of numbers a million times as great. No nudge of a float64 run shows that.
    """

    def body() -> Any:
        values = [[(31 * i % 17) / 1000, (7 * i % 13) / 1000] for i in range(64)]
        layers = torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2), torch.nn.Tanh()
        return torch.nn.Sequential(*layers)(given(*values))

    def change(seen: Observation) -> None:
        bias = next(shown for key, shown in seen.gradients.items() if key.endswith(".0.bias"))
        assert bias is not None
        bias.data = np.full_like(bias.data, off)

    real.manual_seed(0)  # of the layers' parameters
    standing, reasons = asked(reference, body, change)
    assert bool(standing) == stands
    assert ("rounding" in reasons) != stands  # another CPU's kernels may doubt it in another way, too


@pytest.mark.parametrize(("off", "stands"), [(2e-3, False), (1.0, True)])
def test_an_exact_zero_has_no_digits(reference: Adapter, off: float, stands: bool) -> None:
    """The bias of a convolution before a batch norm has the gradient 0: what a sum over thousands of elements leaves of
    it may be several times what the reference's leaves (here 1e-3), though its runs lie close together, and no more.
    """

    def body() -> Any:
        x = given(*real.linspace(-1, 1, 43 * 7 * 17).sin().reshape(43, 1, 7, 17).tolist(), grad=True)
        return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())(x)

    def change(seen: Observation) -> None:
        bias = next(shown for key, shown in seen.gradients.items() if key.endswith(".0.bias"))
        assert bias is not None
        bias.data = np.full_like(bias.data, off)

    real.manual_seed(0)  # of the layers' parameters
    standing, reasons = asked(reference, body, change)
    assert bool(standing) == stands
    assert ("rounding" in reasons) != stands


def test_what_lies_otherwise_may_have_another_answer(reference: Adapter) -> None:
    """PyTorch's kernel for packed memory gives NaN for the gradient of celu at a NaN, and the one for strided memory
    what the formula's other branch does: either is right, a third is not.
    """
    values = real.linspace(-1.0, 1.0, 129)
    values[::8] = NAN

    def body() -> Any:
        laid = real.stack([values, values], 1)[:, 0].requires_grad_()
        return torch.nn.functional.celu(dual_tensor(laid))

    packed = values.clone().requires_grad_()
    real.nn.functional.celu(packed).backward(real.ones(129))
    assert packed.grad is not None
    found = packed.grad.numpy()
    assert asked(reference, body, gradient(*found)) == (
        [],
        ["the reference gives another by where the element lies"],
    )
    assert len(asked(reference, body, gradient(*(found + 1)))[0]) == 1


def test_gradient_of_any_of_many_equal_elements(reference: Adapter) -> None:
    """More than runs can try; but an element that is equal to none of them has its own gradient."""
    values = [1.0] * 60 + [2.0] + [1.0] * 60 + [3.0] * 120

    def body() -> Any:
        return torch.quantile(given(*values, grad=True), 0.25)

    _, seen = recorded(reference, body)
    [expected] = [shown.data for shown in seen.gradients.values() if shown is not None]
    [chosen] = np.flatnonzero(expected)[:1]
    moved = np.zeros_like(expected)
    moved[(chosen + 43) % 60] = expected.sum()
    standing, reasons = asked(reference, body, gradient(*moved))
    assert (standing, reasons) == ([], ["not differentiable there"])
    wrong = np.zeros_like(expected)
    wrong[60] = expected.sum()
    assert len(asked(reference, body, gradient(*wrong))[0]) == 1
