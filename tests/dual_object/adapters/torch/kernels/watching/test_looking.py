"""What code looks at while it is watched."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import FrameType, FunctionType, ModuleType

import pytest
import torch

from dual_object.adapters.torch.kernels.watching.auditing import Auditor
from dual_object.adapters.torch.kernels.watching.guard import Guard
from dual_object.adapters.torch.kernels.watching.looking import looked_at
from dual_object.adapters.torch.kernels.watching.misconduct import Misconduct


@pytest.fixture
def seen() -> list[tuple[str, object]]:
    """What was told of."""
    return []


def test_modules_arguments_and_files_are_told_of(seen: list[tuple[str, object]], tmp_path: Path) -> None:
    """Whoever looks gets what there is; afterwards nobody is told of anything."""
    stat = os.stat

    def told(words: str, path: object, frame: FrameType) -> None:
        if Path(frame.f_code.co_filename).name in (Path(__file__).name, "genericpath.py"):
            seen.append((words, path))

    with looked_at(told):
        assert "os" in sys.modules
        assert sys.argv
        assert not os.path.exists(tmp_path / "nothing")
        assert os.access(tmp_path, os.R_OK)
        assert sys.byteorder in ("little", "big")
    assert seen == [
        ("it looks at which modules are loaded", None),
        ("it looks at how the process was started", None),
        ("it looks for a file", tmp_path / "nothing"),
        ("it looks for a file", tmp_path),
    ]
    assert type(sys) is ModuleType
    assert os.stat is stat


def test_modules_that_are_imported_meanwhile_are_ordinary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python makes a new module of the class that `sys` has."""
    (tmp_path / "imported_meanwhile.py").write_text("modules = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    with looked_at(lambda words, path, frame: None):
        import imported_meanwhile
    del sys.modules["imported_meanwhile"]
    assert type(imported_meanwhile) is ModuleType
    assert imported_meanwhile.modules == 3


def test_who_asks_whether_tests_could_run_is_answered(tmp_path: Path) -> None:
    """As PyTorch's compiler does where it is first imported."""
    found = []

    def kernel(x: torch.Tensor) -> torch.Tensor:
        found.append([importlib.util.find_spec(name) is not None for name in ("hypothesis", "doctest")])
        return x.clone()

    guard = Guard("relu", kernel, torch.relu, Auditor(str(tmp_path)), delegates=True, always=True)
    guard(torch.rand(2))
    guard(torch.rand(2))
    assert found == [[True, True], [True, True]]


def test_python_itself_is_not_of_the_folder_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What imports modules is of no file, wherever a kernel is judged; what a kernel has `exec` run is of its file."""
    (tmp_path / "late.py").write_text("late = 1\n")
    (tmp_path / "kernels.py").write_text(
        "def asks(x):\n    exec('import sys; sys.modules', globals())\n    return x.clone()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    asks = importlib.import_module("kernels").asks

    def imports(x: torch.Tensor) -> torch.Tensor:
        importlib.import_module("late")
        return x.clone()

    Guard("relu", imports, torch.relu, Auditor(str(tmp_path)), delegates=True)(torch.rand(2))
    with pytest.raises(Misconduct) as told:
        Guard("relu", asks, torch.relu, Auditor(str(tmp_path)), delegates=True)(torch.rand(2))
    del sys.modules["late"], sys.modules["kernels"]
    assert str(told.value) == "cheating: it looks at which modules are loaded"


def test_modules_may_add_to_the_filters_of_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When they are imported; a kernel by itself may not."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "that_warns.py").write_text("import warnings\nwarnings.filterwarnings('once', 'first of two')\n")

    def imports(x: torch.Tensor) -> torch.Tensor:
        importlib.import_module("that_warns")
        return x.clone()

    def adds(x: torch.Tensor) -> torch.Tensor:
        warnings.filterwarnings("once", "second of two")
        return x.clone()

    with warnings.catch_warnings():
        Guard("relu", imports, torch.relu, Auditor(str(tmp_path)), delegates=True)(torch.rand(2))
        with pytest.raises(Misconduct) as told:
            Guard("relu", adds, torch.relu, Auditor(str(tmp_path)), delegates=True)(torch.rand(2))
    del sys.modules["that_warns"]
    assert str(told.value) == "state: it leaves the filters of warnings changed"


def test_compilers_start_processes() -> None:
    """Triton's, in whichever module of it; others do not."""
    auditor = Auditor("/nowhere")
    told = []
    for name in ("triton.runtime.build", "tritons"):
        namespace = {"__name__": name, "subprocess": subprocess, "sys": sys}
        compiled = FunctionType(_asks_a_compiler.__code__, namespace)
        with auditor.listening():
            compiled()
        told.append((auditor.compiled, {category for category, _ in auditor.seen}))
    assert told == [(True, set()), (False, {"fork"})]


def _asks_a_compiler() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)
