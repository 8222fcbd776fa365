"""docs/new-target.md: the target that it writes is shown whole, conforms, and is wrong where its table is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from autotest.cli import main
from autotest.options.targets import launch
from support.documents import ROOT, blocks
from support.runs import Outcome, run_pytest
from support.targets import launched

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = ROOT / "docs" / "new-target.md"
HOME = ROOT / "docs" / "mlx"
INCLUDED = re.compile(r"^```\{literalinclude\} (\S+)\n((?::.*\n)*)```$", re.MULTILINE)


def shown() -> dict[str, list[str]]:
    """What the page includes, by file: pieces of its text, in order."""
    found: dict[str, list[str]] = {}
    for file, options in INCLUDED.findall(PAGE.read_text()):
        text = (PAGE.parent / file).read_text()
        said = dict(re.findall(r"^:([\w-]+): (.*)$", options, re.MULTILINE))
        start = text.index(said["start-at"]) if "start-at" in said else 0
        end = text.index(said["end-before"]) if "end-before" in said else len(text)
        found.setdefault(file, []).append(text[start:end])
    return found


def conformance(folder: Path, *arguments: str) -> Outcome:
    """What every target must do, asked of the adapter in a folder."""
    python = launched("mlx").python
    assert python is not None, "PyTorch's environment has no mlx"
    asked = ["--autotest-conformance", "mlx_target:Adapter", "--autotest-target-python", python, *arguments]
    return run_pytest(folder, {}, *asked, env={"PYTHONPATH": str(folder)})


def test_page_shows_all_of_it() -> None:
    """Both files, each from its first line to its last; they are as long as the page says."""
    files = shown()
    assert sorted(files) == ["mlx/mlx.json", "mlx/mlx_target.py"]
    for file, pieces in files.items():
        assert "".join(pieces) == (PAGE.parent / file).read_text()
    rows, lines = re.search(r"a table of (\d+) rows, and one class, (\d+) lines", PAGE.read_text()).groups()  # type: ignore[union-attr]
    assert len(json.loads("".join(files["mlx/mlx.json"]))["rows"]) == int(rows)
    assert "".join(files["mlx/mlx_target.py"]).count("\n") == int(lines) <= 120


def test_page_says_what_the_project_says() -> None:
    """The target's table is that of `pyproject.toml`; what `target new` makes says the text that stands below it."""
    [block] = blocks(PAGE, "toml")
    told = tomllib.loads(block.text)["tool"]["autotest"]["targets"]["mlx"]
    assert told == tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["autotest"]["targets"]["mlx"]


def test_skeleton_says_the_text_below_it(tmp_path: Path) -> None:
    """What is to be written of it."""
    [command, *_] = [line for block in blocks(PAGE, "console") for line in block.commands]
    main([*command.split()[1:], "--folder", str(tmp_path)], standalone_mode=False)
    outcome = run_pytest(tmp_path, {}, "--autotest-conformance", "mlx_target:Adapter")
    [block] = blocks(PAGE, "text")
    assert outcome.status == 2
    assert block.text.rstrip() in outcome.out


@pytest.mark.own_environment
def test_it_conforms() -> None:
    """Nothing fails; gradients, in-place writes and the static graph are among what is tried."""
    outcome = conformance(HOME, "-rs", "-v", "-p", "no:cacheprovider")
    assert outcome.status == 0, outcome.out
    passed = {*re.findall(r"(test_\w+(?:\[[\w-]+\])?) PASSED", outcome.out)}
    assert len(passed) > 90
    named = {
        f"test_{way}_like_the_reference[{body}]" for way, body in [("eager", "setitem"), ("graph", "matmul-backward")]
    }
    assert named | {"test_batch_in_one_graph", "test_failing_call"} <= passed


@pytest.mark.own_environment
@pytest.mark.parametrize(
    ("file", "right", "wrong", "failed"),
    [
        ("mlx.json", '"to": "nn.relu"', '"to": "core.abs"', r"test_eager_like_the_reference\[relu\]"),
        (
            "mlx_target.py",
            "return {str(id_): gradient for",
            "return {str(id_): -gradient for",
            r"test_eager.*\[matmul\]",
        ),
        (
            "mlx_target.py",
            "trace.body([mx.array(y) for",
            "trace.body([mx.array(-y) for",
            r"test_graph.*\[relu-forward\]",
        ),
    ],
)
def test_faults_of_it_are_seen(file: str, right: str, wrong: str, failed: str, tmp_path: Path) -> None:
    """A wrong row, a wrong gradient, a wrong graph: each fails where it should."""
    for path in HOME.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_text(path.read_text())
    text = (tmp_path / file).read_text()
    assert right in text
    (tmp_path / file).write_text(text.replace(right, wrong))
    outcome = conformance(tmp_path, "-k", "relu or matmul")
    assert outcome.status == 1
    assert re.search(rf"^FAILED .*{failed}", outcome.out, re.MULTILINE), outcome.out


@pytest.mark.own_environment
def test_it_runs_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the project's folder, `mlx` names adapter, interpreter and folder."""
    python = launched("mlx").python
    monkeypatch.chdir(ROOT)
    found = launch("mlx")
    assert (found.loads, found.python, found.environment) == ("mlx_target:Adapter", python, {"PYTHONPATH": "docs/mlx"})
