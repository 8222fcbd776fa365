"""What diverged is remembered in a small file per test, and forgotten in one sentence where that is no use."""

from __future__ import annotations

import contextlib
import json
import operator
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from autotest import DivergenceError, autotest, dual, random_tensor
from autotest import torch as dual_torch
from autotest.options import Inputs
from autotest.run.regressions import FOLDER, Draw, Memory, Recalled, bounded
from autotest.run.session import Session, current_session
from reports import read_run
from reports.records.run import Damage
from support.runs import Outcome, run_pytest

TEST = "tests/test_x.py::test_y test_x.py::test_y"


def test_kept_draws_are_recalled(tmp_path: Path) -> None:
    """What is kept is recalled, by the same test and target alone; Git ignores the folder."""
    memory = Memory(tmp_path, "torch")
    assert memory.recall(TEST) == Recalled()
    draws = (Draw(0, "standard", 3, "0a1b2c3d"), Draw(7, "standard", 1, "0a1b2c3d"))
    assert memory.keep(TEST, Recalled(), draws) is None
    assert memory.recall(TEST) == Recalled(draws)
    assert memory.recall("another") == Recalled()
    assert Memory(tmp_path, "oneflow").recall(TEST) == Recalled()
    assert (tmp_path / ".autotest" / ".gitignore").read_text() == "*\n"
    assert [path.suffix for path in memory.path(TEST).parent.iterdir()] == [".json"]


def test_nothing_left_leaves_no_file(tmp_path: Path) -> None:
    """Where all is forgotten the file goes; where nothing was remembered none is made."""
    memory = Memory(tmp_path, "torch")
    memory.keep(TEST, Recalled(), ())
    assert not (tmp_path / ".autotest").exists()
    memory.keep(TEST, Recalled(), [Draw(0, "standard", 3, "0a1b2c3d")])
    memory.keep(TEST, memory.recall(TEST), ())
    assert not memory.path(TEST).exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "{path} cannot be read as remembered cases (Expecting property name enclosed in double quotes: line 1 "
         "column 2 (char 1)); they are forgotten"),
        ("[]", "{path} has version=None, but should have 3; its cases are forgotten"),
        ('{"version": 1}', "{path} has version=1, but should have 3; its cases are forgotten"),
        ('{"version": 2}', "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 2, "draws": [{"seed": 0, "inputs": "plain", "index": -1, "id": "a"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 2, "draws": [{"seed": 0, "inputs": "plain", "index": true, "id": "a"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 2, "draws": [{"seed": 0, "inputs": "wild", "index": 0, "id": "a"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 2, "draws": [{"seed": 0, "inputs": "plain", "index": 0, "id": "a", "digest": "b"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 3, "draws": [{"seed": 0, "inputs": "plain", "index": 0, "id": "a"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 3, "draws": [{"seed": 0, "inputs": "plain", "index": 0, "id": "a", "digest": 1}]}',
         "{path} is damaged; its remembered cases are forgotten"),
    ],
)  # fmt: skip
def test_unusable_store(tmp_path: Path, text: str, problem: str) -> None:
    """A damaged file, or one of another version, is told of, and gone with the next run."""
    memory = Memory(tmp_path, "torch")
    path = memory.path(TEST)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    recalled = memory.recall(TEST)
    assert recalled == Recalled((), problem.replace("{path}", str(path)))
    assert memory.keep(TEST, recalled, ()) is None
    assert not path.exists()


def test_store_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is a file is told of with the knob."""
    (tmp_path / ".autotest").write_text("")
    memory = Memory(tmp_path, "torch")
    assert memory.keep(TEST, Recalled(), [Draw(0, "standard", 3, "0a1b2c3d")]) == (
        f"{memory.path(TEST)} cannot be written: Not a directory; --no-memory does without it"
    )


def test_what_the_run_draws_anyway_is_not_drawn_twice() -> None:
    """Besides the n cases of the run's seed stand those of other seeds, and the later ones of its own, once each."""
    draws = [(0, 3, "a"), (0, 5, "a"), (0, 5, "b"), (7, 1, "a"), (0, 9, "a")]
    recalled = Recalled(tuple(Draw(seed, "standard", index, id_) for seed, index, id_ in draws))
    assert recalled.besides(0, "standard", 5) == {(0, "standard"): [5, 9], (7, "standard"): [1]}
    assert recalled.besides(7, "standard", 5) == {(0, "standard"): [3, 5, 9]}


