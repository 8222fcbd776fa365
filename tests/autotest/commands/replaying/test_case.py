"""A case is drawn again from its key alone, and stepped through."""

from __future__ import annotations

import pdb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from autotest.cases.digest import program_digest
from autotest.cases.store import ReplayError
from autotest.cli import main
from autotest.commands.replaying.case import Recall, _recorded, _unknown, _verdict, check_key
from autotest.commands.replaying.pdb import advance, diverging_call, scope
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Opaque, Ref
from dual_object.replay.replay import Replay
from support.runs import Outcome, run_autotest, run_pytest

BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=3, check_graph=False)
def test_asin():
    return torch.asin(random_tensor(ndim=1, low=-0.5, high=0.5))

@autotest(n=2, check_graph=False)
def test_relu():
    return torch.relu(random_tensor(ndim=1))
"""


def program() -> Program:
    """`t0 = torch.relu(x); t1 = torch.neg(t0)`."""
    calls = [Call("function", "relu", (Ref(0),), {}, out=Ref(1)), Call("function", "neg", (Ref(1),), {}, out=Ref(2))]
    return Program([Input(0, "", np.array([-1.0, 2.0], np.float32), "float32")], calls, Ref(2))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run with a planted fault."""
    folder = tmp_path_factory.mktemp("recall")
    return run_pytest(folder, {"test_a.py": BODY}, "-q", env={"AUTOTEST_FAULT": "faults:wrong"})


def recall(told: Outcome, *arguments: str, **env: str) -> tuple[int, str]:
    """`autotest replay` beside that run, in a process of its own."""
    done = run_autotest(told.folder, "replay", *arguments, "--target", "torch", env=env)
    return done.returncode, done.stdout + done.stderr


def test_case_from_its_key(told: Outcome) -> None:
    """Inputs and program are bit-identical to those recorded; the verdict is that of the target as it is now."""
    [end] = [end for end in told.ends("test_asin") if end["key"].endswith("#2")]
    digest = end["divergences"][0]["digest"]
    run = end_run(told).name
    plain = "--inputs=plain"
    status, out = recall(told, "test_a.py::test_asin#2", "test_a.py", plain, AUTOTEST_FAULT="faults:wrong")
    assert status == 1, out
    assert out.splitlines()[:2] == ["test_a.py::test_asin#2 diverges", f"program: sha256 {digest} (that of {run})"]
    status, out = recall(told, "test_a.py::test_asin#2", ".", plain)
    assert status == 0, out
    assert out.splitlines() == [
        "test_a.py::test_asin#2 is aligned",
        f"program: sha256 {digest} (that of {run})",
        "",
        "def program(torch, x):",
        "    t0 = torch.asin(x)",
        "    return t0",
    ]


def end_run(told: Outcome) -> Path:
    """The folder of the only run."""
    [run] = (told.folder / "autotest-report" / "runs").iterdir()
    return run


def test_case_of_a_test_that_is_not_there(told: Outcome) -> None:
    """The sentence names what is."""
    status, out = recall(told, "test_a.py::test_gone#2", "test_a.py")
    assert (status, out) == (
        125,
        "cannot replay: there is no test test_a.py::test_gone under test_a.py, but "
        "test_a.py::test_relu, test_a.py::test_asin\n",
    )


def test_unknown_test_names_the_nearest() -> None:
    """Of many tests the nearest ones; where nothing was collected, pytest's own words."""
    names = [f"test_x.py::test_{name}" for name in ("add", "mul", "sub", "dot", "mm", "bmm", "std")]
    words = _unknown(Recall("test_x.py::test_ad#0", names), "suites", "")
    assert words.startswith("there is no test test_x.py::test_ad under suites, but test_x.py::test_add, ")
    assert words.endswith(" and 2 more")
    assert _unknown(Recall("test_x.py::test_ad#0"), "x", "a\nno such file\n") == (
        "no test could be collected under x: no such file"
    )


@pytest.mark.parametrize("key", ["test_x.py::test_a", "test_a#1", "test_x.py::test_a#-1", "test_x.py::test_a#x"])
def test_key_that_is_none(key: str) -> None:
    """A test, then the number of a draw."""
    with pytest.raises(ReplayError) as refused:
        check_key(key)
    assert str(refused.value) == f"ID={key!r}, but should be eight digits, or a case key such as test_x.py::test_y#3"


