"""The log of a campaign: what was written is read again, whole lines alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.campaign.log import NAME, Done, Log, Round, Visit
from autotest.errors import UsageError

ROUND = Round(0, (Visit("test_a.py::test_a", 1, 20, (5, 25)), Visit("test_a.py::test_b", 3, 2)))
DONE = Done(
    {"aligned": 3},
    {"test_a.py::test_a": 3},
    ("test_a.py::test_a",),
    {"test_a.py::test_a": {"1234abcd": "torch/x"}},
    ("1234abcd",),
)


def begun(folder: Path) -> Log:
    """A log of one round."""
    log = Log(folder)
    log.begin(
        folder / "runs" / "20260101-000000-0-1", {"seed": "3"}, {"test_a.py::test_a": 20, "test_a.py::test_b": 2}, 8
    )
    log.decide(ROUND)
    return log


def test_log_is_read_again(tmp_path: Path) -> None:
    """Rounds, what came of them, and the seconds."""
    log = begun(tmp_path)
    log.end(0, DONE, 12.5)
    log.close()
    again = Log(tmp_path)
    assert again.begun == log.begun
    assert again.rounds == [ROUND]
    assert again.done == {0: DONE}
    assert again.seconds == 12.5


def test_what_a_visit_runs() -> None:
    """The laid-out cases after those of the visits before, and then, or where there are none, draws that are new."""
    assert [visit.options for visit in ROUND.visits] == [
        {"first": 401, "cases": 20, "laid_out": (5, 25)},
        {"first": 1203, "cases": 2, "laid_out": (0, 0)},
    ]


def test_line_that_was_cut_short(tmp_path: Path) -> None:
    """Half a line is written over by the next sitting: the round is not done."""
    log = begun(tmp_path)
    log.end(0, DONE, 12.5)
    log.close()
    path = tmp_path / NAME
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    again = Log(tmp_path)
    assert again.rounds == [ROUND]
    assert again.done == {}
    again.end(0, DONE, 12.5)
    again.close()
    assert path.read_bytes() == whole


def test_file_that_is_no_log(tmp_path: Path) -> None:
    """A line that means nothing, or of another version, is named."""
    (tmp_path / NAME).write_text("night\n")
    with pytest.raises(UsageError) as caught:
        Log(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / NAME}:1 is no line of a campaign's log (JSONDecodeError: Expecting value: line 1 column 1 "
        "(char 0)); begin another campaign in a new folder [--folder]"
    )
    (tmp_path / NAME).write_text('{"version": 0}\n')
    with pytest.raises(UsageError) as caught:
        Log(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / NAME}:1 is no line of a campaign's log (ValueError: version 0, but should be 4); begin another "
        "campaign in a new folder [--folder]"
    )
