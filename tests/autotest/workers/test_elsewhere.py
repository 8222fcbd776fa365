"""A target runs in an interpreter with packages of its own: NumPy, psutil, and whatever it is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from autotest.workers.launch import Launch
from autotest.workers.supervisor import Supervisor
from support.runs import Outcome, run_autotest, run_pytest
from support.toy_environment import toy_python

TARGET = "toy_target:Adapter"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without PyTorch."""
    return toy_python(tmp_path_factory.mktemp("toy"), "numpy", "psutil")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, python: str) -> Outcome:
    """A run of all bodies."""
    given = ("--autotest-target-python", python, "--autotest-coverage", "none", "-rs")
    return run_pytest(tmp_path_factory.mktemp("run"), {"test_toy.py": "toy.py"}, *given, target=TARGET)


def test_environment_has_no_pytorch(python: str) -> None:
    """What these tests stand on."""
    done = subprocess.run([python, "-c", "import torch"], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'torch'\n")


def test_cases_are_judged(run: Outcome) -> None:
    """Values and gradients are compared, what ends the process costs its own case, what is random is skipped."""
    assert run.outcomes() == {
        "test_right": "passed",
        "test_wrong": "failed",
        "test_no_row": "passed",
        "test_no_op": "failed",
        "test_end": "failed",
        "test_random": "skipped",
        "test_raw": "failed",
    }
    assert run.verdicts("test_right") == {"aligned": 4}
    assert run.rows("test_wrong") == {("eager_forward", "value", "cos"), ("eager_backward", "value", "cos")}
    assert run.rows("test_no_row") == {("eager_forward", "unmapped", "erf")}
    assert run.rows("test_no_op") == {("eager_forward", "missing", "tan")}
    assert run.verdicts("test_end") == {"crashed": 2}
    assert run.verdicts("test_random") == {"skipped": 4}
    assert {end["reason"] for end in run.ends("test_random")} == {"the target toy has no random numbers"}


def test_what_the_table_says_is_told(run: Outcome) -> None:
    """Each divergence of a call that is another one there says which, whatever became of it."""
    assert {message.rpartition(" [")[2] for message in run.messages("test_wrong")} == {"on toy: renamed to cosine]"}
    assert run.messages("test_no_op") == {"tan: tan raised MissingOp: toy has no 'tan' [on toy: renamed to tangent]"}
    [crash] = {message.rpartition(" [")[2] for message in run.messages("test_end")}
    assert crash == "on toy: arguments input=x]"
    assert not any("[on toy" in message for message in run.messages("test_no_row"))


def test_pytorch_is_out_of_reach(run: Outcome) -> None:
    """The worker finds our packages, and not what lies beside them."""
    [told] = run.records("target")
    assert told["environment"].keys() == {"toy", "target's python"}


def test_both_interpreters_are_told(run: Outcome) -> None:
    """The harness's own version of Python is not that of the target."""
    assert {"python", "target's python"} <= run.summary["environment"].keys()


def test_what_the_table_lacks_is_counted(run: Outcome) -> None:
    """It is told apart from what the target lacks, and is never red."""
    assert [(row["op"], row["kind"], row["level"]) for row in run.summary["counted"]] == [
        ("erf", "unmapped", "counted")
    ]
    assert re.search(r"^  counted +1 +ops that the target lacks, does not support there or has", run.out, re.MULTILINE)
    assert "1 op that the target's table has no row for\n" in run.out


def test_what_nobody_looked_at_is_said(run: Outcome) -> None:
    """Aspects that the target lacks stand beside what is aligned."""
    aspects = ["exceptions", "layout", "modules", "random", "second", "sharing", "standing"]
    assert run.summary["lacks"] == aspects
    said = " ".join(run.out[run.out.index("not checked") :].split("divergences  ")[0].split())
    assert said == (
        "not checked no classes of exceptions, no strides, no states of modules, no random numbers, "
        "no second derivatives, no shared memory, no requires_grad: the target has none that could be"
    )


def test_a_body_that_needs_the_target_here_is_refused(run: Outcome, python: str) -> None:
    """The sentence names the interpreter."""
    [error] = run.summary["errors"].values()
    assert error == (
        f"autotest.UsageError: the target {TARGET} runs in {python}, but should run in this process: the test uses the "
        "target's own objects, or the run is inline [--target-python, --isolate]"
    )


def test_replay_finds_the_interpreter_again(run: Outcome, python: str) -> None:
    """A divergence runs again where it was found; what needs the target in this process says so."""
    [id_] = {row["id"] for end in run.ends("test_no_op") for row in end["divergences"]}
    done = run_autotest(run.folder, "replay", id_)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, f"{id_} stands: 1 divergence in 1 of 1 case")
    done = run_autotest(run.folder, "replay", id_, "--graph-debug", "1")
    assert done.stderr == (
        f"cannot replay: the target {TARGET} runs in {python}, and --graph-debug builds its graph with this "
        "interpreter: replay it without --graph-debug\n"
    )