def test_wilder_cases_than_the_run_asks_for_wait() -> None:
    """A case keeps the inputs that it was drawn with, and a run draws none of wilder ones than it asks for."""
    recalled = Recalled(tuple(Draw(0, mode, 0, "a") for mode in get_args(Inputs)))
    plain, standard, edge = ({(0, mode): [0]} for mode in get_args(Inputs))
    assert recalled.besides(0, "plain", 1) == {}
    assert recalled.besides(0, "standard", 1) == plain
    assert recalled.besides(0, "edge", 1) == {**plain, **standard}
    assert recalled.besides(7, "edge", 1) == {**plain, **standard, **edge}


def test_memory_is_bounded() -> None:
    """Of each inputs option three cases per fingerprint and twenty in all, the first ones."""
    many = [Draw(0, "standard", index, f"{index // 5}") for index in range(100)]
    kept = bounded([many[0], *many])
    wild = [replace(draw, inputs="edge") for draw in many]
    assert bounded([*wild, *many]) == [*bounded(wild), *kept]
    assert [draw.index for draw in kept] == [5 * (number // 3) + number % 3 for number in range(20)]


def test_file_is_plain(tmp_path: Path) -> None:
    """People can read what is remembered, and of which test."""
    memory = Memory(tmp_path, "torch")
    memory.keep(TEST, Recalled(), [Draw(0, "standard", 3, "0a1b2c3d", "ff00")])
    assert json.loads(memory.path(TEST).read_text()) == {
        "version": 3,
        "test": TEST,
        "target": "torch",
        "draws": [{"seed": 0, "inputs": "standard", "index": 3, "id": "0a1b2c3d", "digest": "ff00"}],
    }


def test_file_of_the_version_before_is_read(tmp_path: Path) -> None:
    """It has no digests; its cases are drawn again all the same."""
    memory = Memory(tmp_path, "torch")
    path = memory.path(TEST)
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 2, "draws": [{"seed": 7, "inputs": "plain", "index": 3, "id": "0a1b2c3d"}]}')
    assert memory.recall(TEST) == Recalled((Draw(7, "plain", 3, "0a1b2c3d", None),))


def _run(body: Callable[[], Any], warm: Session, root: Path, inputs: Inputs) -> dict[str, Any]:
    """Run a test in a session of its own; what each of its cases came to, by what stands behind # in its key."""
    folder = root / f"{inputs}-{len(list(root.iterdir()))}"
    session = Session(replace(warm.options, root=root, folder=folder, inputs=inputs, coverage="none"))
    session.supervisor = warm.supervisor
    token = current_session.set(session)
    try:
        with contextlib.suppress(DivergenceError):
            body()
    finally:
        current_session.reset(token)
        assert session.writer is not None
        session.writer.close()
    return {end["key"].rpartition("#")[2]: end["verdict"] for end in _records(folder, "end")}


def _records(folder: Path, kind: str) -> list[dict[str, Any]]:
    records = [record for _, record in read_run(folder).lines() if not isinstance(record, Damage)]
    return [record for record in records if record["type"] == kind]


def test_remembered_with_its_inputs(tmp_path: Path, torch_session: Session) -> None:
    """What diverged with standard inputs is left by a run of plain ones, and drawn again by one of edge inputs."""
    target: list[Callable[[Any], Any]] = [operator.pos]

    @autotest(n=1, check_graph=False, auto_backward=False)
    def body() -> Any:
        double = dual(reference=operator.neg, target=target[0], name="negative")
        return double(random_tensor(ndim=2, low=1, high=2))

    def run(inputs: Inputs) -> dict[str, Any]:
        return _run(body, torch_session, tmp_path, inputs)

    def left() -> int:
        return len(list((tmp_path / FOLDER).glob("*.json")))

    assert run("standard") == {"0": "divergent"}
    target[0] = operator.neg
    assert (run("plain"), left()) == ({"0": "aligned"}, 1)
    assert (run("edge"), left()) == ({"0@standard": "aligned", "0": "aligned"}, 0)


RELU = """
from autotest import autotest, random_tensor, torch

@autotest(n=12, graph_backward="all")
def test_relu():
    x = random_tensor(ndim=2)
    return torch.relu(x) + torch.square(x)
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", ["torch", "oneflow"])
def test_another_seeds_memory_changes_nothing_of_a_runs_own_cases(target: str, tmp_path: Path) -> None:
    """With cases of another seed remembered, which have the numbers of its own, a run shows what it shows without."""
    if target == "oneflow":
        pytest.importorskip("oneflow", reason="OneFlow is not installed")
    options = ("--autotest-shrink=0", "--autotest-inputs", "edge", "--autotest-coverage=none", "-p", "no:cacheprovider")

    def run(seed: int, *more: str) -> Outcome:
        shutil.rmtree(tmp_path / "autotest-report", ignore_errors=True)
        files = {"test_relu.py": RELU}
        return run_pytest(tmp_path, files, *options, "--autotest-seed", str(seed), *more, target=target)

    def shown(outcome: Outcome) -> dict[str, Any]:
        ends = {end["key"]: (end["verdict"], end["graph"], end["divergences"]) for end in outcome.records()}
        own = {key: end for key, end in ends.items() if "@" not in key}
        return json.loads(json.dumps(own, default=str))  # type: ignore[no-any-return]

    alone = shown(run(3, "--autotest-no-memory"))
    folder = Memory(tmp_path, target)
    name = "test_relu.py::test_relu test_relu.py::test_relu"
    draws = [Draw(2, "edge", index, "0a1b2c3d") for index in range(12)]
    assert folder.keep(name, Recalled(), draws) is None
    remembering = run(3)
    assert shown(remembering) == alone
    assert {end["key"] for end in remembering.records() if "@" in end["key"]} == {
        f"test_relu.py::test_relu#{index}@2" for index in range(12)
    }
    assert len(alone) == 12


def test_remembered_random_numbers_are_those_of_the_first_time(tmp_path: Path, torch_session: Session) -> None:
    """What a random op draws belongs to the seed that a case was found with, however the case is called later."""
    seen: dict[str, set[float]] = {}

    @autotest(n=1, check_graph=False, auto_backward=False)
    def body() -> Any:
        drawn = dual_torch.rand(3)
        seen.setdefault(run, set()).add(float(drawn.reference.sum()))
        return dual(reference=operator.neg, target=operator.pos, name="negative")(random_tensor(ndim=1))

    for run, seed in (("first", 2), ("second", 3)):
        session = Session(replace(torch_session.options, root=tmp_path, folder=tmp_path / run, seed=seed))
        session.supervisor = torch_session.supervisor
        token = current_session.set(session)
        try:
            with pytest.raises(DivergenceError):
                body()
        finally:
            current_session.reset(token)
            assert session.writer is not None
            session.writer.close()
    assert len(seen["first"]) == 1
    assert len(seen["second"]) == 2
    assert seen["first"] < seen["second"]


@pytest.mark.parametrize("version", [2, 3])
def test_another_program_confirms_nothing(version: int, tmp_path: Path, torch_session: Session) -> None:
    """A remembered case that comes out as another program, and aligns, is told of and forgotten; one of a file without
    digests cannot be told from that.
    """
    target: list[Callable[[Any], Any]] = [operator.pos]
    factor = [2]

    @autotest(n=1, check_graph=False, auto_backward=False)
    def body() -> Any:
        double = dual(reference=operator.neg, target=target[0], name="negative")
        return double(random_tensor(ndim=2, low=1, high=2)) * factor[0]

    _run(body, torch_session, tmp_path, "plain")
    [path] = (tmp_path / FOLDER).glob("*.json")
    if version == 2:
        told = json.loads(path.read_text())
        for draw in told["draws"]:
            del draw["digest"]
        path.write_text(json.dumps({**told, "version": 2}))
    target[0], factor[0] = operator.neg, 3
    [key] = _run(body, torch_session, tmp_path, "plain")
    assert key == "0"
    [record] = _records(tmp_path / "plain-2", "remembered")
    cause = (
        "its test has changed since, or its body follows what the case's key does not bring back, such as "
        "numpy.random.default_rng(), the time, or what an earlier case left behind; draw that with generators, or with "
        "random or numpy.random, which start from the key"
    )
    name = "test_regressions.py::test_another_program_confirms_nothing::<locals>::body#0"
    problem = f"{name} aligns, but is another program than was remembered: {cause}"
    assert (record["aligned"], record["problems"]) == ((1, []) if version == 2 else (0, [problem]))
    assert not path.exists()
