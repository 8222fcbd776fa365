"""A target of one's own is told by its adapter's name, and started by its class: from a red run to a green one."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs import Outcome, run_autotest, run_pytest

pytestmark = pytest.mark.slow

TARGET = """
import torch

from dual_object.adapters.torch.adapter import Adapter as Torch


class Adapter(Torch):
    name = "mine"

    def resolve(self, path):
        return (lambda x: torch.relu(x) + 1) if path == "relu" else super().resolve(path)
"""
BODY = """
from autotest import autotest, random_tensor, torch


@autotest(n=3)
def test_relu():
    return torch.relu(random_tensor(ndim=2))
"""
FINGERPRINT = "mine/eager_forward/value/relu/float32"


def run(folder: Path, *arguments: str) -> Outcome:
    """Run the test on the target."""
    files = {"test_relu.py": BODY, "own_target.py": TARGET}
    return run_pytest(folder, files, *arguments, target="own_target:Adapter", env={"PYTHONPATH": str(folder)})


def test_from_red_to_green(tmp_path: Path) -> None:
    """Its fingerprints, ledger and `ledger check` have its name; the rows, `replay` and the run's command its class."""
    red = run(tmp_path)
    assert red.status == 1
    [row] = red.summary["divergences"]
    assert (row["fingerprint"], row["target"]) == (FINGERPRINT, "own_target:Adapter")
    env = {"PYTHONPATH": str(tmp_path)}
    again = run_autotest(tmp_path, "replay", row["id"], env=env)
    assert again.returncode == 1
    assert again.stdout.startswith(f"{row['id']} stands: ")
    accepted = run_autotest(tmp_path, "accept", row["id"], "--reason", "a test", env=env)
    assert (accepted.returncode, accepted.stdout) == (0, "1 accepted into known_divergences.toml\n")
    text = (tmp_path / "known_divergences.toml").read_text()
    assert "[[mine]]" in text
    assert f'fingerprint = "{FINGERPRINT}"' in text
    green = run(tmp_path)
    assert green.status == 0, green.out
    assert [known["fingerprint"] for known in green.summary["known"]] == [FINGERPRINT]
    check = ("ledger", "check", "known_divergences.toml", "--target")
    checked = run_autotest(tmp_path, *check, "own_target:Adapter", env=env)
    assert (checked.returncode, checked.stdout) == (0, "1 entry replayed, 0 no longer diverge\n")
    other = run_autotest(tmp_path, *check, "torch", env=env)
    said = "known_divergences.toml has no entry of torch, but 1 of mine: name one of these [--target]\n"
    assert (other.returncode, other.stderr) == (2, said)


def test_one_that_has_gone_is_stale(tmp_path: Path) -> None:
    """What is known by that name is held against what shows."""
    red = run(tmp_path)
    [row] = red.summary["divergences"]
    run_autotest(tmp_path, "accept", row["id"], "--reason", "a test", env={"PYTHONPATH": str(tmp_path)})
    sound = TARGET.replace(" + 1", "")
    outcome = run_pytest(
        tmp_path, {"own_target.py": sound}, target="own_target:Adapter", env={"PYTHONPATH": str(tmp_path)}
    )
    assert outcome.status == 1
    assert FINGERPRINT in outcome.out
    assert outcome.summary["divergences"] == []


def test_inline(tmp_path: Path) -> None:
    """In pytest's own process it is told the same."""
    outcome = run(tmp_path, "--autotest-isolate", "never")
    assert outcome.status == 1
    assert {row["fingerprint"] for row in outcome.summary["divergences"]} == {FINGERPRINT}
