"""A corpus is read as it was written, and several are one."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.commands.tracing.corpus import Corpus, read
from autotest.errors import UsageError


def test_ranges_are_joined(tmp_path: Path) -> None:
    """Calls whose ranges differ are one call over both; counts are added, and the most frequent comes first."""
    corpus = Corpus()
    corpus.add("torch.add(x[2](low=-1.5, high=2), y[2](low=0, high=1e-05))", 2)
    corpus.add("torch.add(x[2](low=-1, high=10), y[2](low=-2e-06, high=1))", 3)
    corpus.add("torch.add(x[3](low=-1, high=1), y[3](low=0, high=1))", 4)
    corpus.add("torch.zeros(2)", 9)
    expected = {
        "torch.zeros(2)": 9,
        "torch.add(x[2](low=-1.5, high=10), y[2](low=-2e-06, high=1))": 5,
        "torch.add(x[3](low=-1, high=1), y[3](low=0, high=1))": 4,
    }
    assert list(corpus.calls().items()) == list(expected.items())
    path = tmp_path / "calls.txt"
    path.write_text("# ours\n\n" + corpus.text)
    assert corpus.text.splitlines()[0] == "       9  torch.zeros(2)"
    assert read([path]).calls() == expected
    assert read([path, path]).calls() == {call: 2 * count for call, count in expected.items()}
    assert read([]).calls() == {}


def test_no_corpus(tmp_path: Path) -> None:
    """The file and the line are told."""
    path = tmp_path / "calls.txt"
    path.write_text("1  torch.zeros(2)\ntorch.ones(2)\n")
    with pytest.raises(UsageError) as raised:
        read([path])
    assert str(raised.value) == f"{path}:2: 'torch.ones(2)', but should be a count and an expression"
    path.write_bytes(b"\xff\xfe")
    for unread, why in ((path, "invalid start byte"), (tmp_path / "none", "No such file or directory")):
        with pytest.raises(UsageError) as raised:
            read([unread])
        assert str(raised.value) == f"{unread} cannot be read: {why}"