def test_doctor_tells_the_interpreter(python: str, tmp_path: Path) -> None:
    """And what the target lacks."""
    done = run_autotest(tmp_path, "doctor", "--target", TARGET, "--target-python", python)
    assert done.returncode == 0, done.stdout
    assert f"\nok   interpreter: {python}\n" in done.stdout
    assert done.stdout.endswith("\nok   lacks: exceptions, layout, modules, random, second, sharing, standing\n")


def test_names_of_a_project(python: str, tmp_path: Path) -> None:
    """`pyproject.toml` says what a name stands for, which then tells the divergences."""
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.autotest.targets.mine]\nadapter = "{TARGET}"\npython = "{python}"\nenvironment = {{ TOY = "1" }}\n'
    )
    outcome = run_pytest(
        tmp_path, {"test_toy.py": "toy.py"}, "--autotest-coverage", "none", "-k", "wrong or right", target="mine"
    )
    assert outcome.outcomes() == {"test_right": "passed", "test_wrong": "failed"}
    assert {row["fingerprint"] for row in outcome.summary["divergences"]} == {
        "mine/eager_forward/value/cos/float64",
        "mine/eager_backward/value/cos/float64",
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--target-python", "/no/such/python"),
            "target_python='/no/such/python', but should be the path of a Python interpreter [--target-python]",
        ),
        (
            ("--target", "nobody"),
            "target='nobody', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, package.module:Class, "
            "or a name in pyproject.toml [--target]",
        ),
    ],
)
def test_wrong_words(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    """What cannot be started is refused before anything runs."""
    (tmp_path / "test_x.py").write_text("")
    done = run_autotest(tmp_path, "run", "test_x.py", *arguments)
    assert done.returncode == 2
    assert done.stderr.endswith(f"Error: {sentence}\n")


def test_ranks_need_the_target_in_their_own_process(python: str, tmp_path: Path) -> None:
    """Several ranks are refused."""
    (tmp_path / "test_x.py").write_text("")
    line = ("run", "test_x.py", "--ranks", "2", "--target", TARGET, "--target-python", python)
    assert run_autotest(tmp_path, *line).stderr.endswith(
        f"Error: target_python={python!r}, but should be left out with --ranks: every rank runs the target in its own "
        "process\n"
    )


@pytest.mark.parametrize(
    ("program", "ended", "said"),
    [("/bin/true", "0", "none"), ("/bin/ls", "2", "/bin/ls: cannot access 'torch': No such file or directory")],
)
def test_what_is_no_interpreter(program: str, ended: str, said: str) -> None:
    """It is named, with the option that names it, whether it ends without a word or has its own."""
    supervisor = Supervisor(Launch("torch", python=program), 60)
    with pytest.raises(Exception, match=r"died at import") as caught:
        supervisor.info()
    assert str(caught.value) == (
        f"target 'torch' died at import: exited with status {ended}; its last words: {said}; {program} should be "
        "CPython, 3.10 or newer [--target-python]"
    )
    supervisor.close()


def test_an_interpreter_without_psutil(tmp_path: Path) -> None:
    """It says what is to be installed."""
    python = toy_python(tmp_path / "bare", "numpy")
    supervisor = Supervisor(Launch(TARGET, python=python), 60)
    with pytest.raises(Exception, match=r"died at import") as caught:
        supervisor.info()
    assert str(caught.value) == (
        f"target {TARGET!r} died at import: exited with status 1; its last words: {python} has no psutil, but should: "
        f"{python} -m pip install psutil"
    )
    supervisor.close()