@pytest.mark.parametrize("where", ["@laid", "@5"])
def test_case_that_is_laid_out_or_of_another_seed(told: Outcome, where: str) -> None:
    """A key says where its case is from, as it is printed where a body raises."""
    key = f"test_a.py::test_asin#1{where}"
    _, out = recall(told, key, "test_a.py")
    assert out.splitlines()[0].startswith(f"{key} ")
    assert "torch.asin(x)" in out


def test_case_of_other_inputs(told: Outcome) -> None:
    """`--inputs` says how wild the inputs of the run were; a run of another mode recorded another case."""
    key = "test_a.py::test_asin#2"
    [end] = [end for end in told.ends("test_asin") if end["key"] == key]
    digest, report = end["divergences"][0]["digest"], told.folder / "autotest-report"
    asked = {"target": "torch", "seed": "0", "inputs": "plain"}
    assert _recorded(report, key, asked) == (digest, end_run(told))
    assert _recorded(report, key, {**asked, "inputs": "standard"}) is None
    assert _recorded(report, key, {**asked, "seed": "1"}) is None
    _, out = recall(told, key, "test_a.py", "--inputs", "edge")
    shown = out.splitlines()[1]
    assert shown.startswith("program: sha256 ")
    assert shown.endswith(" (no run here found a divergence in it)")
    assert digest not in shown


@pytest.mark.parametrize(
    "arguments",
    [["0a1b2c3d", "suites"], ["0a1b2c3d", "--seed", "1"], ["0a1b2c3d", "--inputs", "edge"]],
    ids=["path", "seed", "inputs"],
)
def test_path_without_a_case(arguments: list[str]) -> None:
    """PATH, --seed and --inputs mean something for a case alone, which needs a path."""
    result = CliRunner().invoke(main, ["replay", *arguments])
    assert result.exit_code == 2
    assert " ".join(result.output.split()).endswith(
        "Error: PATH, --seed and --inputs belong to a case: "
        "autotest replay 'test_x.py::test_y#3' PATH --seed S --inputs MODE"
    )


def test_case_without_a_path() -> None:
    """A case is drawn by its test, so that nothing can be done without the test's file."""
    result = CliRunner().invoke(main, ["replay", "test_x.py::test_a#1"])
    assert result.exit_code == 2
    assert " ".join(result.output.split()).endswith(
        "Error: CASE='test_x.py::test_a#1' comes without PATH, but should have the file or folder of its test behind it"
    )


def test_another_program_is_told() -> None:
    """Another digest than the recorded one is said, with the likely cause and the way out; whether the recorded case
    still diverges is not known then.
    """
    end: dict[str, Any] = {"divergences": [], "verdict": "aligned"}
    status, text = _verdict("k#0", program(), end, ("abc", Path("runs/20260101-000000-0-1")))
    assert status == 125
    assert text.splitlines()[:3] == [
        "k#0 is aligned",
        f"program: sha256 {program_digest(program())} (20260101-000000-0-1 recorded another: sha256 abc)",
        "this is another program than was recorded: "
        "its test has changed since, or its body follows what the case's key "
        "does not bring back, such as numpy.random.default_rng(), the time, or what an earlier case left behind; draw "
        "that with generators, or with random or numpy.random, which start from the key",
    ]


STEERED = """
import random
import numpy
from autotest import autotest, random_tensor, torch

@autotest(n=8, check_graph=False)
def test_seeded():
    x = torch.asin(random_tensor(ndim=1, low=-0.5, high=0.5))
    if random.random() > 0.5:
        x = torch.relu(x)
    return x * numpy.random.randint(1, 9)

@autotest(n=1, check_graph=False)
def test_fresh():
    factor = numpy.random.default_rng().integers(1 << 40)
    return torch.asin(random_tensor(ndim=1, dim0=9, low=-0.5, high=0.5)) * int(factor)
"""


