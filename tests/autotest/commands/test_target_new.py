"""`autotest target new`: a skeleton that says what is to be written, and is a target once it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autotest.cli import main
from dual_object.adapters.dialect import read
from support.runs import run_pytest

SAID = """\
wrote {folder}/mine.py and {folder}/mine.json

1. Write what is marked @unfilled, and rows of the table. Told all at once by what every target must do:

   PYTHONPATH={folder} pytest --autotest-conformance mine:Adapter

2. Run tests on it:

   PYTHONPATH={folder} autotest run suites/test_unary.py --target mine:Adapter

3. Where the framework wants an interpreter of its own, or for a shorter name, pyproject.toml gets

   [tool.autotest.targets.mine]
   adapter = "mine:Adapter"
   python = ".venv-mine/bin/python"
   environment = {{ PYTHONPATH = "{folder}" }}
"""
UNFILLED = """\
target 'mine:Adapter' is a skeleton: write these members, and take away the @unfilled above each [docs/new-target.md]
  tensor_type: The class of tensors.
  tensor: A tensor of these values, of the dtype that is called so, and whether it shares memory with `data`.
  encode: `Name("float32")` for the framework's dtype of that name; any other value as it is.
  describe: PyTorch's name of a tensor's dtype, its shape, its device, and whether it wants a gradient.
  read: The values of all these tensors, as NumPy's arrays of the same shapes; bfloat16 as float32.
  gradients: Gradients of a whole Program, by leaf; with a tape want_grad, backward, gradient, forget_gradient instead.
"""


def new(*arguments: str) -> tuple[int, str]:
    """Type the command: how it ended, and what it said."""
    result = CliRunner().invoke(main, ["target", "new", *arguments])
    return result.exit_code, result.output


def conformance(folder: Path, *arguments: str) -> tuple[int, str]:
    """Type the command that it tells next."""
    outcome = run_pytest(folder, {}, "--autotest-conformance", "mine:Adapter", *arguments)
    return outcome.status, outcome.out


def filled(text: str) -> str:
    """The skeleton, its members written as those of NumPy's toy."""
    text = text.replace(
        "from dual_object.adapters", "from toy_target import Adapter as Toy\nfrom dual_object.adapters", 1
    )
    text = re.sub(
        r"    @property\n    @unfilled\n    def tensor_type.*?\n\n",
        "    tensor_type = Toy.tensor_type\n\n",
        text,
        flags=re.S,
    )
    text = re.sub(r"    @unfilled\n    def (\w+).*?\n\n", r"    \1 = Toy.\1\n\n", text, flags=re.S)
    return f"{text.rstrip()}\n\n    _slope = Toy._slope\n"


def test_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes two files, and says what to do with them; where nobody names a folder, it is this one."""
    assert new("mine", "--folder", str(tmp_path)) == (0, SAID.format(folder=tmp_path))
    kinds = {row.path: row.kind for row in read(tmp_path / "mine.json")}
    assert {**kinds} == {
        "Tensor.shape": "same",
        "exp": "renamed",
        "matmul": "renamed",
        "relu": "code",
        "sum": "renamed",
    }
    monkeypatch.chdir(tmp_path)
    status, said = new("other")
    assert (status, said.partition("\n")[0]) == (0, "wrote other.py and other.json")


def test_untouched_it_says_what_is_to_be_written(tmp_path: Path) -> None:
    """Each member with its sentence, once, by the tests that every target must pass."""
    new("mine", "--folder", str(tmp_path))
    assert "SKELETON" not in (tmp_path / "mine.py").read_text()
    status, out = conformance(tmp_path)
    assert status == 2
    assert UNFILLED.rstrip() in out
    assert out.count("is a skeleton") == 1


def test_filled_in_it_conforms(tmp_path: Path) -> None:
    """The rest of it does: what its table has is tried, functions of its own and gradients included."""
    new("mine", "--folder", str(tmp_path))
    module = tmp_path / "mine.py"
    module.write_text(filled(module.read_text()))
    assert "@unfilled\n" not in module.read_text()
    status, out = conformance(tmp_path, "-k", "says or relu or matmul or keywords", "-rs")
    assert status == 0, out
    assert "mine has no static graph" in out
    passed = re.search(r"(\d+) passed", out)
    assert passed is not None
    assert int(passed[1]) >= 5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my-target", "NAME='my-target', but should be an identifier of Python, such as my_target"),
        ("class", "NAME='class', but should be an identifier of Python, such as my_target"),
        ("2nd", "NAME='2nd', but should be an identifier of Python, such as my_target"),
        (
            "numpy",
            "NAME='numpy', but should be no module that can be imported, before which numpy.py would stand: such as "
            "numpy_target",
        ),
    ],
)
def test_names_that_are_none(name: str, said: str, tmp_path: Path) -> None:
    """Each is told with one that would do, and nothing is written."""
    assert new(name, "--folder", str(tmp_path)) == (2, f"{said}\n")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("there", ["mine.py", "mine.json"])
def test_nothing_is_overwritten(there: str, tmp_path: Path) -> None:
    """Either file may be somebody's."""
    (tmp_path / there).write_text("kept")
    path = tmp_path / there
    said = f"{path} is there already, but should not be: choose another NAME or --folder\n"
    assert new("mine", "--folder", str(tmp_path)) == (2, said)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [(there, "kept")]


def test_folders_that_are_none(tmp_path: Path) -> None:
    """One that is not there, or cannot be written, is named."""
    gone = tmp_path / "gone"
    assert new("mine", "--folder", str(gone)) == (
        2,
        f"folder={str(gone)!r}, but should be a folder that is there [--folder]\n",
    )
    assert new("mine", "--folder", "/proc") == (
        2,
        "folder='/proc' cannot be written: No such file or directory [--folder]\n",
    )


@pytest.mark.usefixtures("real_interpreter")
def test_no_framework_is_imported(tmp_path: Path) -> None:
    """Writing a file asks for none."""
    code = "import sys, autotest.commands.target_new as made; made.new_target('mine', made.Path(sys.argv[1]))"
    code += "; print([name for name in ('torch', 'oneflow') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout == "[]\n"
