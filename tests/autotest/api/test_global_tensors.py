"""Placements and sbp as generators, `@globaltest`, and the columns of global cases in a real run on one rank."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from autotest import (
    GlobalScope,
    UsageError,
    all_cpu_placement,
    all_cuda_placement,
    all_placement,
    all_sbp,
    autotest,
    globaltest,
    is_global,
    placement,
    random,
    random_cpu_placement,
    random_gpu_placement,
    random_placement,
    random_sbp,
    random_tensor,
    sbp,
    torch,
)
from autotest.run.session import Session
from dual_object.program.values import Placement, Sbp
from generators import OutsideCaseError, PhiloxSource, drawing
from reports.tallies.matrix import MatrixTally
from support.forks import forks
from support.runs import INTERPRETER, Outcome, environment

ROW, LINE = Placement("cpu", [0]), Placement("cpu", [[0]])
S0, S1, B, P = sbp.split(0), sbp.split(1), sbp.broadcast, sbp.partial_sum
BODY = """
from autotest import autotest, globaltest, random_tensor, sbp, torch

@globaltest
@autotest(n=3)
def test_matmul():
    x = random_tensor(ndim=2, dim1=3).to_global(sbp=sbp.split(0))
    return torch.matmul(x, random_tensor(ndim=2, dim0=3))

@globaltest
@autotest(n=1)
def test_lgamma():
    return torch.lgamma(random_tensor(ndim=1, low=0.5, high=4))

@autotest(n=1, check_graph=False)
def test_local():
    return torch.square(random_tensor(ndim=1))
"""


def test_placements_of_one_rank(session: Session) -> None:
    """A run of one rank has its rank in a row, and as one row of a square; lists can be walked without a case."""
    assert [*all_placement()] == [*all_cpu_placement()] == [ROW, LINE]
    assert len(all_placement()) == 2
    assert all_placement()[1] == LINE
    assert all_cuda_placement().value() == [Placement("cuda", [0]), Placement("cuda", [[0]])]
    assert placement("cpu", [[0]]) == LINE
    assert placement.all("cpu") == ROW


def test_placements_of_several_ranks(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher says how many ranks there are."""
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert [*all_placement()] == [Placement("cpu", [0, 1, 2]), Placement("cpu", [[0, 1, 2]])]
    assert placement.all("cpu").ranks.tolist() == [0, 1, 2]


def test_random_placement_is_one_value_in_a_case(session: Session) -> None:
    """A drawn placement stays what it is in its case, and both of them come up; outside of a case there is none."""
    drawn = set()
    for index in range(20):
        with drawing(PhiloxSource(f"placement {index}")):
            one = random_placement()
            assert one.value() is one.value()
            drawn.add(one.value())
    assert drawn == {ROW, LINE}
    with drawing(PhiloxSource("devices")):
        assert random_cpu_placement().value().type == "cpu"
        assert random_gpu_placement().value().type == "cuda"
    with pytest.raises(OutsideCaseError) as caught:
        random_placement().value()
    assert str(caught.value) == (
        "random_placement() is used outside a case; generators have values only in the body of a test with @autotest() "
        "above it, not in a fixture or another thread"
    )


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, [(B,)]),
        ({"dim": 2}, [(B, B)]),
        ({"max_dim": 1}, [(S0,), (B,), (P,)]),
        ({"max_dim": 2, "except_partial_sum": True, "except_broadcast": True}, [(S0,), (S1,)]),
        ({"max_dim": 2, "except_split": True}, [(B,), (P,)]),
        ({"max_dim": 3, "valid_split_axis": 1}, [(S1,), (B,), (P,)]),
        ({"max_dim": 3, "valid_split_axis": [0, 2], "except_broadcast": True}, [(S0,), (sbp.split(2),), (P,)]),
        ({"placement": LINE, "max_dim": 1, "except_partial_sum": True}, [(S0, S0), (S0, B), (B, S0), (B, B)]),
        ({"placement": ROW, "dim": 5, "max_dim": 1}, [(S0,), (B,), (P,)]),
    ],
)
def test_all_sbp(arguments: dict[str, Any], found: list[tuple[Sbp, ...]]) -> None:
    """Every argument does what it says; the list can be walked, measured and indexed."""
    listed = all_sbp(**arguments)
    assert [*listed] == listed.value() == found
    assert len(listed) == len(found)
    assert listed[-1] == found[-1]


def test_sbp_of_a_drawn_placement(session: Session) -> None:
    """The number of parts is that of the placement drawn in the case, and the drawn sbp is one of the list."""
    for index in range(8):
        with drawing(PhiloxSource(f"sbp {index}")):
            one = random_placement()
            drawn = random_sbp(one, max_dim=random(1, 3))
            assert len(drawn) == one.value().ndim
            assert drawn.value() in all_sbp(one, max_dim=2).value()
            assert drawn[0] is drawn.value()[0]
            assert [*drawn] == list(drawn.value())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: random_sbp(max_dim=1, except_split=True, except_broadcast=True, except_partial_sum=True).value(),
            "random_sbp(max_dim=1, except_split=True, except_broadcast=True, except_partial_sum=True) has nothing to "
            "draw from, but should leave at least one sbp",
        ),
        (
            lambda: all_sbp(placement="cpu", max_dim=1).value(),
            "placement='cpu', but should be a placement or a generator of one [all_sbp(...)]",
        ),
    ],
)
def test_refused(make: Callable[[], Any], sentence: str) -> None:
    """What leaves nothing, or is no placement, is refused in one sentence."""
    with drawing(PhiloxSource("refused")), pytest.raises(UsageError) as caught:
        make()
    assert str(caught.value) == sentence


