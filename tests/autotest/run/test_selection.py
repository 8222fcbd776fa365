"""What a run was asked to run, as text."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from autotest.run.selection import selection


def selected(*paths: str, place: str = "/work", **options: Any) -> str:
    """The selection of a run that was started in `place` with these paths and options."""
    typed = {"--autotest-case": options.pop("case", None), "--autotest-shard": options.pop("shard", None), **options}
    config = SimpleNamespace(
        args=list(paths),
        rootpath=Path("/work"),
        invocation_params=SimpleNamespace(dir=Path(place)),
        getoption=lambda name, default=None: typed.get(name, default),
    )
    return selection(cast(pytest.Config, config))


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (selected("suites"), "suites"),
        (selected("/work/suites/", "suites"), "suites"),
        (selected("test_x.py::test_y[a/b]", place="/work/suites"), "'suites/test_x.py::test_y[a/b]'"),
        (selected("b.py", "a.py"), "a.py b.py"),
        (selected("/work"), "."),
        (selected("suites", keyword="matmul or mm", markexpr="slow"), "suites -k 'matmul or mm' -m slow"),
        (selected("s", deselect=["s/a.py"], ignore=["b.py"]), "s --deselect s/a.py --ignore b.py"),
        (selected("s", ignore_glob=["c*"]), "s --ignore-glob 'c*'"),
        (selected("s", lf=True, stepwise=True), "s --lf --stepwise"),
        (selected("s", case="t.py::t#3", shard="1/2"), "s --case 't.py::t#3' --shard 1/2"),
    ],
)
def test_selection(told: str, text: str) -> None:
    """Paths from the root folder, once each and in order, then what chooses among their tests."""
    assert told == text
