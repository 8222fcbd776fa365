"""`pytest --autotest-conformance NAME`: a target is held to what it says that it has, and told what it lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dual_object.adapters.torch.adapter import Adapter as TorchAdapter
from dual_object.replay.adapter import missing_members
from support.runs import Outcome, run_pytest
from support.toy_target import Adapter as ToyAdapter

#: A target that says less of itself, or more, than is true.
TARGETS = '''
from toy_target import Adapter as Toy
from dual_object.adapters.torch.adapter import Adapter as Torch


class Boasting(Toy):
    lacks = Toy.lacks - {"layout", "sharing"}

    def storage(self, tensor):
        return 1

    def resolve(self, path):
        return (lambda x, index: x[index]) if path == "getitem" else super().resolve(path)


class Forgetful(Torch):
    def gradient(self, leaf):
        return None


class Bare:
    name = "bare"
    tensor_type = module_type = int

    def info(self):
        """Never asked."""
'''


def conformance(folder: Path, target: str, *arguments: str) -> Outcome:
    """A run of the tests."""
    return run_pytest(folder, {"targets.py": TARGETS}, "--autotest-conformance", target, *arguments)


def counts(outcome: Outcome) -> dict[str, int]:
    """How many tests passed, failed, were skipped."""
    return {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", outcome.out)}


@pytest.mark.slow
def test_a_target_that_conforms(tmp_path: Path) -> None:
    """What it has is tried; what it has no op for is skipped with what it says of it."""
    # NumPy 1 promotes what has no dimensions otherwise than PyTorch.
    outcome = conformance(tmp_path, "toy_target:Adapter", "-rs", "-k", "not scalar_tensor")
    found = counts(outcome)
    assert (outcome.status, found.get("failed", 0)) == (0, 0), outcome.out
    assert found["passed"] > 20
    assert "toy has no static graph" in outcome.out
    assert "toy's table has no 'relu'" in outcome.out
    assert "toy_target:Adapter says that it lacks layout, sharing" in outcome.out


def test_pytorch_conforms_whole(tmp_path: Path) -> None:
    """It lacks nothing, and nothing is skipped but what its tracer does not take."""
    outcome = conformance(tmp_path, "torch", "-k", "eager or memory or leaves or states")
    assert counts(outcome) == {"passed": 50}, outcome.out


def test_tests_that_are_named_run_too(tmp_path: Path) -> None:
    """Beside those of the project's own, which are left alone otherwise."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    assert counts(conformance(tmp_path, "torch", "-k", "test_own or test_leaves")) == {"passed": 1}
    assert counts(conformance(tmp_path, "torch", "-k", "test_own or test_leaves", "test_own.py")) == {"passed": 2}


@pytest.mark.parametrize(
    ("target", "failed"),
    [
        ("targets:Boasting", "test_memory"),
        ("targets:Forgetful", r"test_eager_like_the_reference\[relu\]"),
    ],
)
def test_what_is_only_faked_fails(tmp_path: Path, target: str, failed: str) -> None:
    """A target that declares what it has not is told so."""
    outcome = conformance(tmp_path, target, "-k", "memory or relu and eager")
    assert outcome.status == 1
    assert re.search(rf"^FAILED .*{failed}", outcome.out, re.MULTILINE), outcome.out


def test_members_that_are_missing_are_told_at_once(tmp_path: Path) -> None:
    """Of the Protocol, and of a tape where the target differentiates by one."""
    outcome = conformance(tmp_path, "targets:Bare", "-k", "says_what_it_is")
    said = (
        "target 'targets:Bare' lacks lacks, touched, registry, resolve, attribute, tensor, device, encode, describe, "
        "place, storage, read, load_state, parameters, buffers, saved, synchronize, graph, want_grad, backward, "
        "gradient, forget_gradient, but should have all members of an adapter [docs/targets.md]"
    )
    assert said in outcome.out


def test_members() -> None:
    """Ours have all; one that differentiates whole Programs needs no tape."""
    assert missing_members(TorchAdapter()) == []
    assert missing_members(ToyAdapter()) == []
    assert missing_members(object())[:3] == ["name", "tensor_type", "module_type"]
