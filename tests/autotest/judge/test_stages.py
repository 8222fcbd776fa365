"""Which of several stages the judge says has introduced a difference; the stages answer in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autotest.cases.case import Case
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.judge.stages import StagedJudge
from autotest.options import TestOptions
from autotest.workers.protocol import Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Capture, Observation
from dual_object.replay.replay import Replay
from support.pretended import Graph, Pretended, off, program, same, sound

DIED = Death("crash", "died", 0, None, "last words")


def wrong(seen: list[Observation]) -> Any:
    """A graph that gives one too much."""
    return [off(one) for one in seen]


def widened(seen: list[Observation]) -> Any:
    """A graph that gives float64."""

    def wide(one: Observation) -> Observation:
        return replace(one, outputs={id_: replace(each, dtype="float64") for id_, each in one.outputs.items()})

    return [wide(one) for one in seen]


def refusing(seen: list[Observation]) -> Any:
    """A graph that is none, by design."""
    return [GraphRefusal(True, None, (), "torch:b refuses it: no", uncaptured=True) for _ in seen]


def raising(seen: list[Observation]) -> Any:
    """A graph that raises."""
    return [GraphRefusal(False, 0, ("RuntimeError",), "no") for _ in seen]


def blind(seen: list[Observation]) -> Any:
    """A graph without values."""
    return [replace(one, shows=frozenset({"layout"})) for one in wrong(seen)]


def broken(graph: Graph) -> Graph:
    """The same, in pieces."""
    return lambda seen: [replace(one, capture=Capture("broken", ("item",))) for one in graph(seen)]


def dying(seen: list[Observation]) -> Any:
    """A graph that ends the process."""
    return DIED


def judge_of(graph: Graph, target: Pretended | None = None, **given: Any) -> Judge:
    """The judge of one stage."""
    return Judge(Adapter(), target or Pretended(sound, graph), TestOptions(n=1, **given))


def judged(*graphs: Graph, programs: tuple[Program, ...] = (program("exp"),), **given: Any) -> list[Judgement]:
    """What comes of these Programs where the stages `torch:a`, `torch:b` and so on have these graphs."""
    reference = Adapter()
    judges = {f"torch:{chr(ord('a') + index)}": judge_of(graph, **given) for index, graph in enumerate(graphs)}
    judgements = [
        Judgement(Case(index, f"test#{index}", each, Replay(reference, each, side="reference").run()), 0.0)
        for index, each in enumerate(programs)
    ]
    StagedJudge(judges).judge(judgements, Pretended(sound, same).eager(programs))
    return judgements


def told(judgement: Judgement) -> list[tuple[str, str]]:
    """The fingerprint of each divergence, and its row's stages in words."""
    rows = [divergence.row("torch:a,torch:b", "test", "key") for divergence in judgement.divergences]
    return [(row["fingerprint"], ", ".join(f"{k[6:]} {v}" for k, v in row.get("stages", {}).items())) for row in rows]


VALUE = "graph_forward/value/exp/float32"


def test_aligned() -> None:
    """Stages that all do as PyTorch does are aligned, and each has had all cases in its one graph."""
    judges = {name: Pretended(sound, same) for name in ("torch:a", "torch:b")}
    staged = StagedJudge({name: judge_of(same, target) for name, target in judges.items()})
    reference, programs = Adapter(), (program("exp"), program("sin"))
    judgements = [
        Judgement(Case(index, f"test#{index}", each, Replay(reference, each, side="reference").run()), 0.0)
        for index, each in enumerate(programs)
    ]
    staged.judge(judgements, judges["torch:a"].eager(programs))
    assert [judgement.verdict for judgement in judgements] == ["aligned", "aligned"]
    assert [target.graphs for target in judges.values()] == [[2], [2]]
    assert str(judgements[0].graph.forward) == "verified"


@pytest.mark.parametrize(
    ("graphs", "stage", "words"),
    [
        ((same, same, wrong), "c", "a right, b right, c wrong"),
        ((wrong, wrong, same), "a", "a wrong, b wrong, c right"),
        ((same, wrong, same), "b", "a right, b wrong, c right"),
        ((wrong, refusing, wrong), "a", "a wrong, b refused it, c wrong"),
        ((wrong, raising, dying), "a", "a wrong, b raised, c crashed"),
        ((blind, wrong, broken(same)), "b", "a does not show it, b wrong, c right with graph breaks"),
        ((same, broken(wrong), same), "b", "a right, b wrong with graph breaks, c right"),
    ],
)
def test_stage_that_introduced_a_difference(graphs: tuple[Graph, ...], stage: str, words: str) -> None:
    """It is told with the first stage that shows it, once, however many do, and with what came of each."""
    [judgement] = judged(*graphs)
    assert told(judgement)[0] == (f"torch:{stage}/{VALUE}", words)
    assert sum(VALUE in fingerprint for fingerprint, _ in told(judgement)) == 1


def test_another_difference_is_its_own() -> None:
    """What a later stage shows with another fingerprint is another divergence, and of the first it is not right."""
    [judgement] = judged(wrong, widened, same)
    assert told(judgement) == [
        (f"torch:a/{VALUE}", "a wrong, b wrong in another way, c right"),
        ("torch:b/graph_forward/dtype/exp/float32", "a wrong in another way, b wrong, c right"),
    ]


def test_one_graph_is_wanted() -> None:
    """Where a test wants one graph, a stage that makes several broke."""
    [judgement] = judged(same, broken(same), fullgraph=True)
    assert told(judgement) == [("torch:b/graph_forward/unsupported/exp/float32", "a right, b broke")]


def test_all_fingerprints_were_seen() -> None:
    """A divergence that several stages show proves the known ones of each of them."""
    [judgement] = judged(same, wrong, wrong)
    [divergence] = judgement.divergences
    assert divergence.fingerprints("torch:a,torch:b,torch:c") == [f"torch:b/{VALUE}", f"torch:c/{VALUE}"]


def test_eager_is_no_stage() -> None:
    """What eager shows is no stage's: it is told once, under the name that the run gives it, and in no graph again."""
    reference, wrongly = Adapter(), Pretended(lambda seen, program: off(seen), wrong)
    case = Case(0, "test#0", program("exp"), Replay(reference, program("exp"), side="reference").run())
    judgement = Judgement(case, 0.0)
    staged = StagedJudge({name: judge_of(wrong, wrongly) for name in ("torch:a", "torch:b")})
    staged.judge([judgement], wrongly.eager([case.program]))
    [divergence] = judgement.divergences
    assert told(judgement) == [("torch:a,torch:b/eager_forward/value/exp/float32", "")]
    assert divergence.stages is None


def test_checks_are_those_of_all_stages() -> None:
    """A case is verified where every stage verified it; the reason names the stage, and captures are told of each."""
    [judgement] = judged(broken(same), refusing)
    assert judgement.verdict == "aligned"
    assert judgement.graph.record() == {
        "forward": "torch:b refuses it: no",
        "backward": "nothing to differentiate",
        "again": "its first call diverges",
        "captures": {"torch:a": ["broken", "item"], "torch:b": ["refused", "torch:b refuses it: no"]},
    }
    [judgement] = judged(same, dying)
    assert judgement.graph.record()["forward"] == "torch:b: the graph ended in a crash"
    assert judgement.verdict == "crashed"
    assert told(judgement) == [("torch:b/graph_forward/crash/exp/float32", "a right, b crashed")]
