"""Modules that say to be others: sound ones are accepted, those that are right on one shape alone are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.errors import EnvironmentFault, UsageError
from autotest.kernels.modules import ModuleJudge, ModulePair, ModuleVerdict
from dual_object.replay.adapter import load_reference

pytestmark = pytest.mark.slow

PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x)).sum(dim=1, keepdim=True)

batch_size = 16
features = 10
outputs = 6

def get_inputs():
    return [torch.rand(batch_size, features)]

def get_init_inputs():
    return [features, outputs]
"""
HEAD = """
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        {make}

    def forward(self, x):
        {body}
"""
COPIED = "self.linear = nn.Linear(features, outputs)"
SOUND = "return (x @ self.linear.weight.t() + self.linear.bias).clamp(min=0).sum(1, keepdim=True)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the problem."""
    folder = tmp_path_factory.mktemp("problem")
    (folder / "problem.py").write_text(PROBLEM)
    return folder


@pytest.fixture(scope="module")
def judge(folder: Path) -> ModuleJudge:
    """Its judge."""
    return ModuleJudge(load_reference(), folder / "problem.py")


def verdict(judge: ModuleJudge, folder: Path, body: str, make: str = COPIED) -> ModuleVerdict:
    """What the judge says of a module."""
    file = folder / "new.py"
    file.write_text(HEAD.format(make=make, body=body))
    return judge.judge(ModulePair(folder / "problem.py", file))


def categories(found: ModuleVerdict) -> set[str]:
    """What it is refused for."""
    return {finding.category for finding in found.verdict.findings}


def test_a_sound_module(judge: ModuleJudge, folder: Path) -> None:
    """It is accepted, with the parameters of the other, on its shapes and on others."""
    found = verdict(judge, folder, SOUND)
    assert found.verdict.accepted, [finding.sentence for finding in found.verdict.findings]
    assert found.verdict.like == "problem.py:Model"
    assert found.words == ["its parameters are those of Model"]
    assert {"plain", "edges", "layout", "shape", "size", "again"} <= found.verdict.cells.keys()


def test_parameters_of_other_names(judge: ModuleJudge, folder: Path) -> None:
    """They are drawn from the same seed, and their gradients are not compared; what is wrong is seen all the same."""
    make = "self.inner = nn.Linear(features, outputs)"
    sound = SOUND.replace("self.linear", "self.inner")
    found = verdict(judge, folder, sound, make)
    assert found.verdict.accepted, [finding.sentence for finding in found.verdict.findings]
    assert found.words == [
        "its parameters are called otherwise than those of Model: both drew theirs from the same seed, and gradients "
        "of parameters were not compared"
    ]
    assert "numerics" in categories(verdict(judge, folder, sound.replace(".sum(", ".mean("), make))


def test_right_for_one_batch(judge: ModuleJudge, folder: Path) -> None:
    """A module that is right on the problem's shapes alone is refused for the others."""
    found = verdict(judge, folder, f"x = x if len(x) == 16 else x * 0\n        {SOUND}")
    assert categories(found) & {"size", "shape"}
    assert not categories(found) & {"numerics", "crash"}


def test_shapes_that_it_refuses(judge: ModuleJudge, folder: Path) -> None:
    """A module that says which shapes it takes is not refused for the others: that is told."""
    found = verdict(judge, folder, f"assert x.shape == (16, 10), 'for 16 x 10 alone'\n        {SOUND}")
    assert not categories(found) & {"size", "shape", "crash"}
    assert any("for 16 x 10 alone" in gap for gap in found.verdict.gaps)


def test_the_answer_of_a_constant(judge: ModuleJudge, folder: Path) -> None:
    """Values of the problem's kind do not show that negative ones are wrong; edges do."""
    found = verdict(judge, folder, f"x = torch.nan_to_num(x)\n        {SOUND}")
    assert categories(found) == {"edge values"}


def test_gradients_that_are_lost(judge: ModuleJudge, folder: Path) -> None:
    """Those of parameters are compared where they are called the same."""
    found = verdict(judge, folder, SOUND.replace("self.linear.weight", "self.linear.weight.detach()"))
    assert categories(found) == {"gradient"}


def test_state_that_is_left(judge: ModuleJudge, folder: Path) -> None:
    """A module is watched as any kernel is."""
    found = verdict(judge, folder, f"torch.manual_seed(0)\n        {SOUND}")
    assert found.verdict.findings[0].sentence == "state: it leaves PyTorch's random numbers changed"


def test_constants_that_are_too_large(tmp_path: Path) -> None:
    """A problem that would fill the memory is asked in small, which is told."""
    text = PROBLEM.replace("batch_size = 16", "batch_size = 4096000")
    (tmp_path / "large.py").write_text(text)
    judge = ModuleJudge(load_reference(), tmp_path / "large.py")
    assert judge.lessened == {"batch_size": (4096000, 16000)}
    found = verdict(judge, tmp_path, SOUND)
    assert found.words[1] == "the problem's own inputs are larger than what is asked: batch_size 16000 for 4096000"


def test_files_that_are_none(judge: ModuleJudge, folder: Path, tmp_path: Path) -> None:
    """A problem without its parts, and a file without the module: one sentence each."""
    (tmp_path / "none.py").write_text("class Model: ...\n")
    with pytest.raises(UsageError) as usage:
        ModuleJudge(load_reference(), tmp_path / "none.py")
    assert str(usage.value) == (
        f"{tmp_path}/none.py has no get_inputs, but a problem should have Model, get_inputs and get_init_inputs"
    )
    (tmp_path / "new.py").write_text("def ModelNew(): ...\n")
    with pytest.raises(EnvironmentFault) as fault:
        judge.judge(ModulePair(folder / "problem.py", tmp_path / "new.py"))
    assert str(fault.value) == f"{tmp_path}/new.py has no module ModelNew, but should"


def test_module_that_hangs_at_import(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by its file, and with what gives it longer."""
    (tmp_path / "hangs.py").write_text("import time\n\ntime.sleep(600)\n")
    monkeypatch.setattr("autotest.kernels.modules.START_TIMEOUT", 3.0)
    judge = ModuleJudge(load_reference(), folder / "problem.py", timeout=4.0)
    with pytest.raises(EnvironmentFault) as caught:
        judge.judge(ModulePair(folder / "problem.py", tmp_path / "hangs.py"))
    assert str(caught.value) == (
        f"{tmp_path}/hangs.py: target 'kernel' died at import: did not start in 4 s; its last words: none "
        "[--case-timeout gives it longer]"
    )
