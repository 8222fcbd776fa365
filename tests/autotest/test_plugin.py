"""The pytest plugin: asleep without an @autotest test, the same counts under every scheduler, one sentence per
fault.
"""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import autotest
from autotest.run.settings import run_options, typed_command
from support.runs import Outcome, command, environment, run_autotest, run_pytest

SharedRun = Callable[..., Outcome]
SEVERAL = {"test_several.py": "several.py"}
COUNTS = {"tests": 8, "cases": 35, "aligned": 35, "divergent": 0, "crashed": 0, "timed_out": 0}
TWO = "two.py"


@pytest.fixture
def several(shared_run: SharedRun) -> Outcome:
    """Tests of every shape, in one process."""
    return shared_run("several", SEVERAL, "-q", "-rs")


def test_tests_of_every_shape(several: Outcome) -> None:
    """Functions, parameters, fixtures, classes and `unittest.TestCase` run their n cases; setUp runs once per test."""
    assert several.status == 0, several.out
    assert several.outcomes() == {
        "test_function": "passed",
        "test_parametrized[sin]": "passed",
        "test_parametrized[cos]": "passed",
        "test_method": "passed",
        "test_unittest": "passed",
        "test_without_parentheses": "passed",
        "test_skipping": "skipped",
        "test_rejecting": "passed",
    }
    assert {name: several.verdicts(name)["aligned"] for name in several.outcomes()} == {
        "test_function": 3,
        "test_parametrized[sin]": 2,
        "test_parametrized[cos]": 2,
        "test_method": 2,
        "test_unittest": 4,
        "test_without_parentheses": 20,
        "test_skipping": 0,
        "test_rejecting": 2,
    }
    assert several.verdicts("test_rejecting")["rejected"] > 0
    assert {key: value for key, value in several.counts().items() if key in COUNTS} == COUNTS
    assert "not today" in several.out


def test_ordinary_tests_leave_no_record(several: Outcome) -> None:
    """A test without @autotest runs beside the others and is none of ours."""
    assert "8 passed, 1 skipped" in several.out
    assert "test_ordinary" not in several.outcomes()


CALLING = """
import unittest
from autotest import autotest, random_tensor, torch

@autotest(n=2, check_graph=False)
def check():
    return torch.asin(random_tensor(ndim=1, dim0=9, low=-0.5, high=0.5))

def test_before():
    check()
    check()

@autotest(n=1, check_graph=False)
def test_ours():
    return torch.sin(random_tensor(ndim=1))

class TestAfter(unittest.TestCase):
    def test_method(self):
        check()

def test_calls_none():
    pass
"""


@pytest.mark.parametrize("fault", ["", "faults:wrong"])
def test_a_plain_test_calls_ours(tmp_path: Path, fault: str) -> None:
    """What any test calls has the run's target and options, and its cases are that test's, before a test of ours ran
    as well as after.
    """
    variables = {"AUTOTEST_FAULT": fault} if fault else {}
    outcome = run_pytest(tmp_path, {"test_a.py": CALLING}, "-q", env=variables)
    said = "failed" if fault else "passed"
    assert outcome.outcomes() == dict.fromkeys(["test_before", "test_ours", "test_method"], said)
    # The second call of a test that the first one has made red is not made.
    keys = [record["key"] for record in outcome.records()]
    assert sorted(keys) == [
        *(f"test_a.py::TestAfter::test_method~0#{case}" for case in (0, 1)),
        *(f"test_a.py::test_before~{call}#{case}" for call in ((0,) if fault else (0, 1)) for case in (0, 1)),
        "test_a.py::test_ours#0",
    ]
    assert "oneflow" not in outcome.out
    assert (outcome.status == 0) == (not fault), outcome.out
    assert outcome.summary["tests"] == 3


FIXTURES = """
import pytest
from autotest import autotest, random_tensor, torch

@pytest.fixture
def broken():
    raise RuntimeError("it broke")

@pytest.fixture
def broken_after():
    yield
    raise RuntimeError("it broke after")

@autotest(n=1, check_graph=False)
def test_setup(broken):
    return torch.sin(random_tensor(ndim=1))

@autotest(n=1, check_graph=False)
def test_teardown(broken_after):
    return torch.sin(random_tensor(ndim=1))

@autotest(n=1, check_graph=False)
def test_lacking(lacking):
    return torch.sin(random_tensor(ndim=1))
"""


