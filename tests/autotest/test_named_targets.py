"""`[tool.autotest.targets.NAME]`: what it may say, and what is said of what it may not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotest.errors import UsageError
from autotest.options.targets import VARIABLE, launch, named_targets
from autotest.workers.launch import Launch


def project(folder: Path, text: str) -> Path:
    """A project with such a file."""
    file = folder / "pyproject.toml"
    file.write_text(text)
    return file


def test_nothing_is_named(tmp_path: Path) -> None:
    """A file that says nothing of targets does not hide the one above it."""
    (tmp_path / "below").mkdir()
    project(tmp_path / "below", "[tool.other]\n")
    assert named_targets(tmp_path / "below") == {}
    project(tmp_path, '[tool.autotest.targets.mine]\nadapter = "a:B"\n')
    assert named_targets(tmp_path / "below") == {"mine": Launch("mine", "a:B")}


def test_paths_lie_beside_the_file(tmp_path: Path) -> None:
    """An interpreter is found from any folder below."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    project(tmp_path, '[tool.autotest.targets.torch]\npython = "bin/python"\n')
    (tmp_path / "below").mkdir()
    assert launch("torch", folder=tmp_path / "below") == Launch("torch", python=str(tmp_path / "bin" / "python"))
    assert launch("oneflow", folder=tmp_path) == Launch("oneflow")


def test_who_names_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option before the variable before the file."""
    for name in ("file", "variable", "option"):
        (tmp_path / name).symlink_to(sys.executable)
    project(tmp_path, '[tool.autotest.targets.mine]\npython = "./file"\n')

    def chosen(option: str | None = None) -> str | None:
        return launch("mine", option, tmp_path).python

    assert chosen() == str(tmp_path / "file")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "variable"))
    assert chosen() == str(tmp_path / "variable")
    assert chosen(str(tmp_path / "option")) == str(tmp_path / "option")
    monkeypatch.setenv(VARIABLE, "/no/such")
    with pytest.raises(UsageError) as caught:
        chosen()
    assert str(caught.value) == (
        "target_python='/no/such', but should be the path of a Python interpreter [AUTOTEST_TARGET_PYTHON]"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("targets = 3", "tool.autotest.targets=3 in {file}, but should be a table of tables"),
        ("targets.mine = 3", "tool.autotest.targets.mine=3 in {file}, but should be a table"),
        ('targets."a:b" = {}', "tool.autotest.targets.a:b in {file}, but should be a name without ':' and ','"),
        (
            "targets.mine = { pyton = '' }",
            "tool.autotest.targets.mine.pyton in {file}, but should be adapter, python or environment",
        ),
        ("targets.mine = { adapter = 1 }", "tool.autotest.targets.mine.adapter=1 in {file}, but should be a text"),
        (
            "targets.mine = { environment = { A = 1 } }",
            "tool.autotest.targets.mine.environment={{'A': 1}} in {file}, but should be a table of texts",
        ),
    ],
)
def test_tables_that_mean_nothing(text: str, sentence: str, tmp_path: Path) -> None:
    """Each says which file and key."""
    file = project(tmp_path, f"[tool.autotest]\n{text}\n")
    with pytest.raises(UsageError) as caught:
        named_targets(tmp_path)
    assert str(caught.value) == sentence.format(file=file, folder=tmp_path)


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    """It is missed by whoever asks for its target, and by nobody else."""
    project(tmp_path, '[tool.autotest.targets.mine]\npython = "no/python"\n')
    assert launch("torch", folder=tmp_path) == Launch("torch")
    with pytest.raises(UsageError) as caught:
        launch("mine", folder=tmp_path)
    assert str(caught.value) == (
        f"target_python='{tmp_path}/no/python', but should be the path of a Python interpreter "
        "[tool.autotest.targets.mine.python in pyproject.toml]"
    )


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    """What cannot be read is told."""
    file = project(tmp_path, "[tool")
    with pytest.raises(UsageError, match=rf"^{file} cannot be read: "):
        named_targets(tmp_path)


def test_what_is_forked(tmp_path: Path) -> None:
    """OneFlow's processes, in this interpreter and with its own adapter alone."""
    python = sys.executable
    assert launch("oneflow", folder=tmp_path).forks is not None
    assert launch("oneflow", python, folder=tmp_path).forks is None
    assert launch("torch", folder=tmp_path).forks is None
    (tmp_path / "pyproject.toml").write_text(
        '[tool.autotest.targets.oneflow]\nadapter = "mine:Adapter"\n[tool.autotest.targets.other]\n'
    )
    assert launch("oneflow", folder=tmp_path).forks is None
    assert launch("other", folder=tmp_path).forks is None
