"""What the driver makes of slots that end, and what is said where there can be none."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autotest.campaign.campaign import campaign
from autotest.campaign.config import Config
from autotest.campaign.driver import MOST_ENDS, Driver
from autotest.campaign.log import Log, Round
from autotest.campaign.rounds import Rounds
from autotest.campaign.slots import LocalSlots
from autotest.campaign.status import status
from autotest.errors import UsageError
from reports import RecordWriter, records_file

TEST = "test_x.py::test_op"


class LostSlot:
    """A slot that is lost in each round until so many are; then it runs them."""

    counts_unknown = True
    killed = True

    def __init__(
        self, number: int, lost: list[Round], most: int, case: str | None, avoided: list[dict[str, str]]
    ) -> None:
        self.number, self.round, self.tests = number, None, None
        self.answers, self._bell = os.pipe()
        self._said: list[dict[str, Any]] | None = [{"tests": {TEST: 20}}]
        self._lost, self._most, self._case, self._avoided = lost, most, case, avoided
        self._ran = False
        os.write(self._bell, b".")

    def run(self, round_: Round, options: dict[str, Any]) -> None:
        """Be lost, or run it."""
        self.round = round_
        self._avoided.append(options["avoided"])
        if len(self._lost) < self._most:
            self._lost.append(round_)
            self._said = None
        else:
            self._ran = True
            self._said = [{"done": round_.number, "cpu": 1.0, "look": 0.0, "memory": 0}]
        os.write(self._bell, b".")

    def heard(self) -> list[dict[str, Any]] | None:
        """What was said."""
        os.read(self.answers, 100)
        said = self._said
        self._said = []
        return said

    def bring(self, run: Path) -> None:
        """Write the records of a round of one case; of one that was lost nothing is left."""
        if self.round is None or not self._ran:
            return
        with RecordWriter(run, self.round.worker, seed=0, target="torch", environment={}, command="") as writer:
            writer.end(TEST, f"{TEST}#0", "aligned", seconds=0.1)

    def last_started(self, run: Path) -> str | None:
        """As told."""
        return self._case

    def last_words(self) -> str:
        """Nothing."""
        return ""

    def how_it_ended(self) -> str:
        """In words."""
        return "was lost"

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self.answers)
        os.close(self._bell)


class LostSlots(LocalSlots):
    """Such slots."""

    def __init__(self, most: int, case: str | None) -> None:
        self.lost: list[Round] = []
        self.avoided: list[dict[str, str]] = []
        self._most, self._case = most, case

    def start(self, number: int, arguments: Sequence[str], told: dict[str, Any], log: Path) -> LostSlot:
        """Another one."""
        return LostSlot(number, self.lost, self._most, self._case, self.avoided)


@pytest.mark.parametrize("lost", [MOST_ENDS - 1, MOST_ENDS])
def test_a_round_that_ends_its_slots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    """It runs again, but not for ever: the second time at one case it goes on without it, which the log keeps and
    `status` tells.
    """
    monkeypatch.chdir(tmp_path)
    rounds = Rounds(Config(folder=tmp_path / "campaign", cases=20, sources=(), tests=("test_x.py",)))
    said: list[str] = []
    case = f"{TEST}#3"
    slots = LostSlots(lost, case)
    Driver(rounds, slots, 1, said.append).go()
    assert len(slots.lost) == lost
    assert rounds.log.done[0].faults == 0
    avoided = lost == MOST_ENDS
    again = [f"round 0 runs again: its process was lost at {case}"] * (MOST_ENDS - 1)
    without = [f"round 0 goes on without {case}: its process was lost {MOST_ENDS} times at {case}"]
    assert said == again + without * avoided
    how = "PyTorch itself ends the process: it was lost"
    for log in (rounds.log, Log(tmp_path / "campaign")):
        assert log.avoided.get(0, {}) == ({case: how} if avoided else {})
    assert slots.avoided == [{}] * MOST_ENDS + [{case: how}] * avoided
    assert status(tmp_path / "campaign").endswith(f"\n\nleft out\n  {case}: {how}") is avoided


@pytest.mark.parametrize("case", [f"{TEST}#3", None])
def test_a_round_that_ends_its_slots_without_a_case_to_avoid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str | None
) -> None:
    """One that ends where nobody knows, or at a case that is not drawn any more, is left as it is, which is a fault."""
    monkeypatch.chdir(tmp_path)
    rounds = Rounds(Config(folder=tmp_path / "campaign", cases=20, sources=(), tests=("test_x.py",)))
    said: list[str] = []
    lost = MOST_ENDS if case is None else MOST_ENDS + 1
    slots = LostSlots(lost, case)
    Driver(rounds, slots, 1, said.append).go()
    assert len(slots.lost) == lost
    where = case or "a case that nobody knows"
    words = f"round 0 is left as it is: its process was lost {lost} times at {where}"
    assert said[-1] == words
    records = [json.loads(line) for line in records_file(rounds.run, "r0").read_text().splitlines()]
    assert [record["message"] for record in records if record["type"] == "fault"] == [words]
    assert rounds.log.done[0].faults == 1


def test_a_round_goes_on_without_few_cases(tmp_path: Path) -> None:
    """Of two cases of a test the second one takes the test with it; where a round ends everywhere, something else is
    wrong.
    """
    rounds = Rounds(Config(folder=tmp_path, cases=100))
    rounds.begin({TEST: 20}, 1)
    round_ = rounds.next()
    assert round_ is not None
    cases = [f"{TEST}#3", f"{TEST}#7@laid", f"{TEST}#9", *(f"test_{letter}.py::test_op#1" for letter in "abcd")]
    left_out = [rounds.avoid(round_, case, "it ends") for case in cases]
    assert left_out == [cases[0], TEST, None, *cases[3:6], None]


def test_ray_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says what to install."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "autotest.campaign.remote.cluster", raising=False)
    with pytest.raises(UsageError) as caught:
        campaign(None, {"cases": "100", "ray": "local"}, print, 80, color=False)
    assert str(caught.value) == (
        "ray='local', but Ray cannot be imported (import of ray halted; None in sys.modules): install op-autotest with "
        "its extra ray, as pip install 'op-autotest[ray]', or leave --ray out"
    )