def test_a_fixture_fails(tmp_path: Path) -> None:
    """A test whose fixture raises is red in each report, whether it ran or not."""
    outcome = run_pytest(tmp_path, {"test_a.py": FIXTURES}, "-q")
    assert outcome.outcomes() == {"test_setup": "failed", "test_teardown": "failed", "test_lacking": "failed"}
    assert outcome.summary["errors"] == {
        "test_a.py::test_setup": "at setup: RuntimeError: it broke",
        "test_a.py::test_teardown": "at teardown: RuntimeError: it broke after",
        "test_a.py::test_lacking": "at setup: no fixture lacking",
    }
    assert "FAILED: 3 of 3 tests failed without a divergence" in outcome.out


FAILING = """
import pytest
from autotest import autotest, random_tensor, torch

@autotest(n=1, check_graph=False)
def test_asin():
    return torch.asin(random_tensor(ndim=1, dim0=9, low=-0.5, high=0.5))

@autotest(n=1)
def test_typo():
    raise ValueError("mine")

@pytest.mark.skip(reason="of no use")
def test_skipped():
    pass
"""


@pytest.mark.parametrize("ci", ["", "true"])
def test_summary_is_the_end(tmp_path: Path, ci: str) -> None:
    """What the run came to stands below pytest's own reasons; each divergence is shown once, on a build server, too."""
    variables = {"AUTOTEST_FAULT": "faults:wrong", "CI": ci}
    outcome = run_pytest(tmp_path, {"test_a.py": FAILING}, "-rfEs", env=variables)
    before, _, end = outcome.out.partition("= autotest =")
    assert "SKIPPED [1] test_a.py:13: of no use" in before
    assert before.count("def program(torch, x):") == 1
    assert "def program(torch, x):" not in end
    headline = end.splitlines()[1]
    assert headline.startswith("DIVERGENT: 1 divergence in 1 of 2 tests, 1 failed otherwise, torch ")
    assert end.splitlines()[-3].startswith("report: ")
    assert outcome.summary["errors"] == {"test_a.py::test_typo": "ValueError: mine [in case #0]"}
    assert "\nFailed without a divergence\n  test_a.py::test_typo: ValueError: mine [in case #0]\n" in end
    # The page has pytest's traceback of it.
    page = (tmp_path / "autotest-report" / "index.html").read_text()
    [traceback] = re.findall(r"traceback</summary><pre class=.whole.>(.*?)</pre>", page, re.DOTALL)
    assert html.unescape(traceback).splitlines()[-4:] == [
        *('>       raise ValueError("mine")', "E       ValueError: mine", "", "test_a.py:11: ValueError"),
    ]


def test_summary_has_the_documented_keys(several: Outcome) -> None:
    """summary.json holds the counts, the graph's share, the environment and how it went."""
    summary = several.summary
    assert summary["seed"] == 0
    assert set(summary["graph"]) == {"verified", "backward_verified", "skipped"}
    assert summary["graph"]["verified"] == 33
    assert {"python", "torch", "numpy", "platform"} <= set(summary["environment"])
    assert (summary["complete"], summary["running"], summary["faults"]) == (True, [], [])


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["load", "loadscope"])
def test_schedulers_give_the_same_counts(tmp_path: Path, several: Outcome, dist: str) -> None:
    """Two workers, given a test or a class at a time, run the same cases with the same verdicts as one process."""
    outcome = run_pytest(tmp_path, SEVERAL, "-q", "-n", "2", "--dist", dist)
    assert outcome.status == 0, outcome.out
    assert outcome.counts() == several.counts()
    assert outcome.outcomes() == several.outcomes()
    assert sorted(end["key"] for end in outcome.records()) == sorted(end["key"] for end in several.records())
    assert len({record["worker"] for record in outcome.records("run")} - {"main"}) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_enough_failures_are_no_interrupt(tmp_path: Path, workers: str) -> None:
    """A run that ends after `--maxfail` failures has the status of one that fails, and its divergence has a script."""
    variables = {"AUTOTEST_FAULT": "faults:wrong"}
    outcome = run_pytest(tmp_path, {"test_a.py": FAILING}, "-q", "-n", workers, "--maxfail", "2", env=variables)
    assert outcome.status == 1, outcome.out
    assert "repro.py" in outcome.out


