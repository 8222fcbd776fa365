"""`autotest kernel` as people type it, and docs/kernels.md."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
import torch

from autotest.kernels.claims import op_path
from autotest.kernels.judge import Kernel
from autotest.repro.running import run_python
from dual_object.replay.adapter import load_reference
from support.runs import run_autotest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "kernels.md").read_text()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The kernel of the page, judged by its command: the folder, and what was printed."""
    folder = tmp_path_factory.mktemp("kernel")
    [source] = re.findall(r"```python\n# mykernels.py\n(.*?)```", PAGE, re.DOTALL)
    (folder / "mykernels.py").write_text(source)
    command, *_ = re.findall(r"\$ autotest (kernel .*)", PAGE)
    done = run_autotest(folder, *command.split())
    assert (done.returncode, done.stderr) == (1, "")
    return folder, done.stdout


def test_the_page_shows_what_is_printed(judged: tuple[Path, str]) -> None:
    """But for the seconds."""
    _, printed = judged
    [shown] = re.findall(r"```text\n(mykernels.*?)```", PAGE, re.DOTALL)
    assert re.sub(r"[\d.]+ s$", "s", shown, flags=re.MULTILINE) in re.sub(
        r"[\d.]+ s$", "s", printed, flags=re.MULTILINE
    )


def test_each_script_shows_the_fault_and_not_without_it(judged: tuple[Path, str], tmp_path: Path) -> None:
    """It ends with 1 for the kernel, and with 0 for one that is right."""
    folder, printed = judged
    right = tmp_path / "right.py"
    right.write_text("import torch\n\n\ndef softmax(*args, **kwargs):\n    return torch.softmax(*args, **kwargs)\n")
    scripts = re.findall(r"shown by: python (\S+)", printed)
    assert len(scripts) == 4
    for script in scripts:
        done = run_python([str(folder / script)])
        assert done.status == 1, done.err
        assert "softmax: tensor(" in done.out
        done = run_python([str(folder / script), str(right)])
        assert (done.status, done.out) == (0, ""), done.err


def test_a_kernel_that_does_not_end(tmp_path: Path) -> None:
    """Its script does not end either, which shows it, and is not waited for longer than a question was."""
    (tmp_path / "loop.py").write_text("def relu(x):\n    while True:\n        pass\n")
    arguments = ["--like", "torch.relu", "--dtypes", "float32", "--case-timeout", "1", "--budget", "20", "loop.py:relu"]
    begun = time.monotonic()
    done = run_autotest(tmp_path, "kernel", *arguments)
    assert time.monotonic() - begun < 50
    assert (done.returncode, done.stderr) == (1, "")
    assert "timeout: it does not end (3 questions)" in done.stdout
    assert "shown by: python autotest-kernels/loop.relu/timeout/repro.py" in done.stdout


