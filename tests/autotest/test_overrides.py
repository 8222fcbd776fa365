"""`--override` and its files: what they mean, and what is said of what means nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autotest.errors import UsageError
from autotest.options import OPTIONS, RunOptions
from autotest.options.overrides import Override, overridden, read_overrides
from autotest.options.targets import launch
from autotest.workers.launch import Launch
from dual_object.replay.asked.kernels import OVERRIDES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file and a package of kernels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text("raise SystemExit\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("raise SystemExit\n")
    (tmp_path / "package" / "module.py").write_text("raise SystemExit\n")
    return tmp_path.resolve()


def test_names(folder: Path) -> None:
    """Files and modules are found, and not imported; operators have one spelling of several."""
    given = OPTIONS["override"].read(
        [
            "torch.nn.functional.relu=kernels.py:relu",
            "aten::_softmax=package.module:softmax",
            "torch.ops.aten.add.Tensor=package:Sums.add",
        ]
    )
    assert given == (
        Override("nn.functional.relu", folder / "kernels.py", "relu"),
        Override("aten._softmax.default", folder / "package" / "module.py", "softmax"),
        Override("aten.add.Tensor", folder / "package" / "__init__.py", "Sums.add"),
    )
    assert [one.text for one in given[:2]] == [
        f"torch.nn.functional.relu={folder}/kernels.py:relu",
        f"aten._softmax.default={folder}/package/module.py:softmax",
    ]
    assert [Override.from_json(one.to_json()) for one in given] == [*given]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("torch.softmax", "override='torch.softmax', but should be OP=FILE.py:FUNCTION, OP=package.module:FUNCTION, or "
         "a file such as kernels.toml [--override]"),
        ("torch.softmax=kernels.py", "override='torch.softmax=kernels.py', but should name a function of a file, as "
         "FILE.py:FUNCTION or package.module:FUNCTION do [--override]"),
        ("torch.softmax=other.py:f", "override='torch.softmax=other.py:f', but there is no file other.py [--override]"),
        ("torch.softmax=a.b:f", "override='torch.softmax=a.b:f', but there is no module a.b [--override]"),
        ("softmax=kernels.py:f", "override='softmax=kernels.py:f', but its op should be a public function, such as "
         "torch.nn.functional.softmax, or an operator, such as aten._softmax.default [--override]"),
        ("torch.Tensor.softmax=kernels.py:f", "override='torch.Tensor.softmax=kernels.py:f', but methods are reached "
         "by their operators alone, such as aten._softmax.default [--override]"),
        ("no.toml", "override='no.toml' cannot be read: No such file or directory [--override]"),
    ],
)  # fmt: skip
def test_what_means_nothing(text: str, sentence: str, folder: Path) -> None:
    """One sentence each, with the knob."""
    with pytest.raises(UsageError) as caught:
        OPTIONS["override"].read([text], "--override")
    assert str(caught.value) == sentence


ENTRY = '[[kernel]]\nop = "torch.softmax"\nimplementation = "kernels.py:softmax"\n'


def test_a_file(folder: Path) -> None:
    """All that a file can say; implementations lie beside it."""
    (folder / "package" / "kernels.toml").write_text(
        '[[kernel]]\nop = "torch.softmax"\nimplementation = "module.py:softmax"\n'
        'domain = { dtypes = ["float32", "int8"] }\nknown_gaps = ["no out="]\ndelegates = true\n'
        'claims = ["vmap", "threads"]\n'
    )
    assert read_overrides(Path("package") / "kernels.toml") == (
        Override(
            "softmax",
            folder / "package" / "module.py",
            "softmax",
            ("float32", "int8"),
            ("no out=",),
            delegates=True,
            claims=("vmap", "threads"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "override='k.toml', but should have tables [[kernel]] [--override]"),
        ("kernel = 3", "override='k.toml', but should have tables [[kernel]] [--override]"),
        (ENTRY + "dtypes = []", "kernel 1 of k.toml has dtypes, but should have op, implementation, domain, "
         "known_gaps, delegates or claims [--override]"),
        (ENTRY + '[[kernel]]\nop = "torch.sin"', "kernel 2 of k.toml has implementation=None, but should have a text "
         "[--override]"),
        (ENTRY + "domain = { shapes = [] }", "kernel 1 of k.toml has domain={'shapes': []}, but should have "
         "{ dtypes = [...] } [--override]"),
        (ENTRY + 'domain = { dtypes = ["half"] }', "kernel 1 of k.toml has dtypes=['half'], but should have some of "
         "float16, bfloat16, float32, float64, int8, uint8, int16, int32, int64, bool, complex64, complex128 "
         "[--override]"),
        (ENTRY + "known_gaps = [1]", "kernel 1 of k.toml has known_gaps=[1], but should have a list of texts "
         "[--override]"),
        (ENTRY + "delegates = 1", "kernel 1 of k.toml has delegates=1, but should have true or false [--override]"),
        (ENTRY + 'claims = ["jit"]', "kernel 1 of k.toml has claims=['jit'], but should have some of vmap, compile, "
         "threads [--override]"),
        (ENTRY.replace("kernels.py", "no.py"), "kernel 1 of k.toml, but there is no file no.py [--override]"),
    ],
)  # fmt: skip
def test_files_that_mean_nothing(text: str, sentence: str, folder: Path) -> None:
    """Each says which table and key."""
    (folder / "k.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_overrides(Path("k.toml"))
    assert str(caught.value) == sentence


def test_a_file_that_is_no_toml(folder: Path) -> None:
    """What cannot be read is told."""
    (folder / "k.toml").write_text("[kernel")
    with pytest.raises(UsageError, match=r"^override='k.toml' cannot be read: "):
        read_overrides(Path("k.toml"))


def test_the_process(folder: Path) -> None:
    """Kernels are named in its environment alone; without any it is started as ever."""
    one = Override("softmax", folder / "kernels.py", "softmax")
    started = launch("torch", overrides=[one])
    assert (started.target, started.loads) == ("torch", "dual_object.adapters.torch.kernels.overriding:Adapter")
    assert json.loads(started.environment[OVERRIDES]) == [["softmax", f"{folder}/kernels.py", "softmax", [], [], False]]
    assert launch("torch", overrides=[]) == Launch("torch")


def test_memory_of_its_own(folder: Path) -> None:
    """What diverges with a kernel is not remembered of PyTorch itself."""
    one = Override("softmax", folder / "kernels.py", "softmax")
    assert RunOptions(target="torch").remembered == "torch"
    assert RunOptions(target="torch", override=(one,)).remembered == (
        f"torch torch.softmax={folder}/kernels.py:softmax"
    )


def test_processes_without_overrides(folder: Path) -> None:
    """Another target, another interpreter, one op twice."""
    one = Override("softmax", folder / "kernels.py", "softmax")
    for started, overrides, sentence in (
        (Launch("oneflow"), [one], "target='oneflow', but the target should be torch: kernels stand for ops of PyTorch "
         "[--override]"),
        (Launch("torch:inductor"), [one], "target='torch:inductor', but the target should be torch: kernels stand for "
         "ops of PyTorch [--override]"),
        (Launch("torch", python="/p"), [one], "target_python='/p', but it should be left out: kernels stand for ops of "
         "PyTorch [--override]"),
        (Launch("torch"), [one, one], "torch.softmax is overridden twice, but should be once [--override]"),
    ):  # fmt: skip
        with pytest.raises(UsageError) as caught:
            overridden(started, overrides)
        assert str(caught.value) == sentence