@pytest.mark.parametrize("workers", ["0", "2"])
def test_target_that_cannot_be_imported(tmp_path: Path, workers: str) -> None:
    """The run ends with its sentence, as a wrong usage, and no traceback, however many processes it has."""
    outcome = run_pytest(tmp_path, {"test_a.py": FIXTURES}, "-n", workers, "--autotest-target", "my.mod:Cls")
    assert outcome.status == 2, outcome.out
    assert "target 'my.mod:Cls' cannot be imported: ModuleNotFoundError: No module named 'my'" in outcome.out
    assert "Traceback" not in outcome.out
    assert "INTERNALERROR" not in outcome.out


RESIDUE = {"__pycache__", ".pytest_cache"}
ASLEEP = """
import sys

def test_plugin_sleeps():
    heavy = {"torch", "numpy", "oneflow", "rich", "hypothesis.strategies"} & set(sys.modules)
    assert heavy == set()
    assert "autotest.plugin" in sys.modules
"""


def test_plugin_sleeps(tmp_path: Path) -> None:
    """A session without an @autotest test imports no framework, prints and writes nothing of ours."""
    outcome = run_pytest(tmp_path, {"test_asleep.py": ASLEEP}, "-q", "-p", "no:hypothesispytest", target=None)
    assert outcome.status == 0, outcome.out
    assert "autotest" not in outcome.out
    assert sorted(path.name for path in tmp_path.iterdir() if path.name not in RESIDUE) == ["test_asleep.py"]


def test_nothing_collected(tmp_path: Path) -> None:
    """A session that collects nothing exits with 5."""
    assert run_pytest(tmp_path, {"test_empty.py": "\n"}, "-q").status == 5


def test_a_test_that_is_not_there(tmp_path: Path) -> None:
    """Workers of xdist say what pytest says without them, which it would swallow."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, "-n", "1", "test_two.py::test_third")
    assert outcome.status == 4, outcome.out
    assert [line for line in outcome.out.splitlines() if line.startswith(("ERROR", "("))] == [
        f"ERROR: not found: {tmp_path}/test_two.py::test_third",
        "(no match in any of [<Module test_two.py>])",
    ]


@pytest.mark.parametrize("options", [["-n", "1"], ["--continue-on-collection-errors"]])
def test_a_file_that_cannot_be_collected(tmp_path: Path, options: list[str]) -> None:
    """It is red in the report as well, which would be green otherwise: the tests beside it have run."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO, "test_bad.py": "import nosuch\n"}, "-q", *options)
    assert outcome.status == 1, outcome.out
    said = {"test_bad.py": "at collection: ModuleNotFoundError: No module named 'nosuch'"}
    summary = outcome.summary
    assert (summary["tests"], summary["errors"]) == (3, said)
    assert "FAILED: 1 of 3 tests failed without a divergence" in outcome.out
    traces = [record["trace"] for record in outcome.records("test") if record["test"] == "test_bad.py"]
    assert len(traces) == 1
    assert traces[0].startswith("ImportError while importing test module")


def test_selection_and_first_failure(tmp_path: Path) -> None:
    """`-x` stops at the first red test, and `--lf` runs only that again."""
    env = {"AUTOTEST_FAULT": "faults:wrong"}
    first = run_pytest(tmp_path, {"test_two.py": TWO}, "-q", "-x", env=env)
    assert (first.status, set(first.outcomes())) == (1, {"test_first"})
    again = run_pytest(tmp_path, {}, "-q", "--lf", env=env)
    assert again.status == 1
    assert "1 failed" in again.out


