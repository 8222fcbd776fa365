"""Trainings that two ranks share: a planted fault is told on its part, phase and rank; the sound one is green."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Difference
from autotest.compare.training import earliest
from autotest.judge.judge import Judge
from autotest.options import TestOptions
from autotest.ranks.peers import Peers
from dual_object.program.data_parallel import joined
from dual_object.program.program import Program
from dual_object.program.training import Part, Shown, Step, Training
from dual_object.record.namespace import torch
from dual_object.replay.adapter import TargetInfo, load_reference
from dual_object.replay.observation import Observation, Seen
from support.forks import forks
from support.runs import BODIES, INTERPRETER, Outcome, environment, lay
from support.trainings import batch, recorded

with_oneflow = pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")

FIRST = "gradient of m0.weight at step 1 differs in 12 of 12 elements: "


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One run of two ranks on all of them."""
    folder = tmp_path_factory.mktemp("parallel")
    lay(folder, {"test_parallel.py": (BODIES / "parallel.py").read_text()})
    script = INTERPRETER.removesuffix("python") + "autotest"
    command = [script, "run", "test_parallel.py", "--ranks", "2", "--target", "parallel_faults:Adapter"]
    done = forks().run([*command, "--repro-total", "0"], folder, environment({}), merged=True)
    return Outcome(done.returncode, done.stdout, folder)


@pytest.mark.slow
@with_oneflow
@pytest.mark.parametrize(
    ("test", "rows", "seen"),
    [
        ("sound", set(), ""),
        ("several_batches", set(), ""),
        ("sum_of_gradients", {("eager_backward", "value", "DistributedDataParallel")}, "all 2 ranks"),
        ("gradients_of_one_rank", {("eager_backward", "value", "DistributedDataParallel")}, "rank 1 of 2"),
        ("op_on_one_rank", {("eager_forward", "value", "tanh"), ("eager_backward", "value", "tanh")}, "rank 1 of 2"),
        ("exception_on_one_rank", {("eager_forward", "exception", "exp")}, "rank 1 of 2"),
        ("skipped_update", {("eager_update", "value", "Adagrad")}, "rank 1 of 2"),
        ("stages", {("graph_forward", "exception", "program")}, "all 2 ranks"),
        ("update_in_graph", {("graph_update", "value", "Adam")}, "all 2 ranks"),
    ],
)
def test_faults(outcome: Outcome, test: str, rows: set[tuple[str, str, str]], seen: str) -> None:
    """Each has its phase, op and ranks, and no other test shows it."""
    assert outcome.rows(f"test_{test}") == rows, outcome.out
    for message in outcome.messages(f"test_{test}"):
        assert message.endswith(f"; seen by {seen}")
    assert outcome.outcomes()[f"test_{test}"] == ("failed" if rows else "passed")


@pytest.mark.slow
@with_oneflow
def test_messages(outcome: Outcome) -> None:
    """A sum where the mean should be is twice as much; an update that is skipped shows in its step, on its rank."""
    [message] = outcome.messages("test_sum_of_gradients")
    assert message.startswith(f"DistributedDataParallel: {FIRST}")
    given, wanted = message.partition(" is ")[2].partition(" (rtol")[0].split(", but should be ")
    assert float(given) == pytest.approx(2 * float(wanted))
    [message] = outcome.messages("test_skipped_update")
    assert message.startswith("Adagrad: m0.weight after step 2 differs in ")
    assert outcome.messages("test_exception_on_one_rank") == {
        "exp: exp raised ValueError: planted on one rank; seen by rank 1 of 2"
    }


@pytest.mark.slow
@with_oneflow
def test_graphs_ran(outcome: Outcome) -> None:
    """The sound training was held against the reference in a graph of global tensors, too."""
    for end in outcome.ends("test_sound"):
        assert (end["graph"]["forward"], end["graph"]["training"]) == ("verified", "verified")
        assert end["graph"]["configurations"] == {"enable_zero.2": "verified", "set_stage": "verified"}
    for end in outcome.ends("test_several_batches"):
        assert end["graph"]["forward"] == "OneFlow's nn.Graph cuts each rank's part of its inputs into batches"


