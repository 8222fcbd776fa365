"""What a target's name lists, and what such a target says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dual_object.adapters.torch.adapter import Adapter
from dual_object.errors import TargetError
from dual_object.replay.adapter import load
from dual_object.replay.asked.executors import EXECUTORS
from dual_object.replay.stages import stages, stages_info

NAMES = ", ".join(EXECUTORS)
ONE_TARGET = "one target, or executors of PyTorch alone, such as torch:eager,torch:inductor [--target]"


@pytest.mark.parametrize(
    ("target", "listed"),
    [
        ("oneflow", ("oneflow",)),
        ("a.b:Class", ("a.b:Class",)),
        ("torch:aot_eager,dynamic,fullgraph", ("torch:aot_eager,dynamic,fullgraph",)),
        ("torch:eager,torch:inductor", ("torch:eager", "torch:inductor")),
        (
            "torch:aot_eager,dynamic,torch:aot_eager,torch:fx",
            ("torch:aot_eager,dynamic", "torch:aot_eager", "torch:fx"),
        ),
    ],
)
def test_stages(target: str, listed: tuple[str, ...]) -> None:
    """A part that begins with `torch:` is the next executor, the others are its options; any other target is one."""
    assert stages(target) == listed


@pytest.mark.parametrize(
    ("target", "should"),
    [
        ("torch:eager,torch:nosuch", f"executor='nosuch', but should be one of {NAMES} [--target torch:EXECUTOR]"),
        ("torch:eager,torch:", f"executor='', but should be one of {NAMES} [--target torch:EXECUTOR]"),
        (
            "torch:fx,torch:eager,dinamic",
            "option='dinamic', but should be one of dynamic, fullgraph, mark_dynamic [--target torch:eager,OPTION]",
        ),
        (
            "torch:eager,torch:fx,torch:eager",
            "target='torch:eager,torch:fx,torch:eager', but should name each executor with its options once: "
            "torch:eager is there twice [--target]",
        ),
        (
            "torch:eager,dynamic,fullgraph,torch:eager,fullgraph,dynamic",
            "target='torch:eager,dynamic,fullgraph,torch:eager,fullgraph,dynamic', but should name each executor with "
            "its options once: torch:eager,fullgraph,dynamic is there twice [--target]",
        ),
        ("oneflow,torch:eager", f"target='oneflow,torch:eager', but should be {ONE_TARGET}"),
        ("torch:eager,oneflow", f"target='torch:eager,oneflow', but should be {ONE_TARGET}"),
        ("torch,torch:eager", f"target='torch,torch:eager', but should be {ONE_TARGET}"),
        ("torch:eager,a.b:Class", f"target='torch:eager,a.b:Class', but should be {ONE_TARGET}"),
    ],
)
def test_what_is_refused(target: str, should: str) -> None:
    """The sentence names the value, what it should be, and the knob."""
    with pytest.raises(TargetError) as caught:
        stages(target)
    assert str(caught.value) == should


def test_one_adapter_is_of_one_executor() -> None:
    """What takes a single target says so of a list."""
    with pytest.raises(TargetError) as caught:
        load("torch:eager,torch:fx")
    assert str(caught.value) == (
        "target='torch:eager,torch:fx', but should be one of these executors alone [--target torch:EXECUTOR]"
    )


def test_info_of_several() -> None:
    """It goes by the target's own name; the environment has the version of that and of each stage."""
    target, adapters = "torch:fx,torch:trace", [load("torch:fx"), load("torch:trace")]
    info = stages_info(target, adapters)
    of_torch = Adapter().info().environment
    assert info.name == target
    assert info.environment == {**of_torch, **dict.fromkeys(("torch:fx", "torch:trace", target), of_torch["torch"])}
    assert info.capabilities == ("compiled_graphs",)
    assert info.shares == ()
    adapters[1].executor.takes_batches = True
    assert stages_info(target, adapters).shares == ("torch:trace",)
    assert stages_info("torch:fx", adapters[:1]) == replace(adapters[0].info(), called="torch:fx")
