"""What the documentation shows is what happens: its tests run, its commands exist and print what stands below them."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from autotest.cli import main
from support.documents import ROOT, Block, blocks, lasting, unsaid
from support.forks import forks
from support.runs import environment, lay, run_autotest, run_pytest

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = sorted([README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
#: Pages whose examples run on PyTorch against itself. Those of global tensors need a target that has such.
GUIDES = ("index", "writing-tests", "faq")
#: As wide is the terminal whose text the pages show.
NARROW = {"COLUMNS": "80"}
#: What the examples of a guide leave out, since the page begins with it.
PRELUDE = "import pytest\nfrom autotest import *\n\n\n"


class Typed:
    """The tutorial, typed in from its first block to its last: what each command printed and how it ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: dict[str, str] = {}
        self.status: dict[str, int] = {}
        for block in blocks(TUTORIAL):
            if block.language == "python" and block.file:
                lay(folder, {block.file: block.text})
            elif block.language == "console":
                for command in block.commands:
                    self.type(command)

    def type(self, command: str) -> None:
        """Run one command, as a shell would with the environment's programs; the second run is not the first."""
        program, *words = shlex.split(command)
        files = [self.folder.glob(word) if "*" in word else [word] for word in words]
        arguments = [str(name) for names in files for name in names]
        if program == "autotest":
            done = run_autotest(self.folder, *arguments, env=NARROW)
        else:
            assert program == "python", command
            done = forks().run(arguments, self.folder, environment({}))
        key = command if command not in self.status else f"{command} (again)"
        self.printed[key], self.status[key] = done.stdout + done.stderr, done.returncode


@pytest.mark.slow
def test_tutorial_and_readme_show_what_happens(tmp_path: Path) -> None:
    """Red, still red by replay and by script, accepted, green: so the tutorial's commands end. What it and README.md
    show of them was printed; README.md has the tutorial's first test.
    """
    typed = Typed(tmp_path)
    assert [*typed.status.values()] == [1, 1, 1, 0, 0], typed.printed
    everything = "\n".join(typed.printed.values())
    for page, count in ((TUTORIAL, 5), (README, 3)):
        shown = [block for block in blocks(page, "text", "console") if any(block.printed)]
        assert len(shown) == count
        assert {block.line: unsaid(block.printed, everything) for block in shown} == {block.line: [] for block in shown}
    files = {block.file: block.text for block in blocks(README, "python") if block.file}
    assert files == {block.file: block.text for block in blocks(TUTORIAL, "python") if block.file in files}


@pytest.mark.slow
def test_guides_run(tmp_path: Path) -> None:
    """Each test of the guides is green on PyTorch against itself: none is skipped, none compares nothing."""
    tests: set[str] = set()
    for guide, page in [("README", README), *((guide, ROOT / "docs" / f"{guide}.md") for guide in GUIDES)]:
        for block in blocks(page, "python"):
            text = (
                block.text
                if block.file or re.search("^(from|import) ", block.text, re.MULTILINE)
                else PRELUDE + block.text
            )
            lay(tmp_path, {block.file or f"test_{guide.replace('-', '_')}_{block.line}.py": text})
            tests |= {*re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    outcome = run_pytest(tmp_path, {}, "-q", env={"PYTHONPATH": f"{ROOT / 'suites'}:{tmp_path}"})
    assert outcome.status == 0, outcome.out
    assert len(tests) > 10
    assert {name.partition("[")[0] for name in outcome.outcomes()} == tests
    assert set(outcome.outcomes().values()) == {"passed"}


@pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")
@pytest.mark.slow
def test_global_tensors_run(tmp_path: Path) -> None:
    """docs/global-tensors.md: its test is green with the ledger that its command names, and would be red without, as
    the page says, for a `to_global` in the static graph alone. Its training is green on two ranks.
    """
    page = ROOT / "docs" / "global-tensors.md"
    lay(tmp_path, {block.file: block.text for block in blocks(page, "python") if block.file})
    command, shared = [line for block in blocks(page, "console") for line in block.commands if " test_" in line]
    done = run_autotest(tmp_path, *shlex.split(command)[1:], "-n", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "autotest-report" / "summary.json").read_text())
    assert summary["outcomes"] == {"test_matmul.py::test_matmul": "passed"}
    assert {(row["op"], row["phase"]) for row in summary["known"]} == {("to_global", "graph_backward")}
    done = run_autotest(tmp_path, *shlex.split(shared)[1:])
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "autotest-report" / "summary.json").read_text())
    assert summary["outcomes"] == {"test_shared.py::test_shared": "passed"}
    assert summary["graph"]["verified"] == 2


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")
def test_contracts_run(tmp_path: Path) -> None:
    """docs/contracts.md: its promises are kept, but for what is gone, which is told as the page shows it."""
    page = ROOT / "docs" / "contracts.md"
    lay(tmp_path, {block.file: block.text for block in blocks(page, "python")})
    command = blocks(page, "console")[0].commands[0]
    done = run_autotest(tmp_path, *shlex.split(command)[1:], "-n", "0", env=NARROW)
    assert done.returncode == 1, done.stdout + done.stderr
    summary = json.loads((tmp_path / "autotest-report" / "summary.json").read_text())
    outcomes = {test.partition("::")[2]: outcome for test, outcome in summary["outcomes"].items()}
    kept = dict.fromkeys(("test_name", "test_levels[-2]", "test_levels[4]"), "passed")
    assert outcomes == {**kept, "test_xla": "failed"}
    [shown] = blocks(page, "text")
    assert shown.text in done.stdout


