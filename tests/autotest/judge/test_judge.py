"""What the judge makes of what a target shows, eagerly and in graphs; the target answers in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest.cases.case import Case
from autotest.compare.divergence import Divergence
from autotest.judge.judge import Judge
from autotest.judge.judgement import Check, Checks, Judgement
from autotest.options import TestOptions
from autotest.workers.protocol import Death, GraphFailure
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.replay import Replay
from support.pretended import Pretended, judged, off, program, same, sound
from support.programs import one_call

INF = float("inf")
DIED = Death("crash", "died", 0, None, "last words")


def wrong_exp(seen: Observation, program: Program) -> Observation:
    """Eager is wrong wherever it ends in `exp`."""
    return off(seen) if program.ops()[-1] == "exp" else seen


def told(judgement: Judgement) -> list[tuple[str, str, str]]:
    """Phase, kind and op of each divergence."""
    return [(one.difference.phase, one.difference.kind, one.op) for one in judgement.divergences]


def test_aligned() -> None:
    """A target that does as PyTorch does is aligned, in its graph too, in which the cases go together."""
    target = Pretended(sound, same)
    first, second = judged(target, program("exp"), program("sin", "cos"))
    assert [first.verdict, second.verdict] == ["aligned", "aligned"]
    assert target.graphs == [2]
    assert first.graph.record() == {
        "forward": "verified",
        "backward": "nothing to differentiate",
        "again": "its first call diverges",
    }


def test_eager_is_localized() -> None:
    """A wrong value is that of the call which shows it alone; the graph that does as eager does adds nothing."""
    target = Pretended(wrong_exp, lambda seen: [off(one) for one in seen])
    [judgement] = judged(target, program("sin", "exp"))
    assert judgement.verdict == "divergent"
    assert told(judgement) == [("eager_forward", "value", "exp")]


def test_facts_of_other_arguments_are_not_taken_over() -> None:
    """A norm that is wrong with `p=inf` says nothing of a later case's that is wrong without: what is known of the one
    excuses nothing of the other.
    """

    def wrong(seen: Observation, program: Program) -> Observation:
        [call] = program.calls
        return off(seen) if call.kwargs.get("p") == INF or len(program.inputs[0].data) == 3 else seen

    largest = [norm(size, p=INF) for size in (2, 4, 5, 6)]
    found = judged(Pretended(wrong, same), *largest, norm(3), norm(3, p=1.0))
    assert [one.facts for judgement in found for one in judgement.divergences] == [("p=",)] * 4 + [()] * 2


def test_the_same_again_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test has found wrong of ordinary numbers is wrong of others for that reason, too: the oracle is not asked,
    and no experiment made; of another kind both are.
    """
    asked: list[str] = []

    def decidable(reference: Any, divergences: list[Divergence]) -> tuple[list[Divergence], list[Any]]:
        asked.extend(divergence.difference.kind for divergence in divergences)
        return divergences, []

    monkeypatch.setattr("autotest.judge.judge.decidable", decidable)
    tensors = [0.1, 0.2], [0.1, float("nan"), 0.3], [[0.1, 0.2], [INF, 0.4]]
    target = Pretended(wrong_exp, same)
    found = judged(target, *(one_call("exp", values) for values in tensors))
    assert [told(one) for one in found] == [[("eager_forward", "value", "exp")]] * 3
    assert [divergence.facts for one in found for divergence in one.divergences] == [()] * 3
    assert asked == ["value"]


def norm(size: int, **arguments: float) -> Program:
    """A norm of a matrix with so many rows."""
    return Program(
        [Input(0, "", np.full((size, 2), 0.3, np.float32), "float32")],
        [Call("function", "norm", (Ref(0),), arguments, out=Ref(1))],
        Ref(1),
    )


def test_graph_is_localized() -> None:
    """What only the graph of a call shows is told of the graph."""
    [judgement] = judged(Pretended(sound, lambda seen: [off(one) for one in seen]), program("exp"))
    assert told(judgement) == [("graph_forward", "value", "exp")]
    assert str(judgement.graph.forward) == "verified"