@pytest.mark.slow
@with_oneflow
def test_configurations(outcome: Outcome) -> None:
    """What shows where modules lie on one rank after the other is told as such, and the other graphs are verified."""
    [row] = {row["fingerprint"] for end in outcome.ends("test_stages") for row in end["divergences"]}
    assert row.endswith("config=set_stage")
    for end in outcome.ends("test_stages"):
        assert end["graph"]["configurations"]["enable_zero.2"] == "verified"


class Alone:
    """A target with global tensors, of which only what it says of itself is asked."""

    def __init__(self, *capabilities: str) -> None:
        self._info = TargetInfo("fake", {}, ("cpu",), ("float32",), capabilities)

    def info(self) -> TargetInfo:
        """What it says."""
        return self._info


def shared(recording: Any) -> Any:
    """A training that ranks share."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.square(model(batch(recording))).mean()


@pytest.mark.parametrize(
    ("ranks", "capabilities", "reason"),
    [
        (
            "1",
            ("global_tensors",),
            "DistributedDataParallel averages the gradients of several ranks: run with --ranks 2",
        ),
        ("2", (), "the target fake has no global tensors"),
        ("2", ("global_tensors",), None),
    ],
)
def test_without_ranks(
    ranks: str, capabilities: tuple[str, ...], reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one rank, or where the target has none, such a training is skipped with the reason."""
    monkeypatch.setenv("WORLD_SIZE", ranks)
    judge = Judge(load_reference(), Alone(*capabilities), TestOptions())  # type: ignore[arg-type]
    assert judge.lacking(recorded(shared)) == reason


class Gathering:
    """Two ranks from the point of view of the first: the other one has `other`."""

    rank = 0
    world_size = 2

    def __init__(self, other: Any) -> None:
        self.other = np.asarray(other, np.float32)

    def gather(self, data: bytes) -> list[bytes]:
        """Both."""
        file = io.BytesIO()
        np.save(file, self.other)
        return [data, file.getvalue()]


def training() -> Program:
    """A Program that shows its loss, one step of two ranks."""
    step = Step((), 1, (Part("forward", None, {7: Shown("loss")}), Part("backward", 0, {8: Shown("gradient", "0.w")})))
    return Program(training=Training(0, 7, 0, (step,), ranks=2))


@pytest.mark.parametrize(
    ("own", "other", "together"),
    [
        (1.0, 3.0, 2.0),
        ([1.0, 2.0], [3.0, 4.0], [1.0, 2.0, 3.0, 4.0]),
        ([1.0, 2.0], [[3.0, 4.0]], [1.0, 2.0]),  # of another shape: each rank tells of its own
    ],
)
def test_forwards_are_joined(own: Any, other: Any, together: Any) -> None:
    """Losses are averaged and outputs put behind one another; gradients are each rank's own."""
    data = np.asarray(own, np.float32)
    seen = {id_: Seen("float32", data.shape, "cpu", True, data) for id_ in (7, 8)}
    peers = Peers(Gathering(other))  # type: ignore[arg-type]
    found = peers.join(training(), Observation(outputs=seen)).outputs
    np.testing.assert_array_equal(found[7].data, np.asarray(together, np.float32))
    assert found[7].shape == found[7].data.shape
    assert found[8].data is data


def test_integers_are_joined() -> None:
    """A number that all ranks have is itself."""
    assert joined([np.array(3), np.array(3)]) == 3


def test_earliest_of_all_ranks() -> None:
    """What one rank does wrong at a step shows on the others later: that is left out."""
    late = Difference("eager_backward", "value", "g", "gradient differs", 0, key="8", ranks=(0,))
    early = Difference("eager_forward", "value", "loss", "loss differs", None, key="7", ranks=(1,))
    assert earliest(training(), [late, early]) == [early]
    assert earliest(training(), [late]) == [late]
    assert earliest(Program(), [late, early]) == [late, early]
    assert earliest(training(), []) == []
