"""What a target's stages are called where divergences are told."""

from __future__ import annotations

import pytest

from dual_object.replay.adapter import TargetInfo
from dual_object.replay.stages import called


def info_of(name: str) -> TargetInfo:
    """What an adapter of this name, made of PyTorch's, says of itself."""
    return TargetInfo("torch", {"torch": "2"}, ("cpu",), ("float32",), called=name)


@pytest.mark.parametrize(
    ("target", "name", "told"),
    [
        ("mine.adapter:Adapter", "mine", ("mine",)),
        ("mine.adapter:Adapter", "mine-2.0_x", ("mine-2.0_x",)),
        ("mine.adapter:Adapter", "torch", ("mine.adapter:Adapter",)),
        ("mine.adapter:Adapter", "a/b", ("mine.adapter:Adapter",)),
        ("mine.adapter:Adapter", "", ("mine.adapter:Adapter",)),
    ],
)
def test_own_adapters(target: str, name: str, told: tuple[str, ...]) -> None:
    """Theirs is their own name, where that is nobody else's."""
    assert called(target, lambda: info_of(name)) == told


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("oneflow", ("oneflow",)),
        ("named-in-pyproject", ("named-in-pyproject",)),
        ("torch:inductor", ("torch:inductor",)),
        ("torch:eager,torch:aot_eager,dynamic", ("torch:eager", "torch:aot_eager,dynamic")),
    ],
)
def test_others_are_called_as_they_are_asked_for(target: str, told: tuple[str, ...]) -> None:
    """And are not asked."""

    def never() -> TargetInfo:
        raise AssertionError("it was asked")

    assert called(target, never) == told
