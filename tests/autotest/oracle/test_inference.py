"""Shape inference as a third opinion: planted disagreements of the reference with itself are told, once and by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import torch
from autotest.oracle.inference import ShapeInference
from dual_object.adapters.torch.adapter import Adapter
from dual_object.record.recording import Recording
from dual_object.replay.adapter import Inferred
from dual_object.replay.replay import Replay
from support import trainings
from support.programs import given, recorded
from support.runs import run_pytest

#: What meta may say wrong of `relu` and of what follows from it, by aspect, with what eager says.
PLANTED: dict[str, tuple[Callable[[Inferred], Inferred], str, str]] = {
    "dtype": (lambda told: told._replace(dtype="float64"), "float32", "float64"),
    "shape": (lambda told: told._replace(shape=(7, *told.shape)), "(2, 2)", "(7, 2, 2)"),
    "strides": (lambda told: told._replace(strides=(1, 2)), "(2, 1)", "(1, 2)"),
}


def body() -> Any:
    """Three calls, of which the second is planted."""
    x = given([1.0, -2.0], [3.0, 4.0])
    return torch.relu(x + 1).exp()


def asked(reference: Adapter, *bodies: Callable[[], Any]) -> Any:
    """What is recorded of cases with these bodies."""
    inference = ShapeInference(reference)
    for index, one in enumerate(bodies):
        inference.take(f"t.py::t#{index}", *recorded(reference, one))
    return inference.record()


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, reference: Adapter) -> Callable[[str], None]:
    """Give a function which has meta say something wrong of `relu`. A kernel of its own would stay: fake tensors go on
    asking one that was taken out again.
    """
    infer = reference.infer

    def plant(aspect: str) -> None:
        def wrong(program: Any) -> Any:
            index = next(index for index, call in enumerate(program.calls) if call.op == "relu")
            after = {id_ for call in program.calls[index:] for id_ in call.results()}
            change = PLANTED[aspect][0]
            return {id_: change(told) if id_ in after else told for id_, told in infer(program).items()}

        monkeypatch.setattr(reference, "infer", wrong)

    return plant


def test_agreement_is_silent(reference: Adapter) -> None:
    """Without a fault nothing is told."""
    assert asked(reference, body) == {"asked": 1, "refused": {}, "disagreements": []}


@pytest.mark.parametrize("aspect", PLANTED)
def test_planted_fault_is_told(aspect: str, planted: Callable[[str], None], reference: Adapter) -> None:
    """The op at fault is told with both answers; what follows from it is not."""
    planted(aspect)
    told = asked(reference, body)
    _, eager, meta = PLANTED[aspect]
    program = "def program(torch, x):\n    t0 = x + 1\n    t1 = torch.relu(t0)\n    t2 = t1.exp()\n    return t2"
    assert told == {
        "asked": 1,
        "refused": {},
        "disagreements": [
            {
                "op": "relu",
                "aspect": aspect,
                "key": "t.py::t#0",
                "value": "t1",
                "eager": eager,
                "meta": meta,
                "inputs": ["x: float32, shape (2, 2)"],
                "program": program,
            }
        ],
    }


@pytest.mark.parametrize(
    ("change", "op"),
    [(lambda x: x.t_(), "t_"), (lambda x: x.add(1).relu_(), "add")],
    ids=["of an input", "of a result"],
)
def test_in_place(change: Callable[[Any], Any], op: str, reference: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor that is written in place is told once: by the call that made it, an input by the one that wrote it."""
    infer = reference.infer

    def wrong(program: Any) -> Any:
        told = dict(infer(program))
        last = max(told)
        return {**told, last: told[last]._replace(strides=(5, 1))}

    monkeypatch.setattr(reference, "infer", wrong)
    told = asked(reference, lambda: change(given([1.0, -2.0, 3.0], [3.0, 4.0, 5.0])))
    assert [(row["op"], row["aspect"], row["meta"]) for row in told["disagreements"]] == [(op, "strides", "(5, 1)")]


def test_refusal_is_counted(reference: Adapter) -> None:
    """What meta has no kernel for is no disagreement."""
    told = asked(reference, lambda: torch.nonzero(given(1.0, 0.0)))
    [(reason, count)] = told["refused"].items()
    assert "torch.nonzero() raises unimplemented" in reason
    assert (count, told["asked"], told["disagreements"]) == (1, 0, [])


def test_asked_of_what_is_new(reference: Adapter) -> None:
    """Other values and sizes are nothing new; another dtype, rank, order in memory, argument or call is."""
    first = [lambda: torch.relu(given([1.0, 2.0], [3.0, 4.0])), lambda: torch.relu(given([5.0, 6.0, 7.0], [1.0] * 3))]
    assert asked(reference, *first)["asked"] == 1
    others = [
        lambda: torch.relu(given([1.0, 2.0], [3.0, 4.0], dtype="float64")),
        lambda: torch.relu(given(1.0, 2.0)),
        lambda: torch.relu(given([1.0, 2.0])),
        lambda: torch.relu(given([[1.0, 2.0], [3.0, 4.0]])),
        lambda: torch.exp(given([1.0, 2.0], [3.0, 4.0])),
        lambda: torch.nn.functional.relu(given([1.0, 2.0], [3.0, 4.0]), inplace=False),
    ]
    assert asked(reference, *first, *others)["asked"] == 1 + len(others)


FILE = """
import torch as real

from autotest import autotest, random_tensor, torch

library = real.library.Library("aten", "IMPL")
library.impl("relu", lambda x: x.new_empty(x.shape).t(), "Meta", allow_override=True)


@autotest(n=2, check_graph=False)
def test_relu():
    return torch.relu(random_tensor(ndim=2, dim0=2, dim1=3))


@autotest(n=2, check_graph=False)
def test_exp():
    return torch.exp(random_tensor(ndim=2, dim0=2, dim1=3))
"""


def test_run_is_green_and_tells(tmp_path: Any) -> None:
    """The target does as eager PyTorch does, so the run is green; the summary tells what PyTorch says of itself."""
    done = run_pytest(tmp_path, {"test_planted.py": FILE}, "-q")
    assert (done.status, done.summary["divergent"]) == (0, 0), done.out
    found = done.summary["inference"]["disagreements"]
    assert [(row["op"], row["aspect"], row["tests"]) for row in found] == [
        ("relu", "shape", ["test_planted.py::test_relu"])
    ]
    lines = [line.rstrip() for line in done.out.splitlines()]
    start = lines.index("The reference: meta and eager disagree")
    assert lines[start : start + 8] == [
        "The reference: meta and eager disagree",
        "  relu shape (1 test)",
        "    t0: eager (2, 3), meta (3, 2)",
        "    def program(torch, x):",
        "        t0 = torch.relu(x)",
        "        return t0",
        "    x: float32, shape (2, 3)",
        "    test_planted.py::test_relu#0",
    ]


def test_training(reference: Adapter) -> None:
    """Of a training its first forward is asked about."""

    def trained(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1)
        return layer(trainings.batch(recording)).mean()

    program = trainings.recorded(trained)
    inference = ShapeInference(reference)
    inference.take("t.py::t#0", program, Replay(reference, program, side="reference").run())
    assert inference.record() == {"asked": 1, "refused": {}, "disagreements": []}
