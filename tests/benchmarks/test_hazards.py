"""The table of hazards in docs/executors.md is what the executors of the installed PyTorch come to."""

from __future__ import annotations

import pytest

from benchmarks.hazards import EXECUTORS, column, hazards, table, written

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked")]

#: What Inductor compiles in a minute is measured by `python -m benchmarks.hazards` alone, but for what it gets wrong.
INDUCTOR = ("python random number", "identity that folds")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_column(executor: str) -> None:
    """Each verdict of the page is that of a run."""
    tests = {name: test for name, test in hazards().items() if executor != "inductor" or name in INDUCTOR}
    found = column(executor, tests)
    assert found == {name: written()[executor][name] for name in tests}


def test_page_has_all() -> None:
    """The page has each hazard and each executor, as the program prints them."""
    assert [*written()] == [*EXECUTORS]
    assert {tuple(rows) for rows in written().values()} == {tuple(hazards())}
    lines = [*table({"fx": {"a": "wrong"}, "script": {"a": "right"}}, ["a"])]
    assert lines == ["| hazard | `fx` | `script` |", "|---|---|---|", "| a | **wrong** | right |"]