@pytest.mark.slow
def test_what_steers_a_body(tmp_path: Path) -> None:
    """What Python and NumPy draw by themselves comes back with the key; what a body seeds from nowhere is told of."""
    fault = {"AUTOTEST_FAULT": "faults:wrong"}
    drawn = run_pytest(tmp_path, {"test_a.py": STEERED}, "-q", env=fault)
    [seeded, *_] = [end["key"] for end in drawn.ends("test_seeded") if end["divergences"]]
    fresh = "test_a.py::test_fresh#0"
    for key, again in ((seeded, "(that of "), (fresh, "recorded another: sha256 ")):
        status, out = recall(drawn, key, "test_a.py", "--inputs=plain", **fault)
        assert status == 1, out
        assert again in out.splitlines()[1]
    assert out.splitlines()[2].startswith("this is another program than was recorded: its test has changed since, or ")
    assert recall(drawn, seeded, "test_a.py", "--inputs=plain")[0] == 0
    assert recall(drawn, fresh, "test_a.py", "--inputs=plain")[0] == 125


def test_digest_sees_every_bit() -> None:
    """Values, dtype, place in memory, requires_grad, states, cotangents, calls, arguments and what is returned count;
    names and what the reference computed do not.
    """
    seen = {program_digest(program())}
    data = np.array([-1.0, 2.0], np.float32)
    for x in (
        Input(0, "", np.nextafter(data, np.float32(9)), "float32"),
        Input(0, "", data, "bfloat16"),
        Input(0, "", data, "float32", strides=(2,)),
        Input(0, "", data, "float32", offset=1),
        Input(0, "", data, "float32", True),
        Input(0, "", data.reshape(1, 2), "float32"),
    ):
        changed = program()
        changed.inputs = [x]
        seen.add(program_digest(changed))
    changed = program()
    changed.cotangents = {2: data}
    seen.add(program_digest(changed))
    changed.cotangent_strides = {2: (2,)}
    seen.add(program_digest(changed))
    changed.second_cotangents = {"0": data}
    seen.add(program_digest(changed))
    for call in (
        Call("function", "abs", (Ref(1),), {}, out=Ref(2)),
        Call("method", "neg", (Ref(1),), {}, out=Ref(2)),
        Call("function", "neg", (Ref(0),), {}, out=Ref(2)),
        Call("function", "neg", (Ref(1),), {"dim": 1}, out=Ref(2)),
        Call("function", "neg", (Ref(1), data), {}, out=Ref(2)),
        Call("function", "neg", (Ref(1), data + 1), {}, out=Ref(2)),
        Call("function", "neg", (Ref(1), Opaque(data)), {}, out=Ref(2)),
        Call("function", "neg", (Ref(1),), {}, raises=("TypeError",)),
    ):
        changed = program()
        changed.calls[1] = call
        seen.add(program_digest(changed))
    changed = program()
    changed.outputs = (Ref(2),)
    seen.add(program_digest(changed))
    assert len(seen) == 19
    named = program()
    named.inputs = [Input(0, "other", data, "float32")]
    named.calls[1].out = (Ref(2), 0.5)
    assert program_digest(named) in seen


def test_stepping_stops_before_the_diverging_call() -> None:
    """Both sides have run what comes before; `run_call()` runs the call on the target. No name is one of pdb's."""
    one, two = Replay(Adapter(), program(), side="reference"), Replay(Adapter(), program())
    call = diverging_call(program(), {"program_call": 1})
    assert call == 1
    for side in (one, two):
        advance(side, call)
    seen: dict[str, Any] = scope(program(), call, one, two)
    assert sorted(seen["target"]) == ["t0", "x"]
    assert not [name for name in seen if hasattr(pdb.Pdb, f"do_{name}")]
    assert sorted(seen["run_call"]()) == ["t0", "t1", "x"]
    assert sorted(seen["reference"]) == ["t0", "x"]
    broken = program()
    broken.calls[0] = Call("function", "no_such_op", (Ref(0),), {}, out=Ref(1))
    with pytest.raises(ReplayError) as refused:
        advance(Replay(Adapter(), broken), 1)
    assert str(refused.value) == "torch ends before the diverging call: MissingOp: torch has no 'no_such_op'"


def test_stepping_needs_a_person() -> None:
    """Without a terminal it says so, and stops nothing."""
    result = CliRunner().invoke(main, ["replay", "0a1b2c3d", "--pdb"])
    assert (result.exit_code, result.output) == (
        125,
        "cannot replay: --pdb stops and waits for what a person types, but this is no interactive terminal\n",
    )