def test_scope() -> None:
    """A scope ends with its block, also a nested one, and `@globaltest` keeps what marks an autotest."""
    assert not is_global()
    with GlobalScope() as scope:
        with scope:
            assert is_global()
        assert is_global()
    assert not is_global()

    @globaltest
    @autotest(n=1)
    def body() -> Any:
        """A test."""

    assert body.autotest_options.n == 1
    assert globaltest(is_global)()
    assert not is_global()


def test_target_without_global_tensors(session: Session) -> None:
    """Against such a target a global test is skipped, with the reason."""

    @globaltest
    @autotest(n=1)
    def body() -> Any:
        """A test."""
        return torch.relu(random_tensor(ndim=1))

    with pytest.raises(SkipTest, match=r"^the target torch has no global tensors$"):
        body()


@pytest.fixture(scope="module")
def outcome(shared_run: Callable[..., Outcome]) -> Outcome:
    """The bodies above, against the real OneFlow."""
    if importlib.util.find_spec("oneflow") is None:
        pytest.skip("oneflow is not installed")
    return shared_run("global_tensors", {"test_global.py": BODY}, "-n", "0", target="oneflow")


def test_global_cases_have_columns(outcome: Outcome) -> None:
    """Global cases count in columns of their own beside the graph's, local ones in theirs."""
    matrix = outcome.summary["matrix"]
    assert set(matrix["matmul"]) == {"global_forward", "global_backward", "graph_forward", "graph_backward"}
    assert set(matrix["square"]) == {"eager_forward", "eager_backward", "graph_forward", "graph_backward"}
    assert matrix["matmul"]["global_forward"]["aligned"] == matrix["matmul"]["graph_forward"]["aligned"] == 3
    assert matrix["matmul"]["graph_backward"]["aligned"] == 3


def test_wrong_gradient_of_a_global_tensor(outcome: Outcome) -> None:
    """OneFlow's missing gradient of lgamma shows on a global tensor, in the phase of its own."""
    assert outcome.rows("test_lgamma") == {("global_backward", "value", "lgamma")}
    assert outcome.outcomes() == {"test_matmul": "passed", "test_lgamma": "failed", "test_local": "passed"}


def test_replay_with_graph_log(outcome: Outcome) -> None:
    """`autotest replay ID --graph-debug` shows how the graph was built, and the graph, also in a folder with a package
    that is called as one of ours.
    """
    [row] = [row for end in outcome.ends("test_lgamma") for row in end["divergences"]]
    (outcome.folder / "mine" / "dual_object").mkdir(parents=True)
    (outcome.folder / "mine" / "dual_object" / "__init__.py").write_text("raise AssertionError('imported')\n")
    arguments = ["--report", "../autotest-report", "--graph-debug", "0", "--graph-debug-ranks", "-1"]
    script = str(Path(INTERPRETER).with_name("autotest"))  # `-m autotest` would import what lies here
    done = forks().run([script, "replay", row["id"], *arguments], outcome.folder / "mine", environment({}))
    assert done.returncode == 1, done.stderr
    assert f"{row['id']} stands" in done.stdout
    assert "start building graph" in done.stdout
    assert "(OPERATOR: lgamma-" in done.stdout


def record(**changes: Any) -> dict[str, Any]:
    """The end record of a case that called one op."""
    graph = {"forward": "verified", "backward": "verified", "eager": "global"}
    plain = {"type": "end", "test": "t", "key": "k", "verdict": "aligned", "ops": ["op"], "divergences": []}
    return {**plain, "graph": graph, **changes}


def test_matrix_of_a_wrong_global_case() -> None:
    """Where a global op is wrong eagerly, its gradients and graph were held against nothing sound."""
    tally = MatrixTally()
    row = {"op": "op", "phase": "global_forward", "kind": "value", "level": "wrong"}
    tally.take(record(verdict="divergent", divergences=[row]))
    [cells] = tally.matrix().cells.values()
    assert {phase: cell.worst for phase, cell in cells.items()} == {
        "global_forward": "wrong",
        "global_backward": "not_checked",
        "graph_forward": "not_checked",
        "graph_backward": "not_checked",
    }


def test_matrix_knows_no_other_worlds() -> None:
    """Whatever else a record says of its eager phase, it is the local one."""
    tally = MatrixTally()
    tally.take(record(graph={"forward": "off", "backward": "off", "eager": "<b>"}))
    [cells] = tally.matrix().cells.values()
    assert {phase for phase in cells if phase.endswith("forward")} == {"eager_forward", "graph_forward"}


def test_a_target_without_global_tensors_is_not_asked(shared_run: Callable[..., Outcome]) -> None:
    """PyTorch has none: their cases are skipped with the reason, and a test of such cases alone is a skipped one."""
    outcome = shared_run("global-torch", {"test_global.py": BODY}, "-rs")
    reason = "the target torch has no global tensors"
    assert outcome.status == 0
    assert outcome.outcomes() == {"test_matmul": "skipped", "test_lgamma": "skipped", "test_local": "passed"}
    assert [(end["verdict"], end["reason"]) for end in outcome.ends("test_matmul")] == [("skipped", reason)] * 3
    assert outcome.summary["skipped"] == 4
    assert outcome.summary["skipped_reasons"] == {reason: 4}
    assert outcome.summary["aligned"] == 1
    assert f": {reason}\n" in outcome.out