def test_options_reach_the_run(tmp_path: Path) -> None:
    """`-k` selects; `--autotest-cases`, `--autotest-seed` and `--autotest-report` are obeyed and written down."""
    options = ["--autotest-cases", "3", "--autotest-seed", "7", "--autotest-report", "elsewhere"]
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, "-q", "-k", "second", *options)
    assert outcome.status == 0, outcome.out
    assert "1 passed, 1 deselected" in outcome.out
    summary: dict[str, Any] = json.loads((tmp_path / "elsewhere" / "summary.json").read_text())
    assert (summary["cases"], summary["seed"]) == (3, 7)
    assert not (tmp_path / "autotest-report").exists()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "target",
            "tensorflow",
            "target='tensorflow', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, "
            "package.module:Class, or a name in pyproject.toml "
            "[--autotest-target]",
        ),
        ("seed", "x", "seed='x', but should be a whole number of at least 0, or 'random' [--autotest-seed]"),
        ("seed", "-1", "seed='-1', but should be a whole number of at least 0, or 'random' [--autotest-seed]"),
        ("cases", "0", "cases='0', but should be a whole number of at least 1 [--autotest-cases]"),
        (
            "case-timeout",
            "soon",
            "case_timeout='soon', but should be a number of seconds of at least 0 [--autotest-case-timeout]",
        ),
        (
            "case-timeout",
            "inf",
            "case_timeout='inf', but should be a number of seconds of at least 0 [--autotest-case-timeout]",
        ),
        ("shrink", "-1", "shrink='-1', but should be a number of seconds of at least 0 [--autotest-shrink]"),
        (
            "shrink-total",
            "long",
            "shrink_total='long', but should be a number of seconds of at least 0 [--autotest-shrink-total]",
        ),
        ("isolate", "maybe", "isolate='maybe', but should be one of auto, always, never [--autotest-isolate]"),
        ("inputs", "wild", "inputs='wild', but should be one of plain, standard, edge [--autotest-inputs]"),
        (
            "repro-total",
            "nan",
            "repro_total='nan', but should be a number of seconds of at least 0 [--autotest-repro-total]",
        ),
        ("strict", True, "strict=True, but should come with drop_in, whose files it is about [--strict, --drop-in]"),
    ],
)
def test_bad_option(pytestconfig: pytest.Config, option: str, value: object, message: str) -> None:
    """An option that means nothing is refused in one sentence."""

    class Given:
        """The options of this very run, but for one."""

        def getoption(self, name: str, default: object = None) -> object:
            return value if name == f"--autotest-{option}" else pytestconfig.getoption(name, default)

        def __getattr__(self, name: str) -> object:
            return getattr(pytestconfig, name)

    with pytest.raises(autotest.UsageError) as refused:
        run_options(cast(pytest.Config, Given()), None)
    assert str(refused.value) == message


def test_bad_option_ends_the_run(tmp_path: Path) -> None:
    """It ends pytest with its usage status and that sentence before any test."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, "--autotest-cases=0")
    assert outcome.status == pytest.ExitCode.USAGE_ERROR
    assert outcome.out == "ERROR: cases='0', but should be a whole number of at least 1 [--autotest-cases]\n\n"


def red_lines(outcome: Outcome) -> list[str]:
    """What a red test or a red collection says, between its headline and the next section."""
    shown = re.search(r"^_{3,} .* _{3,}\n(.*?)\n=", outcome.out, re.MULTILINE | re.DOTALL)
    assert shown, outcome.out
    return shown[1].splitlines()


def test_unwritable_report(tmp_path: Path) -> None:
    """A report folder that cannot be written ends the run with 2 and one sentence."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, "--autotest-report", "/proc/report")
    assert outcome.status == 2, outcome.out
    [said] = red_lines(outcome)
    assert re.fullmatch(
        r"/proc/report/runs/[-\d]+/records-main.jsonl cannot be written: No such file or directory; "
        "choose another folder with --report",
        said,
    )
    assert "1 failed" in outcome.out