def test_only_together() -> None:
    """What a case shows only in a graph that others share is of no call."""
    target = Pretended(sound, lambda seen: [off(seen[0]), *seen[1:]] if len(seen) > 1 else list(seen))
    first, second = judged(target, program("exp"), program("sin"))
    assert told(first) == [("graph_forward", "batch_only", "program")]
    assert first.divergences[0].difference.message.endswith("; alone in its graph it does not")
    assert second.verdict == "aligned"
    assert target.graphs == [2, 1]


def test_only_together_where_nothing_is_defined() -> None:
    """Memory that nobody has written is another in any run, in a graph that others share, too."""
    target = Pretended(sound, lambda seen: [off(seen[0]), *seen[1:]] if len(seen) > 1 else list(seen))
    first, second = judged(target, program("empty_like"), program("sin"))
    assert (told(first), first.verdict) == ([], "undecidable")
    assert {doubt.reason for doubt in first.doubts} == {"not initialised"}
    assert second.verdict == "aligned"


REFUSED = GraphRefusal(False, None, ("RuntimeError",), "no")


@pytest.mark.parametrize(
    ("answer", "words", "divergences", "verdict"),
    [
        ([GraphRefusal(True, None, (), "it has no graphs")], "it has no graphs", [], "aligned"),
        ([GraphRefusal(True, None, (), "")], "not run", [], "aligned"),
        ([REFUSED], "the target's graph refused it", [("graph_forward", "exception", "exp")], "divergent"),
        (
            GraphFailure(("NotImplementedError",), "no"),
            "the target's graph refused it",
            [("graph_forward", "unsupported", "exp")],
            "divergent",
        ),
        (DIED, "the graph ended in a crash", [("graph_forward", "crash", "exp")], "crashed"),
        (
            replace(DIED, cause="timeout"),
            "the graph ended in a timeout",
            [("graph_forward", "timeout", "exp")],
            "timed_out",
        ),
        (
            replace(DIED, cause="out_of_memory"),
            "the graph ended out of memory",
            [("graph_forward", "out_of_memory", "exp")],
            "out_of_memory",
        ),
    ],
)
def test_no_result_of_a_graph(answer: Any, words: str, divergences: list[Any], verdict: str) -> None:
    """What kept a graph from a result is told in the case's record; what is the target's fault diverges."""
    [judgement] = judged(Pretended(sound, lambda seen: answer), program("exp"))
    assert judgement.graph.record()["forward"] == words
    assert told(judgement) == divergences
    assert judgement.verdict == verdict


def test_eager_death() -> None:
    """A case whose eager run ends the target has no graph."""
    target = Pretended(lambda seen, program: DIED, same)
    [judgement] = judged(target, program("exp"))
    assert (judgement.verdict, told(judgement)) == ("crashed", [("eager_forward", "crash", "exp")])
    assert judgement.graph.record()["forward"] == "its eager run failed"
    assert target.graphs == []


RAISED = Observation(failures=[Failure(0, "exception", ("RuntimeError",), "no")], ended=True)
BY_CHANCE = "; nondeterministic: "


def in_turn(*answers: Any) -> Callable[..., Any]:
    """One answer after the other, the last one from then on; None stands for what the target really computes."""
    left = list(answers)

    def answer(seen: Any, program: Any = None) -> Any:
        chosen = left.pop(0) if len(left) > 1 else left[0]
        return (list(seen) if isinstance(seen, list) else seen) if chosen is None else chosen

    return answer


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        ((DIED, DIED, DIED), "crash", "the target died: last words"),
        (
            (DIED, RAISED),
            "exception",
            f"exp raised RuntimeError: no{BY_CHANCE}at another run the target died: last words",
        ),
        (
            (DIED, DIED, RAISED),
            "exception",
            f"exp raised RuntimeError: no{BY_CHANCE}at another run the target died: last words",
        ),
        (
            (DIED, None),
            "crash",
            f"the target died: last words{BY_CHANCE}run again, it did not in 10 of 10 runs",
        ),
        (
            (DIED, None, None, DIED),
            "crash",
            f"the target died: last words{BY_CHANCE}run again, it did not in 2 of 3 runs",
        ),
    ],
)
def test_crash_that_does_not_come_back(answers: Any, kind: str, words: str) -> None:
    """A crash that another failure takes the place of when its Program runs again is told as that failure."""
    [judgement] = judged(Pretended(in_turn(*answers), same), program("exp"))
    assert (judgement.verdict, told(judgement)) == ("crashed", [("eager_forward", kind, "exp")])
    assert judgement.divergences[0].difference.message == words


