"""`--eager`: what the target does eagerly is judged alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.runs import run_pytest

BODY = """
import torch as pytorch
from autotest import autotest, random_tensor, torch

@autotest(n=3, coverage="none")
def test_square():
    return torch.square(random_tensor(ndim=1, dim0=3))

@autotest(n=1, train=2)
def test_training():
    model = torch.nn.Linear(3, 2)
    torch.optim.SGD(model.parameters(), lr=0.1)
    return model(random_tensor(ndim=2, dim1=3)).mean()
"""


def graphs(folder: Path, *arguments: str) -> dict[str, set[Any]]:
    """What became of the graphs of each test's cases."""
    done = run_pytest(folder, {"test_a.py": BODY}, *arguments)
    assert done.status == 0, done.out
    found: dict[str, set[Any]] = {}
    for end in done.records():
        found.setdefault(end["test"].rpartition("::")[2], set()).add(end["graph"]["forward"])
    return found


@pytest.mark.parametrize(
    ("arguments", "forward", "training"),
    [((), "verified", "this graph does not train"), (("--autotest-eager",), "off", "off")],
)
def test_eager(tmp_path: Path, arguments: tuple[str, ...], forward: str, training: str) -> None:
    """No case runs in a graph, of an op or of a training, and all of them are judged."""
    assert graphs(tmp_path, *arguments) == {"test_square": {forward}, "test_training": {training}}