def test_target_that_is_not_installed(tmp_path: Path) -> None:
    """A target that is not installed ends the run with 2 and one sentence, without trying every test."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, target="nowhere:Adapter")
    assert outcome.status == 2
    sentence = (
        "target 'nowhere:Adapter' cannot be imported: ModuleNotFoundError: No module named 'nowhere'; put the folder "
        "that holds nowhere on the import path, as PYTHONPATH=. does for this one"
    )
    assert red_lines(outcome) == [sentence]
    assert "1 failed" in outcome.out
    headline = f"= UNFINISHED: {sentence}; so far 1 of 1 test failed without a divergence tests 1 in "
    assert headline in " ".join(outcome.out.split())
    assert (outcome.summary["stops"], outcome.summary["running"]) == ([sentence], [])


def test_target_that_dies_at_import(tmp_path: Path) -> None:
    """A target that dies at import ends the run with 2, its status and its last words."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, env={"AUTOTEST_FAULT": "faults:dead_at_import"})
    assert outcome.status == 2
    assert red_lines(outcome) == [
        "target 'torch' died at import: exited with status 7; its last words: undefined symbol: planted"
    ]


ENDS = """
import os
import signal
from autotest import autotest, random_tensor, torch

drawn = []

@autotest(n=4, check_graph=False)
def test_ends():
    drawn.append(None)
    if len(drawn) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return torch.relu(random_tensor(ndim=1))

def test_ordinary():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_body_that_ends_the_process(tmp_path: Path) -> None:
    """The case is named at which a worker of pytest ended; where an ordinary test ends it, nothing is said of cases."""
    alone = ["-q", "-n", "1", "--max-worker-restart", "9", "--autotest-coverage", "none"]
    outcome = run_pytest(tmp_path, {"test_ends.py": ENDS}, *alone)
    assert outcome.status == 1
    told = (
        "worker 'gw0' of pytest ended; the last case that it began is test_ends.py::test_ends#2. PyTorch has ended it, "
        "or the test's body, or somebody from elsewhere: the target runs in a process of its own"
    )
    assert told in outcome.out.splitlines()
    assert "worker 'gw1' crashed while running 'test_ends.py::test_ordinary'" in outcome.out.splitlines()
    summary = outcome.summary
    assert summary["errors"] == {"test_ends.py::test_ends": told}
    assert summary["outcomes"] == {"test_ends.py::test_ends": "failed"}
    assert (summary["running"], summary["complete"]) == ([], True)
    assert "\nFAILED: 1 of 1 test failed without a divergence, torch " in outcome.out


def test_forgotten_decorator(tmp_path: Path) -> None:
    """What is asked for outside of a case is told at the test's own line, without ours."""
    text = "from autotest import random_tensor\n\n\ndef test_it():\n    random_tensor()\n"
    told = run_pytest(tmp_path, {"test_it.py": text}, "-n0").out
    assert "    def test_it():\n>       random_tensor()\nE       dual_object.errors.OutsideCaseError: " in told
    assert "test_it.py:5: OutsideCaseError" in told
    assert "recording.py" not in told
    assert "recording.py" in run_pytest(tmp_path, {"test_it.py": text}, "-n0", "--full-trace").out


def test_usage_error_in_a_file_names_its_line(tmp_path: Path) -> None:
    """What cannot be collected is told by its sentence and the line of the file."""
    wrong = "from autotest import autotest\n\n\n@autotest(n=0)\ndef test_it():\n    pass\n"
    outcome = run_pytest(tmp_path, {"test_wrong.py": wrong})
    assert outcome.status == 2, outcome.out
    assert red_lines(outcome) == [
        "n=0, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)] "
        "[test_wrong.py:4]"
    ]
    wrong = "from autotest import torch\n\nop = torch.matmull\n"
    outcome = run_pytest(tmp_path, {"test_wrong.py": wrong})
    assert red_lines(outcome) == ["torch has no matmull: did you mean torch.matmul? [test_wrong.py:3]"]


LATE = """
import pytest
from autotest import autotest, random_tensor, torch

drawn = []

@pytest.mark.parametrize("op", ["relu", "tanh"])
@autotest(n=4, check_graph=False)
def test_late(op):
    drawn.append(op)
    if drawn.count(op) == 4:
        pytest.skip("no more")
    return getattr(torch, op)(random_tensor(ndim=1, dim0=3))
"""
PLANTED = """
import torch

def relu(adapter):
    plain = torch.relu
    torch.relu = lambda x: plain(x) + 1
"""


