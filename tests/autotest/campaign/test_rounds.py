"""The rounds of a campaign: their order, their budget, and what their records come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotest.campaign import outcome
from autotest.campaign.config import Config
from autotest.campaign.log import Done, Log, Round
from autotest.campaign.rounds import KEPT_ROUNDS, Rounds
from autotest.errors import UsageError
from reports import RecordWriter, last_begun

TESTS = {f"test_{letter}.py::test_op": 20 for letter in "abcdefgh"}


#: What a closer look that has found nothing simpler keeps.
LOOKED = {
    **dict.fromkeys(("program", "blamed_line", "check", "calls", "elements")),
    "values": [],
    "seconds": 1.0,
    "note": "nothing simpler shows it",
}


def row(id_: str, kind: str = "value", level: str = "wrong") -> dict[str, Any]:
    """A divergence, as a record has it."""
    texts = dict.fromkeys(("target", "test", "op", "phase", "case_key", "message", "replay"), "x")
    return {**texts, "id": id_, "fingerprint": f"torch/{id_}", "kind": kind, "level": level, "reason": None} | {
        "evidence": None
    }


def ran(run: Path, round_: Round, *rows: dict[str, Any], looks: str | None = None) -> None:
    """The records of a round, in whose first case these rows show."""
    test = round_.visits[0].test
    with RecordWriter(run, round_.worker, seed=0, target="torch", environment={}, command="") as writer:
        writer.start(test, f"{test}#0", 0)
        writer.end(test, f"{test}#0", "divergent" if rows else "aligned", seconds=0.1, divergences=rows)
        writer.end(test, f"{test}#1", "aligned", seconds=0.1)
        if looks is not None:
            writer.shrunk(test, f"torch/{looks}", {**LOOKED, "runs": 3})
        writer.start(test, f"{test}#2", 2)


def begun(folder: Path, slots: int = 1, **keys: Any) -> Rounds:
    """A campaign that has begun."""
    rounds = Rounds(Config(folder=folder, **{"cases": 100_000, **keys}))
    rounds.begin(TESTS, slots)
    return rounds


def taken(rounds: Rounds, count: int) -> list[Round]:
    """So many rounds, which there must be."""
    found = [rounds.next() for _ in range(count)]
    assert None not in found
    return [round_ for round_ in found if round_ is not None]


def test_rounds_wait_for_what_decides_them(tmp_path: Path) -> None:
    """Eight rounds may be under way; the ninth wants the first to be done, not any other."""
    rounds = begun(tmp_path)
    under_way = taken(rounds, 8)
    assert rounds.next() is None
    for round_ in reversed(under_way):
        ran(rounds.run, round_)
    rounds.end(under_way[5], 1.0, 0.0)
    assert rounds.next() is None
    rounds.end(under_way[0], 1.0, 0.0)
    assert taken(rounds, 1)[0].number == 8
    assert rounds.next() is None


def test_more_slots_may_have_more_under_way(tmp_path: Path) -> None:
    """Twice as many rounds as there are slots, as the campaign was begun."""
    rounds = begun(tmp_path, slots=6)
    taken(rounds, 12)
    assert rounds.next() is None


def test_budgets(tmp_path: Path) -> None:
    """So many drawn cases, or so many seconds; then nothing is decided any more."""
    rounds = begun(tmp_path / "cases", cases=90)
    decided = taken(rounds, 3)
    assert rounds.next() is None
    assert rounds.spent
    assert not rounds.ended
    for round_ in decided:
        ran(rounds.run, round_)
        rounds.end(round_, 1.0, 0.0)
    assert rounds.ended
    assert begun(tmp_path / "time", cases=None, time=1e-9).next() is None


def test_interrupted_rounds_run_again(tmp_path: Path) -> None:
    """What a killed campaign has left of a round is taken away, and the round comes first; done ones stay."""
    rounds = begun(tmp_path)
    first, second = taken(rounds, 2)
    for round_ in (first, second):
        ran(rounds.run, round_)
        (rounds.run / "programs").mkdir(exist_ok=True)
        (rounds.run / "programs" / f"12345678-{round_.worker}-1.json").touch()
    rounds.end(first, 1.0, 0.0)
    rounds.log.close()
    again = begun(tmp_path)
    assert again.run == rounds.run
    left = sorted(path.name for path in again.run.rglob("*") if path.is_file())
    assert left == ["12345678-r0-1.json", "records-r0.jsonl"]
    assert taken(again, 2) == [second, *taken(rounds, 1)]


def test_closer_looks(tmp_path: Path) -> None:
    """A fingerprint that has had its look has no other; one that was stored in three rounds is not stored again."""
    rounds = begun(tmp_path)
    decided = taken(rounds, 5)
    ran(rounds.run, decided[0], row("aaaa0000"), row("bbbb0000"), looks="aaaa0000")
    rounds.end(decided[0], 1.0, 5.0)
    assert rounds.options(decided[4], 1)["settled"] == ["aaaa0000"]
    for round_ in decided[1:KEPT_ROUNDS]:
        ran(rounds.run, round_, row("bbbb0000"))
        rounds.end(round_, 1.0, 0.0)
    options = rounds.options(decided[4], 2)
    assert options["settled"] == ["aaaa0000", "bbbb0000"]
    assert options["worker"] == "r4"
    assert rounds.look_left == pytest.approx(25.0, abs=2.0)
    assert options["shrink_total"] == pytest.approx(0.6 * 12.5, abs=1.0)
    assert begun(tmp_path / "none", look=0.0).options(decided[0], 1)["shrink_total"] == 0


def test_what_a_round_comes_to(tmp_path: Path) -> None:
    """Verdicts, costs, what is red, and faults; what is known is no find, and a death costs as much as 40 cases."""
    rounds = begun(tmp_path)
    [round_] = taken(rounds, 1)
    ran(rounds.run, round_, row("aaaa0000", "crash"), row("cccc0000", level="known"))
    test = round_.visits[0].test
    assert outcome.came(rounds.run, round_, cpu=1.23456) == Done(
        {"divergent": 1, "aligned": 1}, {test: 41}, (), {test: {"aaaa0000": "torch/aaaa0000"}}, (), {}, 1.235
    )
    assert last_begun(rounds.run, round_.worker) == f"{test}#2"
    outcome.forget(rounds.run, round_.worker)
    assert last_begun(rounds.run, round_.worker) is None


@pytest.mark.parametrize(
    ("graph", "ops", "cost"),
    [
        (None, [], 1),
        ({"forward": "off", "backward": "off"}, ["relu", "exp"], 1),
        ({"forward": "verified", "backward": "off"}, ["relu", "exp"], 3),
        ({"forward": "verified", "backward": "off", "configurations": {"amp": "off", "zero": "verified"}}, ["relu"], 4),
        ({"forward": "verified", "backward": "verified", "training": "verified"}, ["Linear", "SGD"], 7),
    ],
)
def test_what_a_case_costs(tmp_path: Path, graph: dict[str, Any] | None, ops: list[str], cost: int) -> None:
    """Its calls, once for each graph that has them, and three times where they train; a visit costs something, too."""
    rounds = begun(tmp_path)
    [round_] = taken(rounds, 1)
    test = round_.visits[0].test
    with RecordWriter(rounds.run, round_.worker, seed=0, target="torch", environment={}, command="") as writer:
        writer.end(test, f"{test}#0", "aligned", ops=ops, graph=graph, seconds=0.1)
        writer.test(test, 0.1, "passed")
    assert outcome.came(rounds.run, round_).costs == {test: 4 + cost}


def test_nothing_is_left(tmp_path: Path) -> None:
    """Where no test draws cases, a campaign has an end before its budget has one."""
    rounds = Rounds(Config(folder=tmp_path, cases=100_000))
    rounds.begin({"test_a.py::test_op": 0}, 1)
    for round_ in (decided := taken(rounds, 8)):
        ran(rounds.run, round_)
    assert rounds.next() is None
    for round_ in decided:
        assert not rounds.ended
        rounds.end(round_, 1.0, 0.0)
    assert rounds.next() is None
    assert (rounds.spent, rounds.ended) == (True, True)


@pytest.mark.parametrize(("last", "left"), [(3, ()), (4, ("test_a.py::test_op",))])
def test_laid_out_cases_that_may_be_left(tmp_path: Path, last: int, left: tuple[str, ...]) -> None:
    """Where the last one that a visit may have was there: others may come after it."""
    rounds = Rounds(Config(folder=tmp_path, cases=100_000))
    rounds.begin({"test_a.py::test_op": 20}, 1)
    [round_] = taken(rounds, 1)
    with RecordWriter(rounds.run, round_.worker, seed=0, target="torch", environment={}, command="") as writer:
        for number in range(last + 1):
            writer.start("test_a.py::test_op", f"test_a.py::test_op#{number}@laid", number)
        writer.start("test_a.py::test_op", "test_a.py::test_op#19", 19)
    assert outcome.came(rounds.run, round_).laid_out == left


def test_what_ends_pytorch_is_left_out_of_later_rounds(tmp_path: Path) -> None:
    """A round has gone on without the campaign's only test: there is no other round than those decided before it was
    done, also for a sitting that goes on.
    """
    rounds = Rounds(Config(folder=tmp_path, cases=100_000))
    rounds.begin({"suites/test_a.py::test_op": 20}, 1)
    decided = taken(rounds, 8)
    assert rounds.next() is None
    for number, left_out in ((1, "test_a.py::test_op#1"), (2, "test_a.py::test_op")):
        assert rounds.avoid(decided[0], f"test_a.py::test_op#{number}", "it ends") == left_out
        assert rounds.next() == decided[0]
    for round_ in decided:
        ran(rounds.run, round_)
        rounds.end(round_, 1.0, 0.0)
    again = Rounds(Config(folder=tmp_path, cases=100_000))
    again.begin({"suites/test_a.py::test_op": 20}, 1)
    for sitting in (rounds, again):
        assert (sitting.next(), sitting.ended) == (None, True)


def test_cells(tmp_path: Path) -> None:
    """A campaign that is steered by cells keeps which of them each test has reached, in the phases in which it has."""
    cells = {"float32 2 contiguous ordinary": [3, 0, 1, 0, 0, 0], "int8 2 contiguous ordinary": [0, 0, 0, 0, 2, 0]}
    laid_out = dict.fromkeys(("cases", "refused", "pairs", "covered"), 0)
    held = []
    for steering in ("cells", "finds"):
        rounds = begun(tmp_path / steering, steering=steering)
        [round_] = taken(rounds, 1)
        test = round_.visits[0].test
        ran(rounds.run, round_)
        with RecordWriter(rounds.run, round_.worker, seed=0, target="torch", environment={}, command="") as writer:
            writer.reached(test, {"laid_out": laid_out, "groups": [{"ops": ["relu", "abs"], "cells": cells}]})
        rounds.end(round_, 1.0, 0.0)
        held.append(Log(tmp_path / steering).done[0].cells)
    assert [len(digests) for digests in held[0].values()] == [4]
    assert held[0].keys() == {test}
    assert held[1] == {}


def test_another_campaign(tmp_path: Path) -> None:
    """Another seed is another campaign, and so are other tests."""
    Rounds(Config(folder=tmp_path, seed=3)).begin(TESTS, 1)
    with pytest.raises(UsageError) as caught:
        Rounds(Config(folder=tmp_path, seed=4))
    assert str(caught.value) == (
        f"seed=4, but the campaign in {tmp_path} was begun with 3: go on with that, or begin another in a new "
        "folder [--folder]"
    )
    with pytest.raises(UsageError) as caught:
        Rounds(Config(folder=tmp_path, seed=3)).begin(
            {**dict.fromkeys([*TESTS][2:], 20), [*TESTS][1]: 3, "test_new.py::test_new": 20}, 1
        )
    assert str(caught.value) == (
        f"the tests of the campaign in {tmp_path} have changed since it was begun: 1 are new, 1 are gone, 1 "
        "have another n; begin another in a new folder [--folder]"
    )
