"""`autotest check`: expressions from the shell are tests as any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from autotest.cli import main
from support.runs import Outcome, run_autotest

QUICK = ["--target", "torch", "--inputs", "plain", "--repro-total", "0", "--blame-total", "0", "--no-memory"]


def test_check(tmp_path: Path) -> None:
    """It draws, judges, shrinks and reports: a fault of the target is red, with the expression that shows it; the test
    file is where nobody collects it.
    """
    expressions = ["torch.sin(x[2, n])", "torch.abs(x[3])"]
    done = run_autotest(tmp_path, "check", *expressions, "-n", "3", *QUICK, env={"AUTOTEST_FAULT": "faults:shrinkable"})
    assert done.returncode == 1, done.stdout + done.stderr
    summary = Outcome(1, done.stdout, tmp_path).summary
    assert {name: summary[name] for name in ("tests", "cases")} == {"tests": 2, "cases": 6}
    assert summary["outcomes"] == {"test_check.py::test_sin": "failed", "test_check.py::test_abs": "passed"}
    assert "  autotest check 'torch.sin(tensor([" in done.stdout
    [path] = (tmp_path / ".autotest" / "check").glob("*/test_check.py")
    assert path.read_text().startswith("# autotest check 'torch.sin(x[2, n])' 'torch.abs(x[3])'\n")
    assert (tmp_path / ".autotest" / ".gitignore").read_text() == "*\n"


@pytest.mark.slow
def test_what_was_accepted_is_known(tmp_path: Path) -> None:
    """It is written into the ledger of the folder, as it is for a test file there, and known to each expression."""
    fault = {"AUTOTEST_FAULT": "faults:shrinkable"}
    done = run_autotest(tmp_path, "check", "torch.sin(x[2, n])", "-n", "3", *QUICK, env=fault)
    assert done.returncode == 1, done.stdout + done.stderr
    done = run_autotest(tmp_path, "accept", "--where", "op=sin", "--reason", "planted")
    assert (done.returncode, done.stdout) == (0, "1 accepted into known_divergences.toml\n"), done.stderr
    done = run_autotest(tmp_path, "check", "torch.sin(y[3]) + 1", "-n", "3", *QUICK, env=fault)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "; nothing new, 1 op is known to diverge\n" in done.stdout
    # Another file of known divergences is taken in its place.
    (tmp_path / "other.toml").write_text("")
    line = ["check", "torch.sin(y[3])", "-n", "3", "--ledger", "other.toml"]
    assert run_autotest(tmp_path, *line, *QUICK, env=fault).returncode == 1


def test_pytorch_ends_the_process(tmp_path: Path) -> None:
    """Where PyTorch itself ends the process that draws, the case is told, and the other expressions are judged."""
    (tmp_path / "ends.py").write_text("import os\nimport torch\n\ntorch.sin = lambda x: os.abort()\n")
    done = run_autotest(
        tmp_path,
        *("check", "torch.sin(x[2])", "torch.abs(x[3])", "-n", "3", *QUICK),
        env={"PYTHONPATH": str(tmp_path), "PYTEST_PLUGINS": "ends"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    outcomes = Outcome(1, done.stdout, tmp_path).summary["outcomes"]
    assert outcomes == {"test_check.py::test_abs": "passed", "test_check.py::test_sin": "failed"}
    assert "the last case that it began is test_check.py::test_sin#0. PyTorch has ended it" in done.stdout


def test_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that was run is left where it was asked for; nothing is overwritten."""
    ran: list[tuple[list[str], str, dict[str, object]]] = []
    monkeypatch.setattr("autotest.commands.check.run_pytest", lambda *given: ran.append(given) or 0)
    monkeypatch.chdir(tmp_path)
    arguments = ["check", "x[2] + 1", "--seed", "3", "--ledger", "a.toml", "--ledger", "suites", "--memory-limit", "2G"]
    arguments += ["--write", "test_x.py"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.output) == (0, "")
    [(given, processes, options)] = ran
    assert (given[0], processes, options["seed"], options["target"]) == ("test_x.py", "1", "3", "oneflow")
    assert (options["ledger"], options["memory_limit"]) == (("a.toml", "suites"), "2G")
    assert "return x + 1\n" in Path("test_x.py").read_text()
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert result.output == "--write=test_x.py is there already, but should be a new file [--write]\n"
    result = CliRunner().invoke(main, ["check", "x[2] + 1", "--write", "x.txt"])
    assert (result.exit_code, result.output) == (2, "--write=x.txt should end in .py [--write]\n")
    result = CliRunner().invoke(main, ["check", "x[2] + 1", "--write", "test_x.py/test_y.py"])
    assert result.exit_code == 2
    assert result.output == "test_x.py/test_y.py cannot be written: File exists; choose another file with --write\n"


def test_bad_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown with the place, and nothing is run or written."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["check", "torch.relu(x[2])", "torch.relu(y)"])
    assert result.exit_code == 2
    assert result.output == (
        "torch.relu(y)\n"
        "           ^\n"
        "y has no sizes, but should have them where it is first named, such as y[2, 3] or y[n]\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_minus_in_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An expression that begins with a minus is one, wherever it stands; an option that is none is refused."""
    monkeypatch.setattr("autotest.commands.check.run_pytest", lambda *_: 0)
    monkeypatch.chdir(tmp_path)
    typed = ["check", "-x[2, 3]", "--write", "test_x.py", "-nn.ReLU()(y[n])", "-n", "5", "-(x[2] + 1)"]
    result = CliRunner().invoke(main, typed)
    assert (result.exit_code, result.output) == (0, "")
    text = Path("test_x.py").read_text()
    assert text.startswith("# autotest check '-x[2, 3]' '-nn.ReLU()(y[n])' '-(x[2] + 1)'\n"), text
    assert [line.strip() for line in text.splitlines() if "return" in line] == [
        "return -x",
        "return -torch.nn.ReLU()(y)",
        "return -(x + 1)",
    ]
    result = CliRunner().invoke(main, ["check", "x[2] + 1", "--rport=a(1)"])
    assert result.exit_code == 2
    assert "Error: No such option '--rport'." in result.output
