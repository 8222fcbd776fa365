"""`autotest replay ID` of a target that fails in one of several ways by chance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autotest.cases.store import Store
from autotest.commands.replaying import stored as replay
from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from dual_object.replay.adapter import TargetInfo
from support.programs import one_call

PROGRAM = one_call()


class Nobody:
    """A supervisor without a worker."""

    def __init__(self, *asked: Any, **options: Any) -> None:
        pass

    def info(self) -> TargetInfo:
        """It says next to nothing of itself."""
        return TargetInfo("torch", {}, (), ())

    def stages(self) -> dict[str, Any]:
        """Its target lists no executors."""
        return {}

    def close(self) -> None:
        """There is nothing to close."""


def of(kind: str, phase: Any = "eager_forward") -> Divergence:
    """A divergence of this kind."""
    return Divergence(Difference(phase, kind, "t0", "differs", 0), PROGRAM, 0)


@pytest.mark.parametrize(
    ("shown", "runs", "said"),
    [
        ([[of("exception")]], 1, "{id} stands: 1 divergence in 1 of 1 case"),
        ([[of("crash")], [of("crash")], [of("exception")]], 3, "{id} stands: 1 divergence in 1 of 1 case"),
        ([[of("crash")]] * 3, 3, "{id} still diverges, but as something else: 1 divergence in 1 of 1 case"),
        ([[]], 1, "{id} is gone: torch/eager_forward/exception/relu/float32 no longer diverges on torch"),
        (
            [[of("value", "eager_backward")]],
            1,
            "{id} is gone: torch/eager_forward/exception/relu/float32 no longer diverges on torch",
        ),
    ],
)
def test_failure_by_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Sequence[list[Divergence]], runs: int, said: str
) -> None:
    """A program that fails otherwise is run again; one that does not fail in its phase is gone at once."""
    row = of("exception").row("torch", "test_x.py::test_a", "test_x.py::test_a#0")
    Store(tmp_path / "runs" / "20260101-000000-0-1").save(of("exception"), row, Rules(), "main", 1)
    ran: list[Any] = []

    def trial(*asked: Any, graph: bool, whole: bool, configuration: str) -> list[Divergence]:
        ran.append(asked)
        return shown[len(ran) - 1]

    monkeypatch.setattr(replay, "trial", trial)
    monkeypatch.setattr(replay, "LoweringSupervisor", Nobody)
    monkeypatch.setattr("sys.path", [])
    _, text = replay.told(replay.shown(row["id"], tmp_path, None, None))
    assert text.splitlines()[0] == said.format(id=row["id"])
    assert len(ran) == runs