def test_skip_after_a_divergence(tmp_path: Path) -> None:
    """A body that skips after cases that have diverged is red all the same."""
    env = {"AUTOTEST_FAULT": "planted:relu", "PYTHONPATH": str(tmp_path)}
    outcome = run_pytest(tmp_path, {"test_late.py": LATE, "planted.py": PLANTED}, "-q", env=env)
    assert outcome.status == 1
    assert outcome.outcomes() == {"test_late[relu]": "failed", "test_late[tanh]": "skipped"}
    assert "1 failed, 1 skipped" in outcome.out


FAULTY = """
import pytest
import autotest.judge.judge as judge
from autotest import autotest, random_tensor, torch

@pytest.fixture(autouse=True)
def broken(monkeypatch):
    def graph_differences(*args, **kwargs):
        raise ZeroDivisionError("planted in the harness")
    monkeypatch.setattr(judge, "graph_differences", graph_differences)

@autotest(n=1)
def test_it():
    return torch.square(random_tensor(ndim=1))
"""


def test_fault_of_the_harness(tmp_path: Path) -> None:
    """An error of our own is told as ours, with its traceback, and the run exits with 3."""
    outcome = run_pytest(tmp_path, {"test_faulty.py": FAULTY}, "-q")
    assert outcome.status == 3, outcome.out
    sentence = (
        "the harness failed in test_faulty.py::test_it: ZeroDivisionError: planted in the harness; "
        "please report this with the traceback"
    )
    assert sentence in outcome.out
    assert outcome.summary["faults"] == ["test_faulty.py::test_it: ZeroDivisionError: planted in the harness"]


def test_random_seed_explores(tmp_path: Path) -> None:
    """`--autotest-seed random` draws a seed, shows it, and every worker uses the same."""
    outcome = run_pytest(
        tmp_path, {"test_two.py": TWO, "test_too.py": TWO}, "-q", "-n", "2", "--autotest-seed", "random"
    )
    assert outcome.status == 0, outcome.out
    assert {record["selection"] for record in outcome.records("run")} == {"."}
    seeds = {record["seed"] for record in outcome.records("run")}
    assert len(seeds) == 1
    assert outcome.summary["seed"] in seeds
    assert f"seed {outcome.summary['seed']}" in outcome.out


def test_command_of_inner_runs_names_the_target() -> None:
    """The inner runs of these tests really ask for the target that they mean."""
    assert command("-q")[-3:] == ["--autotest-target", "torch", "-q"]
    assert not any("autotest" in argument for argument in command("-q", target=None)[1:])
    assert "AUTOTEST_FAULT" not in environment({})


def test_report_of_an_earlier_run(tmp_path: Path) -> None:
    """Where a file cannot be imported, no test begins, and the report that is there is said to be older."""
    fine = "from autotest import autotest, random_tensor, torch\n\n@autotest(n=1)\ndef test_a():\n"
    fine += "    return torch.sin(random_tensor(ndim=1))\n"
    run_pytest(tmp_path, {"test_a.py": fine}, "-q")
    outcome = run_pytest(tmp_path, {"test_a.py": "import nosuch\n"}, "-q")
    assert outcome.status == pytest.ExitCode.INTERRUPTED
    assert "no @autotest test began, so autotest-report/index.html is about an earlier run" in " ".join(
        outcome.out.split()
    )