def test_json_for_two_kernels(judged: tuple[Path, str], tmp_path: Path) -> None:
    """One is accepted and one refused: the status is that of the worse."""
    (tmp_path / "two.py").write_text(
        "import torch\n\n\ndef relu(input):\n    return torch.clamp(input, min=0)\n\n\n"
        "def other(input):\n    return torch.clamp(input, min=-1)\n"
    )
    asked = ("--like", "relu", "--dtypes", "float32", "--no-grad", "--json")
    done = run_autotest(tmp_path, "kernel", "two.py:relu", "two.py:other", *asked)
    assert done.returncode == 1, done.stderr
    first, second = json.loads(done.stdout)
    assert (first["kernel"], first["like"], first["accepted"], first["findings"]) == (
        "two.py:relu",
        "torch.relu",
        True,
        [],
    )
    assert set(first["score"].values()) == {1.0}
    assert second["findings"][0]["category"] == "numerics"
    assert second["score"]["values"] < 1.0 == second["score"]["side effects"]
    assert "second" not in first["cells"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nosuch.py:x",), "KERNEL='nosuch.py:x', but nosuch.py is no file\n"),
        (("k.py:relu", "--dtypes", "int9"), "dtypes=int9, but torch.relu takes "),
        (("k.py:broken", "--like", "relu"), "k.py has no function broken, but should\n"),
        (
            ("k.py:relu", "--shapes", "n,0"),
            "shapes='n,0', but should be a number or a letter for each dimension, as n,128",
        ),
        (("k.py:relu", "--devices", "tpu"), "devices=tpu, but should be some of cpu, cuda [--devices]\n"),
        (
            ("k.py:relu", "--devices", "cpu,cuda", "--time"),
            "devices=cpu,cuda comes with --time, which measures on the CPU alone [--devices]\n",
        ),
        (
            ("k.py:Relu", "--like", "relu"),
            "k.py has a class Relu, but should have a function: name one that calls it\n",
        ),
        (("imports.py:relu",), "imports.py cannot be imported: ModuleNotFoundError: No module named 'nosuch'\n"),
        (("exits.py:relu",), "exits.py: target 'kernel' died at import: exited with status 3; its last words: none\n"),
        (("bad.py:relu",), "bad.py cannot be imported: SyntaxError: '(' was never closed (bad.py, line 1)\n"),
    ],
)
def test_what_cannot_be_judged(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """A sentence, and the status of a wrong usage."""
    (tmp_path / "k.py").write_text("def relu(input):\n    return input\n\n\nclass Relu: ...\n")
    (tmp_path / "bad.py").write_text("def relu(\n")
    (tmp_path / "imports.py").write_text("import nosuch\n")
    (tmp_path / "exits.py").write_text("import sys\n\nsys.exit(3)\n")
    done = run_autotest(tmp_path, "kernel", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_function_without_parameters(tmp_path: Path) -> None:
    """It is refused in one sentence, for it takes nothing."""
    (tmp_path / "k.py").write_text("def relu():\n    return 1\n")
    asked = ("--dtypes", "float32", "--no-grad", "--shapes", "n,8", "--json")
    done = run_autotest(tmp_path, "kernel", "k.py:relu", *asked)
    assert done.returncode == 1, done.stderr
    [row] = json.loads(done.stdout)
    [finding] = row["findings"]
    number = sum(cell["asked"] for cell in row["cells"].values())
    assert (finding["category"], finding["message"]) == (
        "arguments",
        f"it takes none of {number} calls: it takes no such arguments: too many positional arguments",
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="a kernel of Triton runs where a GPU is")
def test_triton_without_a_gpu_is_no_verdict(tmp_path: Path) -> None:
    """Whether or not Triton itself is there."""
    (tmp_path / "k.py").write_text("import triton\n\n\ndef relu(input):\n    return input\n")
    done = run_autotest(tmp_path, "kernel", "k.py:relu", "--dtypes", "float32")
    assert (done.returncode, done.stdout) == (2, "")
    assert "k.py imports triton, " in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_sandbox_that_is_not_there(tmp_path: Path) -> None:
    """It is said before anything is judged."""
    (tmp_path / "k.py").write_text("def relu(input):\n    return input\n")
    asked = ("k.py:relu", "--dtypes", "float32", "--sandbox")
    done = run_autotest(tmp_path, "kernel", *asked, env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--sandbox needs bwrap, which is not on PATH: install the package bubblewrap\n"


def test_times_of_what_is_claimed(tmp_path: Path) -> None:
    """They are told besides, and are no reason for anything."""
    (tmp_path / "k.py").write_text("import torch\n\n\ndef relu(input):\n    return torch.clamp(input, min=0)\n")
    asked = ("--dtypes", "float32", "--no-grad", "--shapes", "n,64", "--budget", "0", "--time", "--json")
    done = run_autotest(tmp_path, "kernel", "k.py:relu", *asked)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)
    assert [one["wrong"] for one in row["times"]] == [0, 0, 0]
    assert [shape[1] for one in row["times"] for shape in one["shapes"]] == [64, 64, 64]


def test_a_folder_a_table_and_a_problem(tmp_path: Path) -> None:
    """Each is read, and says how its op was found; what is left out is told."""
    relu = "import torch\n\n\ndef {}(input):\n    return torch.clamp(input, min={})\n"
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "one.py").write_text(relu.format("relu", 0))
    (folder / "two.py").write_text(relu.format("nosuch", 0))
    (tmp_path / "mine.py").write_text(relu.format("relu", -1))
    (tmp_path / "kernels.toml").write_text(
        '[[kernel]]\nop = "torch.relu"\nimplementation = "mine.py:relu"\ndomain = { dtypes = ["float32"] }\n'
        'known_gaps = ["no complex numbers"]\n'
    )
    (tmp_path / "problem.py").write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n\n"
        "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.clamp(x, min=0)\n\n\n"
        "def get_inputs():\n    return [torch.randn(4, 5)]\n\n\ndef get_init_inputs():\n    return []\n"
    )
    done = run_autotest(tmp_path, "kernel", "kernels", "kernels.toml", "problem.py")
    assert done.returncode == 1, done.stderr
    heads = re.findall(r"^(\S+) as (\S+): (\w+), \d+ questions", done.stdout, re.MULTILINE)
    assert [(name.rpartition("/")[2], like, verdict) for name, like, verdict in heads] == [
        ("one.py:relu", "torch.relu", "accepted"),
        ("mine.py:relu", "torch.relu", "refused"),
        ("problem.py:ModelNew", "problem.py:Model", "accepted"),
    ]
    assert "two.py: not judged: PyTorch has no public function nosuch\n" in done.stdout
    for note in (
        "one.py has the function relu alone",
        "kernels.toml names torch.relu",
        "known gap: no complex numbers",
    ):
        assert f"  {note}\n" in done.stdout
    assert "  its parameters are those of Model\n" in done.stdout
    done = run_autotest(tmp_path, "kernel", "kernels", "--json", "--dtypes", "float32", "--budget", "0")
    left, _ = json.loads(done.stdout)
    assert (left["kernel"], left["not_judged"]) == ("kernels/two.py", "PyTorch has no public function nosuch")
    done = run_autotest(tmp_path, "kernel", "problem.py", "--sandbox")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "--sandbox comes with the problem problem.py, but is for functions: leave it out [--sandbox]\n"
    )
    for option in ("--vmap", "--compile", "--threads"):
        done = run_autotest(tmp_path, "kernel", "problem.py", option)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"{option} comes with the problem problem.py, but is for functions: leave it out [{option}]\n"
        )
    done = run_autotest(tmp_path, "kernel", "kernels", "--like", "relu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--like=relu comes with kernels, whose kernels are named after their ops [--like]\n"


def test_what_cannot_be_judged_costs_no_verdict_of_others(tmp_path: Path) -> None:
    """It is told beside them, with status 2; `--like` is given once, or once for each."""
    (tmp_path / "three.py").write_text(
        "import torch\n\n\ndef relu(input):\n    return torch.clamp(input, min=0)\n\n\n"
        "def embedding(input, weight):\n    return weight[input].clone()\n"
    )
    kernels = ("three.py:nosuch", "three.py:relu")
    options = ("--dtypes", "float32", "--no-grad")
    done = run_autotest(tmp_path, "kernel", *kernels, "--like", "torch.relu", "--like", "torch.relu", *options)
    assert done.returncode == 2
    first, *_ = done.stdout.splitlines()
    assert first == f"three.py:nosuch: not judged: {tmp_path}/three.py has no function nosuch, but should"
    assert "three.py:relu as torch.relu: accepted" in done.stdout
    done = run_autotest(tmp_path, "kernel", *kernels, "three.py:embedding", "--like", "relu", "--like", "relu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "like=relu, relu for 3 kernels, but should be given once for all of them, or once for each [--like]\n"
    )


def test_the_op_of_a_name_takes_the_samples_of_it() -> None:
    """`torch.embedding` is what `torch.nn.functional.embedding` calls."""
    kernel = Kernel(Path("k.py"), "embedding")
    assert op_path(load_reference(), None, kernel) == "nn.functional.embedding"
    assert op_path(load_reference(), "torch.embedding", kernel) == "nn.functional.embedding"
    assert op_path(load_reference(), "relu", kernel) == "relu"