def test_crash_by_chance() -> None:
    """One that never comes back is `unsteady`; another case of the test that dies so is not: twice is no chance. One
    that comes back at times is neither.
    """
    first, second = judged(Pretended(in_turn(DIED, DIED, None), same), program("exp"), program("exp"))
    assert [one.divergences[0].facts for one in (first, second)] == [("unsteady",), ()]
    assert told(first) == told(second) == [("eager_forward", "crash", "exp")]
    [judgement] = judged(Pretended(in_turn(DIED, None, DIED), same), program("exp"))
    assert judgement.divergences[0].facts == ()


LATE = replace(DIED, cause="timeout")


@pytest.mark.parametrize(
    ("answers", "kind", "words", "facts", "runs"),
    [
        ((LATE, LATE, None), "timeout", "last words", (), 2),
        ((LATE, None), "timeout", f"last words{BY_CHANCE}run again, it did not in 10 of 10 runs", ("unsteady",), 11),
        ((LATE, [REFUSED]), "exception", f"no{BY_CHANCE}at another run the target died: last words", (), 2),
    ],
)
def test_graph_that_did_not_answer(answers: Any, kind: str, words: str, facts: tuple[str, ...], runs: int) -> None:
    """It runs again, once where it does not answer then either: each time costs a whole deadline."""
    target = Pretended(sound, in_turn(*answers))
    [judgement] = judged(target, program("exp"))
    [divergence] = judgement.divergences
    assert (judgement.verdict, told(judgement)) == ("timed_out", [("graph_forward", kind, "exp")])
    assert divergence.difference.message.endswith(f": {words}")
    assert (divergence.facts, len(target.graphs)) == (facts, runs)


def test_crash_in_a_graph_that_does_not_come_back() -> None:
    """The same in a graph, whose fingerprint is that of a graph that has raised at once."""
    [judgement] = judged(Pretended(sound, in_turn(DIED, [REFUSED])), program("exp"))
    [at_once] = judged(Pretended(sound, in_turn([REFUSED])), program("exp"))
    assert (judgement.verdict, at_once.verdict) == ("crashed", "divergent")
    [divergence], [other] = judgement.divergences, at_once.divergences
    assert divergence.fingerprint("t") == other.fingerprint("t") == "t/graph_forward/exception/exp/float32"
    assert divergence.difference.message == (
        f"{other.difference.message}{BY_CHANCE}at another run the target died: last words"
    )


@pytest.mark.parametrize(
    ("words", "known"), [("Check failed: a == b", False), ("last words", True)], ids=["reasoned", "known"]
)
def test_crash_that_is_believed(words: str, known: bool) -> None:
    """What the ledger has, and a target that says what it has checked, is not run again."""
    died, runs = replace(DIED, last_words=words), []

    def eager(seen: Observation, program: Program) -> Any:
        runs.append(program)
        return died

    reference, target, program_ = Adapter(), Pretended(eager, same), program("exp")
    judge = Judge(reference, target, TestOptions(n=1), known=lambda divergence: () if known else None)
    judgement = Judgement(Case(0, "test#0", program_, Replay(reference, program_, side="reference").run()), 0.0)
    judge.judge([judgement], target.eager([program_]))
    assert told(judgement) == [("eager_forward", "crash", "exp")]
    assert sum(run is program_ for run in runs) == 1


@pytest.mark.parametrize(
    ("known", "noted", "looks"), [(False, 0, True), (True, 0, False), (True, None, True)], ids=["new", "known", "where"]
)
def test_known_crash_is_not_looked_at(known: bool, noted: int | None, looks: bool) -> None:
    """Which of two calls ends the target, and what of its inputs that needs, costs a worker for each experiment; one
    that was at no call is no call's yet.
    """
    asked: list[Program] = []

    def eager(seen: Observation, program: Program) -> Any:
        asked.append(program)
        return replace(DIED, call=noted, last_words="Check failed: a == b")

    reference, target, program_ = Adapter(), Pretended(eager, same), program("exp", "sin")
    [x] = program_.inputs
    program_.inputs[0] = replace(x, data=np.array([np.nan, 0.3], np.float32))
    had: list[tuple[str, ...]] = []

    def needs(divergence: Divergence) -> tuple[str, ...] | None:
        had.append(divergence.facts)
        return ("nonfinite",) if known else None

    judge = Judge(reference, target, TestOptions(n=1), known=needs)
    judgement = Judgement(Case(0, "test#0", program_, Replay(reference, program_, side="reference").run()), 0.0)
    judge.judge([judgement], target.eager([program_]))
    assert told(judgement) == [("eager_forward", "crash", "exp")]
    assert (len(asked) > 1) == looks
    if noted is not None:
        assert had[0] == ("nonfinite",), "what its inputs have"
    if not looks:
        assert judgement.divergences[0].facts == ("nonfinite",), "what is known that it needs"