@pytest.mark.parametrize("module", ["pytest", "autotest"])
def test_typed_command(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is repeated with the module that it was started with, or with the program."""
    monkeypatch.setattr("sys.argv", [f"/somewhere/{module}/__main__.py", "run", "a b"])
    assert typed_command() == f"python -m {module} run 'a b'"
    monkeypatch.setattr("sys.argv", [f"/somewhere/bin/{module}", "-q"])
    assert typed_command() == f"{module} -q"


RAISING = """
from autotest import autotest, random, random_tensor, torch

@autotest(n=10, coverage="none")
def test_third():
    k = random(0, 5).to(int).value()
    if k == 3:
        raise ValueError("three")
    return random_tensor(ndim=1) + k

def test_plain():
    try:
        test_third()
    except ValueError:
        raise RuntimeError("my own") from None
"""


def test_body_that_raises_in_one_case(tmp_path: Path) -> None:
    """The case is told, with the command that draws it again, and stands in the summary."""
    outcome = run_pytest(tmp_path, {"test_a.py": RAISING}, "-q", "--autotest-seed=4", "--autotest-inputs=plain")
    key = "test_a.py::test_third#" + str(len(outcome.ends("test_third")))
    again = f"autotest replay '{key}' test_a.py --seed 4 --target torch --inputs plain"
    assert f"- autotest -----------------------------------\nthe body raised in case {key}\n{again}\n" in outcome.out
    assert outcome.summary["errors"] == {
        "test_a.py::test_third": f"ValueError: three [in case #{key.rpartition('#')[2]}]",
        # What a plain test raises by itself is of no case.
        "test_a.py::test_plain": "RuntimeError: my own",
    }
    replayed = run_autotest(tmp_path, *shlex.split(again)[1:], "--target", "torch")
    assert replayed.returncode == 125
    assert f"cannot replay: {key} gave no case, for its test failed:\n" in replayed.stderr
    assert replayed.stderr.endswith("E           ValueError: three\n\ntest_a.py:8: ValueError\n")


NOT_COLLECTED = """
from autotest import autotest, random_tensor, torch

@autotest(n=2, coverage="none")
def check_sin():
    return torch.sin(random_tensor(ndim=1))

@autotest(n=2, coverage="none")
def helper():
    return torch.sin(random_tensor(ndim=1))

@autotest(n=2, coverage="none")
def test_itself():
    return torch.sin(random_tensor(ndim=1))

class TestOfOthers:
    def test_helper(self):
        helper()
"""


def test_what_is_decorated_and_no_test(tmp_path: Path) -> None:
    """It is told where it stands, unless a test calls it."""
    outcome = run_pytest(tmp_path, {"test_a.py": NOT_COLLECTED}, "-q", "-W", "default")
    assert outcome.outcomes() == {"test_itself": "passed", "test_helper": "passed"}
    sentence = (
        "check_sin is decorated by @autotest, but is no test, and nothing in its file calls it: give it a name that "
        "pytest takes tests by (test*)\n"
    )
    assert f"{tmp_path}/test_a.py:4: UserWarning: {sentence}" in outcome.out
    assert outcome.out.count("is decorated by @autotest, but is no test") == 1
    outcome = run_pytest(tmp_path, {}, "-q", "-W", "error")
    assert outcome.status == pytest.ExitCode.INTERRUPTED
    assert f"\nE   UserWarning: {sentence}" in outcome.out


UNDECORATED = """
from autotest import autotest, random, random_tensor, torch

@autotest(n=2, coverage="none")
def test_decorated():
    return torch.sin(random_tensor(ndim=1))

def test_calls():
    return torch.sin(random_tensor(ndim=1))

def test_draws():
    return random(1, 3).value()

def test_of_others():
    raise ValueError("theirs")
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_decorator_that_was_forgotten(tmp_path: Path, workers: str) -> None:
    """A test that only a decorated one can be is among those that failed; another's own failure is pytest's to tell."""
    outcome = run_pytest(tmp_path, {"test_a.py": UNDECORATED}, "-q", "-n", workers)
    assert outcome.status == 1
    assert outcome.outcomes() == {"test_decorated": "passed", "test_calls": "failed", "test_draws": "failed"}
    assert outcome.summary["errors"]["test_a.py::test_calls"].startswith(
        "dual_object.errors.OutsideCaseError: random_tensor() is used outside a case; "
    )
    assert outcome.summary["errors"]["test_a.py::test_draws"].startswith("generators.errors.OutsideCaseError: ")
    assert "\nFAILED: 2 of 3 tests failed without a divergence, " in outcome.out


CALLING_ITSELF = """
from autotest import autotest, random_tensor, torch

@autotest(n=2, coverage="none")
def test_inner():
    return torch.sin(random_tensor(ndim=1))

@autotest(n=2, coverage="none")
def test_outer():
    return test_inner()

@autotest(n=2, coverage="none")
def test_itself():
    return test_itself()

@autotest(n=2, coverage="none")
@autotest(n=2, coverage="none")
def test_twice():
    return torch.sin(random_tensor(ndim=1))
"""


def test_a_test_in_the_body_of_another(tmp_path: Path) -> None:
    """It is no helper, and is told so where it is called."""
    outcome = run_pytest(tmp_path, {"test_a.py": CALLING_ITSELF}, "-q")
    assert outcome.outcomes() == {
        "test_inner": "passed", "test_outer": "failed", "test_itself": "failed", "test_twice": "failed"
    }  # fmt: skip
    for called, line in (("inner", 10), ("itself", 14)):
        sentence = (
            f"test_{called} is decorated by @autotest, and called in the body of another such test, where it would be "
            f"a test of its own: take the decorator off one of them, and have the other call that [test_a.py:{line}]\n"
        )
        assert sentence in outcome.out
    twice = "test_twice is decorated by @autotest twice: take one of both off [test_a.py:16]\n"
    assert twice in outcome.out
    assert "faults of the harness" not in outcome.out


MISPLACED = """
import functools

import pytest
from hypothesis import given, strategies

from autotest import autotest, random_tensor, torch

@autotest(n=2, coverage="none")
def test_sound():
    return torch.sin(random_tensor(ndim=1))

@pytest.fixture
@autotest(n=2, coverage="none")
def drawn():
    return torch.lgamma(random_tensor(ndim=1))

def test_of_a_fixture(drawn):
    pass

@pytest.fixture
def late():
    yield
    test_sound()

def test_of_a_late_one(late):
    pass

class TestMethods:
    @autotest(n=2, coverage="none")
    def test_selfless():
        return torch.sin(random_tensor(ndim=1))

    @autotest(n=2, coverage="none")
    @staticmethod
    def test_static():
        return torch.sin(random_tensor(ndim=1))

    @staticmethod
    @autotest(n=2, coverage="none")
    def test_sound_static():
        return torch.sin(random_tensor(ndim=1))

@given(strategies.integers())
@autotest(n=2, coverage="none")
def test_given(k):
    return torch.sin(random_tensor(ndim=1))

@autotest(n=2, coverage="none")
@given(strategies.integers())
def test_given_below(k):
    return torch.sin(random_tensor(ndim=1))

def logged(test):
    @functools.wraps(test)
    def run():
        test()
    return run

@logged
@autotest(n=2, coverage="none")
def test_sound_below():
    return torch.sin(random_tensor(ndim=1))

@pytest.fixture
def tensor():
    return random_tensor(ndim=1)

@autotest(n=2, coverage="none")
def test_of_a_drawing_fixture(tensor):
    return torch.sin(tensor)
"""


def test_decorator_at_the_wrong_place(tmp_path: Path) -> None:
    """It is told at the test that cannot run, and nothing of it is booked under another one."""
    outcome = run_pytest(tmp_path, {"test_a.py": MISPLACED}, "-q")
    assert "4 failed, 4 passed, 3 errors in " in outcome.out
    words = "TestMethods.test_selfless cannot be called as it is here: too many positional arguments; a method takes "
    for sentence in (
        *(
            f"a function that is decorated by @autotest is called before or after test_a.py::{name}, as by a fixture, "
            "but it should be a test, or be called by one: take @autotest off the fixture, and draw in the body of the "
            f"test [test_a.py:{line}]\n"
            for name, line in (("test_of_a_fixture", 13), ("test_of_a_late_one", 9))
        ),
        *(
            f"{name} is decorated by @given as well as by @autotest, but should be by one of both: take @given "
            "off, and draw arguments in the body by generators, such as k = random(1, 5)\n"
            for name in ("test_given", "test_given_below")
        ),
        "    def tensor():\n>       return random_tensor(ndim=1)\n",
        f"{words}self, or has @staticmethod above @autotest [test_a.py:30]\n",
        "TestMethods.test_static is a staticmethod, but @autotest should stand above a function: "
        "put @staticmethod above @autotest [test_a.py:34]\n",
    ):
        assert sentence in outcome.out, outcome.out
    assert "recording.py" not in outcome.out