@pytest.mark.slow
def test_smallest_target_is_red(tmp_path: Path) -> None:
    """docs/targets.md: the harness sees the op that its smallest target has changed."""
    page = ROOT / "docs" / "targets.md"
    lay(tmp_path, {block.file: block.text for block in blocks(page, "python") if block.file})
    outcome = run_pytest(tmp_path, {}, "-q", target="mytarget:Adapter")
    assert outcome.status == 1, outcome.out
    [shown] = re.findall(r"^fails with `(.*?)`", page.read_text(), re.MULTILINE)
    assert shown in {row["fingerprint"] for row in outcome.summary["divergences"]}


def commands() -> list[tuple[str, str]]:
    """Each `autotest ...` that a page has somebody type, with where it stands."""
    found = [
        (f"{page.name}:{block.line}", command.removeprefix("PYTHONPATH=. "))
        for page in PAGES
        for block in blocks(page, "console")
        for command in block.commands
    ]
    recipes = [(f"ci.md:{line}", line) for block in blocks(ROOT / "docs" / "ci.md", "yaml") for line in scripts(block)]
    return [(place, command) for place, command in found + recipes if command.startswith("autotest ")]


def scripts(block: Block) -> list[str]:
    """What the jobs of a recipe have a shell run; GitHub's and GitLab's."""
    held = yaml.safe_load(block.text)
    jobs = held.get("jobs", held).values()
    return [
        line
        for job in jobs
        for line in job.get("script", [step["run"] for step in job.get("steps", []) if "run" in step])
    ]


def test_commands_exist() -> None:
    """Every command of the pages and recipes is one, with options and arguments that it takes."""
    typed = commands()
    assert len(typed) > 30
    assert len([place for place, _ in typed if place.startswith("ci.md")]) == 4
    for place, line in typed:
        for variable in ("${{ matrix.shard }}", "$CI_NODE_INDEX", "$CI_NODE_TOTAL"):
            line = line.replace(variable, "1")
        words = shlex.split(line)[1:]
        usage = any(re.sub(r"\W", "", word).isupper() for word in words)  # `autotest replay [--report DIR] ID`
        words = [re.sub(r"[\[\]]", "", word) if usage else word for word in words]
        command: click.Command = main
        while isinstance(command, click.Group):
            implied = getattr(command, "implied", None)  # `autotest campaign night.toml` is a run
            command = command.commands[words.pop(0) if implied is None or words[0] in command.commands else implied]
        if usage:
            known = {option for param in command.params for option in param.opts}
            assert {word for word in words if word.startswith("--") and word != "--"} <= known, (place, line)
            continue
        try:
            command.make_context(command.name, words)
        except click.UsageError as error:
            pytest.fail(f"{place}: {line}: {error.message}")


def test_reference_has_every_public_name() -> None:
    """docs/api.md has each name that a test file can import, and no other of `autotest`."""
    import autotest

    text = (ROOT / "docs" / "api.md").read_text()
    assert sorted(re.findall(r":: autotest\.(\w+)$", text, re.MULTILINE)) == sorted([*autotest.__all__, "tuple"])


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("tests  2  in 10.74 s, seed 0", "tests 2 in TIME, seed 0"),
        ("repro: autotest-report/runs/20261121-021033-0-11362/repros/4", "repro: autotest-report/runs/RUN/repros/4"),
        ("shrunk to 1 call, 1 element (24 runs, 1.2 s):", "shrunk to 1 call, 1 element (RUNS):"),
        ("oneflow 0.9.0 against torch 2.14.1+cu130", "oneflow VERSION against torch VERSION"),
        ("[0, 0] is 0.0, but should be 0.75216866", "[0, 0] is 0.0, but should be 0.75216866"),
    ],
)
def test_what_lasts_of_a_line(line: str, kept: str) -> None:
    """Seconds, versions and folders are left out of what is compared, and values are not."""
    assert lasting(line) == kept


def test_unsaid() -> None:
    """Lines that were not printed, or not in this order, are told; `...` stands for any."""
    assert unsaid(["a", "...", "c"], "a\nb\nc\n") == []
    assert unsaid(["c", "a"], "a\nb\nc\n") == ["a"]
    assert unsaid(["d"], "a\n") == ["d"]
