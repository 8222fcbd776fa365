"""What diverged is remembered in a small file per test, and forgotten in one sentence where that is no use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autotest.memory import Draw, Memory, Recalled, bounded

TEST = "tests/test_x.py::test_y test_x.py::test_y"


def test_kept_draws_are_recalled(tmp_path: Path) -> None:
    """What is kept is recalled, by the same test and target alone; Git ignores the folder."""
    memory = Memory(tmp_path, "torch")
    assert memory.recall(TEST) == Recalled()
    draws = (Draw(0, 3, "0a1b2c3d"), Draw(7, 1, "0a1b2c3d"))
    assert memory.keep(TEST, Recalled(), draws) is None
    assert memory.recall(TEST) == Recalled(draws)
    assert memory.recall("another") == Recalled()
    assert Memory(tmp_path, "oneflow").recall(TEST) == Recalled()
    assert (tmp_path / ".autotest" / ".gitignore").read_text() == "*\n"
    assert [path.suffix for path in memory.path(TEST).parent.iterdir()] == [".json"]


def test_nothing_left_leaves_no_file(tmp_path: Path) -> None:
    """Where all is forgotten the file goes; where nothing was remembered none is made."""
    memory = Memory(tmp_path, "torch")
    memory.keep(TEST, Recalled(), ())
    assert not (tmp_path / ".autotest").exists()
    memory.keep(TEST, Recalled(), [Draw(0, 3, "0a1b2c3d")])
    memory.keep(TEST, memory.recall(TEST), ())
    assert not memory.path(TEST).exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "{path} cannot be read as remembered cases (Expecting property name enclosed in double quotes: line 1 "
         "column 2 (char 1)); they are forgotten"),
        ("[]", "{path} has version=None, but should have 1; its cases are forgotten"),
        ('{"version": 2}', "{path} has version=2, but should have 1; its cases are forgotten"),
        ('{"version": 1}', "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 1, "draws": [{"seed": 0, "index": -1, "id": "a"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
        ('{"version": 1, "draws": [{"seed": 0, "index": true, "id": "a"}]}',
         "{path} is damaged; its remembered cases are forgotten"),
    ],
)  # fmt: skip
def test_unusable_store(tmp_path: Path, text: str, problem: str) -> None:
    """A damaged file, or one of another version, is told of, and gone with the next run."""
    memory = Memory(tmp_path, "torch")
    path = memory.path(TEST)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    recalled = memory.recall(TEST)
    assert recalled == Recalled((), problem.replace("{path}", str(path)))
    assert memory.keep(TEST, recalled, ()) is None
    assert not path.exists()


def test_store_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is a file is told of with the knob."""
    (tmp_path / ".autotest").write_text("")
    memory = Memory(tmp_path, "torch")
    assert memory.keep(TEST, Recalled(), [Draw(0, 3, "0a1b2c3d")]) == (
        f"{memory.path(TEST)} cannot be written: Not a directory; --no-memory does without it"
    )


def test_what_the_run_draws_anyway_is_not_drawn_twice() -> None:
    """Besides the n cases of the run's seed stand those of other seeds, and the later ones of its own, once each."""
    recalled = Recalled((Draw(0, 3, "a"), Draw(0, 5, "a"), Draw(0, 5, "b"), Draw(7, 1, "a"), Draw(0, 9, "a")))
    assert recalled.besides(0, 5) == {0: [5, 9], 7: [1]}
    assert recalled.besides(7, 5) == {0: [3, 5, 9]}


def test_memory_is_bounded() -> None:
    """Three cases per fingerprint and twenty in all, the first ones."""
    many = [Draw(0, index, f"{index // 5}") for index in range(100)]
    kept = bounded([many[0], *many])
    assert [draw.index for draw in kept] == [5 * (number // 3) + number % 3 for number in range(20)]


def test_file_is_plain(tmp_path: Path) -> None:
    """People can read what is remembered, and of which test."""
    memory = Memory(tmp_path, "torch")
    memory.keep(TEST, Recalled(), [Draw(0, 3, "0a1b2c3d")])
    assert json.loads(memory.path(TEST).read_text()) == {
        "version": 1,
        "test": TEST,
        "target": "torch",
        "draws": [{"seed": 0, "index": 3, "id": "0a1b2c3d"}],
    }