@pytest.mark.parametrize(
    ("answer", "known", "graphs", "facts"),
    [
        (GraphFailure(("RuntimeError",), "no"), True, 1, ("0-dim",)),
        (GraphFailure(("RuntimeError",), "no"), False, 3, ()),
        ([REFUSED], True, 3, ()),
    ],
    ids=["known", "new", "refused"],
)
def test_known_failure_of_a_graph_is_not_looked_at(
    answer: Any, known: bool, graphs: int, facts: tuple[str, ...]
) -> None:
    """A graph that fails as a whole costs a worker, and so would each experiment; a refusal costs none."""
    reference, target = Adapter(), Pretended(sound, lambda seen: answer)
    program_ = one_call("exp", 0.3)
    judge = Judge(reference, target, TestOptions(n=1), known=lambda divergence: divergence.facts if known else None)
    judgement = Judgement(Case(0, "test#0", program_, Replay(reference, program_, side="reference").run()), 0.0)
    judge.judge([judgement], target.eager([program_]))
    assert told(judgement) == [("graph_forward", "exception", "exp")]
    assert (judgement.divergences[0].facts, len(target.graphs)) == (facts, graphs)


def test_cases_share_what_a_crash_has_come_to() -> None:
    """A further case of the same calls that dies is told as the first, without another look."""
    target = Pretended(in_turn(DIED, DIED, RAISED, None), same)
    first, second = judged(target, program("exp"), program("exp"))
    assert told(first) == told(second) == [("eager_forward", "exception", "exp")]
    assert second.divergences[0].program is second.case.program


def test_graph_that_ends_the_target_where_its_cases_raise() -> None:
    """Cases that raise, each alone, have raised together, too: the process that ended there is told beside it."""
    died = replace(DIED, how="killed by SIGSEGV", last_words="")
    graph = lambda seen: died if len(seen) > 1 else [REFUSED]  # noqa: E731 - as short as it is used
    first, second = judged(Pretended(sound, graph), program("exp"), program("sin"))
    assert [judgement.verdict for judgement in (first, second)] == ["divergent", "divergent"]
    assert told(first) == [("graph_forward", "exception", "exp")]
    assert first.divergences[0].difference.message == (
        f"exp raised RuntimeError: no{BY_CHANCE}in a graph with others the target killed by SIGSEGV"
    )
    assert second.divergences[0].difference.message == "sin raised RuntimeError: no"


def test_refused_draw() -> None:
    """A target that dies of what PyTorch refuses diverges; one that refuses it as well does not."""
    refused = program("exp")
    refused.calls[0].raises = ("RuntimeError",)
    dying = Judge(Adapter(), Pretended(lambda seen, program: DIED, same), TestOptions(n=1))
    assert [one.difference.kind for one in dying.refused(refused)] == ["crash"]
    fine = Judge(Adapter(), Pretended(lambda seen, program: Observation(), same), TestOptions(n=1))
    assert fine.refused(refused) == []


def test_checks_as_recorded() -> None:
    """Each check is a word or its reason, in the order and under the keys that reports read."""
    checks = Checks.of(program("exp"))
    assert checks.record() == {"forward": "off", "backward": "nothing to differentiate"}
    checks = Checks(distributed=True, random=True)
    checks.ran(Check("verified"), backward=True)
    checks.again = Check("unverified", "its inputs have no other values")
    checks.state = checks.second = Check("verified")
    assert list(checks.record().items()) == [
        ("forward", "verified"),
        ("backward", "verified"),
        ("eager", "global"),
        ("random", "tainted"),
        ("second", "verified"),
        ("state", "verified"),
        ("again", "its inputs have no other values"),
    ]
